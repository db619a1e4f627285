"""Results of commands: tables for people, tabs for pipes, CSV and JSON for programs."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table
from rich.text import Text

from linktopics.rendering import make_console

__all__ = ["JSON_FORMAT", "Column", "Result", "emit", "printable"]

JSON_FORMAT = 1
"""Goes up when a name in the JSON output changes its meaning or goes away; new names may be added at any time."""


@dataclass(frozen=True)
class Column:
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
    """

    name: str
    show: Callable[[Any], str] = str
    right: bool = False
    only: str | None = None


@dataclass
class Result:
    """Rows of named values, and what is said around them.

    Attributes
    ----------
    command : str
        The command.
    columns : sequence of Column
        The columns of tables, plain text and CSV.
    rows : list of dict
        The rows; JSON has all that is in them.
    facts : dict
        What JSON says beside the rows.
    name : str
        What the rows are called in JSON.
    heading, notes : str
        Lines above and below a table.
    """

    command: str
    columns: Sequence[Column]
    rows: list[dict[str, Any]]
    name: str = "rows"
    facts: dict[str, Any] = field(default_factory=dict)
    heading: str = ""
    notes: Sequence[str] = ()


def emit(result: Result, format: str) -> None:
    """Write a result to standard output.

    Parameters
    ----------
    result : Result
        What to write.
    format : {"auto", "table", "plain", "csv", "json"}
        "auto" is "table" on a terminal and "plain" elsewhere.
    """
    if format == "auto":
        format = "table" if sys.stdout.isatty() else "plain"
    if format == "json":
        body = {"format": JSON_FORMAT, "command": result.command, **result.facts, result.name: result.rows}
        print(json.dumps(_jsonable(body), indent=2, ensure_ascii=False))
    elif format == "table":
        _print_table(result)
    else:
        names = [column.name for column in result.columns if column.only != "table"]
        rows = ([_flat(row.get(name)) for name in names] for row in result.rows)
        if format == "csv":
            csv.writer(sys.stdout, lineterminator="\n").writerows([names, *rows])
        else:
            for line in (names, *rows):
                print("\t".join(printable(str(value)).replace("\n", " ") for value in line))


def printable(text: str) -> str:
    r"""Replace characters that a terminal would act on, such as tabs and escape codes, by spaces; lines stay lines.

    Examples
    --------
    >>> printable("one\ttwo\x1b[31m")
    'one two [31m'
    """
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)


def _print_table(result: Result) -> None:
    console = make_console()
    if result.heading:
        console.print(Text(printable(result.heading), style="bold dark_orange3"))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    columns = [column for column in result.columns if column.only != "plain"]
    for column in columns:
        table.add_column(column.name, justify="right" if column.right else "left", no_wrap=column.right)
    for row in result.rows:
        cells = ("" if _missing(row.get(c.name)) else c.show(row[c.name]) for c in columns)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    if result.rows:
        console.print(table)
    for note in result.notes:
        console.print(Text(printable(note), style="dim"))


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _flat(value: Any) -> Any:
    """Turn a value into one cell."""
    if _missing(value):
        return ""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return f"{value:.6g}" if isinstance(value, float) else value
    listed = [str(one) for one in value]
    return ("; " if any("," in one for one in listed) else ", ").join(listed)


def _jsonable(value: Any) -> Any:
    """Turn NumPy's values into Python's and what is not a number into null."""
    if isinstance(value, Mapping):
        return {str(name): _jsonable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(one) for one in value]
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
