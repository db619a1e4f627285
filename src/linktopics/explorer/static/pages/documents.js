// The page of all documents: search, filter by topic, sort, paging.
import { choice, make } from "../lib/dom.js";
import { count, cut, percent } from "../lib/format.js";
import { DataTable } from "../lib/table.js";
import { showDocument } from "./document.js";

const PAGE_SIZE = 50;

/** The page `#/documents` (`?query=...&topic=3`), or `#/documents/17`. */
export async function showDocuments(model, which, query) {
  if (which !== null) return showDocument(model, which);
  const state = { topic: query.has("topic") ? Number(query.get("topic")) : null };
  const columns = documentColumns(model, state);
  const table = new DataTable({
    caption: "Documents", file: "documents.csv", columns, size: PAGE_SIZE, hint: "Search by title, id or words",
    filter: query.get("query") ?? "",
    sort: state.topic === null ? "number" : "topic", descending: state.topic !== null,
    fetchRows: ({ filter, sort, descending, page, size }) => {
      saveQuery(filter, state.topic);
      const by = sort === "topic" && state.topic === null ? "number" : sort;
      return model.source.documents({ query: filter.trim(), topic: state.topic, sort: by, descending, page, size });
    },
    controls: [topicChoice(model, state, (changes) => table.show(changes))],
  });
  table.show();
  return make("div", { class: "page" },
    make("h1", {}, "Documents"),
    make("p", { class: "lead large" }, `${count(model.meta.data.documents)} documents; the search finds documents that have all terms in their title, id or words.`),
    table.element);
}

/** Write the query to the address, so that Back returns to the same list. */
function saveQuery(query, topic) {
  const parameters = new URLSearchParams();
  if (query.trim()) parameters.set("query", query.trim());
  if (topic !== null) parameters.set("topic", topic);
  history.replaceState(null, "", parameters.size ? `#/documents?${parameters}` : "#/documents");
}

function topicChoice(model, state, show) {
  const options = [["", "all topics"], ...model.order("number").map((k) => [String(k), cut(model.label(k, 3), 44)])];
  return choice("about", options, state.topic === null ? "" : String(state.topic), (value) => {
    state.topic = value === "" ? null : Number(value);
    show(state.topic === null ? { page: 0, sort: "number", descending: false } : { page: 0, sort: "topic", descending: true });
  });
}

function documentColumns(model, state) {
  const columns = [
    {
      key: "title", title: "Title", class: "wordy", value: (row) => row.title,
      show: (row) => [make("a", { class: "document", href: `#/documents/${row.i}` }, cut(row.title, 140)), row.title === row.id ? null : make("span", { class: "id" }, cut(row.id, 60))],
    },
    { key: "id", title: "", class: "hidden", sortable: false, value: (row) => row.id, show: () => "" },
    { key: "topic", title: "Topics", class: "mixed", numeric: true, value: (row) => topicText(model, row, state), show: (row) => mixBar(model, row) },
    { key: "tokens", title: "Tokens", numeric: true, class: "wide-only", value: (row) => row.tokens, show: (row) => count(row.tokens) },
    { key: "links", title: "Links", numeric: true, value: (row) => linkCount(model, row), show: (row) => count(linkCount(model, row)) },
  ];
  if (model.meta.data.labels) {
    columns.splice(2, 0, { key: "label", title: "Label", class: "wide-only", sortable: false, value: (row) => row.label, show: (row) => row.label ?? "–" });
  }
  return columns;
}

/** In a network without directions each link is listed at both ends, as one. */
function linkCount(model, row) {
  return model.meta.data.directed ? row.links_out + row.links_in : Math.max(row.links_out, row.links_in);
}

function topicText(model, row, state) {
  if (state.topic !== null) return row.topics.find(([k]) => k === state.topic)?.[1] ?? null;
  return row.topics.map(([k, share]) => `${model.label(k, 2)} ${percent(share)}`).join("; ");
}

/** The largest topics of a document as one bar of parts. */
function mixBar(model, row) {
  const parts = row.topics.map(([k, share], rank) => make("span", { class: `part part-${rank}`, style: { "--w": `${(100 * share).toFixed(1)}%` }, title: `${model.label(k)}: ${percent(share)}` }));
  const [first] = row.topics;
  return make("span", { class: "mix" }, make("span", { class: "stack", "aria-hidden": "true" }, parts),
    first ? make("span", { class: "faint" }, `${percent(first[1])} ${cut(model.words(first[0], 2), 30)}`) : null);
}
