// Where the pages get what they show: from the file they are in, or from the server they came from.
import { ReportSource } from "./reading.js";
import { ServerSource } from "./asking.js";

/**
 * Open the source of this page.
 *
 * @returns {ReportSource | ServerSource} Both answer `meta()`, `cell(a, b)`, `documents(question)` and `document(i)`;
 *   one that `canAsk` answers `suggest(text)` and `changes(text)` too.
 */
export function openSource() {
  const bundle = document.getElementById("bundle");
  return bundle ? new ReportSource(JSON.parse(bundle.textContent)) : new ServerSource("api/");
}
