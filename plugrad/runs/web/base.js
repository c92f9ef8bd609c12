
// Elements, numbers and words. Whatever comes from a log is put into the page as text.

const DRAWN = new Set(["svg", "g", "path", "line", "circle", "text", "rect", "defs", "marker", "title"]);

function element(tag, attributes = {}, ...children) {
  const made = DRAWN.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function number(value) {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞").replace("-", "−");
  const size = Math.abs(value);
  const text = size !== 0 && (size >= 1e6 || size < 1e-4)
    ? value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e")
    : Number.isInteger(value) ? value.toLocaleString("en")
    : String(Number(value.toPrecision(5)));
  return text.replace("-", "−");
}

function duration(seconds) {
  if (seconds < 100) return `${number(Number(seconds.toPrecision(3)))} s`;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  return units.slice(first, first + 2)
    .map(([unit, size], i) => `${Math.floor(i ? (seconds % units[first][1]) / size : seconds / size)} ${unit}`)
    .join(" ");
}

const AXES = ["iteration", "epoch", "time"];

function place(axis, value) {
  return axis === 2 ? duration(value) : `${AXES[axis]} ${number(value)}`;
}

function table(head, rows, caption) {
  const cell = (value, i, row) => i === 0
    ? element("th", { scope: "row" }, value)
    : element("td", { class: typeof value === "number" ? "number" : null },
        typeof value === "number" ? number(value) : value);
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    element("table", {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...head.map((each) => element("th", { scope: "col" }, each)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))))));
}

// What is behind a picture, made when it is asked for.
function behind(words, make) {
  const made = element("details", { toggle: () => fill() }, element("summary", {}, words));
  const fill = () => {
    while (made.children.length > 1) made.lastChild.remove();
    if (made.open) made.append(make());
  };
  return { node: made, fill };
}

// One part of the page for each item, kept while the item is there: what is open stays open.
function keyed(parent, make) {
  const parts = new Map();
  return (items, keyOf, ...more) => {
    const keys = new Set(items.map(keyOf));
    for (const [key, part] of parts) if (!keys.has(key)) { part.node.remove(); parts.delete(key); }
    items.forEach((item, i) => {
      const key = keyOf(item);
      if (!parts.has(key)) parts.set(key, make(item));
      const part = parts.get(key);
      if (parent.children[i] !== part.node) parent.insertBefore(part.node, parent.children[i] || null);
      part.update(item, ...more);
    });
  };
}
