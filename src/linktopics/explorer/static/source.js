// The source of what the pages show: the report they are in, or the server they came from.
import { ReportSource } from "./report_source.js";
import { ServerSource } from "./server_source.js";

/**
 * Return the source of this page.
 *
 * @returns {ReportSource | ServerSource} Both have `meta()`, `cell(a, b)`, `documents(query)` and `document(i)`;
 *   one that is true for `canAsk` also has `suggest(text)` and `changes(text)`.
 */
export function openSource() {
  const bundle = document.getElementById("bundle");
  return bundle ? new ReportSource(JSON.parse(bundle.textContent)) : new ServerSource("api/");
}
