// The source of a report: everything is in the page, in a compact form.
//
//   { meta: as of the server, with names of all documents left out,
//     cells: { "a,b": [[source, target, part, share, probability], ...] },
//     vocabulary: [word, ...],
//     documents: [[id, title or null if it is the id, label or null, number of tokens, text or null, columns or null,
//                  [topic, share, topic, share, ...],
//                  [word number, count, topic, word number, ...],
//                  [[j, direction, probability, surprising (1 or 0), reasons], ...],
//                  [[j, direction, probability, lower, upper, reasons], ...]], ...] }
//
// A direction is 0 (out), 1 (in) or 2 (both). A reason is [share, part, topic, topic], or
// [share, part, -1 - f, detail] for the feature that is number f of meta.features.

const DIRECTIONS = ["out", "in", "both"];
const SORTS = {
  number: (row) => row.i,
  title: (row) => row.title.toLowerCase(),
  tokens: (row) => row.tokens,
  links: (row) => row.links_out + row.links_in,
};

/** Answers the questions of the pages from a bundle, decoding a document when it is asked for. */
export class ReportSource {
  canAsk = false;

  constructor(bundle) {
    this.bundle = bundle;
    this.features = bundle.meta.features ?? [];
    this.found = null; // the rows of the last search, so that paging and sorting do not search again
    this.haystacks = null;
  }

  async meta() {
    return this.bundle.meta;
  }

  /** The links of the data that the weight of topics a and b explains best. */
  async cell(a, b) {
    const known = this.bundle.cells[`${a},${b}`];
    const links = (known ?? []).map(([source, target, part, share, probability]) => {
      return { source, target, part, share, probability };
    });
    return { a, b, links, known: known !== undefined, names: this.#names(links.flatMap((x) => [x.source, x.target])) };
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
    const row = this.bundle.documents[i];
    if (!row) throw new Error(`There is no document number ${i}.`);
    const links = row[8].map(([j, direction, probability, surprising, why]) => {
      return { j, direction: DIRECTIONS[direction], probability, surprising: !!surprising, why: this.#reasons(why) };
    });
    const suggested = row[9].map(([j, direction, probability, lower, upper, why]) => {
      return { j, direction: DIRECTIONS[direction], probability, lower, upper, why: this.#reasons(why) };
    });
    return {
      i, id: row[0], title: row[1] ?? row[0], label: row[2], tokens: row[3], text: row[4], columns: row[5] ?? {},
      topics: inTuples(row[6], 2),
      words: inTuples(row[7], 3).map(([word, count, topic]) => [this.bundle.vocabulary[word], count, topic]),
      links, suggested, names: this.#names([...links, ...suggested].map((link) => link.j)),
    };
  }

  #names(numbers) {
    return Object.fromEntries(numbers.map((i) => [i, { id: this.bundle.documents[i][0], title: this.#title(i) }]));
  }

  #title(i) {
    return this.bundle.documents[i][1] ?? this.bundle.documents[i][0];
  }

  #share(i, topic) {
    return inTuples(this.bundle.documents[i][6], 2).find(([k]) => k === topic)?.[1] ?? 0;
  }

  #reasons(reasons) {
    return reasons.map(([share, part, what, other]) =>
      what < 0 ? { share, part, feature: this.features[-1 - what].name, detail: other } : { share, part, topics: [what, other] },
    );
  }

  /** Rows of the documents that have all terms in their id, title, text or words, and some of a topic. */
  #search(query, topic) {
    const asked = JSON.stringify([query, topic]);
    if (this.found?.asked === asked) return this.found.rows;
    const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length) this.haystacks ??= this.bundle.documents.map((_, i) => this.#haystack(i));
    const rows = [];
    for (let i = 0; i < this.bundle.documents.length; i++) {
      if (terms.length && !terms.every((term) => this.haystacks[i].includes(term))) continue;
      if (topic !== null && this.#share(i, topic) === 0) continue;
      rows.push(this.#row(i));
    }
    this.found = { asked, rows };
    return rows;
  }

  #haystack(i) {
    const row = this.bundle.documents[i];
    const words = inTuples(row[7], 3).map(([word]) => this.bundle.vocabulary[word]);
    return [row[0], row[1] ?? "", row[4] ?? "", ...words].join("\n").toLowerCase();
  }

  #row(i) {
    const row = this.bundle.documents[i];
    const out = row[8].filter((link) => link[1] !== 1).length;
    const into = row[8].filter((link) => link[1] !== 0).length;
    const topics = inTuples(row[6], 2).slice(0, 3);
    return { i, id: row[0], title: this.#title(i), label: row[2], tokens: row[3], links_out: out, links_in: into, topics };
  }
}

/** [a, b, c, d] in twos is [[a, b], [c, d]]. */
export function inTuples(flat, size) {
  const result = [];
  for (let at = 0; at < flat.length; at += size) result.push(flat.slice(at, at + size));
  return result;
}
