"""Kernels that go through topics by blocks: what a block writes, no other block may read.

Where the width of a block does not divide the number of topics, the last block begins inside the one before (see
`linktopics.kernels.simd.block_width`). So a loop over blocks may write the same numbers twice, but must not read what
it writes: ``rows[i] += x`` would add x twice for some topics.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import linktopics.kernels

KERNELS = sorted(Path(linktopics.kernels.__file__).parent.glob("*.py"))
READ_BY = {"load": 0, "load_block": 1}  # where the array stands among the arguments
WRITTEN_BY = {"store": 0, "store_block": 1}


def functions_of(source):
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def calls_in(function):
    """Yield (name, arguments) of the calls of functions by their names."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node.args


def names(nodes):
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def effects(function, functions):
    """Return the names of the arrays that a function reads and writes, itself or by a function of the same file."""
    subscripts = [node for node in ast.walk(function) if isinstance(node, ast.Subscript)]
    reads = names(node.value for node in subscripts if isinstance(node.ctx, ast.Load))
    writes = names(node.value for node in subscripts if isinstance(node.ctx, ast.Store))
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            reads |= names([node.target.value])
    for name, args in calls_in(function):
        reads |= names(args[READ_BY[name] :][:1]) if name in READ_BY else set()
        writes |= names(args[WRITTEN_BY[name] :][:1]) if name in WRITTEN_BY else set()
        if name in functions:
            read, written = effects_of_call(functions[name], args, functions)
            reads, writes = reads | read, writes | written
    return reads, writes


def effects_of_call(called, args, functions):
    """Return what a call reads and writes, by the caller's names."""
    given = dict(zip((param.arg for param in called.args.args), args, strict=False))
    read, written = effects(called, functions)
    return names(given[name] for name in read & set(given)), names(given[name] for name in written & set(given))


def mistakes(source):
    """List the functions that loop over blocks and read an array that they write, or that are called with such."""
    functions = functions_of(source)
    by_blocks = {name for name, function in functions.items() if "block_width" in names_called(function)}
    found = []
    for name, function in functions.items():
        if name in by_blocks:
            reads, writes = effects(function, functions)
            found += [f"{name} reads {array} and writes it" for array in sorted(reads & writes)]
        for callee, args in calls_in(function):
            if callee in by_blocks:
                read, written = effects_of_call(functions[callee], args, functions)
                found += [f"{name}: {callee} reads {array} and writes it" for array in sorted(read & written)]
    return found


def names_called(function):
    return {name for name, _ in calls_in(function)}


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_no_block_reads_what_another_writes(path):
    assert mistakes(path.read_text(encoding="utf-8")) == []


def test_there_are_kernels_that_go_by_blocks():
    sweep = next(path for path in KERNELS if path.stem == "sweep")
    functions = functions_of(sweep.read_text(encoding="utf-8"))
    assert any({"block_width", "store_block"} <= names_called(function) for function in functions.values())


LOOP = """
def add(topics, rows, out):
    width = block_width(topics)
    for first in range(0, len(topics), width):
        k = min(first, len(topics) - width)
        {step}

def put(topics, out, k, x):
    store_block(topics, out, 0, k, x)

def twice(topics, rows, out):
    add(topics, {rows}, out)
"""


@pytest.mark.parametrize(
    ("step", "rows", "n_found"),
    [
        ("store_block(topics, out, 0, k, load_block(topics, rows, 0, k))", "rows", 0),
        ("store_block(topics, out, 0, k, load_block(topics, rows, 0, k))", "out", 1),
        ("store_block(topics, out, 0, k, load_block(topics, out, 0, k))", "rows", 2),
        ("put(topics, out, k, load_block(topics, out, 1, k))", "rows", 2),
        ("store(out, 0, k, load(out, 0, k) + load(rows, 0, k))", "rows", 2),
        ("out[0, k] += rows[0, k]", "rows", 2),
    ],
)
def test_mistakes_are_seen(step, rows, n_found):
    assert len(mistakes(LOOP.format(step=step, rows=rows))) == n_found
