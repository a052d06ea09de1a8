"""Edit rules: what holds of every believable record, read by a grammar and never run as a program.

`age >= 15 or employed == "no"` compares variables with numbers, texts and each other.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.plain import (
    LONGEST_RULE,
    LONGEST_RULES,
    MOST_RULES,
    check_letters,
    check_number,
)
from rwn_core.errors import SchemaError

_EXAMPLE = 'A rule reads like: age >= 15 or employed == "no".'
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
    }
)
_COUNTED: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
    }
)


@dataclass(frozen=True, slots=True)
class EditRule:
    """Hold one rule that every believable record keeps.

    Raises
    ------
    SchemaError
        The text is no rule; the message says where.

    Examples
    --------
    >>> rule = EditRule('age >= 15 or employed == "no"')
    >>> rule.names
    ('age', 'employed')
    >>> frame = pd.DataFrame({"age": [14, 14, 30], "employed": ["no", "yes", "yes"]})
    >>> rule.broken(frame).tolist()
    [False, True, False]
    """

    # Comparisons (`<`, `<=`, `>`, `>=`, `==`, `!=`, `in ["a", "b"]`) of variables, numbers and
    # texts, joined by `and`, `or`, `not`; numbers may be added, subtracted, multiplied and divided.
    # The name of a variable that is no word stands as `column("a name")`.
    text: str
    _tree: ast.expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the text."""
        object.__setattr__(self, "text", str(self.text).strip())
        text = self.text
        if not 0 < len(text) <= LONGEST_RULE:
            raise SchemaError(f"An edit rule must have 1 to {LONGEST_RULE:,} letters. {_EXAMPLE}")
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise SchemaError(_refusal(text, error.offset or 1)) from None
        except (ValueError, RecursionError, MemoryError):
            raise SchemaError(_refusal(text, 1)) from None
        _check_truth(tree, text)
        object.__setattr__(self, "_tree", tree)

    def __reduce__(self) -> tuple[type[EditRule], tuple[str]]:
        """Travel to a worker process as its text."""
        return (EditRule, (self.text,))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it names, each once."""
        inside = {id(node.func) for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        nodes = (node for node in ast.walk(self._tree) if id(node) not in inside)
        found = (_name(node) for node in nodes)
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def broken(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Which records of a table break the rule, shape (n,)."""
        # A comparison with a missing value is neither true nor false, and a record breaks a rule
        # only if the rule is false.
        for name in self.names:
            if name not in frame.columns:
                raise SchemaError(
                    f"The edit rule {self.text} names the column {name}, which the table does not "
                    "have; correct its name or take the rule out."
                )
        columns = {name: _plain(frame[name]) for name in self.names}
        truth = self._truth(self._tree, pd.DataFrame(columns, index=frame.index))
        return np.asarray(~truth.fillna(True).to_numpy(dtype=bool))

    def _truth(self, node: ast.expr, frame: pd.DataFrame) -> pd.Series[Any]:
        """True, false or missing of every record (Kleene's logic)."""
        if isinstance(node, ast.BoolOp):
            parts = [self._truth(each, frame) for each in node.values]
            join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            joined = parts[0]
            for part in parts[1:]:
                joined = join(joined, part)
            return joined
        if isinstance(node, ast.UnaryOp):
            return ~self._truth(node.operand, frame)
        assert isinstance(node, ast.Compare)  # as `_check` has seen
        sides = [node.left, *node.comparators]
        met = pd.Series(True, index=frame.index, dtype="boolean")
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            met &= self._compared(left, op, right, frame)
        return met

    def _compared(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, frame: pd.DataFrame
    ) -> pd.Series[Any]:
        if isinstance(op, ast.In | ast.NotIn):
            one = self._value(left, frame)
            assert isinstance(right, ast.List | ast.Tuple)
            choices = [self._value(each, frame) for each in right.elts]
            answer = [self._pair(one, operator.eq, each, left, frame) for each in choices]
            found = answer[0]
            for part in answer[1:]:
                found = found | part
            return ~found if isinstance(op, ast.NotIn) else found
        values = (self._value(left, frame), self._value(right, frame))
        named = left if _name(left) is not None else right
        return self._pair(values[0], _COMPARED[type(op)], values[1], named, frame)

    def _pair(
        self, one: Any, compare: Callable[[Any, Any], Any], two: Any, at: ast.expr, frame: Any
    ) -> pd.Series[Any]:
        # a number or a text is one value for all records
        one, two = (
            each if isinstance(each, pd.Series) else pd.Series([each]) for each in (one, two)
        )
        if _is_number(one) != _is_number(two):
            raise SchemaError(
                f"The edit rule {self.text} compares numbers with texts at place "
                f"{at.col_offset + 1} ({_name(at) or 'a value'}); write texts in quotation marks "
                "and numbers without."
            )
        missing = np.broadcast_to(one.isna().to_numpy() | two.isna().to_numpy(), len(frame))
        if _is_number(one):
            left, right = (
                np.nan_to_num(each.to_numpy(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
                for each in (one, two)
            )
        else:
            left, right = (
                each.astype(object).where(each.notna(), "").to_numpy() for each in (one, two)
            )
        truth = np.broadcast_to(np.asarray(compare(left, right), dtype=bool), len(frame))
        return pd.Series(pd.arrays.BooleanArray(truth.copy(), missing.copy()), frame.index)

    def _value(self, node: ast.expr, frame: pd.DataFrame) -> Any:
        name = _name(node)
        if name is not None:
            return frame[name]
        if isinstance(node, ast.Constant):
            return str(node.value) if isinstance(node.value, bool) else node.value
        if isinstance(node, ast.UnaryOp):
            return -self._numeric(node.operand, frame)
        assert isinstance(node, ast.BinOp)
        with np.errstate(divide="ignore", invalid="ignore"):
            left, right = self._numeric(node.left, frame), self._numeric(node.right, frame)
            if isinstance(node.op, ast.Div) and not isinstance(right, pd.Series):
                right = np.float64(right)
            result = _COUNTED[type(node.op)](left, right)
        if isinstance(result, pd.Series):
            return result.replace([np.inf, -np.inf], np.nan)
        return float(result)

    def _numeric(self, node: ast.expr, frame: pd.DataFrame) -> Any:
        value = self._value(node, frame)
        as_series = value if isinstance(value, pd.Series) else pd.Series([value])
        if not _is_number(as_series):
            raise SchemaError(
                f"The edit rule {self.text} calculates with texts at place {node.col_offset + 1}; "
                "only numbers can be added, subtracted, multiplied or divided."
            )
        return value


def as_edit_rules(rules: Sequence[object]) -> tuple[EditRule, ...]:
    """Read rules, given as texts or read already, each once."""
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise SchemaError(f"Edit rules must be a list of texts. {_EXAMPLE}")
    check_number(rules, MOST_RULES, "Edit rules", SchemaError)
    if not all(isinstance(each, str | EditRule) for each in rules):
        raise SchemaError(f"Edit rules must be texts. {_EXAMPLE}")
    texts = "".join(each.text if isinstance(each, EditRule) else str(each) for each in rules)
    check_letters(texts, LONGEST_RULES, "The list of edit rules", SchemaError)
    read = (each if isinstance(each, EditRule) else EditRule(str(each)) for each in rules)
    return tuple(dict.fromkeys(read))


def _refusal(text: str, place: int) -> str:
    return f"The edit rule {text} cannot be read at place {place}. {_EXAMPLE}"


def _check_truth(node: ast.expr, text: str) -> None:
    """Let through what is true or false: comparisons, and, or, not."""
    if isinstance(node, ast.BoolOp):
        for each in node.values:
            _check_truth(each, text)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        _check_truth(node.operand, text)
    elif isinstance(node, ast.Compare):
        _check_value(node.left, text)
        for op, each in zip(node.ops, node.comparators, strict=True):
            _check_side(op, each, text)
    else:
        raise SchemaError(_refusal(text, node.col_offset + 1))


def _check_side(op: ast.cmpop, node: ast.expr, text: str) -> None:
    if not isinstance(op, ast.In | ast.NotIn):
        if type(op) not in _COMPARED:
            raise SchemaError(_refusal(text, node.col_offset + 1))
        _check_value(node, text)
        return
    if not (isinstance(node, ast.List | ast.Tuple) and node.elts):
        raise SchemaError(_refusal(text, node.col_offset + 1))
    for each in node.elts:
        _check_value(each, text)


def _check_value(node: ast.expr, text: str) -> None:
    """Let through what has a value: variables, numbers, texts, and sums of them."""
    if _name(node) is not None:
        return
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, str, bool):
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _check_value(node.operand, text)
    elif isinstance(node, ast.BinOp) and type(node.op) in _COUNTED:
        _check_value(node.left, text)
        _check_value(node.right, text)
    else:
        raise SchemaError(_refusal(text, node.col_offset + 1))


def _name(node: ast.AST) -> str | None:
    """The variable that a part of a rule stands for, if it stands for one."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = [each.value for each in node.args if isinstance(each, ast.Constant)]
        if node.func.id == "column" and len(arguments) == len(node.args) == 1:
            return arguments[0] if isinstance(arguments[0], str) else None
    return None


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column as numbers or as texts: categories, booleans and dates are compared as texts."""
    if pd.api.types.is_bool_dtype(column.dtype) or not pd.api.types.is_numeric_dtype(column.dtype):
        known = column.notna()
        return column.astype(object).where(known, None).map(_text, na_action="ignore")
    return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index)


def _text(value: object) -> str:
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() else value.isoformat()
    return str(value)


def _is_number(values: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(
        values.dtype
    )
