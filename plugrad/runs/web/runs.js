
// The runs in a table, and what they were made with side by side.

const QUIET = 600;
const MOST_VALUES = 8;

function state(run, now) {
  if (run.state !== "running") return [run.state === "unknown" ? "" : run.state, run.state];
  const silent = now - run.changed;
  return silent > QUIET ? [`silent for ${duration(silent)}`, "quiet"] : ["running", "running"];
}

class Runs {
  constructor(changed) {
    this.off = new Set();
    this.changed = changed;
    this.node = element("div", { class: "card scroll runs", tabindex: 0, role: "region", "aria-label": "Runs" });
  }

  chosen(runs) {
    return runs.filter((run) => !this.off.has(run.id));
  }

  update(runs, now) {
    const counts = new Map();
    for (const run of runs) for (const { name } of run.series) counts.set(name, (counts.get(name) || 0) + 1);
    const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, MOST_VALUES);
    const known = JSON.stringify([names, now - (now % 60), runs.map((run) => [run.id, run.name, run.state, run.changed])]);
    if (known === this.known) return;
    this.known = known;
    const focused = document.activeElement?.dataset?.run;
    const head = ["run", "state", "iteration", "time", ...names];
    this.node.replaceChildren(element("table", {},
      element("thead", {}, element("tr", {}, ...head.map((name, i) => element("th", { scope: "col", class: i > 1 ? "number" : null }, name)))),
      element("tbody", {}, ...runs.map((run, i) => this.row(run, i, names, now)))));
    if (focused) this.node.querySelector(`[data-run="${focused}"]`)?.focus();
  }

  row(run, i, names, now) {
    const last = new Map(run.series.map(({ name, points }) => [name, points.at(-1)]));
    const ends = [...last.values()];
    const most = (axis) => ends.reduce((a, point) => Math.max(a, point[axis] ?? -1), -1);
    const choose = (event) => {
      this.off[event.target.checked ? "delete" : "add"](run.id);
      this.changed();
    };
    const [words, kind] = state(run, now);
    const cells = [most(0) < 0 ? "" : number(most(0)), most(2) < 0 ? "" : duration(most(2)), ...names.map((name) => last.has(name) ? number(Number(last.get(name)[3])) : "")];
    return element("tr", {},
      element("th", { scope: "row" }, element("label", {},
        element("input", { type: "checkbox", checked: !this.off.has(run.id), "data-run": run.id, change: choose }),
        swatch({ colour: i % 8, dash: 0 }), element("span", {}, run.name))),
      element("td", { class: `state ${kind}`, title: run.said || null }, words),
      ...cells.map((text) => element("td", { class: "number" }, text)));
  }
}

class Record {
  constructor({ group }) {
    this.body = element("div", {});
    this.details = element("details", { open: group === "run" || group === "arguments" }, element("summary", {}, element("h3", {}, group)), this.body);
    this.node = element("div", {}, this.details);
  }

  update({ group, runs }) {
    const rows = new Map();
    runs.forEach((run, i) => {
      for (const [name, value] of (run.record.find(([each]) => each === group) || [null, []])[1]) {
        if (!rows.has(name)) rows.set(name, runs.map(() => ""));
        rows.get(name)[i] = value;
      }
    });
    const known = JSON.stringify([...rows, runs.map((run) => run.name)]);
    if (known === this.known) return;
    this.known = known;
    const made = table(["", ...runs.map((run) => run.name)], [...rows].map(([name, values]) => [name, ...values]), group);
    made.querySelector("caption").className = "unseen"; // the heading says it
    [...made.querySelectorAll("tbody tr")].forEach((row, i) => {
      const values = [...rows.values()][i];
      row.classList.toggle("differs", values.some((value) => value !== values[0]));
    });
    this.body.replaceChildren(made);
  }
}
