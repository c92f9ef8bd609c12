
// How values are distributed, time after time: ridges, the newest in front, each as high as another.

const MOST_RIDGES = 18;

class Histogram {
  constructor({ name, run }) {
    this.plot = element("div", { class: "plot" });
    this.table = behind("Table", () => this.rows());
    this.notes = element("div", {});
    this.node = element("section", { class: "card" }, element("h3", {}, name), element("p", { class: "of" }, run), this.plot, this.notes, this.table.node);
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  update({ name, run, records, colour }) {
    Object.assign(this, { name, run, records, colour });
    const odd = records.filter((record) => record[4] > 0);
    this.notes.replaceChildren(...odd.slice(-1).map((record) => element("p", { class: "note" }, `${number(record[4])} values are not finite at iteration ${number(record[0])}.`)));
    this.table.fill();
    this.draw();
  }

  shown() {
    const step = Math.max(1, (this.records.length - 1) / (MOST_RIDGES - 1));
    const count = Math.min(MOST_RIDGES, this.records.length);
    return [...Array(count).keys()].map((i) => this.records[this.records.length - 1 - Math.round((count - 1 - i) * step)] || this.records[0]);
  }

  draw() {
    const width = Math.max(200, this.plot.clientWidth), height = 220;
    if (!this.records || !this.plot.isConnected) return;
    const shown = this.shown();
    const x = scale(shown.flatMap(([, low, high]) => [low, high]), 14, width - 62);
    const room = shown.length > 1 ? 120 : 0;
    const drawn = element("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `Distribution of ${this.name}, ${shown.length} times from iteration ${number(shown[0][0])} to ${number(shown.at(-1)[0])}; values from ${number(x.low)} to ${number(x.high)}` });
    shown.forEach((record, i) => {
      const base = height - 24 - (shown.length > 1 ? (room * (shown.length - 1 - i)) / (shown.length - 1) : 0);
      const [, low, high, counts] = record, highest = Math.max(1, ...counts), step = (high - low) / counts.length;
      let line = `M${x(low).toFixed(1)},${base}`;
      counts.forEach((count, j) => {
        line += `L${x(low + (j + 0.5) * step).toFixed(1)},${(base - (count / highest) * (height - 40 - room)).toFixed(1)}`;
      });
      const strength = 0.35 + (0.55 * (i + 1)) / shown.length;
      drawn.append(element("path", { class: `ridge f${this.colour}`, "fill-opacity": strength, d: `${line}L${x(high).toFixed(1)},${base}Z` }));
      if (i === 0 || i === shown.length - 1) drawn.append(element("text", { x: width - 56, y: base }, number(record[0])));
    });
    for (const mark of x.ticks(Math.max(2, Math.floor(width / 90)))) drawn.append(element("text", { x: x(mark), y: height - 6, "text-anchor": "middle" }, number(mark)));
    this.plot.replaceChildren(drawn);
  }

  rows() {
    const [iteration, low, high, counts] = this.records.at(-1);
    const edge = (j) => number(Number((low + (high - low) * j / counts.length).toPrecision(4)));
    return table(["from", "to", "values"], counts.map((count, j) => [edge(j), edge(j + 1), count]), `${this.name} at iteration ${number(iteration)}`);
  }
}
