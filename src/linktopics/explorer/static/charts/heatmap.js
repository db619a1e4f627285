// The matrix of topics as a heat map: a grid that pointer and arrow keys move in.
import { scaleEnd } from "../lib/model.js";
import { tint } from "../lib/colour.js";
import { draw, make } from "../lib/dom.js";
import { cut, describeUncertainty, uncertain } from "../lib/format.js";
import { hideTip, showTip } from "../lib/tips.js";

const LETTER_WIDTH = 6.3; // average width of a letter of labels, in pixels
const MIN_NUMBERED_CELL = 46; // smallest cell, in pixels, in which its number is shown
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Sizes of the parts of the map: it fills the width, but cells stay large enough to be chosen. */
function measureMap(width, n) {
  const narrow = width < 560;
  const left = narrow ? 96 : Math.min(230, width * 0.3);
  const room = width - left - (narrow ? 4 : 62); // the last column's label leans over
  const cell = Math.max(narrow ? 11 : 14, Math.min(58, Math.floor(room / n)));
  const top = narrow ? 46 : 118;
  return { narrow, left, top, cell, width: left + cell * n + (narrow ? 4 : 62), height: top + cell * n + 4 };
}

/** A heat map of one measure; `open(a, b)` is called when a cell is chosen. */
export class HeatMap {
  constructor(model, open) {
    this.model = model;
    this.open = open;
    this.at = [0, 0]; // row and column of the cell that Tab leads to
    this.chosen = null;
    this.element = make("div", { class: "heatmap" });
  }

  /** Draw the map for a width in pixels. */
  show(width, measure, order) {
    const size = measureMap(width, order.length);
    Object.assign(this, { measure, order, size, most: scaleEnd(measure.values) });
    this.rows = order.map((a, y) => this.#row(a, y));
    const svg = draw("svg", {
      width: size.width, height: size.height, role: "grid", class: "matrix",
      "aria-label": `${measure.title}, from each topic to each topic`, "aria-readonly": "true",
    }, this.#corner(), draw("g", { role: "row" }, order.map((b, x) => this.#columnLabel(b, x))), this.rows);
    svg.addEventListener("keydown", (event) => this.#pressed(event));
    svg.addEventListener("click", (event) => this.#withCell(event, (a, b) => this.choose(a, b, false)));
    svg.addEventListener("pointerover", (event) => this.#withCell(event, (a, b) => this.#point(a, b, event.target)));
    svg.addEventListener("pointerleave", () => this.#point(null));
    svg.addEventListener("focusin", (event) => this.#withCell(event, (a, b) => this.#point(a, b, event.target)));
    svg.addEventListener("focusout", () => this.#point(null));
    this.element.replaceChildren(svg);
    this.#reachable(...this.at);
    if (this.chosen) this.#mark();
  }

  /** Choose a cell; with the keyboard, the panel gets the focus. */
  choose(a, b, byKey) {
    this.chosen = [a, b];
    this.#reachable(this.order.indexOf(a), this.order.indexOf(b));
    this.#mark();
    hideTip();
    this.open(a, b, byKey);
  }

  /** Return the focus to the chosen cell. */
  focus() {
    this.#cell(...this.at).focus();
  }

  #corner() {
    const { left, top, narrow } = this.size;
    const words = this.model.directed ? ["from topic ↓", "to topic →"] : ["topic ↓", "topic →"];
    return draw("g", { class: "axis", "aria-hidden": "true" },
      draw("text", { x: left - 8, y: top - 8, "text-anchor": "end" }, words[0]),
      draw("text", { x: left - 8, y: top - 26, "text-anchor": "end" }, words[1]));
  }

  #columnLabel(b, x) {
    const { left, top, cell, narrow } = this.size;
    const [cx, cy] = [left + (x + 0.5) * cell, top - 7];
    if (narrow) {
      return draw("text", { role: "columnheader", class: "label", transform: `translate(${cx + 4} ${cy}) rotate(-90)`, "aria-label": this.model.label(b) }, b);
    }
    const label = cut(this.model.label(b, 2), 20);
    return draw("text", { role: "columnheader", class: "label", transform: `translate(${cx} ${cy}) rotate(-50)`, "data-column": x, "aria-label": this.model.label(b) }, label);
  }

  #row(a, y) {
    const { left, top, cell, narrow } = this.size;
    const letters = Math.floor((left - 12) / LETTER_WIDTH);
    const middle = top + (y + 0.5) * cell;
    const label = draw("text", { role: "rowheader", class: "label", x: left - 8, y: middle, dy: "0.35em", "text-anchor": "end", "data-row": y },
      cut(this.model.label(a, narrow ? 1 : 3), letters));
    return draw("g", { role: "row" }, label, this.order.map((b, x) => this.#draw(a, b, x, y)));
  }

  #draw(a, b, x, y) {
    const { left, top, cell } = this.size;
    const { positive } = this.model.weights;
    const [px, py] = [left + x * cell, top + y * cell];
    const value = this.measure.values[a][b];
    const rect = draw("rect", {
      class: "cell", role: "gridcell", tabindex: -1, x: px, y: py, width: cell - 1, height: cell - 1, rx: cell > 18 ? 2 : 0,
      "data-a": a, "data-b": b, "aria-label": this.#sentence(a, b),
    });
    tint(rect, value, this.most);
    const [cx, cy] = [px + (cell - 1) / 2, py + (cell - 1) / 2];
    const written = cell >= MIN_NUMBERED_CELL;
    const number = written ? draw("text", { class: "number", x: cx, y: cy, dy: "0.35em", "text-anchor": "middle", "aria-hidden": "true" }, this.measure.show(value)) : null;
    const dot = uncertain(positive[a][b])
      ? draw("circle", { class: "unsure", cx, cy: written ? py + cell * 0.82 : cy, r: Math.max(1.6, Math.min(3, cell * 0.09)) })
      : null;
    return draw("g", { role: "presentation" }, rect, number, dot);
  }

  /** A cell in words. */
  #sentence(a, b) {
    const { mean, sd, positive } = this.model.weights;
    const other = this.measure === this.model.measures.weight ? "" : ` ${this.measure.title} ${this.measure.show(this.measure.values[a][b])}.`;
    const join = this.model.directed ? ["From topic", "to topic"] : ["Topic", "and topic"];
    return `${join[0]} ${this.model.label(a)} ${join[1]} ${this.model.label(b)}: weight ${this.model.measures.weight.show(mean[a][b])}. ${describeUncertainty(sd[a][b], positive[a][b])}${other}`;
  }

  #cell(row, column) {
    return this.rows[row].querySelectorAll("rect")[column];
  }

  #withCell(event, then) {
    const { a, b } = event.target.dataset ?? {};
    if (a !== undefined) then(Number(a), Number(b));
  }

  #pressed(event) {
    const step = STEPS[event.key];
    const last = this.order.length - 1;
    let [row, column] = this.at;
    if (step) [row, column] = [row + step[0], column + step[1]];
    else if (event.key === "Home") [row, column] = [event.ctrlKey ? 0 : row, 0];
    else if (event.key === "End") [row, column] = [event.ctrlKey ? last : row, last];
    else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(this.order[row], this.order[column], true);
      return;
    } else return;
    event.preventDefault();
    this.#reachable(Math.max(0, Math.min(last, row)), Math.max(0, Math.min(last, column)));
    this.focus();
  }

  #reachable(row, column) {
    const last = this.order.length - 1;
    this.#cell(Math.min(last, this.at[0]), Math.min(last, this.at[1])).setAttribute("tabindex", -1);
    this.at = [row, column].map((place) => Math.max(0, Math.min(last, place)));
    this.#cell(...this.at).setAttribute("tabindex", 0);
  }

  #mark() {
    for (const rect of this.element.querySelectorAll(".chosen")) {
      rect.classList.remove("chosen");
      rect.removeAttribute("aria-selected");
    }
    const [row, column] = this.chosen.map((k) => this.order.indexOf(k));
    this.#cell(row, column).classList.add("chosen");
    this.#cell(row, column).setAttribute("aria-selected", "true");
  }

  /** Show facts about a cell, and highlight its row and column. */
  #point(a, b, target) {
    for (const label of this.element.querySelectorAll(".label.on")) label.classList.remove("on");
    if (a === null) {
      hideTip();
      return;
    }
    const [row, column] = [this.order.indexOf(a), this.order.indexOf(b)];
    this.element.querySelector(`[data-row="${row}"]`)?.classList.add("on");
    this.element.querySelector(`[data-column="${column}"]`)?.classList.add("on");
    showTip(target, cellSummary(this.model, this.measure, a, b));
  }
}

/** Facts about a pair of topics, in a few lines. */
export function cellSummary(model, measure, a, b) {
  const { mean, sd, positive } = model.weights;
  const value = measure.values[a][b];
  const lines = [
    make("p", { class: "pair" }, model.label(a), make("span", { class: "arrow" }, model.directed ? " → " : " – "), model.label(b)),
    make("p", { class: "value" }, measure.show(value), make("span", { class: "faint" }, ` ${measure.title}`)),
  ];
  if (measure !== model.measures.weight) lines.push(make("p", {}, `Weight ${model.measures.weight.show(mean[a][b])}`));
  lines.push(make("p", {}, describeUncertainty(sd[a][b], positive[a][b])));
  return make("div", { class: "summary" }, lines);
}

/** The scale of colours with its numbers. */
export function colourLegend(measure) {
  const most = scaleEnd(measure.values);
  const beyond = measure.values.flat().some((value) => Math.abs(value) > most * 1.001);
  const steps = Array.from({ length: 41 }, (_, at) => (at - 20) / 20);
  const boxes = steps.map((t, at) => tint(draw("rect", { class: "cell", x: at * 6, y: 0, width: 6.2, height: 12 }), t, 1));
  return make("div", { class: "legend" },
    make("span", {}, `${measure.show(-most)}${beyond ? " and below" : ""}: ${measure.ends[0]}`),
    draw("svg", { viewBox: "0 0 246 12", width: 200, height: 12, role: "img", "shape-rendering": "crispEdges", "aria-label": `Colours from blue, ${measure.ends[0]}, to orange, ${measure.ends[1]}` }, boxes),
    make("span", {}, `${measure.show(most)}${beyond ? " and above" : ""}: ${measure.ends[1]}`),
    make("span", { class: "legend-note" }, draw("svg", { width: 12, height: 12, "aria-hidden": "true" }, draw("circle", { class: "unsure", cx: 6, cy: 6, r: 2.4 })), "sign uncertain"));
}
