// The topic graph, with its controls and a panel for the chosen topic.
import { scaleEnd } from "../lib/model.js";
import { tint } from "../lib/colour.js";
import { choice, draw, make, replace, watchWidth } from "../lib/dom.js";
import { cut, number, percent, plural } from "../lib/format.js";
import { curve, keepInside, placeNodes } from "./shapes.js";
import { DataTable } from "../lib/table.js";
import { withTip } from "../lib/tips.js";
import { shareBar, topicLink } from "../lib/widgets.js";

const MAX_LABELS = 30; // labelled nodes; if there are more topics, the largest ones
const MAX_INITIAL_EDGES = 60; // edges shown at first
const MOVES = { ArrowUp: [0, -12], ArrowDown: [0, 12], ArrowLeft: [-12, 0], ArrowRight: [12, 0] };

/** Topics as nodes, values of a measure of pairs as edges; a slider sets the smallest edge that is shown. */
export class TopicGraph {
  constructor(model) {
    this.model = model;
    this.measure = this.#firstMeasure();
    this.labelled = new Set(model.order("share").slice(0, MAX_LABELS));
    this.chosen = null;
    this.repelling = false;
    this.svg = draw("svg", { class: "graph", role: "group", "aria-label": "Graph of topics" });
    this.panel = make("aside", { class: "panel", "aria-label": "The chosen topic", tabindex: -1 });
    this.status = make("output", { class: "count" });
    this.slider = make("input", { type: "range", min: 0, max: 100, step: 1, on: { input: () => this.#drawEdges() } });
    this.means = make("p", { class: "lead" });
    this.holder = make("div", { class: "graph-holder" }, this.svg);
    this.table = make("div", {});
    this.element = this.#page();
    this.#updateMeasure();
    this.#showPanel();
    watchWidth(this.holder, (width) => this.#draw(width));
  }

  /** Weights; if hardly any two topics attract each other, weights relative to the average. */
  #firstMeasure() {
    if (this.model.diagonal) return "observed";
    const { weight } = this.model.measures;
    const attracting = this.model.pairs().filter(([a, b]) => weight.values[a][b] > 0).length;
    return attracting >= this.model.topics.length / 3 ? "weight" : "affinity";
  }

  #page() {
    const measures = Object.entries(this.model.measures).map(([key, measure]) => [key, measure.title]);
    const tick = make("input", { type: "checkbox", on: { change: () => this.#withRepelling(tick.checked) } });
    return make("div", { class: "page" },
      make("h1", {}, "The graph of topics"),
      make("p", { class: "lead large" }, `Circles are topics, as large as their share of all words. ${this.model.directed ? "Arrows lead from topics that link to topics that are linked to" : "Lines connect topics that link"}; the ring around a circle is its edge to itself.`),
      make("div", { class: "tools" },
        choice("Edges by", measures, this.measure, (value) => {
          this.measure = value;
          this.#updateMeasure();
          this.#draw(this.width);
        }),
        make("label", { class: "field grow" }, make("span", {}, "Show edges of at least"), this.slider, this.status),
        make("label", { class: "tick" }, tick, "also negative edges")),
      make("div", { class: "with-panel" }, make("div", {}, this.holder, this.means), this.panel),
      make("details", { class: "more", on: { toggle: (event) => event.target.open && this.#fillTable() } }, make("summary", {}, "Table of the edges shown"), this.table));
  }

  #withRepelling(on) {
    this.repelling = on;
    this.#drawEdges();
  }

  /** Set the slider so that at first no more edges are shown than a reader can follow. */
  #updateMeasure() {
    const measure = this.model.measures[this.measure];
    this.values = measure.values;
    this.pairs = this.model.pairs();
    this.most = Math.max(1e-9, ...this.pairs.map(([a, b]) => Math.abs(this.values[a][b])));
    this.ownMost = scaleEnd(this.values.map((row, k) => [row[k]]));
    const found = this.#sizes();
    const wanted = Math.min(MAX_INITIAL_EDGES, Math.round(1.5 * this.model.topics.length));
    this.slider.value = found.length ? Math.floor((100 * found[Math.min(found.length, wanted) - 1]) / found[0]) : 0;
    this.means.textContent = measure.means;
  }

  /** Sizes of the edges that may be shown, largest first; the slider goes from zero to the first. */
  #sizes() {
    const values = this.pairs.map(([a, b]) => this.values[a][b]);
    return (this.repelling ? values.map(Math.abs) : values).filter((value) => value > 0).sort((x, y) => y - x);
  }

  #draw(width) {
    const shares = this.model.topics.map((topic) => topic.share);
    const height = Math.round(width < 560 ? width * 1.45 : Math.min(700, width * 0.76));
    const biggest = Math.min(32, 0.19 * Math.sqrt((width * height) / shares.length));
    const sizes = shares.map((share, k) => {
      return { r: Math.max(7, biggest * Math.sqrt(share / Math.max(...shares))), letters: this.#label(k, width).length };
    });
    if (width !== this.width) this.nodes = placeNodes(this.model.weights.layout, sizes, width, height);
    Object.assign(this, { width, height });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.edges = draw("g", { class: "edges" });
    this.groups = this.nodes.map((node) => this.#node(node));
    replace(this.svg, this.edges, this.groups);
    this.#drawEdges();
  }

  #node(node) {
    const { k, r } = node;
    const own = this.values[k][k];
    const strength = Math.abs(own) / this.ownMost;
    const ring = tint(draw("circle", { class: "ring", r: r + 3 + 2.5 * strength, "stroke-width": 1 + 5 * strength }), own, this.ownMost);
    const group = draw("g", { class: "node", tabindex: 0, role: "button", "aria-label": this.#nodeWords(k), "data-topic": k },
      draw("circle", { class: "reach", r: r + 10 }), ring, draw("circle", { class: "disc", r }),
      draw("text", { class: "number", dy: "0.35em", "text-anchor": "middle" }, k),
      draw("text", { class: "words", y: r + 19, "text-anchor": "middle" }, this.#label(k, this.width)));
    withTip(group, () => make("div", { class: "summary" }, make("p", { class: "pair" }, this.model.label(k, 6)), make("p", {}, this.#nodeWords(k))));
    this.#place(group, node);
    this.#movable(group, node);
    return group;
  }

  #label(k, width) {
    if (!this.labelled.has(k)) return "";
    return width < 560 ? cut(this.model.words(k, 1), 10) : cut(this.model.words(k, 2), 18);
  }

  #nodeWords(k) {
    const measure = this.model.measures[this.measure];
    return `Topic ${this.model.label(k)}: ${percent(this.model.topics[k].share)} of all words; edge to itself ${measure.show(this.values[k][k])}.`;
  }

  #place(group, node) {
    group.setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);
  }

  /** Drag a node with the pointer, move it with arrow keys; a click or Enter chooses it. */
  #movable(group, node) {
    let from = null;
    const moveTo = (x, y) => {
      Object.assign(node, { x, y });
      keepInside(node, this.width, this.height);
      this.#place(group, node);
      this.#drawEdges();
    };
    group.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX - node.x, y: event.clientY - node.y, startX: event.clientX, startY: event.clientY, moved: false };
      group.setPointerCapture(event.pointerId);
    });
    group.addEventListener("pointermove", (event) => {
      if (!from) return;
      from.moved ||= Math.hypot(event.clientX - from.startX, event.clientY - from.startY) > 4;
      if (from.moved) moveTo(event.clientX - from.x, event.clientY - from.y);
    });
    group.addEventListener("pointerup", () => {
      if (from && !from.moved) this.#choose(node.k);
      from = null;
    });
    group.addEventListener("pointercancel", () => (from = null));
    group.addEventListener("keydown", (event) => {
      const step = MOVES[event.key];
      if (step) moveTo(node.x + step[0], node.y + step[1]);
      else if (event.key === "Enter" || event.key === " ") this.#choose(node.k);
      else if (event.key === "Escape") this.#choose(null);
      else return;
      event.preventDefault();
    });
  }

  #choose(k) {
    this.chosen = this.chosen === k ? null : k;
    this.#drawEdges();
    this.#showPanel();
  }

  #shown() {
    this.threshold = (Number(this.slider.value) / 100) * (this.#sizes()[0] ?? 0);
    const enough = (value) => (this.repelling ? Math.abs(value) : value) >= this.threshold && value !== 0 && (this.repelling || value > 0);
    return this.pairs.filter(([a, b]) => enough(this.values[a][b]));
  }

  #drawEdges() {
    const { model } = this;
    const measure = model.measures[this.measure];
    const shown = this.#shown().sort(([a, b], [c, d]) => Math.abs(this.values[a][b]) - Math.abs(this.values[c][d]));
    replace(this.edges, shown.map(([a, b]) => this.#edge(a, b)));
    this.status.textContent = `${measure.show(this.threshold)}: ${plural(shown.length, "edge")} of ${plural(this.pairs.length, "pair")}`;
    const near = new Set(shown.filter((pair) => pair.includes(this.chosen)).flat());
    for (const group of this.groups) {
      const k = Number(group.dataset.topic);
      group.classList.toggle("chosen", k === this.chosen);
      group.setAttribute("aria-pressed", String(k === this.chosen));
      group.classList.toggle("dim", this.chosen !== null && k !== this.chosen && !near.has(k));
    }
    if (this.table.childElementCount) this.#fillTable();
  }

  #edge(a, b) {
    const value = this.values[a][b];
    const strength = Math.abs(value) / this.most;
    const thickness = 1 + 5 * strength;
    const { line, head } = curve(this.nodes[a], this.nodes[b], thickness, this.model.directed);
    const dim = this.chosen !== null && a !== this.chosen && b !== this.chosen;
    const group = draw("g", { class: dim ? "edge dim" : "edge", "data-from": a, "data-to": b },
      draw("path", { class: "line", d: line, "stroke-width": thickness.toFixed(1) }), head ? draw("path", { class: "head", d: head }) : null);
    return tint(group, (value > 0 ? 1 : -1) * (0.5 + 0.5 * strength), 1);
  }

  #showPanel() {
    const { model, chosen } = this;
    if (chosen === null) {
      replace(this.panel,
        make("h2", {}, "How to use the graph"),
        make("p", {}, "Choose a topic to see its partners. Drag circles to untangle them; with the keyboard, arrow keys move the circle that has the focus and Enter chooses it."),
        make("p", { class: "faint" }, "Positions are approximate: topics with strong edges are placed near one another."));
      return;
    }
    replace(this.panel,
      make("h2", {}, `Topic ${chosen}`), make("p", {}, model.words(chosen, 8)),
      factsOf(model, chosen),
      this.#partners(model.directed ? "Links to" : "Partners", (k) => [chosen, k]),
      model.directed ? this.#partners("Is linked from", (k) => [k, chosen]) : null,
      make("p", {}, make("a", { href: `#/topics/${chosen}` }, "More about this topic")));
  }

  #partners(title, pair) {
    const measure = this.model.measures[this.measure];
    const others = this.model.topics.map((_, k) => k).filter((k) => k !== this.chosen);
    const value = (k) => this.values[pair(k)[0]][pair(k)[1]];
    const best = others.sort((x, y) => value(y) - value(x)).slice(0, 6);
    return [make("h3", {}, title), make("ul", { class: "partner-list" }, best.map((k) => {
      const [a, b] = pair(k);
      return make("li", {}, topicLink(this.model, k, 2), make("a", { class: "amount", href: `#/weights?from=${a}&to=${b}` }, measure.show(value(k))));
    }))];
  }

  #fillTable() {
    const measure = this.model.measures[this.measure];
    const rows = this.#shown().map(([a, b]) => ({ a, b, value: this.values[a][b] }));
    const columns = [
      { key: "from", title: this.model.directed ? "From topic" : "Topic", value: (row) => this.model.label(row.a), show: (row) => topicLink(this.model, row.a) },
      { key: "to", title: this.model.directed ? "To topic" : "Topic", value: (row) => this.model.label(row.b), show: (row) => topicLink(this.model, row.b) },
      { key: "edge", title: measure.title, numeric: true, value: (row) => row.value, show: (row) => measure.show(row.value) },
    ];
    const table = new DataTable({ caption: "Edges between topics", file: "edges.csv", columns, rows, sort: "edge", descending: true });
    table.show();
    replace(this.table, table.element);
  }
}

function factsOf(model, k) {
  const most = Math.max(...model.topics.map((topic) => topic.share));
  const { share, coherence } = model.topics[k];
  return make("div", {}, shareBar(share, most, { label: `${percent(share)} of all words` }), make("p", { class: "faint" }, `Coherence ${number(coherence, 3)}`));
}
