// The source of the explorer: a server that is asked for each thing when it is shown.

/** Answers the questions of the pages by asking the server; what went wrong comes as an Error in words. */
export class ServerSource {
  canAsk = true;

  constructor(root) {
    this.root = root;
    this.known = null;
  }

  meta() {
    this.known ??= this.#ask("meta");
    return this.known;
  }

  cell(a, b) {
    return this.#ask(`cells/${a}/${b}`);
  }

  documents({ query = "", topic = null, sort = "number", descending = false, page = 0, size = 50 } = {}) {
    const asked = new URLSearchParams({ query, sort, descending: String(descending), page, size });
    if (topic !== null) asked.set("topic", topic);
    return this.#ask(`documents?${asked}`);
  }

  document(i) {
    return this.#ask(`documents/${i}?by=number`);
  }

  /** Topics and suggested links of a text. */
  suggest(text, { top = 8, direction = null, signal } = {}) {
    return this.#ask("suggest", { text, top, ...(direction ? { direction } : {}) }, signal);
  }

  /** What leaving out each word of a text changes, and what adding words does. */
  changes(text, { top = 8, add = [], signal } = {}) {
    return this.#ask("changes", { text, top, ...(add.length ? { add } : {}) }, signal);
  }

  async #ask(path, body, signal) {
    const how = body
      ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal }
      : { signal };
    let response;
    try {
      response = await fetch(this.root + path, how);
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
