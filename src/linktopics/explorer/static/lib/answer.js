// The response about a text: coloured words, topics, suggestions, and differences from an earlier response.
import { make, replace } from "./dom.js";
import { cut, percent, plural, signed } from "./format.js";
import { withTip } from "./tips.js";
import { notice, probabilityBar, reasonList, section, shareBar, topicLink } from "./widgets.js";

/** Three parts of a page: words, topics and suggestions. */
export class AnswerView {
  /** @param {(word: string) => void} toggle Called when a word is chosen, to leave it out or put it back. */
  constructor(model, palette, toggle) {
    Object.assign(this, { model, palette, toggle });
    this.words = make("div", { class: "answer-words" });
    this.topics = make("div", { class: "answer-topics" });
    this.suggestions = make("div", { class: "answer-suggestions", "aria-live": "polite" });
    this.titles = new Map();
    this.clear();
  }

  clear() {
    replace(this.words, make("p", { class: "faint" }, "The text appears here in the colours of its topics."));
    replace(this.topics);
    replace(this.suggestions);
  }

  failed(error) {
    replace(this.topics);
    replace(this.words);
    replace(this.suggestions, notice(error.message, "wrong"));
  }

  /** Store the name of a document that a response mentions. */
  remember({ j, title, id }) {
    if (j !== undefined && (title || id)) this.titles.set(j, title || id);
  }

  nameOf(j) {
    return this.titles.get(j) ?? this.model.title(j);
  }

  /** Show a response; if `base` is given, also the differences from it. */
  show(answer, text, base, without) {
    const first = base ?? answer;
    for (const one of answer.suggestions) this.remember(one);
    this.palette.use(first.topics.map(([k]) => k));
    this.#showWords(first, text, without);
    this.#showTopics(answer, base);
    this.#showSuggestions(answer, base);
  }

  /** Strike out the words that are left out, before the response arrives. */
  mark(without) {
    for (const word of this.words.querySelectorAll("button.word")) {
      const out = without.has(word.dataset.word);
      word.classList.toggle("out", out);
      word.setAttribute("aria-pressed", String(out));
    }
  }

  #showWords(answer, text, without) {
    const pieces = [];
    let at = 0;
    for (const [begin, end, index] of answer.marks) {
      pieces.push(text.slice(at, begin), this.#word(text.slice(begin, end), answer.words[index]));
      at = end;
    }
    pieces.push(text.slice(at));
    const unknown = answer.unknown.length
      ? make("p", { class: "faint" }, `Not in the vocabulary: ${cut(answer.unknown.join(", "), 300)}.`)
      : null;
    replace(this.words, make("p", { class: "coloured text" }, pieces), unknown);
    this.mark(without);
  }

  #word(written, { word, known, topics }) {
    if (!known) return make("span", { class: "unknown", title: "not in the vocabulary" }, written);
    const best = topics[0]?.[0];
    const button = make("button", { type: "button", class: `word ${best === undefined ? "topic-other" : this.palette.of(best)}`, "data-word": word, "aria-pressed": "false" }, written);
    button.addEventListener("click", () => this.toggle(word));
    return withTip(button, () => make("div", { class: "summary" },
      make("p", { class: "pair" }, word),
      make("ul", { class: "bars" }, topics.slice(0, 4).map(([k, p]) => make("li", {}, make("span", { class: "name" }, this.model.label(k, 2)), shareBar(p, 1, { kind: this.palette.of(k) })))),
      make("p", { class: "faint" }, "Choose it to leave it out.")));
  }

  #showTopics(answer, base) {
    if (!answer.known) {
      replace(this.topics);
      return;
    }
    const before = new Map(base?.topics ?? []);
    const now = new Map(answer.topics);
    const all = [...answer.topics.map(([k]) => k), ...[...before.keys()].filter((k) => !now.has(k) && before.get(k) > 0.05)];
    const most = Math.max(...now.values(), ...before.values(), 1e-9);
    replace(this.topics, make("h2", {}, "Topics"), make("ul", { class: "bars proportions" }, all.slice(0, 8).map((k) => {
      const share = now.get(k) ?? 0;
      const bar = shareBar(share, most, { kind: this.palette.of(k) });
      if (base) {
        const was = before.get(k) ?? 0;
        bar.querySelector(".track").append(make("span", { class: "was", style: { "--at": `${(100 * was) / most}%` } }));
        bar.append(difference(share - was));
      }
      return make("li", {}, make("span", { class: "name" }, topicLink(this.model, k, 3)), bar);
    })), base ? make("p", { class: "key" }, make("span", { class: "swatch was-mark" }), "before the changes") : null);
  }

  #showSuggestions(answer, base) {
    if (!answer.known) {
      replace(this.suggestions, notice(answer.tokens
        ? `None of the ${plural(answer.tokens, "word")} of this text is in the vocabulary of the model, so no links can be suggested.`
        : "This text has no words that the model can read."));
      return;
    }
    const before = new Map((base?.suggestions ?? []).map((one, rank) => [one.j, { ...one, rank }]));
    const now = new Set(answer.suggestions.map((one) => one.j));
    const gone = [...before.values()].filter((one) => !now.has(one.j));
    const few = answer.known < 5 ? notice(`Only ${plural(answer.known, "word")} of the text ${answer.known === 1 ? "is" : "are"} in the vocabulary: the results are unreliable.`) : null;
    replace(this.suggestions, section("Suggested links", "Documents that the text would link to, with the probability, its range over 90 % of the posterior samples, and the reasons.", few,
      make("ol", { class: "suggestions" }, answer.suggestions.map((one) => this.#suggestion(one, base && (before.get(one.j) ?? "new")))),
      gone.length ? [make("h3", {}, "No longer among the first"), make("ul", { class: "plain gone" }, gone.map((one) => make("li", {}, this.#link(one), ` was ${percent(one.probability)}`)))] : null));
  }

  #link({ j, title, id }) {
    return make("a", { class: "document", href: `#/documents/${j}` }, cut(title || id || this.nameOf(j), 120));
  }

  #suggestion(one, was) {
    const mark = !was ? null : was === "new" ? make("span", { class: "badge" }, "new") : difference(one.probability - was.probability);
    return make("li", {},
      make("div", { class: "head" }, this.#link(one), mark),
      probabilityBar(one), reasonList(this.model, one.why));
  }
}

/** A difference of shares or probabilities in percentage points. */
function difference(change) {
  const points = signed(100 * change, 1);
  const kind = Math.abs(change) < 0.0005 ? "same" : change > 0 ? "up" : "down";
  return make("span", { class: `difference ${kind}` }, kind === "same" ? "±0" : points, make("span", { class: "visually-hidden" }, " percentage points"));
}
