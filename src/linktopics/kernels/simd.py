"""Lanes: eight float32 in a register, the type that Numba lacks; and blocks of them.

A kernel that takes `topics` reads only its length, the padded number of topics, which the compiler then knows as a
constant. It unrolls short loops of known length to scalars before it considers vectors, so the vectors are explicit.

Under NUMBA_BOUNDSCHECK=1 loads and stores are checked, as Numba checks other indices (give such runs a NUMBA_CACHE_DIR
of their own: the cache does not distinguish them); uncompiled (NUMBA_DISABLE_JIT=1) they always are.

Numba's disk cache does not notice an edit of this file or of `drawing`: delete the ``__pycache__`` folders after one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, ConcreteTemplate, infer_global
from numba.extending import lower_builtin, models, register_model

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
_counts = types.Array(types.uint16, 2, "C")


def _compiled(function: Any, result: Any, *params: Any) -> Callable[[Any], Any]:
    """Return a decorator: ``function(*params)`` is compiled to the code that the decorated function emits."""
    infer_global(function)(type(function.__name__, (ConcreteTemplate,), {"cases": [signature(result, *params)]}))

    def decorate(emit: Any) -> Any:
        @lower_builtin(function, *params)
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            _check_bounds(context, builder, function, sig, args)
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


def _check_bounds(context: Any, builder: Any, function: Any, sig: Any, args: Any, n_vectors: int = 1) -> None:
    """Under NUMBA_BOUNDSCHECK=1, let `load` and `store` and those of blocks raise IndexError where `within` does."""
    is_on = vars(config).get("BOUNDSCHECK")
    if not is_on or function.__name__ not in ("load", "store", "load_block", "store_block"):
        return
    at = next(place for place, arg in enumerate(sig.args) if isinstance(arg, types.Array))
    rows, i, k = args[at : at + 3]
    n_rows, row_length = (builder.extract_value(rows, [5, axis]) for axis in (0, 1))
    last = builder.add(k, ir.Constant(_I64, n_vectors * LANES))
    zero = ir.Constant(_I64, 0)
    wrong = builder.or_(
        builder.or_(builder.icmp_signed("<", i, zero), builder.icmp_signed(">=", i, n_rows)),
        builder.or_(builder.icmp_signed("<", k, zero), builder.icmp_signed(">", last, row_length)),
    )
    with builder.if_then(wrong, likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("lanes are out of bounds",))


def within(rows: Any, i: int, k: int, width: int) -> Any:
    """Return ``rows[i, k : k + width]``; raise IndexError where NumPy would count from the end, or return less."""
    if not (0 <= i < rows.shape[0] and k >= 0 and k + width <= rows.shape[1]):
        raise IndexError(f"lanes {k} to {k + width - 1} of row {i} are out of bounds of {rows.shape}")
    return rows[i, k : k + width]


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


def load(rows, i, k):
    return within(rows, i, k, LANES).astype(np.float32)


def store(rows, i, k, x):
    within(rows, i, k, LANES)[:] = x


def prefetch(rows, i, k):
    """Prefetch what `load` will need soon."""


def splat(x):
    return np.full(LANES, x, np.float32)


def floor(x):
    return np.floor(x)


def larger(x, y):
    return np.maximum(x, y)


def magnitude(x):
    return np.abs(x)


def maximum(x):
    return x.max()


def total(x):
    return x.sum()


def running(x):
    return np.cumsum(x, dtype=np.float32)


def before(x):
    """Return x shifted up by one lane, with 0 in the first."""
    return np.append(np.float32(0.0), x[:-1])


def count_up_to(x, bound):
    return int((x <= bound).sum())


def extract(x, lane):
    return x[lane]


def power_of_two(n):
    return np.ldexp(np.float32(1.0), n.astype(np.int32))


def replace(x, k, t, value):
    """Return x, the values of topics k ... k + LANES - 1, with `value` for topic t."""
    return np.where(np.arange(k, k + LANES) == t, np.float32(value), x)


@_compiled(load, _lanes, _read_only, _int, _int)
@_compiled(load, _lanes, _rows, _int, _int)
def _(builder: Any, rows: Any, i: Any, k: Any) -> Any:
    return builder.load(_address(builder, rows, i, k), align=4)


@_compiled(load, _lanes, _counts, _int, _int)
def _(builder: Any, rows: Any, i: Any, k: Any) -> Any:
    small = ir.VectorType(ir.IntType(16), LANES)
    found = builder.load(builder.bitcast(_address(builder, rows, i, k), small.as_pointer()), align=2)
    return builder.sitofp(builder.zext(found, _INT_VECTOR), _VECTOR)


@_compiled(store, types.void, _rows, _int, _int, _lanes)
def _(builder: Any, rows: Any, i: Any, k: Any, x: Any) -> Any:
    builder.store(x, _address(builder, rows, i, k), align=4)


@_compiled(prefetch, types.void, _counts, _int, _int)
@_compiled(prefetch, types.void, _read_only, _int, _int)
@_compiled(prefetch, types.void, _rows, _int, _int)
def _(builder: Any, rows: Any, i: Any, k: Any) -> Any:
    address = builder.bitcast(_address(builder, rows, i, k), ir.IntType(8).as_pointer())
    numbers = [ir.Constant(_I32, number) for number in (0, 3, 1)]  # to read, keep near, data
    function_type = ir.FunctionType(ir.VoidType(), [address.type, *(number.type for number in numbers)])
    builder.call(cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0"), [address, *numbers])


@_compiled(splat, _lanes, _f32)
def _(builder: Any, x: Any) -> Any:
    return _broadcast(builder, x, _VECTOR)


@_compiled(floor, _lanes, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _call(builder, "floor", _VECTOR, x)


@_compiled(magnitude, _lanes, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _call(builder, "fabs", _VECTOR, x)


@_compiled(larger, _lanes, _lanes, _lanes)
def _(builder: Any, x: Any, y: Any) -> Any:
    return _call(builder, "maximum", _VECTOR, x, y)


@_compiled(maximum, _f32, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _call(builder, "vector.reduce.fmax", _F32, x)


@_compiled(total, _f32, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _call(builder, "vector.reduce.fadd", _F32, ir.Constant(_F32, 0.0), x)


def _moved(builder: Any, x: Any, lanes: list[int]) -> Any:
    """Return the lanes of x in this order; lane LANES is zero."""
    return builder.shuffle_vector(x, ir.Constant(_VECTOR, [0.0] * LANES), ir.Constant(_INT_VECTOR, lanes))


@_compiled(running, _lanes, _lanes)
def _(builder: Any, x: Any) -> Any:
    # Within each half, where lanes are quickly moved, and then the sum of the lower half goes to the upper one.
    none, half = LANES, LANES // 2
    for shift in (1, 2):
        x = builder.fadd(x, _moved(builder, x, [n - shift if n % half >= shift else none for n in range(LANES)]))
    return builder.fadd(x, _moved(builder, x, [none] * half + [half - 1] * half))


@_compiled(before, _lanes, _lanes)
def _(builder: Any, x: Any) -> Any:
    return _moved(builder, x, [LANES, *range(LANES - 1)])


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
    wanted, first = (_broadcast(builder, builder.trunc(topic, _I32), _INT_VECTOR) for topic in (t, k))
    here = builder.icmp_signed("==", wanted, builder.add(first, ir.Constant(_INT_VECTOR, list(range(LANES)))))
    return builder.select(here, _broadcast(builder, value, _VECTOR), x)


# --------------------------------------------------------------------------------------------------------------------
# Blocks: as many lanes as there are registers for, so that sums over a row stay out of memory
# --------------------------------------------------------------------------------------------------------------------

MAX_BLOCK = 7  # vectors; of the 16 registers that most machines have, two such sums take 14


def _n_vectors(n_topics: int) -> int:
    n_vectors = n_topics // LANES
    return -(-n_vectors // -(-n_vectors // MAX_BLOCK))


class _Block(types.Type):
    def __init__(self, n_vectors: int) -> None:
        self.n_vectors = n_vectors
        super().__init__(name=f"block{n_vectors}x{LANES}")


@register_model(_Block)
class _BlockModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, ir.ArrayType(_VECTOR, fe_type.n_vectors))


def block_width(topics):
    """Return the number of topics in a block: all, or fewer so that few blocks cover all.

    If the width does not divide the number of topics, the last block overlaps the one before. A stored value must
    therefore not depend on what was stored there before: never `load_block` from rows that are also stored to.
    """
    return LANES * _n_vectors(len(topics))


def load_block(topics, rows, i, k):
    return within(rows, i, k, block_width(topics)).copy()


def store_block(topics, rows, i, k, x):
    within(rows, i, k, block_width(topics))[:] = x


def zero_block(topics):
    return np.zeros(block_width(topics), np.float32)


def _compiled_block(function: Any, *params: Any) -> Callable[[Any], Any]:
    """Return a decorator like `_compiled`, for functions of `topics` or of a block, which determines the block type."""

    def generic(self: Any, args: Any, kws: Any) -> Any:
        if len(args) != len(params) or not all(map(isinstance, args, params)):
            return None
        if function is block_width:
            return signature(_int, *args)
        if function is store_block:
            return signature(types.void, *args)
        block = next((arg for arg in args if isinstance(arg, _Block)), None)
        return signature(block or _Block(_n_vectors(len(args[0]))), *args)

    infer_global(function)(type(function.__name__, (AbstractTemplate,), {"generic": generic, "key": function}))

    def decorate(emit: Any) -> Any:
        @lower_builtin(function, *params)
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            blocks = [arg.n_vectors for arg in (sig.return_type, *sig.args) if isinstance(arg, _Block)]
            n_vectors = blocks[0] if blocks else _n_vectors(len(sig.args[0]))
            _check_bounds(context, builder, function, sig, args, n_vectors)
            return emit(builder, n_vectors, *args)

        return emit

    return decorate


def _packed(builder: Any, vectors: list[Any]) -> Any:
    block = ir.Constant(ir.ArrayType(_VECTOR, len(vectors)), ir.Undefined)
    for place, vector in enumerate(vectors):
        block = builder.insert_value(block, vector, place)
    return block


@_compiled_block(block_width, types.UniTuple)
def _(builder: Any, n: int, topics: Any) -> Any:
    return ir.Constant(_I64, n * LANES)


@_compiled_block(load_block, types.UniTuple, types.Array, types.Integer, types.Integer)
def _(builder: Any, n: int, topics: Any, rows: Any, i: Any, k: Any) -> Any:
    first = _address(builder, rows, i, k)
    places = (builder.gep(first, [ir.Constant(_I64, place)]) for place in range(n))
    return _packed(builder, [builder.load(place, align=4) for place in places])


@_compiled_block(store_block, types.UniTuple, types.Array, types.Integer, types.Integer, _Block)
def _(builder: Any, n: int, topics: Any, rows: Any, i: Any, k: Any, x: Any) -> Any:
    first = _address(builder, rows, i, k)
    for place in range(n):
        builder.store(builder.extract_value(x, place), builder.gep(first, [ir.Constant(_I64, place)]), align=4)


@_compiled_block(zero_block, types.UniTuple)
def _(builder: Any, n: int, topics: Any) -> Any:
    return _packed(builder, [ir.Constant(_VECTOR, [0.0] * LANES)] * n)


for _function, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):

    @_compiled_block(_function, _Block, _Block)
    def _(builder: Any, n: int, x: Any, y: Any, instruction: str = _instruction) -> Any:
        both = ((builder.extract_value(x, place), builder.extract_value(y, place)) for place in range(n))
        return _packed(builder, [getattr(builder, instruction)(*pair, flags=_FLAGS) for pair in both])


@_compiled_block(operator.mul, types.Float, _Block)
def _(builder: Any, n: int, x: Any, y: Any) -> Any:
    wide = _broadcast(builder, x, _VECTOR)
    return _packed(builder, [builder.fmul(wide, builder.extract_value(y, place), flags=_FLAGS) for place in range(n)])
