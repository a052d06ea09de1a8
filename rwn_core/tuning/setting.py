"""A setting: a method with its parameters, weights, precision and slices, as plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

import orjson

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, check_precision, precision_words, steps_by_name
from rwn_core.data.slices import Slices, as_slices, slices_words
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, SHORT_NAMES, lever_values, no_method, option_words
from rwn_core.masking.baseline_methods import BASELINE_METHODS


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(NamedParameters):
    """Hold all that makes a release, apart from its key.

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

    def __post_init__(self) -> None:
        """Keep the slices in one order."""
        if self.slices is not None:
            object.__setattr__(self, "slices", as_slices(self.slices))

    @classmethod
    def of(  # words: public name
        cls,
        method: str,
        parameters: Mapping[str, Any],
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
        names = parameter_names(method)
        known = {**METHODS, **BASELINE_METHODS}
        for name in parameters:
            if name not in names:
                raise ParameterError(
                    f"The method {method} has no parameter {name}; it has: {', '.join(names)}."
                )
        for field in fields(known[method]):
            needed = field.default is MISSING and field.default_factory is MISSING
            if needed and field.name not in parameters:
                raise ParameterError(f"The method {method} needs {field.name}; give it.")
        chosen = tuple(sorted((weights or {}).items()))
        return cls(
            params=known[method](**parameters),
            weights=chosen,
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
        written = orjson.dumps(_as_floats(self.to_dict()), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(written).hexdigest()[:24]

    @property
    def words(self) -> str:
        """The setting in words."""
        parts = [] if self.method == "rwn" else [str(self.params.title)]
        shown = lever_values(self.params) | self.parameters
        parts += [
            f"{SHORT_NAMES.get(name, name)} = {option_words(v)}"
            for name, v in shown.items()
            if v is not None
        ]
        parts += [f"weight of {name} = {weight:g}" for name, weight in self.weights]
        parts += [precision_words(self.precision)] if self.precision else []
        parts += [slices_words(self.slices)] if self.slices else []
        return " · ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads."""
        plain: dict[str, Any] = {
            "method": self.method,
            "parameters": self.parameters,
            "weights": dict(self.weights),
        }
        if self.precision:
            plain["precision"] = dict(self.precision)
        if self.slices is not None:
            plain["slices"] = [list(names) for names in self.slices]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Setting:
        """The setting that `to_dict` wrote."""
        return cls.of(
            plain["method"],
            plain["parameters"],
            plain["weights"],
            plain.get("precision"),
            plain.get("slices"),
        )

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


def parameter_names(method: str) -> list[str]:
    """The parameters of a method."""
    known = {**METHODS, **BASELINE_METHODS}
    if method not in known:
        raise ParameterError(no_method(method))
    return [field.name for field in fields(known[method])]


def _as_floats(node: Any) -> Any:
    """Whole numbers as floats, so that epsilon 2 and epsilon 2.0 are one setting."""
    if isinstance(node, dict):
        return {name: _as_floats(value) for name, value in node.items()}
    return float(node) if isinstance(node, int) and not isinstance(node, bool) else node
