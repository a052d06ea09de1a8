"""Edit rules: what holds of every believable record, read by a grammar and never run as a program.

`age >= 15 or employed == "no"` compares variables with numbers, texts and each other.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
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

_Column = Callable[[pd.DataFrame], "pd.Series[Any]"]
_NUMBER: Any = pd.Float64Dtype()
_TEXT: Any = pd.StringDtype("python")  # in which a missing text is neither smaller nor equal
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
    _named: dict[str, None] = field(init=False, repr=False, compare=False)
    _holds: _Column = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the text."""
        object.__setattr__(self, "text", str(self.text).strip())
        object.__setattr__(self, "_named", {})
        if not 0 < len(self.text) <= LONGEST_RULE:
            raise SchemaError(f"An edit rule must have 1 to {LONGEST_RULE:,} letters. {_EXAMPLE}")
        try:
            tree = ast.parse(self.text, mode="eval").body
            object.__setattr__(self, "_holds", self._truth(tree))
        except SchemaError:
            raise
        except SyntaxError as error:
            raise self._refusal(error.offset or 1) from None
        except (ValueError, RecursionError, MemoryError, OverflowError):
            raise self._refusal(1) from None

    def __reduce__(self) -> tuple[type[EditRule], tuple[str]]:
        """Travel to a worker process as its text."""
        return (EditRule, (self.text,))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it names, each once."""
        return tuple(self._named)

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
        return np.asarray(~self._holds(frame).fillna(True).to_numpy(dtype=bool))

    def _truth(self, node: ast.expr) -> _Column:
        """Read what is true, false or missing: comparisons, and, or, not (Kleene's logic)."""
        if isinstance(node, ast.BoolOp):
            join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            return _joined(join, [self._truth(each) for each in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._truth(node.operand)
            return lambda frame: ~inner(frame)
        if not isinstance(node, ast.Compare):
            raise self._refusal(node.col_offset + 1)
        sides = [node.left, *node.comparators]
        steps = zip(sides, node.ops, sides[1:], strict=False)
        return _joined(operator.and_, [self._compared(*each) for each in steps])

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> _Column:
        one = self._value(left)
        if isinstance(op, ast.In | ast.NotIn):
            if not (isinstance(right, ast.List | ast.Tuple) and right.elts):
                raise self._refusal(right.col_offset + 1)
            values = map(self._value, right.elts)
            found = _joined(
                operator.or_, [self._pair(one, operator.eq, each, left) for each in values]
            )
            return found if isinstance(op, ast.In) else lambda frame: ~found(frame)
        if type(op) not in _COMPARED:
            raise self._refusal(right.col_offset + 1)
        named = left if _name(left) is not None else right
        return self._pair(one, _COMPARED[type(op)], self._value(right), named)

    def _pair(
        self, one: _Column, compare: Callable[[Any, Any], Any], two: _Column, at: ast.expr
    ) -> _Column:
        def truth(frame: pd.DataFrame) -> pd.Series[Any]:
            left, right = one(frame), two(frame)
            if left.dtype != right.dtype:
                raise SchemaError(
                    f"The edit rule {self.text} compares numbers with texts at place "
                    f"{at.col_offset + 1} ({_name(at) or 'a value'}); write texts in quotation "
                    "marks and numbers without."
                )
            compared: pd.Series[Any] = compare(left, right)
            return compared

        return truth

    def _value(self, node: ast.expr) -> _Column:
        """Read what has a value: variables, numbers, texts, and sums of them."""
        name = _name(node)
        if name is not None:
            self._named[name] = None
            return lambda frame: _plain(frame[name])
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str, bool):
            is_text = isinstance(node.value, str | bool)
            value = str(node.value) if is_text else float(node.value)  # type: ignore[arg-type]
            dtype: Any = _TEXT if is_text else _NUMBER
            return lambda frame: pd.Series(value, frame.index, dtype)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self._number(node.operand)
            return lambda frame: -number(frame)
        if not isinstance(node, ast.BinOp) or type(node.op) not in _COUNTED:
            raise self._refusal(node.col_offset + 1)
        one, two, count = self._number(node.left), self._number(node.right), _COUNTED[type(node.op)]

        def counted(frame: pd.DataFrame) -> pd.Series[Any]:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                result: pd.Series[Any] = count(one(frame), two(frame))
            return result.mask(~np.isfinite(result.to_numpy(np.float64, na_value=np.nan)))

        return counted

    def _number(self, node: ast.expr) -> _Column:
        value = self._value(node)

        def number(frame: pd.DataFrame) -> pd.Series[Any]:
            column = value(frame)
            if column.dtype == _TEXT:
                raise SchemaError(
                    f"The edit rule {self.text} calculates with texts at place "
                    f"{node.col_offset + 1}; only numbers can be added, subtracted, multiplied or "
                    "divided."
                )
            return column

        return number

    def _refusal(self, place: int) -> SchemaError:
        return SchemaError(f"The edit rule {self.text} cannot be read at place {place}. {_EXAMPLE}")


def _joined(join: Callable[[Any, Any], Any], parts: Sequence[_Column]) -> _Column:
    return lambda frame: reduce(join, (part(frame) for part in parts))


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
        return column.astype(object).map(_text, na_action="ignore").astype(_TEXT)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return pd.Series(values, index=column.index).astype(_NUMBER)


def _text(value: object) -> str:
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() else value.isoformat()
    return str(value)
