"""A setting as plain data, and its finished point: what the measures read over its releases."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from statistics import fmean, median
from types import MappingProxyType
from typing import Any, ClassVar

import orjson

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, check_precision, precision_words, steps_by_name
from rwn_core.data.schema import Slices, as_slices, slices_words
from rwn_core.data.variable import NamedParameters, check_forms, kind_words
from rwn_core.errors import ParameterError
from rwn_core.evaluation.draws import release_interval
from rwn_core.masking import (
    METHODS,
    RWN,
    SHORT_NAMES,
    Method,
    SoftRWN,
    at_levers,
    in_present_names,
    lever_values,
    option_words,
)
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import empty_records
from rwn_core.measures.measure import UNMASKED, UNRELATED
from rwn_core.measures.statistics.intervals import range_words

SPACE = "\N{NO-BREAK SPACE}"
_PLAIN = {"method": str, "parameters": Mapping}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(NamedParameters):
    """A setting is all that makes a release, apart from its key.

    Attributes
    ----------
    params : object
        A method's parameter record, such as ``RWN(epsilon=2.0, k=5)``.
    weights : tuple of (str, float)
        Weights that differ from the table's; after `resolved`, all that differ from 1.
    precision : tuple of (str, float)
        The step of each variable that is released rounded, in the variable's own unit.
    slices : tuple of tuple of str, optional
        Which variables travel together, each slice from one donor, and every other variable
        alone; the table's own groups by default, which `resolved` writes down.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.Setting(params=rwn.RWN(epsilon=2.0, k=5), weights=(("age", 2.0),)).params.k
    5
    """

    params: Any
    weights: tuple[tuple[str, float], ...] = ()
    precision: Steps = ()
    slices: Slices | None = None
    checks_itself: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Keep the slices in one order, and pairs where a dict was given."""
        for name in ("weights", "precision"):
            if isinstance(given := getattr(self, name), Mapping):
                object.__setattr__(self, name, tuple(given.items()))
            elif not isinstance(given, tuple | list):
                raise ParameterError(f"{name} must be a dict, not {kind_words(given)}.")
        if self.slices is not None:
            object.__setattr__(self, "slices", as_slices(self.slices))

    @classmethod
    def of(
        cls,
        method: str = "rwn",
        parameters: Mapping[str, Any] = MappingProxyType({}),
        weights: Mapping[str, float] | None = None,
        precision: Mapping[str, float] | None = None,
        slices: Sequence[Sequence[str]] | None = None,
    ) -> Setting:
        """A setting from plain values.

        Raises
        ------
        ParameterError
            There is no such method or parameter, or a value is refused.
        """
        check_forms({"method": method, "parameters": parameters}, _PLAIN)
        method, given = in_present_names(method, parameters)
        for each in fields(METHODS[method]):
            needed = each.default is MISSING and each.default_factory is MISSING
            if needed and each.name not in given:
                raise ParameterError(f"The method {method} needs {each.name}; give it.")
        return cls(
            params=METHODS[method](**given),
            weights=tuple(sorted((weights or {}).items())),
            precision=steps_by_name(precision),
            slices=None if slices is None else as_slices(slices),
        )

    @property
    def method(self) -> str:
        """Key of the method."""
        return str(self.params.method)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that differ from the method's defaults, or have none."""
        return {
            field.name: value
            for field in fields(self.params)
            if (value := getattr(self.params, field.name)) != field.default
        }

    @property
    def key(self) -> str:
        """A name for the setting's file, the same for 2 and 2.0."""
        return setting_key(self.to_dict())

    @property
    def words(self) -> str:
        """The setting in words."""
        parts = [] if self.method == "rwn" else [str(self.params.title)]
        shown = lever_values(self.params) | self.parameters
        named = ((SHORT_NAMES.get(n, n), v) for n, v in shown.items() if v is not None)
        parts += [f"{name} = {option_words(value)}" for name, value in named]
        parts += [f"weight of {name} = {weight:g}" for name, weight in self.weights]
        if self.precision:
            parts.append(precision_words(self.precision))
        if self.slices:
            parts.append(slices_words(self.slices))
        return " · ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        plain: dict[str, Any] = {"method": self.method, "parameters": self.parameters}
        plain["weights"] = dict(self.weights)
        if self.precision:
            plain["precision"] = dict(self.precision)
        if self.slices is not None:
            plain["slices"] = [list(names) for names in self.slices]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Setting:
        """The setting that `to_dict` wrote."""
        precision = plain.get("precision")
        slices = plain.get("slices")
        return cls.of(plain["method"], plain["parameters"], plain["weights"], precision, slices)

    def at_levers(self, levers: Mapping[str, Any]) -> Setting:
        """The same setting with other values of some levers."""
        return replace(self, params=at_levers(self.params, levers))

    def resolved(self, microdata: Microdata) -> Setting:
        """The same setting with the table's own weights and groups written into it.

        Raises
        ------
        SchemaError
            A weight names a variable that the table does not have.
        ParameterError
            A step belongs to no numeric variable of the release, or a slice to no masked one.
        """
        check_precision(microdata, dict(self.precision))
        schema = microdata.schema.with_weights(dict(self.weights))
        weights = tuple(sorted((v.name, v.weight) for v in schema.released if v.weight != 1.0))
        if self.slices is not None:
            schema = schema.with_slices(self.slices)
        return replace(self, weights=weights, slices=schema.slices)

    def applied_to(self, microdata: Microdata) -> Microdata:
        """The table under the weights and slices of a resolved setting, and no others."""
        unweighted = {variable.name: 1.0 for variable in microdata.schema.variables}
        schema = microdata.schema.with_weights(unweighted | dict(self.weights))
        if self.slices is not None:
            schema = schema.with_slices(self.slices)
        return microdata.with_schema(schema)


def setting_key(plain: Mapping[str, Any]) -> str:
    """Return the name of a setting's file, by what `Setting.to_dict` gives."""
    written = orjson.dumps(_as_floats(plain), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(written).hexdigest()[:24]


def _as_floats(node: object) -> Any:
    """Whole numbers as floats, so that epsilon 2 and epsilon 2.0 are one setting."""
    if isinstance(node, dict):
        return {name: _as_floats(value) for name, value in node.items()}
    return float(node) if isinstance(node, int) and not isinstance(node, bool) else node


def lever_words(setting: Setting) -> str:
    """Return the levers of a setting, such as "ε 2 · k 5"."""
    shown = lever_values(setting.params)
    parts = [f"{SHORT_NAMES.get(n, n)}{SPACE}{v:g}" for n, v in shown.items() if v is not None]
    return " · ".join(parts)


def short_setting(setting: Setting | None) -> str:
    """Return method, levers and options, and how many weights, steps and slices there are."""
    if setting is None:
        return "–"
    levers = lever_values(setting.params)
    options = {n: v for n, v in setting.parameters.items() if n not in levers and v is not None}
    plural = "" if len(setting.weights) == 1 else "s"
    parts = [
        "" if setting.method == "rwn" else str(setting.params.title),
        lever_words(setting),
        *(f"{SHORT_NAMES.get(name, name)} {option_words(v)}" for name, v in options.items()),
        f"{len(setting.weights)} weight{plural}" if setting.weights else "",
        f"{len(setting.precision)} rounded" if setting.precision else "",
        slices_words(setting.slices or (), short=True),
    ]
    return " · ".join(filter(None, parts))


def setting_name(setting: Setting, masked: Sequence[str]) -> str:
    """Name a setting by its method and by which variables travel together, without its levers.

    Parameters
    ----------
    setting : Setting
    masked : sequence of str
        The variables that it masks.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> tied = rwn.Setting(params=rwn.RWN(k=5, tie=True), slices=(("age", "bmi"),))
    >>> setting_name(tied, ["siri", "age", "bmi"])
    'RWN, 2 groups tied'
    """
    method = _METHOD_NAMES.get(setting.method, str(setting.params.title))
    if not type(setting.params).uses_slices or not masked:
        return method
    groups = [names for names in setting.slices or () if not set(names).isdisjoint(masked)]
    together = set[str]().union(*groups)
    alone = [name for name in masked if name not in together]
    if not groups:
        return f"{method}, each variable by itself"
    count = len(groups) + len(alone)
    if count == 1:
        return f"{method}, whole records"
    if getattr(setting.params, "tie", False):
        return f"{method}, {count} groups tied"
    if getattr(setting.params, "by_prediction", False):
        who = alone[0] if len(alone) == 1 else "the later ones"
        return f"{method}, {count} groups, {who} by prediction"
    return f"{method}, {count} groups"


_METHOD_NAMES = {RWN.method: "RWN", SoftRWN.method: "Soft RWN"}

LEAST_RELEASED = 0.5  # of the records: a release of fewer keeps limits because it is almost empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measure over the releases of a setting.

    Attributes
    ----------
    measure : str
    values : tuple of float
        One for each release, in the order of the seeds; empty if there is no answer.
    baseline : float, optional
        As the measure gave it.
    reason : str, optional
        Why there is no answer.
    is_bound : bool
        Whether a value is only a lower bound of a worst case.
    upper : tuple of float
        Then its upper bound for each release; empty where there is none.
    estimate : float, optional
        Then, of one release, the estimate of the worst case.
    stated_high : float, optional
        The upper end of one more release, where a file states it without its releases.
    stated_draws : int
        Of how many releases a file states its numbers; 0 where it does not say so.
    scope : str
        What the values include that an intruder may not reach.
    by : str
        The simple attack that raised a value above what the measure states.
    ends : mapping of str to float
        What the measure reads on the unmasked file ("unmasked") and where no relation is left
        ("unrelated"), as far as that is known.
    parts : mapping of str to float
        Means over the releases of what its value is made of (`Detail.stated_parts`).
    """

    measure: str
    values: tuple[float, ...] = ()
    baseline: float | None = None
    reason: str | None = None
    is_bound: bool = False
    upper: tuple[float, ...] = ()
    estimate: float | None = None
    stated_high: float | None = None
    stated_draws: int = 0
    scope: str = ""
    by: str = ""
    ends: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Title of the values: a worst case only if each of them is one."""
        about = MEASURES[self.measure]
        return about.at_least if self.is_bound else about.title

    @property
    def draws(self) -> int:
        """How many releases were read."""
        return self.stated_draws or len(self.values)

    @property
    def median(self) -> float | None:
        """The middle value, None without an answer."""
        return float(median(self.values)) if self.values else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of one more release, 9 times in 10, within the measure's bounds."""
        return release_interval(self.measure, self.values)

    @property
    def high(self) -> float | None:
        """The number that is compared with a limit: the upper end, or the one value there is."""
        ends = self.interval if len(self.values) > 1 else None
        stated = self.stated_high if ends is None else ends[1]
        return next(iter(self.values), None) if stated is None else stated

    @property
    def at_most(self) -> float | None:
        """Below what one more release's worst case falls, where only bounds of it are known."""
        if not self.upper:
            return None
        ends = release_interval(self.measure, self.upper)
        return self.upper[0] if ends is None else ends[1]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        plain: dict[str, Any] = {
            "values": list(self.values),
            "baseline": self.baseline,
            "reason": self.reason,
        }
        upper = {"upper": list(self.upper)} if self.upper else {}
        plain |= {"by": self.by} if self.by else {}
        plain |= {"parts": dict(self.parts)} if self.parts else {}
        return plain | ({"is_bound": True, **upper} if self.is_bound else {}) | {**self.ends}

    @classmethod
    def from_dict(cls, measure: str, plain: Mapping[str, Any]) -> Spread:
        """The spread that `to_dict` wrote."""
        return cls(
            measure=measure,
            values=tuple(math.nan if v is None else float(v) for v in plain["values"]),
            baseline=plain["baseline"],
            reason=plain["reason"],
            is_bound=bool(plain.get("is_bound", False)),
            upper=tuple(float(v) for v in plain.get("upper", ())),
            by=str(plain.get("by", "")),
            ends=known_ends(plain),
            parts={name: float(value) for name, value in plain.get("parts", {}).items()},
        )


def known_ends(values: Mapping[str, Any]) -> dict[str, float]:
    """Return those values that are readings at the ends of a table, as far as they are known."""
    known = {}
    for name in (UNMASKED, UNRELATED):  # no comprehension: each is a call, and a move reads many
        if values.get(name) is not None:
            known[name] = values[name]
    return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A setting with its readings: numbers about releases, and nothing of the data.

    Attributes
    ----------
    setting : Setting
        Resolved against its table.
    spreads : mapping of str to Spread
        By measure key.
    shown : tuple of float
        Share of the records of which a release holds any masked value, for each release.
    seconds : float
        What its releases and readings took.
    """

    setting: Setting
    spreads: Mapping[str, Spread]
    shown: tuple[float, ...] = ()
    seconds: float = 0.0

    @property
    def released(self) -> float:
        """Share of the records that is released, the mean over the releases."""
        return fmean(self.shown) if self.shown else 1.0

    @property
    def few(self) -> bool:
        """True if it releases too few records to be chosen; a sample is as small as intended."""
        return _too_few(self.released, self.setting.params)

    def median(self, measure: str) -> float | None:
        """A measure's middle value, None where it has no answer."""
        spread = self.spreads.get(measure)
        return None if spread is None else spread.median

    @property
    def unread(self) -> dict[str, str]:
        """The measures without an answer, and why."""
        return {key: str(s.reason) for key, s in self.spreads.items() if s.median is None}

    def stated(self) -> dict[str, dict[str, float]]:
        """Return the part of a scenario: medians, and intervals of one more release."""
        stated = {}
        for key, spread in self.spreads.items():
            if spread.median is not None:
                ends = spread.interval
                parts = {} if ends is None else {"low": ends[0], "high": ends[1]}
                parts["releases"] = float(len(spread.values))
                if spread.is_bound:
                    parts["at_most"] = 1.0 if spread.at_most is None else spread.at_most
                stated[key] = {"median": spread.median, **parts, **spread.ends, **spread.parts}
        return stated

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        return {
            "setting": self.setting.to_dict(),
            "readings": {key: spread.to_dict() for key, spread in self.spreads.items()},
            "shown": list(self.shown),
            "seconds": round(self.seconds, 4),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Point:
        """The point that `to_dict` wrote."""
        return cls(
            setting=Setting.from_dict(plain["setting"]),
            spreads={key: Spread.from_dict(key, each) for key, each in plain["readings"].items()},
            shown=tuple(float(each) for each in plain["shown"]),
            seconds=float(plain["seconds"]),
        )


def released_share(original: Microdata, masked: Microdata) -> float:
    """Share of the records that have not lost all their masked values."""
    names = [variable.name for variable in original.schema.released if variable.masked]
    before, after = (empty_records(table, names) for table in (original, masked))
    return float(1 - (after & ~before).mean())


def too_few(params: Method, original: Microdata, masked: Microdata) -> float | None:
    """The share of the records that a release has, where it is too small; None where it is not."""
    share = released_share(original, masked)
    return share if _too_few(share, params) else None


def _too_few(share: float, params: Method) -> bool:
    return share < LEAST_RELEASED and not getattr(params, "drops_lost_rows", False)


def ranges_words(stated: Mapping[str, Mapping[str, float]]) -> str:
    """Say what the ranges of `Point.stated` are, by the fewest releases; empty if unknown."""
    counts = [int(each["releases"]) for each in stated.values() if "releases" in each]
    return range_words(min(counts)) if counts else ""


def also_read(point: Point, key: str, values: Sequence[float | None]) -> Point:
    """Return a point with the values of a measure that are known, unless it has others."""
    known = tuple(value for value in values if value is not None)
    if not known or key in point.spreads:
        return point
    return replace(point, spreads={**point.spreads, key: Spread(measure=key, values=known)})
