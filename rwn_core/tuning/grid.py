"""The settings of a sweep, every combination in a grid; the largest number of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Any

from rwn_core.data.plain import LONGEST_FORMULA, check_letters
from rwn_core.data.schema import Slices, as_slices
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, in_present_names
from rwn_core.tuning.point import Setting

LARGEST = 20_000  # settings; more are a slip of the hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(NamedParameters):
    """Combine all values of the parameters.

    Parameters
    ----------
    axes : mapping of str to sequence
        For each parameter of the method the values to try, such as ``{"epsilon": (0, 1, 2),
        "k": (3, 5), "q": (0.5, 1.0)}``. A parameter that is left out keeps its default.
    method : str or sequence of str
        Key of the method, or of several; each of several takes those parameters that it has.
    weights : sequence of mappings
        Weights of variables to try together; the table's own by default.
    precision : sequence of mappings
        Steps of release precision to try together, such as ``({}, {"age": 5, "weight": 10})``;
        values as they are by default.
    slices : sequence
        Partitions of the variables to try, such as ``((), (("age", "weight"), ("a", "b")))``:
        which of them travel together. None stands for the table's own groups, the default.

    Raises
    ------
    ParameterError
        A list is empty, none of several methods has a parameter, or there are more than 20,000
        combinations.

    Examples
    --------
    >>> [setting.words for setting in Grid(axes={"k": (3, 5), "q": (0.5,)}).settings()]
    ['k = 3 · q = 0.5', 'k = 5 · q = 0.5']
    """

    axes: Mapping[str, Sequence[Any]]
    method: str | Sequence[str] = "rwn"
    weights: Sequence[Mapping[str, float]] = field(default=({},))
    precision: Sequence[Mapping[str, float]] = field(default=({},))
    slices: Sequence[Slices | None] = (None,)

    def __post_init__(self) -> None:
        """Refuse a grid without points, or with too many."""
        if not self.methods:
            raise ParameterError("The grid needs at least one method.")
        of_any = {e.name for method in self.methods for e in fields(METHODS[method])}
        for name, values in self.axes.items():
            if len(self.methods) > 1 and name not in of_any:
                raise ParameterError(
                    f"None of the methods {', '.join(self.methods)} has a parameter {name}; "
                    f"they have: {', '.join(sorted(of_any))}."
                )
            if isinstance(values, str) or not len(values):
                raise ParameterError(f"The grid needs at least one value of {name}.")
        for entries, words in (
            (self.weights, "set of weights; {} keeps the table's."),
            (self.precision, "release precision; {} leaves the values as they are."),
            (self.slices, "choice of slices; () lets each variable stand alone."),
        ):
            if not entries:
                raise ParameterError(f"The grid needs at least one {words}")
        chosen = tuple(None if each is None else as_slices(each) for each in self.slices)
        object.__setattr__(self, "slices", chosen)
        if len(self) > LARGEST:
            raise ParameterError(
                f"The grid has {len(self):,} settings; {LARGEST:,} at most can be tried at once."
            )

    @property
    def methods(self) -> tuple[str, ...]:
        """Keys of the methods."""
        given = (self.method,) if isinstance(self.method, str) else self.method
        first = {name: values[0] for name, values in self.axes.items() if len(values)}
        return tuple(in_present_names(each, first)[0] for each in given)

    def _method_axes(self, method: str) -> Mapping[str, Sequence[Any]]:
        if len(self.methods) == 1:
            return self.axes
        own = {each.name for each in fields(METHODS[method])}
        return {name: values for name, values in self.axes.items() if name in own}

    def __len__(self) -> int:
        """Number of settings, before equal ones are joined."""
        combinations = sum(
            math.prod(len(values) for values in self._method_axes(method).values())
            for method in self.methods
        )
        return combinations * len(self.weights) * len(self.precision) * len(self.slices)

    def settings(self) -> list[Setting]:
        """Every combination once, the first parameter changing slowest.

        Raises
        ------
        ParameterError
            The method refuses a combination.
        """
        made = [
            Setting.of(method, dict(zip(axes, values, strict=True)), weights, precision, slices)
            for method in self.methods
            for axes in (self._method_axes(method),)
            for weights in self.weights
            for precision in self.precision
            for slices in self.slices
            for values in product(*axes.values())
        ]
        return list({setting.key: setting for setting in made}.values())


def parse_values(text: str, name: str = "The list") -> tuple[Any, ...]:
    """Values as people type them: 0, 1, 2.5 with commas, and 0:2:0.5 for every half from 0 to 2.

    >>> parse_values("0:1:0.5, 3")
    (0.0, 0.5, 1.0, 3)
    """
    check_letters(text, LONGEST_FORMULA, name, ParameterError)
    parts = [part.strip() for part in text.split(",")]
    refusal = f"{name} must be values with commas between them, such as 1, 2, 5 or 0:2:0.5."
    if not all(parts):
        raise ParameterError(refusal)
    values: list[Any] = []
    for part in parts:
        values += _range(part, refusal) if ":" in part else [_value(part)]
        if len(values) > LARGEST:
            raise ParameterError(f"{name} has more than {LARGEST:,} values; take some out.")
    return tuple(dict.fromkeys(values))


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _range(text: str, refusal: str) -> list[Any]:
    ends = [_value(part) for part in text.split(":")]
    if len(ends) not in (2, 3) or not all(isinstance(end, int | float) for end in ends):
        raise ParameterError(refusal)
    low, high, step = (*ends, 1) if len(ends) == 2 else ends
    if not step > 0 or not low <= high or not math.isfinite(high) or (high - low) / step > LARGEST:
        raise ParameterError(refusal)
    count = math.floor((high - low) / step + 1e-9)
    integer = all(isinstance(end, int) for end in (low, step))
    return [low + i * step if integer else round(low + i * step, 10) for i in range(count + 1)]


def unique_settings(what: Grid | Setting | Sequence[Grid | Setting]) -> list[Setting]:
    """The settings of one grid, of several, or of settings given one by one; each once."""
    if not isinstance(what, Grid | Setting | Sequence) or isinstance(what, str):
        raise ParameterError("Give a Grid or a Setting, or several of them in a list.")
    parts = [what] if isinstance(what, Grid | Setting) else list(what)
    settings: list[Setting] = []
    for part in parts:
        settings += part.settings() if isinstance(part, Grid) else [part]
    return list({setting.key: setting for setting in settings}.values())
