// Colours: the diverging scale, mixed by CSS so that it follows light and dark, and colours of a few topics.

/** Classes and custom property that colour an element by a value of the diverging scale. */
export function tint(element, value, most) {
  const strength = Math.min(1, Math.abs(value ?? 0) / most);
  element.classList.toggle("attracts", value > 0);
  element.classList.toggle("repels", value < 0);
  // What is written on it is black or white, whichever has the larger contrast (at least 4.6).
  element.classList.toggle("deep", value < 0 && strength >= 0.69);
  element.classList.toggle("bright", strength >= (value > 0 ? 0.52 : 0.75));
  element.style.setProperty("--t", `${(100 * strength).toFixed(1)}%`);
  return element;
}

/** How many topics have a colour of their own at once; all others are grey. */
const N_COLOURS = 8;

/** Assigns colours to the largest topics on a page; a topic keeps its colour while it is among them. */
export class Palette {
  slots = new Map();

  /** Set the topics of a page, largest first. */
  use(topics) {
    const wanted = topics.slice(0, N_COLOURS);
    for (const k of [...this.slots.keys()]) if (!wanted.includes(k)) this.slots.delete(k);
    for (const k of wanted) {
      if (this.slots.has(k)) continue;
      const taken = new Set(this.slots.values());
      this.slots.set(k, [...Array(N_COLOURS).keys()].find((slot) => !taken.has(slot)));
    }
    return this;
  }

  /** The class of a topic's colour. */
  of(k) {
    return this.slots.has(k) ? `topic-${this.slots.get(k)}` : "topic-other";
  }
}
