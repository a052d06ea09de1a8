"""Read a masked file with its claims: what may be concluded from a result, and what may not.

This one file needs statsmodels. Copy it next to the masked file, then:

    import rwn_claims
    survey = rwn_claims.load("release.csv", "claims.json")
    print(survey.fit("wage ~ education + log(experience)"))
    print(survey.pair("wage", "education"))
    for sentence in survey.distances():
        print(sentence)

A claim says how a number of this file differs from the number of the original. It holds in at
least nine of ten releases of the same setting. Intervals assume that records were sampled
independently. A model that the steward did not register has no
claims and is refused, and a number is given only where a claim says how far it may be off.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import statsmodels.api as sm
from scipy import stats

MOST_CONDITION = 30.0
MOST_ERROR = 50.0  # of a standardized slope that has an estimate
STEPS = 100
NO_USE = "do not use"
_TRANSFORMS: dict[str, Any] = {
    "": np.array,
    "log": np.log,
    "sqrt": np.sqrt,
    "square": np.square,
}
_FAMILIES = {
    "linear": sm.families.Gaussian,
    "logistic": sm.families.Binomial,
    "poisson": sm.families.Poisson,
}


class Refused(ValueError):
    """A result that the masked file cannot give."""


def load(file: Any, claims: str | Path) -> Survey:
    """Read a masked CSV file, or take a data frame, and the claims that belong to it."""
    content = json.loads(Path(claims).read_text(encoding="utf-8"))
    if content.get("format") != "rwn claims 2":
        raise Refused("The file of claims has another form; get the reader that came with it.")
    if not isinstance(file, str | Path):
        return Survey({name: list(file[name]) for name in _names(content)}, content)
    data = Path(file).read_bytes()
    if hashlib.sha256(data).hexdigest() != content["sha256"]:
        raise Refused("The claims belong to another file: its SHA-256 differs.")
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))
    columns = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
    return Survey({name: list(columns[name]) for name in _names(content)}, content)


def _names(claims: dict[str, Any]) -> list[str]:
    return [variable["name"] for variable in claims["variables"]]


@dataclass(frozen=True)
class Row:
    """Hold one number with its claim; a number that no claim covers is None."""

    term: str
    sign: str = ""  # "positive" or "negative", where the original has the same
    estimate: float | None = None
    error: float | None = None  # the standard error that the masked file alone would report
    interval: tuple[float, float] | None = None  # 95 %, with the corrected standard error
    within_standard_errors: float | None = None

    def __str__(self) -> str:
        """Return the number and what may be concluded from it."""
        if self.estimate is None:
            words = f"{self.sign}; sign only; size unknown" if self.sign else NO_USE
            return f"{self.term}: {words}"
        said = []
        if self.interval is not None:
            said.append(f"95 % interval {self.interval[0]:.6g} to {self.interval[1]:.6g}")
        if self.sign:
            said.append(f"{self.sign}, as in the original")
        if self.within_standard_errors is not None:
            said.append(
                f"differs from the original's by at most {self.within_standard_errors:g} of the "
                "original's standard errors"
            )
        return f"{self.term}: {self.estimate:.6g}: {'; '.join(said)}"


@dataclass(frozen=True)
class Result:
    """A fitted model, with a row for each slope."""

    rows: tuple[Row, ...]
    records: int

    def __str__(self) -> str:
        """Return a line for each slope."""
        return "\n".join(map(str, self.rows))


class Survey:
    """A masked table with its claims."""

    def __init__(self, columns: dict[str, list[Any]], claims: dict[str, Any]) -> None:
        self.claims = claims
        self._columns = columns
        self._variables = {each["name"]: each for each in claims["variables"]}

    def fit(self, formula: str, kind: str = "linear") -> Result:
        """Fit a registered linear, logistic or Poisson model."""
        models = {(each["kind"], _sides(each["formula"])): each for each in self.claims["models"]}
        model = models.get((kind, _sides(formula)))
        if model is None:
            names = "; ".join(f"{each['kind']}: {each['formula']}" for each in models.values())
            raise Refused(
                "No claim covers this model: masking may have shifted its slopes. Ask for it to be "
                f"registered. Registered: {names or 'none'}."
            )
        if model["refusal"]:
            raise Refused(f"Do not use this model: {model['refusal']}")
        columns = [self._slope(claim["factors"]) for claim in model["claims"]]
        every = np.column_stack([self._response(model["response"], kind), *columns])
        known = every[~np.isnan(every).any(axis=1)]
        if len(known) <= every.shape[1] or not (np.ptp(known, axis=0) > 0).all():
            raise Refused("The file has too few records, or a constant variable, for this model.")
        scaled = (known[:, 1:] - known[:, 1:].mean(axis=0)) / known[:, 1:].std(axis=0, ddof=1)
        if np.linalg.cond(scaled) > MOST_CONDITION:
            raise Refused("Do not use this model: its predictors are nearly collinear.")
        values, errors = _fitted(known[:, 0], known[:, 1:], kind)
        freedom = len(known) - every.shape[1]
        rows = [
            _row(_words(claim["factors"]), float(value), float(error), claim, freedom)
            for claim, value, error in zip(model["claims"], values, errors, strict=True)
        ]
        return Result(tuple(rows), len(known))

    def pair(self, one: str, other: str) -> Row:
        """Return the correlation of two numbers with its claim, on the scale of Fisher's z."""
        if self.claims["refusal"]:
            raise Refused(f"Do not use this pair: {self.claims['refusal']}")
        for each in self.claims["pairs"]:
            if {each["one"], each["other"]} == {one, other}:
                break
        else:
            raise Refused(f"There is no claim for {one} and {other}.")
        both = np.column_stack([self._numbers(one), self._numbers(other)])
        both = both[~np.isnan(both).any(axis=1)]
        if len(both) < 4 or not (np.ptp(both, axis=0) > 0).all():
            raise Refused("The file has too few records, or a constant variable, for this pair.")
        value = float(np.arctanh(np.clip(np.corrcoef(both.T)[0, 1], -1 + 1e-12, 1 - 1e-12)))
        error = 1 / math.sqrt(len(both) - 3)
        return _row(f"{each['one']} ~ {each['other']}", value, error, each, len(both) - 3)

    def distances(self) -> list[str]:
        """Return a sentence for each registered table, and for the means of groups."""
        said = []
        for each in self.claims["tables"]:
            first, *others = each["variables"]
            if each["kind"] == "table":
                about = f"table of {' and '.join(each['variables'])}"
                words = "total variation distance to the original's at most {:g}"
            else:
                about = f"means of {first} by {' and '.join(others)}"
                words = (
                    "each differs from the original's by at most {:g} of the original's standard "
                    "deviation, groups of fewer than 5 records aside"
                )
            bound = each["within"]
            said.append(f"{about}: {words.format(bound) if bound is not None else NO_USE}")
        return said

    def _numbers(self, name: str) -> np.ndarray:  # shape (n,)
        if self._kind(name) != "number":
            raise Refused(f"{name} is no number.")
        return np.array([_number(cell) for cell in self._columns[name]])

    def _kind(self, name: str) -> str:
        if name not in self._variables:
            raise Refused(f"The file has no variable {name}.")
        return str(self._variables[name]["kind"])

    def _response(self, response: dict[str, str], kind: str) -> np.ndarray:  # shape (n,)
        name = response["name"]
        if kind == "logistic":
            texts = [_text(cell) for cell in self._columns[name] if _text(cell)]
            levels = self._levels(name) if self._kind(name) == "category" else _sorted(texts)
            if len(levels) != 2:
                raise Refused(f"The response {name} must have two values.")
            place = {level: float(at) for at, level in enumerate(levels)}
            return np.array([place.get(_text(cell), math.nan) for cell in self._columns[name]])
        return _transformed(self._numbers(name), response["transform"])

    def _levels(self, name: str) -> list[str]:
        levels = self._variables[name]["levels"]
        if levels is None:
            raise Refused(f"{name} has levels of few records; no model may name them.")
        return list(levels)

    def _slope(self, factors: list[dict[str, str]]) -> np.ndarray:
        """Return a column of a design, shape (n,): the product of its factors."""
        made: list[Any] = []
        for factor in factors:
            name, level = factor["name"], factor.get("level")
            if level is None:
                made.append(_transformed(self._numbers(name), factor["transform"]))
                continue
            texts, levels = [_text(cell) for cell in self._columns[name]], self._levels(name)
            made.append([float(text == level) if text in levels else math.nan for text in texts])
        return np.asarray(np.prod(made, axis=0))


def _sides(formula: str) -> tuple[str, frozenset[str]]:
    """Return the response and the terms, in any order and however spaced."""
    plain = "".join(re.sub(r"`([\w.]+)`", r"\1", formula).split())
    left, _, right = plain.partition("~")
    return left, frozenset(right.split("+"))


def _words(factors: list[dict[str, str]]) -> str:
    return ":".join(
        f"{each['name']} = {each['level']}"
        if "level" in each
        else f"{each['transform']}({each['name']})"
        if each["transform"]
        else each["name"]
        for each in factors
    )


def _row(term: str, value: float, error: float, claim: dict[str, Any], freedom: int) -> Row:
    """Return what the claim lets a reader say of a number, and no more."""
    sign = ("positive" if value > 0 else "negative") if claim["sign"] else ""
    factor, within = claim["factor"], claim["within_standard_errors"]
    if factor is None and within is None:
        return Row(term, sign)
    half = None if factor is None else float(stats.t.ppf(0.975, freedom)) * factor * error
    interval = None if half is None else (value - half, value + half)
    return Row(term, sign, value, error, interval, within)


def _text(cell: Any) -> str:
    """Return a cell as the file has it; empty if it is missing."""
    return "" if cell is None or cell != cell else str(cell)


def _number(cell: Any) -> float:
    text = _text(cell)
    return float(text) if text else math.nan


def _sorted(texts: list[str]) -> list[str]:
    try:
        return sorted(set(texts), key=float)
    except ValueError:
        return sorted(set(texts))


def _transformed(values: np.ndarray, transform: str) -> np.ndarray:  # shape (n,)
    with np.errstate(invalid="ignore", divide="ignore"):
        made: np.ndarray = _TRANSFORMS[transform](values)
    if not np.isfinite(made[~np.isnan(values)]).all():
        raise Refused(f"{transform} has no value for some records.")
    return made


def _fitted(response: np.ndarray, columns: np.ndarray, kind: str) -> tuple[Any, Any]:
    """Return slopes and standard errors, each in the unit of its column."""
    # response: shape (n,); columns: (n, p); both results: (p,)
    unit = columns.std(axis=0, ddof=1)
    exog = sm.add_constant((columns - columns.mean(axis=0)) / unit)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of has no standard error below
        try:
            fit = sm.GLM(response, exog, family=_FAMILIES[kind]()).fit(maxiter=STEPS, tol=1e-12)
            errors = fit.bse[1:]
        except (np.linalg.LinAlgError, ValueError):
            errors = np.array([np.inf])
    if kind != "linear" and not errors.max() <= MOST_ERROR:
        raise Refused("The model has no finite estimate on this file.")
    return fit.params[1:] / unit, errors / unit
