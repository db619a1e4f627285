// The source of the data: the report that contains the pages, or the server that sent them.
import { ReportSource } from "./report_source.js";
import { ServerSource } from "./server_source.js";

/**
 * Return the source of the data of this page.
 *
 * @returns {ReportSource | ServerSource} Both have `meta()`, `cell(a, b)`, `documents(query)` and `document(i)`;
 *   if `hasTextQueries` is true, also `suggest(text)` and `changes(text)`.
 */
export function openSource() {
  const data = document.getElementById("bundle");
  return data ? new ReportSource(JSON.parse(data.textContent)) : new ServerSource("api/");
}
