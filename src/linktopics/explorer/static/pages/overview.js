// The first page: data, topics, quality of predictions, mixing, settings and provenance.
import { scaleEnd } from "../lib/model.js";
import { tint } from "../lib/colour.js";
import { draw, make } from "../lib/dom.js";
import { count, number, percent, plural, signed } from "../lib/format.js";
import { tableOf } from "../lib/table.js";
import { rHatWords, traceGrid, traceLead } from "../charts/traces.js";
import { factList, notice, section, shareBar, topicLink } from "../lib/widgets.js";

/** The page `#/`. */
export async function showOverview(model) {
  const { meta } = model;
  return make("div", { class: "page" },
    make("h1", {}, meta.title),
    make("p", { class: "lead large" }, opening(model)),
    numbers(model),
    make("div", { class: "halves" }, thumbnail(model), largestTopics(model)),
    quality(model),
    featureWeights(model),
    mixing(model),
    section("Settings and provenance", null,
      make("div", { class: "halves close" },
        make("div", {}, make("h3", {}, "Settings"), factList(meta.settings)),
        make("div", {}, make("h3", {}, "The data"), summary(meta.data.summary ?? ""),
          lines(meta.data.report), make("h3", {}, "Provenance"), factList(meta.provenance),
          meta.notes?.length ? [make("h3", {}, "What is not in this file"), lines(meta.notes)] : null))));
}

function opening({ meta, topics }) {
  const { data } = meta;
  return `${plural(topics.length, "topic")}, fitted to the words of ${plural(data.documents, "document")} and the ${count(data.links)} ${data.directed ? "directed " : ""}links between them.`;
}

/** The summary of the data, a name and a value on each line. */
function summary(text) {
  const pairs = text.split("\n").filter(Boolean).map((line) => line.trim().split(/ {2,}/));
  return pairs.every((pair) => pair.length === 2) ? factList(pairs) : make("p", {}, text);
}

function lines(sentences) {
  return sentences?.length ? make("ul", { class: "plain" }, sentences.map((line) => make("li", {}, line))) : null;
}

function numbers({ meta, topics }) {
  const { data } = meta;
  const tiles = [
    [count(data.documents), "documents"], [count(data.links), data.directed ? "directed links" : "links"],
    [count(topics.length), "topics"], [count(data.tokens), "tokens"], [count(data.words), "different words"],
  ];
  return make("dl", { class: "tiles" }, tiles.map(([value, name]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function thumbnail(model) {
  const order = model.order("structure");
  const { values } = model.measures.weight;
  const most = scaleEnd(values);
  const cells = order.flatMap((a, y) => order.map((b, x) =>
    tint(draw("rect", { class: "cell", x, y, width: 1.02, height: 1.02 }), values[a][b], most)));
  const size = order.length;
  return make("section", { class: "way-in" },
    make("h2", {}, make("a", { href: "#/weights" }, "How topics link")),
    make("a", { class: "thumbnail", href: "#/weights", "aria-label": "Open the matrix of weights between topics" },
      draw("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true", "shape-rendering": "crispEdges" }, cells)),
    make("p", { class: "lead" }, model.directed
      ? "Each row is a topic that links, each column a topic that is linked to. Orange makes a link more likely, blue less likely."
      : "Rows and columns are topics. Orange makes a link between two topics more likely, blue less likely."),
    make("p", {}, make("a", { href: "#/graph" }, "The same as a graph of topics")));
}

function largestTopics(model) {
  const order = model.order("share").slice(0, 8);
  const most = model.topics[order[0]].share;
  return make("section", { class: "way-in" },
    make("h2", {}, make("a", { href: "#/topics" }, "The largest topics")),
    make("ol", { class: "topic-list" }, order.map((k) => make("li", {}, topicLink(model, k, 5), shareBar(model.topics[k].share, most)))),
    make("p", {}, make("a", { href: "#/topics" }, `All ${count(model.topics.length)} topics`)));
}

function quality({ meta }) {
  const found = meta.quality;
  if (!found) {
    return section("Quality", null, notice("No evaluation is available: the model was not evaluated, or the result was not passed. Diagnostics of the chains are below."));
  }
  const models = [{ model: found.model, measures: found.measures, own: true }, ...found.baselines];
  const lead = `Links and words of documents that models had not seen${found.folds ? `, ${plural(found.folds, "fold")}` : ""}${found.from ? ` (${found.from})` : ""}.`;
  const panels = found.measures.map((measure) => measurePanel(measure, models));
  return section("Quality", lead, make("div", { class: "multiples measures" }, panels));
}

function measurePanel({ name, better, description }, models) {
  const rows = models.flatMap(({ model, own, measures }) => measures.filter((each) => each.name === name && each.mean !== null)
    .map(({ mean, sd }) => ({ model, own, mean, sd })));
  const sign = better === "lower" ? 1 : -1;
  rows.sort((x, y) => sign * (x.mean - y.mean));
  const most = Math.max(...rows.map((row) => row.mean), 1e-12);
  return make("figure", { class: "measure" },
    make("figcaption", {}, make("b", {}, description), make("span", { class: "faint" }, ` ${better} is better`)),
    make("ul", { class: "bars" }, rows.map(({ model, own, mean, sd }) => make("li", { class: own ? "own" : null },
      make("span", { class: "name" }, model),
      shareBar(mean, most, { label: number(mean) + (sd === null ? "" : ` ± ${number(sd, 2)}`) })))));
}

function featureWeights({ meta }) {
  if (!meta.features?.length) return null;
  const columns = [
    { key: "feature", title: "Feature of a pair", value: (row) => row.name },
    { key: "weight", title: "Weight", numeric: true, value: (row) => row.mean, show: (row) => signed(row.mean) },
    { key: "sd", title: "Standard deviation", numeric: true, value: (row) => row.sd, show: (row) => number(row.sd, 2) },
    { key: "positive", title: "Positive in", numeric: true, value: (row) => row.positive, show: (row) => `${percent(row.positive)} of samples` },
  ];
  return section("Features of pairs",
    "Besides topics, the model has weights for these features of a pair. Each weight is the effect of its feature with all others fixed.",
    tableOf({ caption: "Weights of features", file: "features.csv", columns, rows: meta.features, filters: false, kind: "small" }));
}

function mixing({ meta }) {
  const found = meta.mixing;
  const columns = [
    { key: "quantity", title: "Quantity", value: (row) => row.quantity },
    { key: "mean", title: "Mean", numeric: true, value: (row) => row.mean, show: (row) => number(row.mean, 4) },
    { key: "sd", title: "Standard deviation", numeric: true, class: "wide-only", value: (row) => row.sd, show: (row) => number(row.sd, 3) },
    { key: "r_hat", title: "R-hat", numeric: true, value: (row) => row.r_hat, show: (row) => (row.r_hat === null ? "–" : row.r_hat.toFixed(3)) },
    { key: "ess", title: "Effective samples", numeric: true, class: "wide-only", value: (row) => row.ess, show: (row) => number(row.ess, 3) },
    { key: "means", title: "Meaning", value: (row) => rHatWords(row.r_hat, found.chains) },
  ];
  return section(found.chains > 1 ? "Did the chains agree?" : "Has the chain settled?",
    found.verdict ?? "R-hat compares chains with different starting points: near 1 they agree, above 1.1 they do not.",
    found.table?.length ? tableOf({ caption: "Mixing of the chains", file: "mixing.csv", columns, rows: found.table, filters: false }) : null,
    make("p", { class: "lead" }, traceLead(found)),
    traceGrid(found));
}
