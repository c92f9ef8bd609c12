
// Curves over iterations, epochs or time: a line for each value of each run.

const DASHES = [null, "7 4", "2 4", "10 3 2 3"];
const MOST_ROWS = 500;

function smoothed(points, amount) {
  let sum = 0, weight = 0;
  return points.map(([x, y]) => {
    if (!Number.isFinite(y)) return [x, y];
    sum = sum * amount + y * (1 - amount);
    weight = weight * amount + 1 - amount;
    return [x, sum / weight];
  });
}

function path(points, x, y, drawable) {
  let text = "", pen = false;
  for (const point of points) {
    if (drawable(point[1])) text += `${pen ? "L" : "M"}${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`;
    pen = drawable(point[1]);
  }
  return text;
}

class Chart {
  constructor({ title }) {
    this.legend = element("ul", { class: "legend" });
    this.notes = element("div", {});
    this.tip = element("div", { class: "tip", hidden: true });
    this.plot = element("div", {
      class: "plot", tabindex: 0, role: "slider", "aria-valuemin": 0,
      pointermove: (event) => this.point(event),
      pointerleave: () => this.hide(),
      blur: () => this.hide(),
      focus: () => { if (this.plot.matches(":focus-visible")) this.show(this.xs.length - 1); },
      keydown: (event) => this.press(event),
    });
    this.table = behind("Table", () => this.rows());
    this.title = element("h3", {}, title);
    this.node = element("section", { class: "card" }, this.title, this.legend, this.plot, this.notes, this.table.node);
    this.at = 0;
    this.lines = [];
    this.xs = [];
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  update({ title, lines }, settings) {
    this.settings = settings;
    this.name = title;
    this.lines = lines.map((line) => ({ ...line, points: line.points.filter(([x]) => x != null) }));
    this.xs = [...new Set(this.lines.flatMap((line) => line.points.map(([x]) => x)))].sort((a, b) => a - b);
    this.legend.replaceChildren(...this.lines.map((line) => element("li", {}, swatch(line), element("span", {}, line.label))));
    this.legend.hidden = this.lines.length === 1 && this.lines[0].label === title;
    this.notes.replaceChildren(...this.told().map((text) => element("p", { class: "note" }, text)));
    this.table.fill();
    this.draw();
  }

  told() {
    const { axis, logarithmic } = this.settings;
    const said = [];
    for (const { label, points, total, kept } of this.lines) {
      const odd = points.filter(([, y]) => !Number.isFinite(y));
      if (odd.length) said.push(`${label} is ${number(odd[0][1])} at ${place(axis, odd[0][0])}${odd.length > 1 ? `, and not finite at ${odd.length} of the ${points.length} points` : ""}.`);
      if (logarithmic && points.some(([, y]) => y <= 0)) said.push(`${label}: values of 0 or less are not on a logarithmic axis.`);
      if (total > kept) said.push(`${label}: ${kept.toLocaleString("en")} of ${total.toLocaleString("en")} points are drawn, with the lowest and highest of each stretch.`);
      if (!points.length) said.push(`${label} has no ${AXES[axis]}.`);
    }
    return said;
  }

  draw() {
    const width = Math.max(200, this.plot.clientWidth), height = 220;
    if (!this.settings || !this.plot.isConnected) return;
    const { logarithmic, smooth } = this.settings;
    const drawable = (y) => Number.isFinite(y) && (!logarithmic || y > 0);
    const values = this.lines.flatMap((line) => line.points.map(([, y]) => y).filter(drawable));
    let y = scale(values, height - 24, 10, logarithmic);
    if (!logarithmic) {
      const room = (y.high / 2 - y.low / 2) * 0.08;
      y = scale([y.low - room, y.high + room].filter(Number.isFinite), height - 24, 10);
    }
    const marks = y.ticks(5);
    const left = 12 + 6.6 * Math.max(1, ...marks.map((mark) => number(mark).length));
    const x = scale(this.xs, left, width - 12);
    const drawn = element("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
    for (const mark of marks) drawn.append(
      element("line", { class: "grid", x1: left, x2: width - 6, y1: y(mark), y2: y(mark) }),
      element("text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, number(mark)));
    const written = (mark) => this.settings.axis === 2 ? duration(mark) : number(mark);
    const steps = x.ticks(Math.max(3, Math.floor(width / 85)));
    for (const mark of this.xs.length === 1 ? this.xs : steps) drawn.append(
      element("text", { x: x(mark), y: height - 6, "text-anchor": x(mark) > width - 34 ? "end" : "middle" }, written(mark)));
    drawn.append(element("line", { class: "axis", x1: left, x2: width - 6, y1: height - 24, y2: height - 24 }));
    for (const line of this.lines) this.curve(drawn, line, x, y, drawable, smooth);
    this.cursor = element("g", {});
    drawn.append(this.cursor);
    this.plot.firstChild?.remove();
    this.plot.replaceChildren(drawn, this.tip);
    this.scales = { x, y, drawable, height };
    this.describe();
    if (!this.tip.hidden) this.show(this.at);
  }

  curve(drawn, { colour, dash, points }, x, y, drawable, smooth) {
    const shown = smooth > 0 ? smoothed(points, smooth) : points;
    if (smooth > 0) drawn.append(element("path", { class: `raw s${colour}`, d: path(points, x, y, drawable) }));
    drawn.append(element("path", { class: `curve s${colour}`, d: path(shown, x, y, drawable), "stroke-dasharray": DASHES[dash] }));
    const alone = (i) => drawable(shown[i][1]) && !(i && drawable(shown[i - 1][1])) && !(shown[i + 1] && drawable(shown[i + 1][1]));
    shown.forEach(([at, value], i) => {
      if (alone(i)) drawn.append(element("circle", { class: `f${colour}`, cx: x(at), cy: y(value), r: 3 }));
    });
    for (const [at, value] of points.filter(([, value]) => !Number.isFinite(value)).slice(0, 100)) {
      const [p, q] = [x(at), value > 0 ? 8 : 192];
      drawn.append(element("path", { class: `odd s${colour}`, d: `M${p - 4},${q - 4}l8,8m0,-8l-8,8` }));
    }
  }

  // -- the cursor, by pointer or keys

  point(event) {
    if (!this.xs.length) return;
    const at = event.clientX - this.plot.getBoundingClientRect().left;
    let best = 0;
    this.xs.forEach((each, i) => {
      if (Math.abs(this.scales.x(each) - at) < Math.abs(this.scales.x(this.xs[best]) - at)) best = i;
    });
    this.show(best);
  }

  press(event) {
    const far = Math.max(1, Math.round(this.xs.length / 10)), last = this.xs.length - 1;
    const moves = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, ArrowDown: this.at - 1, ArrowUp: this.at + 1, PageDown: this.at - far, PageUp: this.at + far, Home: 0, End: last };
    if (event.key === "Escape") this.hide();
    if (!(event.key in moves)) return;
    event.preventDefault();
    this.show(Math.min(last, Math.max(0, moves[event.key])));
  }

  values(at) {
    return this.lines.flatMap((line) => line.points.filter(([x]) => x === at).slice(-1).map(([, y]) => ({ ...line, y })));
  }

  show(at) {
    if (at < 0 || !this.xs.length) return;
    this.at = Math.min(at, this.xs.length - 1);
    const value = this.xs[this.at], found = this.values(value);
    const { x, y, drawable, height } = this.scales;
    this.cursor.replaceChildren(
      element("line", { class: "cursor", x1: x(value), x2: x(value), y1: 10, y2: height - 24 }),
      ...found.filter((line) => drawable(line.y)).map((line) => element("circle", { class: `f${line.colour}`, cx: x(value), cy: y(line.y), r: 3.5 })));
    this.tip.replaceChildren(element("p", {}, place(this.settings.axis, value)),
      ...found.slice(0, 10).map((line) => element("p", {}, element("span", {}, line.label), element("b", {}, number(line.y)))));
    this.tip.hidden = false;
    const width = this.plot.clientWidth, left = x(value) > width / 2;
    this.tip.style.left = left ? "auto" : `${x(value) + 12}px`;
    this.tip.style.right = left ? `${width - x(value) + 12}px` : "auto";
    this.describe();
  }

  hide() {
    this.tip.hidden = true;
    this.cursor?.replaceChildren();
  }

  describe() {
    const at = Math.min(this.at, Math.max(0, this.xs.length - 1));
    const said = this.xs.length
      ? `${place(this.settings.axis, this.xs[at])}: ${this.values(this.xs[at]).map(({ label, y }) => `${label} ${number(y)}`).join(", ")}`
      : "no points";
    this.plot.setAttribute("aria-label", `Curves of ${this.name}; arrow keys go along them`);
    this.plot.setAttribute("aria-valuemax", Math.max(0, this.xs.length - 1));
    this.plot.setAttribute("aria-valuenow", at);
    this.plot.setAttribute("aria-valuetext", said);
  }

  rows() {
    const xs = this.xs.slice(-MOST_ROWS);
    const found = this.lines.map((line) => new Map(line.points));
    const rows = xs.map((x) => [this.settings.axis === 2 ? duration(x) : number(x), ...found.map((each) => each.has(x) ? each.get(x) : "")]);
    const left = this.xs.length - xs.length;
    return table([AXES[this.settings.axis], ...this.lines.map((line) => line.label)], rows,
      `${this.name}${left ? `: the last ${MOST_ROWS}` : ""}`);
  }
}

function swatch({ colour, dash }) {
  return element("svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" },
    element("path", { class: `curve s${colour}`, d: "M2,5L24,5", "stroke-dasharray": DASHES[dash] }));
}
