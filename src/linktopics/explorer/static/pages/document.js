// The page of one document.
import { Palette } from "../lib/colour.js";
import { make } from "../lib/dom.js";
import { count, percent, plural } from "../lib/format.js";
import { tableOf } from "../lib/table.js";
import { withTip } from "../lib/tips.js";
import { documentLink, factList, notice, probabilityBar, reasonList, reasonText, section, shareBar, topicLink } from "../lib/widgets.js";

const DIRECTION = { out: ["→", "links to"], in: ["←", "linked from"], both: ["↔", "link without direction"] };

/** The page `#/documents/17`. */
export async function showDocument(model, which) {
  const found = model.storeNames(await model.source.document(which));
  const palette = new Palette().use(found.topics.map(([k]) => k));
  const surprising = found.links.filter((link) => link.surprising);
  return make("div", { class: "page" },
    make("p", { class: "crumbs" }, make("a", { href: "#/documents" }, "Documents")),
    make("h1", {}, found.title),
    make("p", { class: "lead" }, facts(found)),
    make("div", { class: "halves" }, proportions(model, found, palette), wordsOf(model, found, palette)),
    section("Links", linksLead(found),
      linkTable(model, found.links, "Links of this document", "links.csv", "It has no links.")),
    section("Suggested, but absent", "The most probable links that are absent from the data, with the range of each probability over 90 % of the posterior samples.",
      linkTable(model, found.suggested, "Suggested links", "suggested.csv", "There are no suggestions.")),
    section("Present, but surprising", surprisingRule(found),
      linkTable(model, surprising, "Surprising links", "surprising.csv", "None: no link of this document is among the least probable tenth.")));
}

function linksLead({ n_links: all, links }) {
  const some = all > links.length ? ` Of ${count(all)} links, the ${count(links.length)} most and least probable ones are shown.` : "";
  return `Links with their probability in the model and the largest contributions to their score.${some}`;
}

function surprisingRule({ surprising_below: below }) {
  const bound = below === null || below === undefined ? "" : ` (probability below ${percent(below)})`;
  return `Links of this document that the model does not expect: nine of ten links of the network are more probable${bound}.`;
}

function facts(found) {
  const parts = [plural(found.tokens, "token"), plural(found.n_links ?? found.links.length, "link")];
  if (found.title !== found.id) parts.unshift(found.id);
  if (found.label !== null && found.label !== undefined) parts.push(`label: ${found.label}`);
  return parts.join(" · ");
}

function proportions(model, found, palette) {
  const most = Math.max(...found.topics.map(([, share]) => share), 1e-9);
  const columns = Object.entries(found.columns ?? {}).map(([name, value]) => [name, String(value ?? "–")]);
  return section("Its topics", null,
    found.tokens && found.topics.length
      ? make("ul", { class: "bars proportions" }, found.topics.slice(0, 12).map(([k, share]) => make("li", {}, make("span", { class: "name" }, topicLink(model, k, 3)), shareBar(share, most, { kind: palette.of(k) }))))
      : notice("It has no words, so its topics are unknown."),
    columns.length ? [make("h3", {}, "Further data"), factList(columns)] : null);
}

/** The words in the colours of their topics: in the text if there is one, and as a list. */
function wordsOf(model, found, palette) {
  const topicOf = new Map(found.words.map(([word, , topic]) => [word.toLowerCase(), topic]));
  if (!found.words.length) return section("Its words", null, found.text ? make("p", { class: "coloured text" }, found.text) : notice("It has no words that the model knows."));
  return section("Its words", "Each word has the colour of its main topic in this document.",
    found.text ? make("p", { class: "coloured text" }, colouredText(model, found.text, topicOf, palette)) : null,
    make("ul", { class: "coloured list", "aria-label": "Words by weight" }, found.words.map(([word, times, topic]) => {
      const item = make("li", { class: `word ${palette.of(topic)}`, tabindex: -1 }, word, times > 1 ? make("sup", {}, `×${count(times)}`) : null);
      return withTip(item, () => make("p", {}, `${word}, ${plural(times, "time")}: topic ${model.label(topic)}`));
    })));
}

function colouredText(model, text, topicOf, palette) {
  return text.split(/([\p{L}\p{N}_]+)/u).map((piece, at) => {
    const topic = at % 2 ? topicOf.get(piece.toLowerCase()) : undefined;
    return topic === undefined ? piece : make("span", { class: `word ${palette.of(topic)}`, title: `topic ${model.label(topic)}` }, piece);
  });
}

function linkTable(model, links, caption, file, none) {
  if (!links.length) return notice(none);
  const columns = [
    {
      key: "direction", title: "", class: "narrow", sortable: false, value: (row) => row.direction,
      show: (row) => make("span", { class: "arrow", title: DIRECTION[row.direction][1], role: "img", "aria-label": DIRECTION[row.direction][1] }, DIRECTION[row.direction][0]),
    },
    { key: "document", title: "Document", class: "wordy", value: (row) => model.title(row.j), show: (row) => documentLink(model, row.j) },
    { key: "id", title: "", class: "hidden", sortable: false, value: (row) => model.names[row.j]?.id ?? "", show: () => "" },
    { key: "probability", title: "Probability", numeric: true, class: "barred", value: (row) => row.probability, show: (row) => probabilityBar(row) },
    { key: "why", title: "Reasons", class: "why", sortable: false, value: (row) => reasonText(model, row.why), show: (row) => reasonList(model, row.why) },
  ];
  return tableOf({ caption, file, columns, rows: links, sort: "probability", descending: true, kind: "stacks links" });
}
