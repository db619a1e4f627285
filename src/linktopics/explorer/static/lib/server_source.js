// The source of pages from a server: a client of its API.

/** Fetches what the pages show when it is shown; errors have a sentence as their message. */
export class ServerSource {
  hasTextQueries = true;

  constructor(root) {
    this.root = root;
    this.known = null;
  }

  meta() {
    this.known ??= this.#fetch("meta");
    return this.known;
  }

  cell(a, b) {
    return this.#fetch(`cells/${a}/${b}`);
  }

  documents({ query = "", topic = null, sort = "number", descending = false, page = 0, size = 50 } = {}) {
    const parameters = new URLSearchParams({ query, sort, descending: String(descending), page, size });
    if (topic !== null) parameters.set("topic", topic);
    return this.#fetch(`documents?${parameters}`);
  }

  document(i) {
    return this.#fetch(`documents/${i}?by=number`);
  }

  /** Topics and suggested links of a text. */
  suggest(text, { top = 8, direction = null, signal } = {}) {
    return this.#fetch("suggest", { text, top, ...(direction ? { direction } : {}) }, signal);
  }

  /** Effects of leaving out each word of a text, and of adding words. */
  changes(text, { top = 8, add = [], signal } = {}) {
    return this.#fetch("changes", { text, top, ...(add.length ? { add } : {}) }, signal);
  }

  async #fetch(path, body, signal) {
    const options = body
      ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal }
      : { signal };
    let response;
    try {
      response = await fetch(this.root + path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer. Is it still running?");
    }
    const answer = await response.json().catch(() => null);
    if (!response.ok) {
      const error = new Error(answer?.error ?? `The server answered with an error (${response.status}).`);
      throw Object.assign(error, { status: response.status });
    }
    if (answer === null) throw new Error("The server's answer cannot be read.");
    return answer;
  }
}
