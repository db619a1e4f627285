// Tables with sorting, filtering, paging and download.
import { csvText, download } from "./csv.js";
import { debounced, freshId, make, replace } from "./dom.js";
import { count, plural } from "./format.js";

/**
 * Return a function that a table calls to get its rows: from filter, sort (key of a column), descending, page and size
 * to the rows of the page and their total number. This one has all rows in memory.
 *
 * @param {object[]} rows
 * @param {object[]} columns
 */
function localRows(rows, columns) {
  const text = (row) => columns.map((column) => column.value(row) ?? "").join("\n").toLowerCase();
  let searched = null;
  return async ({ filter = "", sort, descending, page, size }) => {
    const terms = filter.toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length) searched ??= rows.map(text);
    const found = terms.length ? rows.filter((_, at) => terms.every((term) => searched[at].includes(term))) : rows.slice();
    const column = columns.find((each) => each.key === sort);
    if (column) found.sort((x, y) => compared(column.value(x), column.value(y), descending));
    return { total: found.length, rows: found.slice(page * size, (page + 1) * size) };
  };
}

/** Order of two values; missing ones come last in either direction. */
function compared(x, y, descending) {
  const [none, other] = [x === null || x === undefined, y === null || y === undefined];
  if (none || other) return none - other;
  const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en");
  return descending ? -order : order;
}

/** A table of one kind of rows. */
export class DataTable {
  /**
   * @param {object} options
   * @param {string} options.caption What the table shows.
   * @param {string} options.file Name of the file that is downloaded.
   * @param {object[]} options.columns Each with `key`, `title`, `value(row)` for sorting and files, and optionally
   *   `show(row)` for the content of a cell, `numeric`, `class`, and `sortable: false`.
   * @param {object[]} [options.rows] The rows, or
   * @param {Function} [options.fetchRows] a function that fetches them; see `localRows`.
   * @param {number} [options.size] Rows of a page.
   * @param {boolean} [options.filters] Whether there is a field to filter rows by their content.
   * @param {Node[]} [options.controls] Elements beside the filter.
   * @param {string} [options.kind] Classes: `small` for few columns, `stacks` if rows become blocks on small screens.
   */
  constructor({ caption, file, columns, rows, fetchRows, size = 20, filters = true, sort = null, descending = false, controls = [], filter = "", hint = "Filter", kind = "" }) {
    this.columns = columns;
    this.fetchRows = fetchRows ?? localRows(rows, columns);
    this.file = file;
    this.query = { filter, sort, descending, page: 0, size };
    this.body = make("tbody", { role: "rowgroup" });
    this.heads = columns.map((column) => this.#head(column));
    this.status = make("p", { class: "count", role: "status" });
    this.pager = make("div", { class: "pager" });
    const title = freshId("table");
    // Roles are spelt out because rows that CSS shows as blocks would lose theirs.
    const field = make("input", {
      type: "search", placeholder: hint, "aria-label": `${hint}: ${caption}`, value: filter, autocomplete: "off",
    });
    const typed = debounced(() => this.show({ filter: field.value, page: 0 }), 120);
    field.addEventListener("input", typed);
    const few = rows && rows.length <= 3;
    this.element = make("div", { class: `data ${kind}` },
      make("div", { class: "tools" },
        filters && !few ? field : null, controls,
        make("span", { class: "spring" }), this.status,
        make("button", { type: "button", class: "quiet", on: { click: () => this.save() } }, "Download CSV")),
      make("div", { class: "scroller", role: "group", "aria-labelledby": title, tabindex: 0 },
        make("table", { role: "table" },
          make("caption", { id: title }, caption),
          make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, this.heads)), this.body)),
      this.pager);
    this.turn = 0;
  }

  /** Show the rows again, with changes to the query. */
  async show(changes = {}) {
    Object.assign(this.query, changes);
    this.turn += 1;
    const turn = this.turn;
    this.element.setAttribute("aria-busy", "true");
    let answer;
    try {
      answer = await this.fetchRows(this.query);
    } catch (error) {
      if (turn === this.turn) this.#failed(error);
      return;
    }
    if (turn !== this.turn) return; // a later request was made
    this.element.removeAttribute("aria-busy");
    this.#fill(answer);
  }

  /** Download all rows that match, not only those of this page. */
  async save() {
    const rows = [];
    const size = 200;
    for (let page = 0, total = 1; rows.length < total; page++) {
      const answer = await this.fetchRows({ ...this.query, page, size });
      if (!answer.rows.length) break;
      rows.push(...answer.rows);
      total = answer.total;
    }
    const columns = this.columns.filter((column) => column.value);
    const header = columns.map((column) => column.key);
    download(this.file, csvText([header, ...rows.map((row) => columns.map((column) => column.value(row)))]));
  }

  #head(column) {
    const sortable = column.sortable !== false;
    const kind = [column.numeric ? "numeric" : "", column.class ?? ""].join(" ").trim() || null;
    if (!sortable) return make("th", { scope: "col", role: "columnheader", class: kind }, column.title);
    const button = make("button", { type: "button", on: { click: () => this.#sortBy(column) } }, column.title);
    return make("th", { scope: "col", role: "columnheader", class: kind, "aria-sort": "none", "data-key": column.key }, button);
  }

  #sortBy(column) {
    const again = this.query.sort === column.key;
    // The first click sorts numbers in descending order, and text alphabetically.
    this.show({ sort: column.key, descending: again ? !this.query.descending : !!column.numeric, page: 0 });
  }

  #fill({ total, rows }) {
    const { page, size, sort, descending } = this.query;
    for (const head of this.heads) {
      if (!head.hasAttribute("aria-sort")) continue;
      const state = head.dataset.key !== sort ? "none" : descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", state);
    }
    replace(this.body, rows.map((row) => this.#line(row)));
    if (!rows.length) {
      this.body.append(make("tr", {}, make("td", { class: "empty", colspan: this.columns.length }, "Nothing found.")));
    }
    const last = Math.min(total, (page + 1) * size);
    const whole = total <= size;
    this.status.textContent = whole ? plural(total, "row") : `${count(page * size + 1)} to ${count(last)} of ${count(total)}`;
    const turn = (text, to, possible) =>
      make("button", { type: "button", disabled: !possible, on: { click: () => this.show({ page: to }) } }, text);
    replace(this.pager, whole ? null : [turn("Previous", page - 1, page > 0), turn("Next", page + 1, last < total)]);
  }

  #line(row) {
    return make("tr", { role: "row" }, this.columns.map((column) => {
      const kind = [column.numeric ? "numeric" : "", column.class ?? ""].join(" ").trim() || null;
      return make("td", { class: kind, role: "cell" }, column.show ? column.show(row) : String(column.value(row) ?? "–"));
    }));
  }

  #failed(error) {
    this.element.removeAttribute("aria-busy");
    const cell = make("td", { class: "empty", colspan: this.columns.length, role: "alert" }, error.message);
    replace(this.body, make("tr", {}, cell));
    this.status.textContent = "";
    replace(this.pager);
  }
}

/** A table, already shown. */
export function tableOf(options) {
  const table = new DataTable(options);
  table.show();
  return table.element;
}
