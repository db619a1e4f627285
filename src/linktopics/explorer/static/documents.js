// The page of all documents: search, filter by topic, sort, paging.
import { choice, make } from "./dom.js";
import { count, cut, percent } from "./format.js";
import { DataTable } from "./table.js";
import { showDocument } from "./document.js";

const PAGE_SIZE = 50;

/** The page `#/documents` (`?query=...&topic=3`), or `#/documents/17`. */
export async function showDocuments(atlas, which, asked) {
  if (which !== null) return showDocument(atlas, which);
  const state = { topic: asked.has("topic") ? Number(asked.get("topic")) : null };
  const columns = documentColumns(atlas, state);
  const table = new DataTable({
    caption: "Documents", file: "documents.csv", columns, size: PAGE_SIZE, hint: "Search by title, id or words",
    filter: asked.get("query") ?? "",
    sort: state.topic === null ? "number" : "topic", descending: state.topic !== null,
    ask: ({ filter, sort, descending, page, size }) => {
      keepAsked(filter, state.topic);
      const by = sort === "topic" && state.topic === null ? "number" : sort;
      return atlas.source.documents({ query: filter.trim(), topic: state.topic, sort: by, descending, page, size });
    },
    controls: [topicChoice(atlas, state, (changes) => table.show(changes))],
  });
  table.show();
  return make("div", { class: "page" },
    make("h1", {}, "Documents"),
    make("p", { class: "lead large" }, `${count(atlas.meta.data.documents)} documents; the search looks for all its words in titles, ids and texts.`),
    table.element);
}

/** Write the query to the address, so that Back returns to the same list. */
function keepAsked(query, topic) {
  const asked = new URLSearchParams();
  if (query.trim()) asked.set("query", query.trim());
  if (topic !== null) asked.set("topic", topic);
  history.replaceState(null, "", asked.size ? `#/documents?${asked}` : "#/documents");
}

function topicChoice(atlas, state, show) {
  const options = [["", "all topics"], ...atlas.order("number").map((k) => [String(k), cut(atlas.label(k, 3), 44)])];
  return choice("about", options, state.topic === null ? "" : String(state.topic), (value) => {
    state.topic = value === "" ? null : Number(value);
    show(state.topic === null ? { page: 0, sort: "number", descending: false } : { page: 0, sort: "topic", descending: true });
  });
}

function documentColumns(atlas, state) {
  const columns = [
    {
      key: "title", title: "Title", class: "wordy", value: (row) => row.title,
      show: (row) => [make("a", { class: "document", href: `#/documents/${row.i}` }, cut(row.title, 140)), row.title === row.id ? null : make("span", { class: "id" }, cut(row.id, 60))],
    },
    { key: "id", title: "", class: "hidden", sortable: false, value: (row) => row.id, show: () => "" },
    { key: "topic", title: "Topics", class: "mixed", numeric: true, value: (row) => topicText(atlas, row, state), show: (row) => mixBar(atlas, row) },
    { key: "tokens", title: "Tokens", numeric: true, class: "wide-only", value: (row) => row.tokens, show: (row) => count(row.tokens) },
    { key: "links", title: "Links", numeric: true, value: (row) => linkCount(atlas, row), show: (row) => count(linkCount(atlas, row)) },
  ];
  if (atlas.meta.data.labels) {
    columns.splice(2, 0, { key: "label", title: "Label", class: "wide-only", sortable: false, value: (row) => row.label, show: (row) => row.label ?? "–" });
  }
  return columns;
}

/** In a network without directions each link is listed at both ends, as one. */
function linkCount(atlas, row) {
  return atlas.meta.data.directed ? row.links_out + row.links_in : Math.max(row.links_out, row.links_in);
}

function topicText(atlas, row, state) {
  if (state.topic !== null) return row.topics.find(([k]) => k === state.topic)?.[1] ?? null;
  return row.topics.map(([k, share]) => `${atlas.label(k, 2)} ${percent(share)}`).join("; ");
}

/** The largest topics of a document as one bar of parts. */
function mixBar(atlas, row) {
  const parts = row.topics.map(([k, share], rank) => make("span", { class: `part part-${rank}`, style: { "--w": `${(100 * share).toFixed(1)}%` }, title: `${atlas.label(k)}: ${percent(share)}` }));
  const [first] = row.topics;
  return make("span", { class: "mix" }, make("span", { class: "stack", "aria-hidden": "true" }, parts),
    first ? make("span", { class: "faint" }, `${percent(first[1])} ${cut(atlas.words(first[0], 2), 30)}`) : null);
}
