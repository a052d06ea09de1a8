"""Edit rules: what holds of every believable record, read by a grammar and never run as a program.

`age >= 15 or employed == "no"` compares variables with numbers, texts and each other.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.plain import LONGEST_RULE, LONGEST_RULES, MOST_RULES, check_letters, check_number
from rwn_core.errors import SchemaError

_Column = Callable[[pd.DataFrame], "pd.Series[Any]"]
_NUMBER: Any = pd.Float64Dtype()
_TEXT: Any = pd.StringDtype("python")  # in which a missing text is neither smaller nor equal
_EXAMPLE = 'A rule reads like: age >= 15 or employed == "no".'
_Both = Callable[[Any, Any], Any]
_COMPARED: dict[type[ast.cmpop], _Both] = {ast.Lt: operator.lt, ast.LtE: operator.le}
_COMPARED |= {ast.Gt: operator.gt, ast.GtE: operator.ge}
_COMPARED |= {ast.Eq: operator.eq, ast.NotEq: operator.ne}
_COUNTED: dict[type[ast.operator], _Both] = {ast.Add: operator.add, ast.Sub: operator.sub}
_COUNTED |= {ast.Mult: operator.mul, ast.Div: operator.truediv}


@dataclass(frozen=True, slots=True)
class EditRule:
    """One rule that every believable record keeps.

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
            object.__setattr__(self, "_holds", self._truth(ast.parse(self.text, mode="eval").body))
        except SchemaError:
            raise
        except SyntaxError as error:
            raise self._refusal(ast.Pass(col_offset=(error.offset or 1) - 1)) from None
        except (ValueError, RecursionError, MemoryError, OverflowError):
            raise self._refusal(ast.Pass()) from None

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
        if lacking := [name for name in self.names if name not in frame.columns]:
            raise SchemaError(
                f"The edit rule {self.text} names the column {lacking[0]}, which the table does "
                "not have; correct its name or take the rule out."
            )
        return np.asarray(~self._holds(frame).fillna(True).to_numpy(dtype=bool))

    def _truth(self, node: ast.expr) -> _Column:
        """Read what is true, false or missing: comparisons, and, or, not (Kleene's logic)."""
        match node:
            case ast.BoolOp(op=op, values=values):
                join = operator.and_ if isinstance(op, ast.And) else operator.or_
                return _joined(join, [self._truth(each) for each in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._truth(operand)
                return lambda frame: ~inner(frame)
            case ast.Compare(left=left, ops=ops, comparators=sides):
                steps = zip([left, *sides], ops, sides, strict=False)
                return _joined(operator.and_, [self._compared(*each) for each in steps])
        raise self._refusal(node)

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> _Column:
        if isinstance(op, ast.In | ast.NotIn):
            if not (isinstance(right, ast.List | ast.Tuple) and right.elts):
                raise self._refusal(right)
            pairs = [self._compared(left, ast.Eq(), each) for each in right.elts]
            found = _joined(operator.or_, pairs)
            return found if isinstance(op, ast.In) else lambda frame: ~found(frame)
        if type(op) not in _COMPARED:
            raise self._refusal(right)
        named = left if _name(left) is not None else right
        one, two = self._value(left), self._value(right)

        def truth(frame: pd.DataFrame) -> pd.Series[Any]:
            sides = one(frame), two(frame)
            if sides[0].dtype != sides[1].dtype:
                raise SchemaError(
                    f"The edit rule {self.text} compares numbers with texts at place "
                    f"{named.col_offset + 1} ({_name(named) or 'a value'}); write texts in "
                    "quotation marks and numbers without."
                )
            compared: pd.Series[Any] = _COMPARED[type(op)](*sides)
            return compared

        return truth

    def _value(self, node: ast.expr) -> _Column:
        """Read what has a value: variables, numbers, texts, and sums of them."""
        match node:
            case ast.Constant(value=str() | bool() as text):
                return lambda frame: pd.Series(str(text), frame.index, _TEXT)
            case ast.Constant(value=int() | float() as number):
                value = float(number)
                return lambda frame: pd.Series(value, frame.index, _NUMBER)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._counted(operator.neg, operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _COUNTED:
                return self._counted(_COUNTED[type(op)], left, right)
        name = _name(node)
        if name is None:
            raise self._refusal(node)
        self._named[name] = None
        return lambda frame: _plain(frame[name])

    def _counted(self, count: Callable[..., Any], *nodes: ast.expr) -> _Column:
        """Calculate with numbers; what is none, such as a quotient by 0, is missing."""
        values = [self._value(node) for node in nodes]

        def counted(frame: pd.DataFrame) -> pd.Series[Any]:
            numbers = [value(frame) for value in values]
            for node, number in zip(nodes, numbers, strict=True):
                if number.dtype == _TEXT:
                    raise SchemaError(
                        f"The edit rule {self.text} calculates with texts at place "
                        f"{node.col_offset + 1}; only numbers can be added, subtracted, "
                        "multiplied or divided."
                    )
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                result: pd.Series[Any] = count(*numbers)
            return result.mask(~np.isfinite(result.to_numpy(np.float64, na_value=np.nan)))

        return counted

    def _refusal(self, node: ast.AST) -> SchemaError:
        place = getattr(node, "col_offset", 0) + 1
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
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(
            func=ast.Name(id="column"), args=[ast.Constant(value=str() as name)], keywords=[]
        ):
            return name
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
