// The source of a report: all data are in the page, in the compact form that linktopics/explorer/report_data.py describes.

const DIRECTIONS = ["out", "in", "both"];
const SORTS = {
  number: (row) => row.i,
  title: (row) => row.title.toLowerCase(),
  tokens: (row) => row.tokens,
  links: (row) => row.links_out + row.links_in,
};

// Smallest share of a topic, in thousandths, for a document to be listed under it, as in explorer/document_search.py.
const MIN_LISTED_SHARE = 100;
const IDENTITY = 0, TITLE = 1, LABEL = 2, TOKENS = 3, TEXT = 4, COLUMNS = 5, TOPICS = 6, WORDS = 7, SUGGESTED = 8;

/** Reads the data of a report; a document is decoded when it is shown. */
export class ReportSource {
  hasTextQueries = false;

  constructor(report) {
    this.report = report;
    this.links = linksByDocument(report);
    this.found = null; // the rows of the last search, so that paging and sorting do not search again
    this.haystacks = null;
  }

  async meta() {
    return this.report.meta;
  }

  /** The links of the data that the weight of topics a and b explains best. */
  async cell(a, b) {
    const known = this.report.cells[a]?.[b];
    const links = (known ?? []).map(([source, target, contribution, share, probability]) => {
      return { source, target, contribution, share, probability };
    });
    return { a, b, links, known: !!known, names: this.#names(links.flatMap((x) => [x.source, x.target])) };
  }

  async documents({ query = "", topic = null, sort = "number", descending = false, page = 0, size = 50 } = {}) {
    const rows = this.#search(query, topic).slice();
    const key = sort === "topic" ? (row) => this.#share(row.i, topic) : SORTS[sort];
    const sign = descending ? -1 : 1;
    rows.sort((x, y) => {
      const [p, q] = [key(x), key(y)];
      return p < q ? -sign : p > q ? sign : x.i - y.i;
    });
    return { total: rows.length, page, size, rows: rows.slice(page * size, (page + 1) * size) };
  }

  async document(i) {
    const row = this.report.documents[i];
    if (!row) throw new Error(`There is no document number ${i}.`);
    const links = this.links[i].map((link) => this.#link(i, link)).sort((x, y) => y.probability - x.probability);
    const suggested = row[SUGGESTED].map(([j, direction, probability, lower, upper, why]) => {
      const [p, low, high] = [probability, lower, upper].map(hundredThousandths);
      return { j, direction: DIRECTIONS[direction], probability: p, lower: low, upper: high, why: this.#reasons(why) };
    });
    return {
      i, id: row[IDENTITY], title: this.#title(i), label: this.#label(i), tokens: row[TOKENS], text: row[TEXT],
      columns: Object.fromEntries(this.report.columns.map((name, at) => [name, row[COLUMNS][at]])),
      topics: this.#topics(i),
      words: inTuples(row[WORDS], 3).map(([word, count, topic]) => [this.report.vocabulary[word], count, topic]),
      n_links: links.length, links, suggested, surprising_below: this.report.surprising_below,
      names: this.#names([...links, ...suggested].map((link) => link.j)),
    };
  }

  /** A link from the side of document i. */
  #link(i, [source, target, probability, surprising, why]) {
    const own = source === i;
    const direction = this.report.meta.data.directed ? (own ? "out" : "in") : "both";
    const reasons = this.#reasons(why);
    if (direction === "both" && !own) reasons.forEach((reason) => reason.topics?.reverse());
    const p = hundredThousandths(probability);
    return { j: own ? target : source, direction, probability: p, surprising: !!surprising, why: reasons };
  }

  #names(numbers) {
    return Object.fromEntries(
      numbers.map((i) => [i, { id: this.report.documents[i][IDENTITY], title: this.#title(i) }]),
    );
  }

  #title(i) {
    return this.report.documents[i][TITLE] ?? this.report.documents[i][IDENTITY];
  }

  #label(i) {
    return this.report.labels[this.report.documents[i][LABEL]] ?? null;
  }

  #topics(i) {
    return inTuples(this.report.documents[i][TOPICS], 2).map(([topic, share]) => [topic, share / 1000]);
  }

  #share(i, topic) {
    return inTuples(this.report.documents[i][TOPICS], 2).find(([k]) => k === topic)?.[1] ?? 0;
  }

  #reasons(reasons) {
    return reasons.map(([share, contribution, what, other, ...words]) => {
      const reason = { share: share / 100, contribution: contribution / 100 };
      if (what >= 0) return { ...reason, topics: [what, other] };
      const names = words.map((word) => this.report.vocabulary[word]).join(", ");
      return { ...reason, feature: this.report.features[-1 - what], detail: this.report.details[other] + names };
    });
  }

  /** Rows of the documents that have all terms (in id or title, or as beginnings of words) and enough of a topic. */
  #search(query, topic) {
    const key = JSON.stringify([query, topic]);
    if (this.found?.key === key) return this.found.rows;
    const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length) this.haystacks ??= this.report.documents.map((_, i) => this.#haystack(i));
    const rows = [];
    for (let i = 0; i < this.report.documents.length; i++) {
      if (terms.length && !terms.every((term) => this.#has(i, term))) continue;
      if (topic !== null && this.#share(i, topic) < MIN_LISTED_SHARE) continue;
      rows.push(this.#row(i));
    }
    this.found = { key, rows };
    return rows;
  }

  #has(i, term) {
    const [names, words] = this.haystacks[i];
    return names.includes(term) || words.includes(` ${term}`);
  }

  #haystack(i) {
    const row = this.report.documents[i];
    const words = inTuples(row[WORDS], 3).map(([word]) => ` ${this.report.vocabulary[word]}`);
    return [`${row[IDENTITY]}\n${row[TITLE] ?? ""}`.toLowerCase(), words.join("").toLowerCase()];
  }

  #row(i) {
    const row = this.report.documents[i];
    const directed = this.report.meta.data.directed;
    const out = this.links[i].filter((link) => !directed || link[0] === i).length;
    const into = this.links[i].filter((link) => !directed || link[1] === i).length;
    return {
      i, id: row[IDENTITY], title: this.#title(i), label: this.#label(i), tokens: row[TOKENS],
      links_out: out, links_in: into, topics: this.#topics(i).slice(0, 3),
    };
  }
}

/** The links of each document. */
function linksByDocument(report) {
  const links = report.documents.map(() => []);
  for (const link of report.links) {
    links[link[0]].push(link);
    links[link[1]].push(link);
  }
  return links;
}

function hundredThousandths(number) {
  return number === null ? null : number / 100000;
}

/** [a, b, c, d] in twos is [[a, b], [c, d]]. */
function inTuples(flat, size) {
  const result = [];
  for (let at = 0; at < flat.length; at += size) result.push(flat.slice(at, at + size));
  return result;
}
