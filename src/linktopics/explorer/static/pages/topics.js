// The pages of topics: all of them, and one.
import { make, replace } from "../lib/dom.js";
import { number, percent, plural, signed } from "../lib/format.js";
import { tableOf } from "../lib/table.js";
import { documentLink, notice, section, shareBar, topicLink } from "../lib/widgets.js";

const SHOWN_WORDS = 20;

/** The page `#/topics`, or `#/topics/3`. */
export async function showTopics(model, which) {
  if (which !== null) return model.topics[which] ? oneTopic(model, which) : notice(`There is no topic ${which}.`, "wrong");
  const most = Math.max(...model.topics.map((topic) => topic.share));
  const rows = model.topics.map((topic, k) => ({ k, ...topic }));
  const columns = [
    { key: "topic", title: "Topic", numeric: true, class: "narrow", value: (row) => row.k },
    {
      key: "words", title: "Most probable words", class: "wordy", value: (row) => model.words(row.k, 10),
      show: (row) => make("a", { class: "words", href: `#/topics/${row.k}` }, make("b", {}, model.words(row.k, 3)), `, ${model.best[row.k].slice(3, 9).join(", ")}`),
    },
    { key: "share", title: "Share of words", value: (row) => row.share, show: (row) => shareBar(row.share, most), numeric: true, class: "barred" },
    { key: "coherence", title: "Coherence", numeric: true, class: "wide-only", value: (row) => row.coherence, show: (row) => number(row.coherence, 3) },
    { key: "attraction", title: "Weight with itself", numeric: true, class: "wide-only", value: (row) => row.attraction, show: (row) => signed(row.attraction) },
  ];
  return make("div", { class: "page" },
    make("h1", {}, "Topics"),
    make("p", { class: "lead large" }, `${plural(model.topics.length, "topic")}: sets of words that occur together in documents. Some of them attract links from one another.`),
    tableOf({ caption: "Topics", file: "topics.csv", columns, rows, sort: "share", descending: true, size: 100 }));
}

function oneTopic(model, k) {
  const topic = model.topics[k];
  return make("div", { class: "page" },
    make("p", { class: "crumbs" }, make("a", { href: "#/topics" }, "Topics"), " / ", neighbours(model, k)),
    make("h1", {}, make("span", { class: "faint" }, `Topic ${k} `), model.words(k, 4)),
    make("dl", { class: "tiles" },
      tile("of all words", percent(topic.share)), tile("coherence", number(topic.coherence, 3)),
      tile("weight with itself", signed(topic.attraction))),
    make("div", { class: "halves" }, wordBars(model, k), partnerBars(model, k)),
    section("Its documents", "Those with the largest share of this topic.",
      make("ol", { class: "document-list" }, topic.documents.map((i) => make("li", {}, documentLink(model, i)))),
      make("p", {}, make("a", { href: `#/documents?topic=${k}` }, "All documents by their share of this topic"))));
}

function tile(name, value) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, value));
}

function neighbours(model, k) {
  const last = model.topics.length - 1;
  const step = (to, text) => make("a", { href: `#/topics/${to}` }, text);
  return [step(k === 0 ? last : k - 1, "previous"), " · ", step(k === last ? 0 : k + 1, "next")];
}

/** Words of a topic, ordered by relevance; a slider sets the balance of probability and distinctiveness. */
function wordBars(model, k) {
  const topic = model.topics[k];
  const list = make("ul", { class: "bars words double" });
  const says = make("output", { class: "count" });
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.05, value: 0.6, on: { input: () => show() } });
  const most = Math.max(...topic.p, ...topic.q);
  const show = () => {
    const lambda = Number(slider.value);
    says.textContent = `λ = ${lambda.toFixed(2)}`;
    replace(list, byRelevance(topic, lambda).slice(0, SHOWN_WORDS).map((at) => make("li", {},
      make("span", { class: "name" }, topic.words[at]),
      make("span", { class: "pair-of-bars" },
        shareBar(topic.p[at], most), shareBar(topic.q[at], most, { kind: "overall" })))));
  };
  show();
  return section("Words", null,
    make("label", { class: "field grow" }, make("span", {}, "distinctive"), slider, make("span", {}, "probable"), says),
    make("p", { class: "key" }, make("span", { class: "swatch own" }), "in this topic ", make("span", { class: "swatch overall" }), "in all documents"),
    list);
}

/** Indices of words by relevance (Sievert and Shirley, 2014): λ log p(w | topic) + (1 - λ) log p(w | topic) / p(w). */
function byRelevance({ p, q }, lambda) {
  const tiny = 1e-12;
  const relevance = p.map((value, at) => Math.log(value + tiny) - (1 - lambda) * Math.log((q[at] ?? 0) + tiny));
  return relevance.map((_, at) => at).sort((x, y) => relevance[y] - relevance[x]);
}

function partnerBars(model, k) {
  const { mean } = model.weights;
  const list = (title, pair) => {
    const value = (other) => mean[pair(other)[0]][pair(other)[1]];
    const order = model.topics.map((_, other) => other).sort((x, y) => value(y) - value(x));
    const shown = order.length <= 9 ? order : [...order.slice(0, 6), ...order.slice(-3)];
    const most = Math.max(1e-9, ...order.map((other) => Math.abs(value(other))));
    return [title ? make("h3", {}, title) : null, make("ul", { class: "diverging" }, shown.map((other, at) => make("li", { class: at === 6 && order.length > 9 ? "after-gap" : null },
      make("span", { class: "name" }, topicLink(model, other, 2)),
      divergingBar(value(other), most, `#/weights?from=${pair(other)[0]}&to=${pair(other)[1]}`))))];
  };
  return section("Partner topics", "The largest and the smallest weights; choose one to see the links it explains.",
    list(model.directed ? "Links to" : null, (other) => [k, other]),
    model.directed ? list("Is linked from", (other) => [other, k]) : null);
}

function divergingBar(value, most, href) {
  const width = `${(50 * Math.abs(value)) / most}%`;
  const bar = make("span", { class: `bar ${value < 0 ? "repels" : "attracts"}`, style: { "--w": width } });
  return make("a", { class: "weight", href }, make("span", { class: "track", "aria-hidden": "true" }, bar), make("span", { class: "amount" }, signed(value)));
}
