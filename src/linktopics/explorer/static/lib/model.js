// The model in the pages: names of topics and documents, and matrices over pairs of topics.
import { number, signed } from "./format.js";

/** The model: its overview, values computed from it, and the data source. */
export class Model {
  constructor(meta, source) {
    this.meta = meta;
    this.source = source;
    this.topics = meta.topics;
    this.weights = meta.weights;
    this.diagonal = meta.topics.length > 1 && meta.weights.mean.every((row, a) => row.every((value, b) => a === b || value === 0));
    this.directed = !meta.weights.symmetric;
    this.names = { ...meta.names };
    this.best = meta.topics.map((topic) => bestWords(topic));
    this.measures = pairMeasures(meta);
    if (this.diagonal) delete this.measures.affinity; // diagonal weights have no average over pairs of different topics
  }

  /** The n most probable words of a topic. */
  words(k, n = 3) {
    return this.best[k].slice(0, n).join(", ");
  }

  /** Number and words of a topic: "3 · network, learning". */
  label(k, n = 3) {
    return `${k} · ${this.words(k, n)}`;
  }

  /** Store the names of documents that a response mentions. */
  storeNames(response) {
    Object.assign(this.names, response.names);
    return response;
  }

  title(i) {
    return this.names[i]?.title || this.names[i]?.id || `document ${i}`;
  }

  /** Numbers of topics in the order of their structure, their share or their number. */
  order(by) {
    if (by === "structure") return this.weights.order;
    const numbers = this.topics.map((_, k) => k);
    return by === "share" ? numbers.sort((a, b) => this.topics[b].share - this.topics[a].share) : numbers;
  }

  /** Pairs (a, b) of different topics; each only once if weights are symmetric. */
  pairs() {
    const found = [];
    for (let a = 0; a < this.topics.length; a++) {
      for (let b = this.directed ? 0 : a + 1; b < this.topics.length; b++) if (a !== b) found.push([a, b]);
    }
    return found;
  }
}

function bestWords(topic) {
  const places = topic.words.map((_, at) => at).sort((x, y) => topic.p[y] - topic.p[x]);
  return places.map((at) => topic.words[at]);
}

/** The measures of pairs of topics: a matrix, the format of its numbers, and their meaning. */
function pairMeasures({ weights, topics }) {
  const relative = affinity(weights.mean, topics.map((topic) => topic.share));
  const ratio = weights.observed.map((row, a) => row.map((links, b) => Math.log2((links + 0.5) / (weights.chance[a][b] + 0.5))));
  return {
    weight: {
      title: "weight in the model",
      values: weights.mean,
      show: (value) => signed(value),
      ends: ["link less likely", "link more likely"],
      means: "What a pair of topics adds to the score of a link between a document that consists of the one topic and a document that consists of the other. Links are rare, so most weights are negative.",
    },
    affinity: {
      title: "weight relative to the average",
      values: relative,
      show: (value) => signed(value),
      ends: ["below average", "above average"],
      means: "Weights minus the averages of their row and column. Above zero, these two topics attract each other more than they attract others on average.",
    },
    observed: {
      title: "links in the data, against chance",
      values: ratio,
      show: (value) => `× ${number(2 ** value, 2)}`,
      ends: ["fewer than by chance", "more than by chance"],
      means: "Links between documents of the two topics, counted in the data, divided by the number that documents with as many links would have at random. No model of links is involved.",
    },
  };
}

/** Weights minus the means of their row and of their column. */
function affinity(weights, shares) {
  const total = shares.reduce((sum, share) => sum + share, 0) || 1;
  const mean = (values) => values.reduce((sum, value, k) => sum + value * shares[k], 0) / total;
  const rows = weights.map((row) => mean(row));
  const columns = weights[0].map((_, b) => mean(weights.map((row) => row[b])));
  const level = mean(rows);
  return weights.map((row, a) => row.map((value, b) => value - rows[a] - columns[b] + level));
}

/**
 * The absolute value at which the scale of colours ends: the largest of a matrix, unless a few stand far out, which
 * would leave the others pale.
 */
export function scaleEnd(matrix) {
  const sizes = matrix.flat().map((value) => Math.abs(value ?? 0)).sort((x, y) => y - x);
  const [most, usual] = [sizes[0], sizes[Math.floor(sizes.length * 0.025)]];
  return Math.max(1e-9, most > 1.3 * usual && usual > 0 ? usual : most);
}
