// Elements that several pages share: topics, documents, bars, reasons.
import { make } from "./dom.js";
import { cut, percent, signed } from "./format.js";

/** A link to a topic: its number and its words. */
export function topicLink(model, k, n = 3) {
  return make("a", { class: "topic", href: `#/topics/${k}` }, make("b", {}, k), " ", cut(model.words(k, n), 60));
}

/** A link to a document by its title. */
export function documentLink(model, i, length = 110) {
  return make("a", { class: "document", href: `#/documents/${i}` }, cut(model.title(i), length));
}

/** A bar for a share of a whole, with a label for screen readers. */
export function shareBar(share, most, { kind = "", label = percent(share) } = {}) {
  const bar = make("span", { class: `bar ${kind}`, style: { "--w": `${(100 * Math.min(1, share / most)).toFixed(1)}%` } });
  return make("span", { class: "share" }, make("span", { class: "track", "aria-hidden": "true" }, bar), make("span", { class: "amount" }, label));
}

/** A probability with a bar, and its range over posterior samples if it is known. */
export function probabilityBar({ probability, lower, upper }) {
  const bar = shareBar(probability, 1);
  if (lower === undefined || lower === null) return bar;
  const line = make("span", { class: "interval", style: { "--from": `${100 * lower}%`, "--to": `${100 * upper}%` } });
  bar.querySelector(".track").append(line);
  const said = "In 90 % of the posterior samples. This does not cover all uncertainty: the true probability is outside more often than one time in ten.";
  bar.append(make("span", { class: "range", title: said }, `${percent(lower)} to ${percent(upper)}`));
  return bar;
}

/** The reasons of a link, largest first. */
export function reasonList(model, why) {
  if (!why?.length) return make("span", { class: "faint" }, "No particular reason.");
  return make("ul", { class: "reasons" }, why.map((reason) => make("li", {},
    make("span", { class: "amount", title: `adds ${signed(reason.contribution)} to the score` }, percent(Math.abs(reason.share))),
    make("span", {}, reasonBody(model, reason)))));
}

/** Topics of a reason are those of the source and of the target of the link, whichever document is shown. */
function reasonBody(model, reason) {
  if (!reason.topics) return reason.detail ? [make("span", { class: "faint" }, `${reason.feature}: `), reason.detail] : reason.feature;
  const [a, b] = reason.topics;
  return [topicLink(model, a, 2), make("span", { class: "arrow" }, model.meta.data.directed ? " → " : " – "), topicLink(model, b, 2)];
}

/** The reasons in one line, for files. */
export function reasonText(model, why) {
  const name = ({ topics, feature, detail }) =>
    topics ? `${model.words(topics[0], 2)} -> ${model.words(topics[1], 2)}` : detail || feature;
  return (why ?? []).map((reason) => `${percent(Math.abs(reason.share))} ${name(reason)}`).join("; ");
}

/** A section with a heading and a sentence about its content. */
export function section(title, lead, ...content) {
  return make("section", {}, make("h2", {}, title), lead ? make("p", { class: "lead" }, lead) : null, ...content);
}

/** Names and values, side by side. */
export function factList(pairs) {
  return make("dl", { class: "facts" }, pairs.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

/** A notice that something is missing or has failed. */
export function notice(text, kind = "") {
  return make("p", { class: `notice ${kind}`, role: kind === "wrong" ? "alert" : null }, text);
}
