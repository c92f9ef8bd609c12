
// The computational graph; where everything stands is known already.

class Graph {
  constructor({ name, run, first }) {
    this.box = element("div", { class: "graph", tabindex: 0, role: "region", "aria-label": `Graph of ${run}` });
    this.table = behind("Table", () => this.rows());
    const centre = () => { this.box.scrollLeft = (this.box.scrollWidth - this.box.clientWidth) / 2; };
    const head = element("summary", {}, element("h3", {}, name), " ", element("span", { class: "of" }, run));
    this.open = element("details", { open: first, toggle: centre }, head, this.box, this.table.node);
    this.node = element("section", { class: "card wide" }, this.open);
  }

  update(graph) {
    if (JSON.stringify(graph) === this.known) return;
    this.known = JSON.stringify(graph);
    this.graph = graph;
    const [width, height] = graph.size;
    const tip = `tip-${Math.random().toString(36).slice(2)}`;
    const functions = graph.boxes.filter(([, , , , role]) => role === "function").length;
    const drawn = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${functions} functions and ${graph.boxes.length - functions} variables; the table says what leads to what` },
      element("defs", {}, element("marker", { id: tip, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, element("path", { d: "M0,0L8,4L0,8z" }))));
    for (const line of graph.lines) {
      const points = line.map(([x, y], i) => [x, y + (i === 0 ? 13 : i === line.length - 1 ? -13 : 0)]);
      let d = `M${points[0]}`;
      points.slice(1).forEach(([x, y], i) => {
        const middle = (points[i][1] + y) / 2;
        d += `C${points[i][0]},${middle} ${x},${middle} ${x},${y}`;
      });
      drawn.append(element("path", { d, "marker-end": `url(#${tip})` }));
    }
    for (const [x, y, w, label, role] of graph.boxes) drawn.append(
      element("rect", { class: KNOWN_ROLES.has(role) ? role : null, x: x - w / 2, y: y - 13, width: w, height: 26, rx: role === "function" ? 5 : 13 }),
      element("text", { x, y: y + 4 }, label));
    this.box.replaceChildren(drawn);
  }

  rows() {
    const { boxes, edges, name } = this.graph;
    const from = boxes.map(() => []);
    for (const [a, b] of edges) from[b].push(boxes[a][3]);
    const order = boxes.map((_, i) => i).sort((a, b) => boxes[a][1] - boxes[b][1]);
    return table(["node", "kind", "made from"], order.map((i) => [boxes[i][3], boxes[i][4], from[i].join("; ")]), name);
  }
}

const KNOWN_ROLES = new Set(["function", "leaf", "between", "result", "constant"]);
