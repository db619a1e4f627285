// Traces of chains as small multiples, and R-hat in words.
import { draw, make } from "../lib/dom.js";
import { count, number, plural } from "../lib/format.js";

const TRACE = { width: 260, height: 84, top: 6, bottom: 6 };

/** The meaning of a value of R-hat. */
export function rHatWords(rHat, chains) {
  const who = chains > 1 ? "chains" : "first and second half";
  if (rHat === null || rHat === undefined) return "unknown";
  if (rHat < 1.01) return `${who} agree`;
  if (rHat < 1.05) return `${who} nearly agree`;
  if (rHat < 1.2) return `${who} differ somewhat`;
  return chains > 1 ? "chains differ: each found its own solution" : "first and second half differ: not settled";
}

/** All traces of all chains; burn-in is shaded. */
export function traceGrid(mixing) {
  const figures = Object.entries(mixing.traces ?? {}).map(([name, chains]) => traceFigure(name, chains, mixing));
  return make("div", { class: "multiples" }, figures);
}

function traceFigure(name, chains, mixing) {
  const { width, height, top, bottom } = TRACE;
  const after = Math.min(mixing.burn_in / (mixing.step || 1), Math.max(...chains.map((chain) => chain.length)) - 2);
  const all = chains.flat().filter((value) => value !== null);
  // The first sweeps are left out of the scale: they jump, so the rest would look like a straight line.
  const settled = chains.flatMap((chain) => chain.slice(Math.floor(after / 3))).filter((value) => value !== null);
  const [low, high] = [Math.min(...settled), Math.max(...settled)];
  const span = high - low || Math.abs(high) || 1;
  const longest = Math.max(2, ...chains.map((chain) => chain.length));
  const x = (at) => (at / (longest - 1)) * width;
  const y = (value) => top + (1 - (value - low) / span) * (height - top - bottom);
  const lines = chains.map((chain, number) => draw("polyline", {
    class: `trace chain-${number % 8}`,
    points: chain.map((value, at) => (value === null ? "" : `${x(at).toFixed(1)},${y(value).toFixed(1)}`)).join(" "),
  }));
  const burn = draw("rect", { class: "burn", x: 0, y: 0, width: x(Math.max(0, after)), height });
  const words = `${name}: ${chains.length} chains, between ${number(Math.min(...all), 4)} and ${number(Math.max(...all), 4)}`;
  return make("figure", { class: "trace-figure" },
    make("figcaption", {}, name),
    make("div", { class: "trace-box" },
      draw("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words }, burn, lines),
      make("span", { class: "high" }, number(high, 3)),
      make("span", { class: "low" }, number(low, 3))));
}

/** A sentence that says how to read the traces. */
export function traceLead(mixing) {
  const chains = mixing.chains === 1 ? "One chain" : `${count(mixing.chains)} chains, a colour each`;
  return `${chains}, over ${count(mixing.sweeps)} sweeps. The shaded burn-in of ${plural(mixing.burn_in, "sweep")} was discarded; ${count(mixing.samples)} samples were kept from the rest. If chains mix well, their lines overlap and show no trend.`;
}
