"""Results of commands: tables for people, tabs for pipes, CSV and JSON for programs."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from linktopics.errors import DataError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

JSON_FORMAT = 1
"""Increases when a name in the JSON output changes its meaning or is removed; names can be added at any time."""

INVISIBLE_CHARACTERS = "\n\u200c\u200d"
"""Characters that are not printable, but kept: line ends, and what joins emoji or separates letters."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of formulas in spreadsheets."""


@dataclass(frozen=True)
class TableColumn:
    """A column of a result.

    Attributes
    ----------
    name : str
        Its name in every format.
    show : callable
        Value to text, in tables.
    right : bool
        Whether to align it to the right.
    only : {"table", "plain"} or None
        Whether it is in tables alone, or in plain text and CSV alone.
    cell : callable or None
        Function from row to text, in tables, for a cell that shows several values.
    below : callable or None
        Row to lines that stand in the same cell of a table, below the text and dimmed.
    """

    name: str
    show: Callable[[Any], str] = str
    right: bool = False
    only: str | None = None
    cell: Callable[[dict[str, Any]], str] | None = None
    below: Callable[[dict[str, Any]], Sequence[str]] | None = None

    def render(self, row: dict[str, Any]) -> RenderableType:
        """Return its cell of a table."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        value = row.get(self.name)
        shown = self.cell(row) if self.cell else "" if missing(value) else self.show(value)
        text, lines = Text(one_line(shown)), self.below(row) if self.below else ()
        if not lines:
            return text
        return Group(text, *(Padding(Text(one_line(line), style="dim"), (0, 0, 0, 2)) for line in lines))


@dataclass
class CommandResult:
    """Rows of named values, with further facts, a heading and notes.

    Attributes
    ----------
    command : str
        The command.
    columns : sequence of TableColumn
        The columns of tables, plain text and CSV.
    rows : list of dict
        The rows; JSON has all that is in them.
    facts : dict
        Further values in JSON.
    name : str
        Key of the rows in JSON; if it is empty, JSON has no rows.
    heading : str
        Lines above a table, of which the first is its title.
    notes : sequence of str
        Lines below a table.
    """

    command: str
    columns: Sequence[TableColumn]
    rows: list[dict[str, Any]]
    name: str = "rows"
    facts: dict[str, Any] = field(default_factory=dict)
    heading: str = ""
    notes: Sequence[str] = ()


def emit(result: CommandResult, format: str) -> None:
    """Write a result to standard output, where every format but the table can be read by programs.

    Parameters
    ----------
    result : CommandResult
        What to write.
    format : {"auto", "table", "plain", "csv", "json"}
        "auto" is "table" on a terminal and "plain" elsewhere.
    """
    try:
        _write(result, resolve_format(format))
    except RecursionError:
        raise DataError(
            f"the result of {result.command} is nested too deeply: the model is damaged, or linktopics did not "
            "write it; restore it from a copy, or fit it again."
        ) from None


def _write(result: CommandResult, format: str) -> None:
    if format == "json":
        body = {"format": JSON_FORMAT, "command": result.command, **result.facts}
        if result.name:
            body[result.name] = result.rows
        unicode = (sys.stdout.encoding or "").lower().startswith("utf")  # other encodings get escapes
        print(json.dumps(_jsonable(body), indent=2, ensure_ascii=not unicode))
    elif format == "table":
        _print_table(result)
    else:
        names = [column.name for column in result.columns if column.only != "table"]
        cell = _csv_cell if format == "csv" else _plain_cell
        rows = ([cell(row.get(name)) for name in names] for row in result.rows)
        if format == "csv":
            csv.writer(_NewlineWriter()).writerows([names, *rows])
        else:
            for line in (names, *rows):
                print("\t".join(one_line(str(value)) for value in line))


def resolve_format(format: str) -> str:
    """Return the format; "auto" becomes "table" on a terminal and "plain" elsewhere."""
    if format != "auto":
        return format
    return "table" if sys.stdout.isatty() else "plain"


def printable(text: str) -> str:
    r"""Return a text with spaces for characters that a terminal would act on, such as tabs and escape codes.

    Examples
    --------
    >>> printable("one\ttwo\x1b[31m")
    'one two [31m'
    """
    return "".join(char if char.isprintable() or char in INVISIBLE_CHARACTERS else " " for char in text)


def one_line(text: str) -> str:
    """Return `printable` text with spaces for ends of lines, too."""
    return printable(text).replace("\n", " ")


def joined(values: Iterable[Any]) -> str:
    """Return values joined with commas, or with semicolons where a value has a comma of its own.

    Examples
    --------
    >>> joined(["red", "green"]), joined(["red, dark", "green"])
    ('red, green', 'red, dark; green')
    """
    listed = [str(one) for one in values]
    return ("; " if any("," in one for one in listed) else ", ").join(listed)


def format_percent(value: float) -> str:
    """Return a share or a probability as percent, with as many digits as it needs.

    Examples
    --------
    >>> format_percent(0.42), format_percent(0.034), format_percent(0.0008), format_percent(1e-6)
    ('42 %', '3.4 %', '0.08 %', '< 0.01 %')
    """
    percent = 100.0 * value
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if 99.9 < percent < 100:
        return "> 99.9 %"
    decimals = 0 if percent == 0 or 10 <= percent <= 99 or percent == 100 else 2 if percent < 1 else 1
    return f"{percent:.{decimals}f} %"


def print_lines(*lines: str) -> None:
    """Print lines, not wrapped and without characters that a terminal would act on."""
    for line in lines:
        print(printable(line), flush=True)


def heading(line: str) -> Text:
    """Return the title of a table."""
    from rich.text import Text

    return Text(line, style="bold dark_orange3")


def make_table(names: Iterable[str], right: Container[str] = ()) -> Table:
    """Return an empty table with these columns; words wrap, columns that are aligned to the right do not."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, justify="right" if name in right else "left", no_wrap=name in right, overflow="fold")
    return table


def _print_table(result: CommandResult) -> None:
    from rich.text import Text

    from linktopics.utils.terminal import make_console

    console = make_console()
    title, _, more = printable(result.heading).partition("\n")
    if title:
        console.print(heading(title))
    if more:
        console.print(Text(more))
    columns = [column for column in result.columns if column.only != "plain"]
    table = make_table((column.name for column in columns), {column.name for column in columns if column.right})
    for row in result.rows:
        table.add_row(*(column.render(row) for column in columns))
    if result.rows:
        console.print(table)
    for note in result.notes:
        console.print(Text(printable(note), style="dim"))


def missing(value: Any) -> bool:
    """Return whether there is no value: None, an empty text or not a number."""
    return value is None or (isinstance(value, str) and not value) or (isinstance(value, float) and math.isnan(value))


def _plain_cell(value: Any) -> Any:
    """Return a value as one cell."""
    if missing(value):
        return ""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return f"{value:.6g}" if isinstance(value, float) else value
    if isinstance(value, Mapping):
        value = [f"{name} {one}" for name, one in value.items()]
    return joined(value)


class _NewlineWriter:
    """Standard output for `csv.writer`, which quotes a carriage return only if its own lines end in one."""

    def write(self, line: str) -> None:
        sys.stdout.write(line.removesuffix("\r\n") + "\n")


def _csv_cell(value: Any) -> Any:
    """Return a value as one cell of CSV; an apostrophe precedes a text that spreadsheets would run, as OWASP advises.

    Numbers stay numbers. The pages do the same, in static/lib/csv.js.

    Examples
    --------
    >>> _csv_cell("=1+1"), _csv_cell(["-a", "b"]), _csv_cell(-0.5)
    ("'=1+1", "'-a, b", '-0.5')
    """
    cell = _plain_cell(value)
    is_text = isinstance(cell, str) and not isinstance(value, float)
    return f"'{cell}" if is_text and cell.startswith(FORMULA_STARTS) else cell


def _jsonable(value: Any) -> Any:
    """Return a value with Python's types instead of NumPy's, and None for what is not a finite number."""
    if isinstance(value, Mapping):
        return {str(name): _jsonable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(one) for one in value]
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
