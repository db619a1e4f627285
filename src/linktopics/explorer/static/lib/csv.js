// Tables as files: RFC 4180, and without texts that a spreadsheet would run as formulas.

/** Characters that begin a formula in some spreadsheets. */
const FORMULA = /^[=+\-@\t\r]/;

/** A field of a CSV file: numbers as they are, texts without formulas, quoted where they must be. */
function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a CSV file from rows of values; the first row is the header. */
export function csvText(rows) {
  return rows.map((row) => row.map(csvField).join(",") + "\r\n").join("");
}

/** Download a text as a file. */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
