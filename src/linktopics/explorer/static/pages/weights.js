// The page of the weight matrix.
import { HeatMap, cellSummary, colourLegend } from "../charts/heatmap.js";
import { choice, make, replace, watchWidth } from "../lib/dom.js";
import { number, percent, plural, signed } from "../lib/format.js";
import { DataTable } from "../lib/table.js";
import { documentLink, notice, shareBar, topicLink } from "../lib/widgets.js";

const ORDERS = [["structure", "structure"], ["share", "share"], ["number", "number"]];

/** The page `#/weights`; `?from=3&to=7` opens a cell. */
export async function showWeights(model, _, query) {
  const state = { order: "structure", measure: "weight", width: 0 };
  const panel = make("aside", { class: "panel", "aria-label": "The chosen cell", tabindex: -1 });
  const map = new HeatMap(model, (a, b, byKey) => openCell(model, panel, map, a, b, byKey));
  const holder = make("div", { class: "map-holder" }, map.element);
  const legend = make("div", {});
  const means = make("p", { class: "lead" });
  const redraw = () => {
    const measure = model.measures[state.measure];
    map.show(state.width, measure, model.order(state.order));
    replace(legend, colourLegend(measure));
    means.textContent = measure.means;
  };
  const change = (name) => (value) => {
    state[name] = value;
    redraw();
  };
  watchWidth(holder, (width) => {
    const first = state.width === 0;
    state.width = width;
    redraw();
    if (first && query.has("from") && query.has("to")) chooseFromQuery(model, map, query);
  });
  replace(panel, howToRead(model));
  const measures = Object.entries(model.measures).map(([key, measure]) => [key, measure.title]);
  return make("div", { class: "page" },
    make("h1", {}, "How topics link"),
    make("p", { class: "lead large" }, whatCellsAre(model)),
    make("div", { class: "tools" }, choice("Order by", ORDERS, state.order, change("order")), choice("Show", measures, state.measure, change("measure"))),
    make("div", { class: "with-panel" }, make("div", {}, holder, legend, means), panel),
    allCells(model));
}

function whatCellsAre({ diagonal, directed }) {
  if (diagonal) return "This model has diagonal weights: how much documents of a topic link among themselves. It has no weights between different topics.";
  return directed
    ? "Rows are the topics of documents that link, columns those of documents that are linked to. Links have a direction, so a cell and its mirror image differ."
    : "Each cell is a pair of topics. Weights are symmetric: a cell and its mirror image are the same.";
}

function chooseFromQuery(model, map, query) {
  const [a, b] = [Number(query.get("from")), Number(query.get("to"))];
  if (model.topics[a] && model.topics[b]) map.choose(a, b, false);
}

function howToRead(model) {
  return [
    make("h2", {}, "Reading the matrix"),
    make("ul", { class: "plain" },
      make("li", {}, "Orange cells make a link between two topics more likely, blue cells less likely; strong colours are far from zero."),
      make("li", {}, "A dot means that the samples disagree on the sign."),
      model.directed ? make("li", {}, "If a cell is orange and its mirror image is blue, the first topic links to the second, but not the second to the first.") : null,
      make("li", {}, "The diagonal shows how much documents of a topic link among themselves.")),
    make("p", { class: "faint" }, "Choose a cell to see the links of the data it explains best. With the keyboard: arrow keys, Enter to open, Escape to come back."),
  ];
}

async function openCell(model, panel, map, a, b, byKey) {
  history.replaceState(null, "", `#/weights?from=${a}&to=${b}`);
  const { weights } = model;
  const arrow = model.directed ? "→" : "–";
  const links = make("div", { "aria-live": "polite" }, make("p", { class: "waiting" }, "Loading links …"));
  replace(panel,
    make("h2", {}, model.directed ? `From topic ${a} to topic ${b}` : a === b ? `Topic ${a} with itself` : `Topics ${a} and ${b}`),
    make("p", { class: "pair" }, topicLink(model, a), make("span", { class: "arrow" }, ` ${arrow} `), topicLink(model, b)),
    [...cellSummary(model, model.measures.weight, a, b).children].slice(1),
    make("p", {}, `${number(weights.observed[a][b], 3)} links in the data, ${number(weights.chance[a][b], 3)} by chance.`),
    make("h3", {}, weights.mean[a][b] < 0 ? "Links to which it contributes most negatively" : "Links it explains best"), links,
    make("h3", {}, a === b ? "Words of the topic" : "Words of both topics"), wordsOfBoth(model, a, b));
  panel.onkeydown = (event) => event.key === "Escape" && map.focus();
  if (byKey) panel.focus();
  else if (panel.getBoundingClientRect().top > innerHeight * 0.8) panel.scrollIntoView({ block: "start" });
  try {
    replace(links, linkList(model, model.storeNames(await model.source.cell(a, b)), arrow));
  } catch (error) {
    replace(links, notice(error.message, "wrong"));
  }
}

function linkList(model, cell, arrow) {
  if (!cell.links.length) {
    return notice(cell.known === false ? "This file contains links for the strongest cells only; this one is not among them." : "No link of the data is explained by this cell.");
  }
  return make("ol", { class: "link-list" }, cell.links.map((link) => make("li", {},
    make("div", {}, documentLink(model, link.source, 80), make("span", { class: "arrow" }, ` ${arrow} `), documentLink(model, link.target, 80)),
    make("div", { class: "faint" }, `contribution ${signed(link.contribution)}, ${percent(Math.abs(link.share))} of all ${link.contribution < 0 ? "negative" : "positive"} ones; probability ${percent(link.probability)}`))));
}

function wordsOfBoth(model, a, b) {
  const column = (k) => {
    const topic = model.topics[k];
    const words = model.best[k].slice(0, 10);
    const p = new Map(topic.words.map((word, at) => [word, topic.p[at]]));
    const most = p.get(words[0]);
    return make("div", {}, make("h4", {}, topicLink(model, k, 1)),
      make("ul", { class: "bars words" }, words.map((word) => make("li", {}, make("span", { class: "name" }, word), shareBar(p.get(word), most)))));
  };
  return make("div", { class: a === b ? "" : "two" }, column(a), a === b ? null : column(b));
}

function allCells(model) {
  const { mean, sd, positive, observed, chance } = model.weights;
  const rows = [...model.pairs(), ...model.topics.map((_, k) => [k, k])].map(([a, b]) => ({
    a, b, mean: mean[a][b], sd: sd[a][b], positive: positive[a][b], observed: observed[a][b], chance: chance[a][b],
  }));
  const columns = [
    { key: "from", title: model.directed ? "From topic" : "Topic", value: (row) => model.label(row.a), show: (row) => topicLink(model, row.a, 2) },
    { key: "to", title: model.directed ? "To topic" : "Topic", value: (row) => model.label(row.b), show: (row) => topicLink(model, row.b, 2) },
    { key: "weight", title: "Weight", numeric: true, value: (row) => row.mean, show: (row) => make("a", { href: `#/weights?from=${row.a}&to=${row.b}` }, signed(row.mean)) },
    { key: "sd", title: "Standard deviation", numeric: true, class: "wide-only", value: (row) => row.sd, show: (row) => number(row.sd, 2) },
    { key: "positive", title: "Positive in", numeric: true, value: (row) => row.positive, show: (row) => percent(row.positive) },
    { key: "observed", title: "Links", numeric: true, value: (row) => row.observed, show: (row) => number(row.observed, 3) },
    { key: "chance", title: "By chance", numeric: true, class: "wide-only", value: (row) => row.chance, show: (row) => number(row.chance, 3) },
  ];
  const table = new DataTable({ caption: "Weights between topics", file: "weights.csv", columns, rows, sort: "weight", descending: true });
  const more = make("details", { class: "more" }, make("summary", {}, `All ${plural(rows.length, "cell")} as a table`), table.element);
  more.addEventListener("toggle", () => more.open && table.show(), { once: true });
  return more;
}
