// The page for queries about a text: its topics word by word, suggested links, and effects of words.
import { Palette } from "../lib/colour.js";
import { debounced, make, replace } from "../lib/dom.js";
import { cut, plural, signed } from "../lib/format.js";
import { AnswerView } from "../lib/answer.js";
import { DataTable } from "../lib/table.js";
import { notice } from "../lib/widgets.js";

const WAIT = 400; // milliseconds between the last key and the request
const TOP = 8;

/** The last text, kept while the page is open, so that visiting a document does not lose it. */
let lastText = "";

/** The page `#/write`. */
export async function showWrite(model) {
  return new Writer(model).element;
}

/** An editor for a text, with the model's topics and suggestions, also with words left out and added. */
class Writer {
  constructor(model) {
    this.model = model;
    this.palette = new Palette();
    this.without = new Set();
    this.added = [];
    this.base = null; // the response for the text as written
    this.field = make("textarea", { id: "text", rows: 7, spellcheck: "false", placeholder: "Write or paste a text: an abstract, a note, a description …" });
    this.field.value = lastText;
    const later = debounced(() => this.#textChanged(), WAIT);
    this.field.addEventListener("input", () => {
      this.#busy(true);
      later();
    });
    this.status = make("p", { class: "count", role: "status" });
    this.view = new AnswerView(model, this.palette, (word) => this.#toggle(word));
    this.edits = make("div", { class: "edits" });
    this.effects = make("div", {});
    this.element = this.#page();
    if (lastText) this.#textChanged();
  }

  #page() {
    if (!this.model.meta.data.reads_texts) {
      return make("div", { class: "page" }, make("h1", {}, "Ask about a text"),
        notice("This model was fitted to word counts and has no vectorizer, so it cannot read texts. Fit a model to texts to use this page."));
    }
    return make("div", { class: "page" },
      make("h1", {}, "Ask about a text"),
      make("p", { class: "lead large" }, "Which topics is it about, which documents would it link to, and which of its words matter?"),
      make("div", { class: "writing" },
        make("div", { class: "editor" },
          make("label", { for: "text", class: "field" }, make("span", {}, "The text")),
          this.field,
          make("div", { class: "tools" },
            make("button", { type: "button", class: "quiet", on: { click: () => this.#example() } }, "Take a document as an example"),
            make("button", { type: "button", class: "quiet", on: { click: () => this.#write("") } }, "Clear"),
            make("span", { class: "spring" }), this.status)),
        this.view.words, this.edits, this.view.topics),
      this.view.suggestions, this.effects);
  }

  #write(text) {
    this.field.value = text;
    this.field.focus();
    this.#textChanged();
  }

  async #example() {
    const documents = this.model.meta.data.documents;
    try {
      const found = await this.model.source.document(Math.floor(Math.random() * documents));
      this.#write(found.text ?? found.words.map(([word]) => word).join(" "));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The text has changed: drop the edits, and fetch suggestions. */
  async #textChanged() {
    lastText = this.field.value;
    this.without.clear();
    this.added = [];
    this.base = null;
    replace(this.effects);
    if (!lastText.trim()) {
      this.request?.abort();
      this.#busy(false);
      this.view.clear();
      replace(this.edits);
      return;
    }
    const answer = await this.#suggest(lastText);
    if (!answer) return;
    this.base = answer;
    this.view.show(answer, lastText, null, this.without);
    this.#showEdits();
    if (answer.known) this.#fetchEffects(lastText);
  }

  /** Words were left out or added: compare with the text as written. */
  async #wordsChanged() {
    this.#showEdits();
    if (!this.without.size && !this.added.length) {
      this.request?.abort();
      this.#busy(false);
      this.view.show(this.base, lastText, null, this.without);
      return;
    }
    this.view.mark(this.without);
    const answer = await this.#suggest(this.#editedText());
    if (answer) this.view.show(answer, lastText, this.base, this.without);
  }

  #editedText() {
    let text = "";
    let at = 0;
    for (const [begin, end, word] of this.base.marks) {
      text += lastText.slice(at, this.without.has(this.base.words[word].word) ? begin : end);
      at = end;
    }
    return [text + lastText.slice(at), ...this.added].join(" ");
  }

  /** Fetch suggestions; null if a later request replaced this one, or if it failed. */
  async #suggest(text) {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.#busy(true);
    try {
      const answer = await this.model.source.suggest(text, { top: TOP, signal: request.signal });
      if (request.signal.aborted) return null;
      this.#busy(false);
      return answer;
    } catch (error) {
      if (error.name !== "AbortError" && this.request === request) this.#failed(error);
      return null;
    }
  }

  #busy(on) {
    this.status.textContent = on ? "Loading …" : "";
    this.element?.classList.toggle("busy", on);
    if (on) this.element?.setAttribute("aria-busy", "true");
    else this.element?.removeAttribute("aria-busy");
  }

  #failed(error) {
    this.#busy(false);
    replace(this.edits);
    this.view.failed(error);
  }

  #toggle(word) {
    if (!this.without.delete(word)) this.without.add(word);
    this.#wordsChanged();
  }

  /** The words left out and added, and a field to add one. */
  #showEdits() {
    const field = make("input", { type: "text", "aria-label": "A word to add", placeholder: "Add a word", maxlength: 60, size: 14 });
    const form = make("form", { class: "add" }, field, make("button", { type: "submit" }, "Add"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!field.value.trim()) return;
      this.added.push(field.value.trim());
      this.#wordsChanged().then(() => this.edits.querySelector("input")?.focus());
    });
    const chip = (word, kind, name, undo) =>
      make("button", { type: "button", class: `chip ${kind}`, "aria-label": `${name} ${word}: undo`, on: { click: () => { undo(); this.#wordsChanged(); } } }, word, make("span", { "aria-hidden": "true" }, " ×"));
    const changed = this.without.size || this.added.length;
    replace(this.edits,
      make("p", { class: "lead" }, changed ? "Compared with the original text:" : "Choose a word above to leave it out, or add one, and see what changes."),
      make("div", { class: "tools" },
        [...this.without].map((word) => chip(word, "removed", "Left out", () => this.without.delete(word))),
        this.added.map((word, at) => chip(word, "added", "Added", () => this.added.splice(at, 1))),
        form,
        changed ? make("button", { type: "button", class: "quiet", on: { click: () => { this.without.clear(); this.added = []; this.#wordsChanged(); } } }, "Undo all") : null));
  }

  /** Fetch the effect of leaving out each word; this takes longer, so it is requested last. */
  async #fetchEffects(text) {
    try {
      const answer = await this.model.source.changes(text, { top: TOP, signal: this.request.signal });
      if (text === lastText) this.#showEffects(answer);
    } catch (error) {
      if (error.name !== "AbortError" && text === lastText) replace(this.effects, notice(error.message, "wrong"));
    }
  }

  #showEffects({ words, names }) {
    if (!words?.length) return;
    this.model.storeNames({ names });
    for (const row of words) for (const one of [...row.suggestions, ...row.new]) this.view.remember(one);
    const size = (row) => Math.max(0, ...row.suggestions.map(({ change }) => Math.abs(change)));
    const columns = [
      { key: "word", title: "Without", value: (row) => row.word, show: (row) => make("button", { type: "button", class: "word-button", on: { click: () => this.#toggle(row.word) } }, row.word) },
      {
        key: "topics", title: "Topics", class: "wide-only", sortable: false,
        value: (row) => row.topics.map(([k, change]) => `${this.model.label(k, 2)} ${signed(100 * change, 1)}`).join("; "),
        show: (row) => make("ul", { class: "reasons" }, row.topics.filter(([, change]) => Math.abs(change) >= 0.0005).map(([k, change]) => make("li", {}, make("span", { class: "amount" }, signed(100 * change, 1)), make("span", {}, this.model.label(k, 2))))),
      },
      {
        key: "probability", title: "Largest change of a suggestion", numeric: true, value: size,
        show: (row) => this.#largestChange(row),
      },
      { key: "gone", title: "Dropped", sortable: false, value: (row) => this.#namesOf(row.gone).join("; "), show: (row) => this.#namesOf(row.gone).map((name) => make("div", {}, cut(name, 40))) },
      { key: "new", title: "New", sortable: false, value: (row) => this.#namesOf(row.new).join("; "), show: (row) => this.#namesOf(row.new).map((name) => make("div", {}, cut(name, 40))) },
    ];
    const table = new DataTable({ caption: "What each word changes when it is left out", file: "changes.csv", columns, rows: words, sort: "probability", descending: true, size: 15 });
    table.show();
    replace(this.effects, make("section", {}, make("h2", {}, "What each word changes"),
      make("p", { class: "lead" }, `Each of ${plural(words.length, "word")} left out, one at a time: changes of topics and of probabilities in percentage points.`), table.element));
  }

  #largestChange(row) {
    const [most] = row.suggestions.slice().sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
    return most ? [make("span", { class: "amount" }, signed(100 * most.change, 1)), make("span", { class: "under" }, cut(this.view.nameOf(most.j), 40))] : "–";
  }

  #namesOf(list) {
    return list.map((one) => this.view.nameOf(typeof one === "object" ? one.j : one));
  }
}
