"""Sixteen numbers side by side, in the processor's wide registers.

numba turns loops into wide instructions, but keeps what a loop sums up in memory. These
few operations keep it in registers; LLVM cuts them to the width that the processor has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

VECTOR_WIDTH = 16  # single-precision numbers of the widest registers there are
cgutils: Any = untyped
_MAY_FUSE = ("contract",)  # a product may go into a sum without being rounded first


def _operation(instructions: Callable[..., Any]) -> Any:
    return intrinsic(instructions)


def _operation_with_literals(instructions: Callable[..., Any]) -> Any:
    return intrinsic(prefer_literal=True)(instructions)


def padded(streams: Sequence[int] | NDArray[np.int64]) -> NDArray[np.uint32]:
    """Numbers, and zeros after them to fill the last vector."""
    words = np.zeros(-(-len(streams) // VECTOR_WIDTH) * VECTOR_WIDTH, np.uint32)
    words[: len(streams)] = streams
    return words


class Vector(types.Type):
    """The type of sixteen numbers of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        one = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(one, VECTOR_WIDTH))  # type: ignore[no-untyped-call]


def _item(context: Any, builder: Any, kind: Any, array: Any, indices: Any) -> Any:
    """A pointer to an item of an array and to the fifteen that follow it in memory."""
    whole = context.make_array(kind)(context, builder, array)
    pointer = cgutils.get_item_pointer(context, builder, kind, whole, indices, wraparound=False)
    vector = ir.VectorType(context.get_data_type(kind.dtype), VECTOR_WIDTH)
    return builder.bitcast(pointer, vector.as_pointer())


def _indices(context: Any, builder: Any, index: Any, kinds: Any) -> list[Any]:
    given = cgutils.unpack_tuple(builder, index)
    return [context.cast(builder, i, k, types.intp) for i, k in zip(given, kinds, strict=True)]


def _constant(kind: Any, number: float) -> Any:
    """A number, in every item if it is to be a vector."""
    return ir.Constant(kind, [number] * VECTOR_WIDTH if isinstance(kind, ir.VectorType) else number)


def _instruction(name: str) -> Any:
    """An operation on two numbers or two vectors that is one instruction of LLVM's."""

    def operation(typing: Any, one: Any, two: Any) -> Any:
        def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(*arguments)

        return one(one, two), make

    return intrinsic(operation)


minus = _instruction("fsub")  # one - two
plus = _instruction("fadd")
add_words = _instruction("add")  # without what is carried out of whole numbers


@_operation
def load(typing: Any, array: Any, index: Any) -> Any:
    """The sixteen items of an array from an index on; the index is a tuple of indices."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        indices = _indices(context, builder, arguments[1], list(index))
        pointer = _item(context, builder, array, arguments[0], indices)
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return Vector(array.dtype)(array, index), make


@_operation
def store(typing: Any, array: Any, index: Any, vector: Any) -> Any:
    """Write a vector to an array, from an index on."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        indices = _indices(context, builder, arguments[1], list(index))
        pointer = _item(context, builder, array, arguments[0], indices)
        builder.store(arguments[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, vector), make


@_operation
def same(typing: Any, value: Any) -> Any:
    """One number in every item of a vector."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(arguments[0].type, VECTOR_WIDTH)
        one = builder.insert_element(
            ir.Constant(vector, ir.Undefined), arguments[0], ir.IntType(32)(0)
        )
        zeros = _constant(ir.VectorType(ir.IntType(32), VECTOR_WIDTH), 0)
        return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

    return Vector(value)(value), make


@_operation
def multiply_add(typing: Any, one: Any, two: Any, total: Any) -> Any:
    """A product and a sum: one * two + total, rounded once or twice."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        product = builder.fmul(arguments[0], arguments[1], flags=_MAY_FUSE)
        return builder.fadd(product, arguments[2], flags=_MAY_FUSE)

    return one(one, two, total), make


@_operation
def beyond(typing: Any, value: Any, half: Any) -> Any:
    """How far |value| exceeds half: |value| - half, or 0."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        above = builder.fsub(*arguments)
        below = builder.fsub(builder.fneg(arguments[0]), arguments[1])
        over = builder.select(builder.fcmp_ordered(">", above, below), above, below)
        zero = _constant(over.type, 0.0)
        return builder.select(builder.fcmp_ordered(">", over, zero), over, zero)

    return value(value, half), make


@_operation
def where_at_most(typing: Any, values: Any, edges: Any) -> Any:
    """One bit for each item, the lowest for the first: values <= edges; 0 for NaN."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.fcmp_ordered("<=", *arguments)
        return builder.zext(builder.bitcast(bits, ir.IntType(VECTOR_WIDTH)), ir.IntType(64))

    return types.int64(values, edges), make


@_operation
def lowest(typing: Any, bits: Any) -> Any:
    """The number of the lowest bit that is 1; there must be one."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), make


@_operation_with_literals
def turned(typing: Any, one: Any, two: Any, bits: Any) -> Any:
    """The bits of one ^ two, moved to the left and around by a literal number."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        mixed = builder.xor(arguments[0], arguments[1])
        left = _constant(mixed.type, bits.literal_value)
        right = _constant(mixed.type, 32 - bits.literal_value)
        return builder.or_(builder.shl(mixed, left), builder.lshr(mixed, right))

    return one(one, two, bits), make


@_operation
def unit_of(typing: Any, high: Any, low: Any) -> Any:
    """52 of the bits of two words, strictly between 0 and 1."""
    many = Vector(types.float64) if isinstance(high, Vector) else types.float64

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide, numbers = ir.IntType(64), context.get_value_type(many)
        if isinstance(high, Vector):
            wide = ir.VectorType(wide, VECTOR_WIDTH)
        first = builder.shl(builder.zext(arguments[0], wide), _constant(wide, 32))
        bits = builder.or_(first, builder.zext(arguments[1], wide))
        number = builder.uitofp(builder.lshr(bits, _constant(wide, 12)), numbers)
        number = builder.fadd(number, _constant(numbers, 0.5))
        return builder.fmul(number, _constant(numbers, 2.0**-52))

    return many(high, low), make


@_operation
def following(typing: Any, rank: Any, unit: Any) -> Any:
    """The next links of chains: floor(rank / unit) + 1."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = arguments[0].type
        floor = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector]), f"llvm.floor.v{VECTOR_WIDTH}f64"
        )
        down = builder.call(floor, [builder.fdiv(*arguments)])
        return builder.fadd(down, _constant(vector, 1.0))

    return rank(rank, unit), make


@_operation
def if_at_most(typing: Any, values: Any, edges: Any, others: Any) -> Any:
    """The values that are at most their edge; instead of the rest, the others."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        small = builder.fcmp_ordered("<=", arguments[0], arguments[1])
        return builder.select(small, arguments[0], arguments[2])

    return values(values, edges, others), make
