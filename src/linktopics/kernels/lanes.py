"""Lanes: eight float32 in a register, the type that Numba lacks.

A kernel that takes `topics` reads only its length, the padded number of topics, which the compiler then knows as a
constant. It unrolls short loops of known length to scalars before it thinks of vectors, so the vectors are spelt out.

Numba's disk cache does not notice an edit of this file: delete the ``__pycache__`` folders after one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import lower_builtin, models, register_model

__all__ = [
    "LANES",
    "count_up_to",
    "extract",
    "floor",
    "larger",
    "load",
    "maximum",
    "padded",
    "power_of_two",
    "replace",
    "running",
    "smaller",
    "splat",
    "store",
    "total",
]

LANES = 8


def padded(n_topics: int) -> int:
    """Return the number of topics rounded up to whole registers."""
    return -(-n_topics // LANES) * LANES


_F32, _I32, _I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_VECTOR, _INT_VECTOR = ir.VectorType(_F32, LANES), ir.VectorType(_I32, LANES)
_FLAGS = ("reassoc", "contract", "nsz")


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"float32x{LANES}")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _VECTOR)


_lanes, _f32, _int = _Lanes(), types.float32, types.intp
_rows, _read_only = types.Array(types.float32, 2, "C"), types.Array(types.float32, 2, "C", readonly=True)


def _compiled(function: Any, result: Any, *params: Any) -> Callable[[Any], Any]:
    """Teach the compiler that ``function(*params)`` is the code that the decorated function emits."""
    infer_global(function)(type(function.__name__, (ConcreteTemplate,), {"cases": [signature(result, *params)]}))

    def decorate(emit: Any) -> Any:
        @lower_builtin(function, *params)
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return emit(builder, *args)

        return emit

    return decorate


def _broadcast(builder: Any, value: Any, vector: Any) -> Any:
    undefined = ir.Constant(vector, ir.Undefined)
    single = builder.insert_element(undefined, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(single, undefined, ir.Constant(_INT_VECTOR, [0] * LANES))


def _call(builder: Any, name: str, result: Any, *args: Any) -> Any:
    function_type = ir.FunctionType(result, [arg.type for arg in args])
    function = cgutils.get_or_insert_function(builder.module, function_type, f"llvm.{name}.v{LANES}f32")
    return builder.call(function, args, fastmath=_FLAGS)


def _address(builder: Any, rows: Any, i: Any, k: Any) -> Any:
    # An array is (meminfo, parent, n_items, item_size, data, shape, strides); its rows are one row apart.
    row_length = builder.extract_value(rows, [5, 1])
    offset = builder.add(builder.mul(i, row_length), k)
    return builder.bitcast(builder.gep(builder.extract_value(rows, 4), [offset]), _VECTOR.as_pointer())


for _function, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):

    @_compiled(_function, _lanes, _lanes, _lanes)
    def _(builder: Any, x: Any, y: Any, instruction: str = _instruction) -> Any:
        return getattr(builder, instruction)(x, y, flags=_FLAGS)


# What each operation does, in NumPy; the compiler replaces the call by the code below.


def load(rows, i, k):  # type: ignore[no-untyped-def]
    return rows[i, k : k + LANES].copy()


def store(rows, i, k, x):  # type: ignore[no-untyped-def]
    rows[i, k : k + LANES] = x


def splat(x):  # type: ignore[no-untyped-def]
    return np.full(LANES, x, np.float32)


def floor(x):  # type: ignore[no-untyped-def]
    return np.floor(x)


def larger(x, y):  # type: ignore[no-untyped-def]
    return np.maximum(x, y)


def smaller(x, y):  # type: ignore[no-untyped-def]
    return np.minimum(x, y)


def maximum(x):  # type: ignore[no-untyped-def]
    return x.max()


def total(x):  # type: ignore[no-untyped-def]
    return x.sum()


def running(x):  # type: ignore[no-untyped-def]
    return np.cumsum(x, dtype=np.float32)


def count_up_to(x, bound):  # type: ignore[no-untyped-def]
    return int((x <= bound).sum())


def extract(x, lane):  # type: ignore[no-untyped-def]
    return x[lane]


def power_of_two(n):  # type: ignore[no-untyped-def]
    return np.ldexp(np.float32(1.0), n.astype(np.int32))


def replace(x, k, t, value):  # type: ignore[no-untyped-def]
    """Put `value` in the place of topic t, where x stands for topics k ... k + LANES - 1."""
    return np.where(np.arange(k, k + LANES) == t, np.float32(value), x)


@_compiled(load, _lanes, _read_only, _int, _int)
@_compiled(load, _lanes, _rows, _int, _int)
def _(builder: Any, rows: Any, i: Any, k: Any) -> Any:
    return builder.load(_address(builder, rows, i, k), align=4)


@_compiled(store, types.void, _rows, _int, _int, _lanes)
def _(builder: Any, rows: Any, i: Any, k: Any, x: Any) -> Any:
    builder.store(x, _address(builder, rows, i, k), align=4)


@_compiled(splat, _lanes, _f32)
def _(builder: Any, x: Any) -> Any:
    return _broadcast(builder, x, _VECTOR)


@_compiled(floor, _lanes, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _call(builder, "floor", _VECTOR, x)


@_compiled(larger, _lanes, _lanes, _lanes)
def _(builder: Any, x: Any, y: Any) -> Any:
    return _call(builder, "maximum", _VECTOR, x, y)


@_compiled(smaller, _lanes, _lanes, _lanes)
def _(builder: Any, x: Any, y: Any) -> Any:
    return _call(builder, "minimum", _VECTOR, x, y)


@_compiled(maximum, _f32, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _call(builder, "vector.reduce.fmax", _F32, x)


@_compiled(total, _f32, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _call(builder, "vector.reduce.fadd", _F32, ir.Constant(_F32, 0.0), x)


@_compiled(running, _lanes, _lanes)
def _(builder: Any, x: Any) -> Any:
    for shift in (1, 2, 4):
        moved = [lane - shift if lane >= shift else LANES for lane in range(LANES)]
        zeros = ir.Constant(_VECTOR, [0.0] * LANES)
        x = builder.fadd(x, builder.shuffle_vector(x, zeros, ir.Constant(_INT_VECTOR, moved)))
    return x


@_compiled(count_up_to, _int, _lanes, _f32)
def _(builder: Any, x: Any, bound: Any) -> Any:
    mask = builder.fcmp_ordered("<=", x, _broadcast(builder, bound, _VECTOR))
    return builder.ctpop(builder.zext(builder.bitcast(mask, ir.IntType(LANES)), _I64))


@_compiled(extract, _f32, _lanes, _int)
def _(builder: Any, x: Any, lane: Any) -> Any:
    return builder.extract_element(x, builder.trunc(lane, _I32))


@_compiled(power_of_two, _lanes, _lanes)
def _(builder: Any, n: Any) -> Any:
    exponent = builder.add(builder.fptosi(n, _INT_VECTOR), ir.Constant(_INT_VECTOR, [127] * LANES))
    return builder.bitcast(builder.shl(exponent, ir.Constant(_INT_VECTOR, [23] * LANES)), _VECTOR)


@_compiled(replace, _lanes, _lanes, _int, _int, _f32)
def _(builder: Any, x: Any, k: Any, t: Any, value: Any) -> Any:
    lane = _broadcast(builder, builder.trunc(builder.sub(t, k), _I32), _INT_VECTOR)
    here = builder.icmp_signed("==", lane, ir.Constant(_INT_VECTOR, list(range(LANES))))
    return builder.select(here, _broadcast(builder, value, _VECTOR), x)
