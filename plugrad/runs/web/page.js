
// The page: what it is made of, and how it follows the runs.

const EVERY = 2000;
const MOST_TOGETHER = 4;
const MOST_CARDS = 24;

const main = document.getElementById("main");
const settings = { axis: 0, smooth: 0, logarithmic: false, filter: "" };
let data = JSON.parse(document.getElementById("data").textContent);
const live = data === null;

function section(id, title, body) {
  const node = element("section", { "aria-labelledby": `${id}-title`, hidden: true }, element("h2", { id: `${id}-title`, tabindex: -1 }, title), body);
  const link = element("a", { href: `#${id}-title`, hidden: true }, title);
  const more = element("button", { type: "button", hidden: true, click: () => { limits.all = true; render(); } });
  const limits = { all: false };
  node.append(more);
  main.append(node);
  document.getElementById("nav").append(link);
  // The first cards, and a button for the others.
  const some = (list) => {
    node.hidden = link.hidden = !list.length;
    more.hidden = limits.all || list.length <= MOST_CARDS;
    more.textContent = `Show all ${list.length}`;
    return more.hidden ? list : list.slice(0, MOST_CARDS);
  };
  return { body, some };
}

const problems = element("div", {});
const empty = element("p", { class: "empty", hidden: true });
main.append(problems, empty);
const cards = () => element("div", { class: "cards" });
const runs = new Runs(() => render());
const parts = {
  runs: section("runs", "Runs", runs.node),
  curves: section("curves", "Curves", cards()),
  values: section("values", "Values", cards()),
  pictures: section("pictures", "Pictures", cards()),
  histograms: section("histograms", "Histograms", cards()),
  graphs: section("graphs", "Graph", cards()),
  record: section("record", "Record", element("div", { class: "card" })),
};
class Values {
  constructor() { this.node = element("section", { class: "card" }); }
  update({ name, texts }) { this.node.replaceChildren(element("h3", {}, name), table(["name", "last value"], texts, `Values of ${name} that are no numbers`)); }
}
const shown = {
  curves: keyed(parts.curves.body, (item) => new Chart(item)),
  values: keyed(parts.values.body, (item) => new Values(item)),
  pictures: keyed(parts.pictures.body, (item) => new Pictures(item)),
  histograms: keyed(parts.histograms.body, (item) => new Histogram(item)),
  graphs: keyed(parts.graphs.body, (item) => new Graph(item)),
  record: keyed(parts.record.body, (item) => new Record(item)),
};

// Values of one ending, as main/loss and validation/main/loss, are drawn together where they are few.
function charts(chosen) {
  const names = [...new Set(chosen.flatMap(({ run }) => run.series.map(({ name }) => name)))];
  const ending = (name) => name.split("/").at(-1);
  const sizes = new Map();
  for (const name of names) sizes.set(ending(name), (sizes.get(ending(name)) || 0) + 1);
  const title = (name) => sizes.get(ending(name)) <= MOST_TOGETHER ? ending(name) : name;
  const made = new Map();
  for (const name of names) {
    const key = title(name);
    if (!made.has(key)) made.set(key, { title: key, names: [] });
    made.get(key).names.push(name);
  }
  for (const chart of made.values()) {
    chart.names.sort((a, b) => a.length - b.length); // training before validation
    chart.lines = chosen.flatMap(({ run, colour }) => chart.names.flatMap((name, dash) =>
      run.series.filter((each) => each.name === name).map(({ points, total }) => ({
        label: chosen.length > 1 ? `${run.name}: ${name}` : name,
        colour: chosen.length > 1 ? colour : dash,
        dash, total, kept: points.length,
        points: points.map((point) => [point[settings.axis], Number(point[3])]),
      }))));
  }
  return [...made.values()];
}

function render() {
  const now = live ? Date.now() / 1000 : data.written;
  const chosen = data.runs.map((run, i) => ({ run, colour: i % 8 })).filter(({ run }) => !runs.off.has(run.id));
  const each = (name) => chosen.flatMap(({ run, colour }) => run[name].map((item, i) => ({ ...item, i, run: run.name, id: run.id, colour })))
    .sort((a, b) => a.i - b.i); // those of one kind beside each other
  document.title = `${data.title} · plugrad`;
  document.getElementById("title").textContent = data.title;
  problems.replaceChildren(...[...data.problems, ...data.runs.flatMap((run) => run.problems.map((text) => `${run.name}: ${text}`)), ...data.runs.filter((run) => run.said).map((run) => `${run.name} ended by ${run.said}`)]
    .map((text) => element("p", { class: "problem" }, text)));
  empty.hidden = data.runs.length > 0;
  empty.textContent = live ? "No run is here yet. As soon as a training writes its log, it shows." : "There is no run here.";
  parts.runs.some(data.runs.slice(0, 1));
  runs.update(data.runs, now);
  const drawn = charts(chosen);
  const items = { curves: drawn, values: chosen.filter(({ run }) => run.texts.length).map(({ run }) => ({ id: run.id, name: run.name, texts: run.texts })), pictures: each("pictures"), histograms: each("histograms"), graphs: each("graphs").map((graph, i) => ({ ...graph, first: i === 0 })) };
  const groups = [...new Set(chosen.flatMap(({ run }) => run.record.map(([group]) => group)))];
  items.record = groups.map((group) => ({ group, runs: chosen.map(({ run }) => run).filter((run) => run.record.length) }));
  for (const [name, list] of Object.entries(items)) {
    const wanted = name === "record" ? list : list.filter((item) => (item.title ?? item.name ?? "").toLowerCase().includes(settings.filter));
    shown[name](parts[name].some(wanted), (item) => item.title ?? item.group ?? `${item.id} ${item.name}`, settings);
  }
}

for (const [id, name, read] of [["axis", "axis", (input) => Number(input.value)], ["smooth", "smooth", (input) => Number(input.value)], ["log", "logarithmic", (input) => input.checked], ["filter", "filter", (input) => input.value.toLowerCase()]]) {
  const input = document.getElementById(id);
  settings[name] = read(input); // a browser may have kept it
  input.addEventListener("input", () => { settings[name] = read(input); if (data) render(); });
}
const theme = document.getElementById("theme");
const applyTheme = () => { document.documentElement.style.colorScheme = theme.value; };
theme.addEventListener("input", applyTheme);
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
applyTheme();

const told = document.getElementById("status");
let tag = null;

async function follow() {
  const begun = performance.now();
  let wait = EVERY;
  try {
    if (!document.hidden || data === null) {
      const answer = await fetch("data", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      if (answer.status === 200) {
        data = await answer.json();
        tag = answer.headers.get("ETag");
        render();
      } else if (answer.status !== 304) throw new Error(`status ${answer.status}`);
      if (told.className || !told.textContent) { told.className = ""; told.textContent = "live"; }
    }
  } catch (error) {
    told.className = "lost";
    told.textContent = "plugrad watch does not answer; what was last read is shown";
    wait = 3 * EVERY;
  }
  // What takes long to read is asked for more rarely: the processor belongs to the training.
  setTimeout(follow, Math.max(wait, 10 * (performance.now() - begun)));
}

if (live) follow();
else {
  told.textContent = `written ${new Date(data.written * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  render();
}
