"""Read a masked file with its claims: what may be concluded from a result, and what may not.

This one file needs numpy and nothing else. Copy it next to the masked file, then:

    import rwn_claims
    survey = rwn_claims.load("release.csv", "claims.json")
    print(survey.fit("wage ~ education + log(experience)"))
    print(survey.pair("wage", "education"))

A claim says how a number of this file differs from the number of the original. Standard errors
are multiplied by the claim's factor. A model without a claim is fitted with a warning; a model
that the claims refuse, or with nearly collinear predictors, is not fitted.
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
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

MOST_CONDITION = 30.0
Z95 = 1.959963984540054
STEPS = 100
_TRANSFORMS: dict[str, Any] = {
    "": np.array,
    "log": np.log,
    "sqrt": np.sqrt,
    "square": np.square,
}
_FACTOR = re.compile(r"(?:(log|sqrt|square)\(\s*)?(`[^`]+`|[^\W\d][\w.]*)\s*(\))?")


class Refused(ValueError):
    """A result that the masked file cannot give."""


def load(file: Any, claims: str | Path) -> Survey:
    """Read a masked CSV file, or take a data frame, and the claims that belong to it."""
    content = json.loads(Path(claims).read_text(encoding="utf-8"))
    if content.get("format") != "rwn claims 1":
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
    """One number with its claim; None where nothing may be concluded."""

    term: str
    estimate: float
    error: float
    factor: float | None = None
    sign: bool | None = None
    within: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval with the corrected standard error."""
        if self.factor is None:
            return None
        half = Z95 * self.factor * self.error
        return self.estimate - half, self.estimate + half

    def __str__(self) -> str:
        """Return the number and what may be concluded from it."""
        ends, said = self.interval, []
        if ends is not None:
            said.append(f"95 % interval {ends[0]:.6g} to {ends[1]:.6g}")
        if self.sign:
            said.append("same sign as in the original")
        if self.within is not None:
            said.append(f"within {self.within:g} of the original's standard errors")
        words = "; ".join(said) or "do not use"
        return f"{self.term}: {self.estimate:.6g} (uncorrected error {self.error:.3g}): {words}"


@dataclass(frozen=True)
class Result:
    """A fitted model: the intercept has no claim, each slope has its row."""

    intercept: float
    rows: tuple[Row, ...]
    covered: bool
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
        """Fit a linear, logistic or Poisson model; refuse what no claim could cover."""
        response, terms = _parsed(formula)
        claimed = self._model(kind, response, terms)
        if claimed is not None and claimed["refusal"]:
            raise Refused(f"Do not use this model: {claimed['refusal']}")
        if claimed is None:
            self._refuse_tied(terms)
        left = self._response(response, kind)
        names, parts = self._design(terms)
        every = np.column_stack([left, *parts])
        known = every[~np.isnan(every).any(axis=1)]
        if len(known) <= every.shape[1] or not (np.ptp(known, axis=0) > 0).all():
            raise Refused("The file has too few records, or a constant variable, for this model.")
        if _condition(known[:, 1:]) > MOST_CONDITION:
            raise Refused("Do not use this model: its predictors are nearly collinear.")
        values, errors = _fitted(known[:, 0], known[:, 1:], kind)
        by_name = {} if claimed is None else {_key(each): each for each in claimed["claims"]}
        covered = claimed is not None
        if not covered:
            warnings.warn(
                "No claim covers this model: its standard errors ignore the masking, and its "
                "slopes may be shifted. Ask for the model to be registered.",
                stacklevel=2,
            )
        rows = tuple(
            _row(_words(name), values[at + 1], errors[at + 1], by_name.get(name))
            for at, name in enumerate(names)
        )
        return Result(float(values[0]), rows, covered, len(known))

    def pair(self, one: str, other: str) -> Row:
        """Return the association of two variables with its claim, on the scale of Fisher's z."""
        for each in self.claims["pairs"]:
            if {each["one"], each["other"]} == {one, other}:
                break
        else:
            raise Refused(f"There is no claim for {one} and {other}.")
        term = f"{each['one']} ~ {each['other']}"
        if each["kind"] == "association":
            return Row(term, math.nan, math.nan, within=each["within"])
        both = np.column_stack([self._numbers(one), self._numbers(other)])
        both = both[~np.isnan(both).any(axis=1)]
        value = float(np.arctanh(np.corrcoef(both.T)[0, 1]))
        error = 1 / math.sqrt(max(self.claims["records"] - 3, 1))
        return Row(term, value, error, each["factor"], each["sign"], each["within"])

    def _model(self, kind: str, response: Factor, terms: list[Term]) -> dict[str, Any] | None:
        wanted = (kind, response, frozenset(frozenset(term) for term in terms))
        for model in self.claims["models"]:
            own = frozenset(frozenset(map(_plain, term)) for term in model["terms"])
            if (model["kind"], _plain(model["response"]), own) == wanted:
                found: dict[str, Any] = model
                return found
        return None

    def _refuse_tied(self, terms: list[Term]) -> None:
        """Refuse terms that are, or could be, nearly collinear in the original, if not here."""
        names, own = {name for term in terms for name, _ in term}, set(map(frozenset, terms))
        pairs = [[each["one"], each["other"]] for each in self.claims["pairs"] if each["tied"]]
        tied = [pair for pair in pairs if set(pair) <= names]
        tied += [some for some in self.claims["tied"] if set(map(_named_term, some)) <= own]
        if tied:
            raise Refused(
                f"Do not use this model: {' and '.join(tied[0])} are nearly collinear in the "
                "original."
            )
        if not _is_examined(self.claims["examined"], own):
            raise Refused(
                "The claims do not say whether the predictors of this model are nearly collinear "
                "in the original. Ask for the model to be registered."
            )

    def _numbers(self, name: str) -> np.ndarray:
        if self._kind(name) != "number":
            raise Refused(f"{name} is no number.")
        return np.array([_number(cell) for cell in self._columns[name]])

    def _kind(self, name: str) -> str:
        if name not in self._variables:
            raise Refused(f"The file has no variable {name}.")
        return str(self._variables[name]["kind"])

    def _response(self, response: Factor, kind: str) -> np.ndarray:
        name, transform = response
        if kind == "logistic":
            texts = [_text(cell) for cell in self._columns[name] if _text(cell)]
            levels = self._levels(name) if self._kind(name) == "category" else _sorted(texts)
            if len(levels) != 2:
                raise Refused(f"The response {name} must have two values.")
            place = {level: float(at) for at, level in enumerate(levels)}
            return np.array([place.get(_text(cell), math.nan) for cell in self._columns[name]])
        if kind not in ("linear", "poisson"):
            raise Refused("The kind of a model is linear, logistic or poisson.")
        return _transformed(self._numbers(name), transform)

    def _levels(self, name: str) -> list[str]:
        levels = self._variables[name]["levels"]
        if levels is None:
            raise Refused(f"{name} has levels of few records; no model may name them.")
        return list(levels)

    def _design(self, terms: list[Term]) -> tuple[list[Key], list[np.ndarray]]:
        names, columns = [], []
        for term in terms:
            for parts in product(*(self._factor(factor) for factor in term)):
                names.append(frozenset(name for name, _ in parts))
                columns.append(np.prod([column for _, column in parts], axis=0))
        return names, columns

    def _factor(self, factor: Factor) -> list[tuple[Part, np.ndarray]]:
        name, transform = factor
        if self._kind(name) == "category":
            texts = [_text(cell) for cell in self._columns[name]]
            levels = self._levels(name)
            missing = np.array([text not in levels for text in texts])
            return [
                (
                    (name, "", level),
                    np.where(missing, math.nan, [float(text == level) for text in texts]),
                )
                for level in levels[1:]
            ]
        return [((name, transform, None), _transformed(self._numbers(name), transform))]


Factor = tuple[str, str]
Term = tuple[Factor, ...]
Part = tuple[str, str, "str | None"]
Key = frozenset[Part]


def _parsed(formula: str) -> tuple[Factor, list[Term]]:
    left, tilde, right = formula.partition("~")
    if not tilde:
        raise Refused("A formula reads like: response ~ one + log(two) + three:four.")
    terms: dict[frozenset[Factor], Term] = {}
    for part in right.split("+"):
        crossed = [tuple(_one(factor) for factor in each.split(":")) for each in part.split("*")]
        for size in range(1, len(crossed) + 1):
            for some in combinations(crossed, size):
                term = tuple(dict.fromkeys(factor for each in some for factor in each))
                terms.setdefault(frozenset(term), term)
    return _one(left), list(terms.values())


def _one(text: str) -> Factor:
    match = _FACTOR.fullmatch(text.strip())
    if match is None or bool(match[1]) != bool(match[3]):
        raise Refused("A part of the formula cannot be read.")
    return match[2].strip("`"), match[1] or ""


def _named_term(text: str) -> frozenset[Factor]:
    return frozenset(map(_one, text.split(":")))


def _is_examined(examined: str, terms: set[frozenset[Factor]]) -> bool:
    """Return True if the sets of the claims name all that could be nearly collinear in a model."""
    others = [term for term in terms if len(term) > 1 or any(how for _, how in term)]
    if examined != "all" or not others:
        return examined != "none" and not others
    names = [{name for name, _ in term} for term in terms]
    few = len(terms) <= 4 and len(others) == 1
    few = few or (len(terms) <= 3 and all(len(own) == 1 for own in names))
    return few and all(map(_is_simple, others))


def _is_simple(term: frozenset[Factor]) -> bool:
    """One factor, a cube, or a product of two variables as they are."""
    names = {name for name, _ in term}
    hows = sorted(how for _, how in term)
    return len(term) == 1 or hows == (["", "square"] if len(names) == 1 else ["", ""])


def _plain(factor: dict[str, str]) -> Factor:
    return factor["name"], factor["transform"]


def _key(claim: dict[str, Any]) -> Key:
    return frozenset(
        (each["name"], each["transform"], each.get("level")) for each in claim["factors"]
    )


def _words(key: Key) -> str:
    parts = sorted(key, key=str)
    return ":".join(
        f"{name} = {level}" if level is not None else f"{how}({name})" if how else name
        for name, how, level in parts
    )


def _row(term: str, value: float, error: float, claim: dict[str, Any] | None) -> Row:
    if claim is None:
        return Row(term, float(value), float(error))
    return Row(term, float(value), float(error), claim["factor"], claim["sign"], claim["within"])


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


def _transformed(values: np.ndarray, transform: str) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        made: np.ndarray = _TRANSFORMS[transform](values)
    if not np.isfinite(made[~np.isnan(values)]).all():
        raise Refused(f"{transform} has no value for some records.")
    return made


def _condition(columns: np.ndarray) -> float:
    scaled = (columns - columns.mean(axis=0)) / columns.std(axis=0, ddof=1)
    singular = np.linalg.svd(scaled, compute_uv=False)
    return float(singular.max() / singular.min()) if singular.min() > 0 else math.inf


def _fitted(response: np.ndarray, columns: np.ndarray, kind: str) -> tuple[Any, Any]:
    """Return coefficients and standard errors, the intercept first."""
    center, unit = columns.mean(axis=0), columns.std(axis=0, ddof=1)
    exog = np.column_stack([np.ones(len(columns)), (columns - center) / unit])
    if kind == "linear":
        found, spread = _solved(exog, response)
        residual = response - exog @ found
        spread = spread * float(residual @ residual) / (len(exog) - exog.shape[1])
    else:
        found, spread = _likeliest(exog, response, kind)
    back = np.vstack([np.concatenate([[1.0], -center / unit]), np.diag(1 / np.r_[1.0, unit])[1:]])
    return back @ found, np.sqrt(np.diag(back @ spread @ back.T))


def _solved(exog: np.ndarray, response: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    basis, triangle = np.linalg.qr(exog)
    inverse = np.linalg.inv(triangle)
    return inverse @ (basis.T @ response), inverse @ inverse.T


def _likeliest(exog: np.ndarray, response: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Iterate weighted least squares until the coefficients stand."""
    mean = response.mean()
    start = math.log(mean / (1 - mean)) if kind == "logistic" else math.log(max(mean, 1e-12))
    found = np.r_[start, np.zeros(exog.shape[1] - 1)]
    for _ in range(STEPS):
        score = exog @ found
        fitted = 1 / (1 + np.exp(-score)) if kind == "logistic" else np.exp(score)
        weight = fitted * (1 - fitted) if kind == "logistic" else fitted
        root = np.sqrt(np.maximum(weight, 1e-300))
        target = root * score + (response - fitted) / root
        new, spread = _solved(exog * root[:, None], target)
        if not np.isfinite(new).all() or np.sqrt(np.diag(spread))[1:].max() > 50:
            break
        if np.abs(new - found).max() < 1e-12 * max(1.0, np.abs(new).max()):
            return new, spread
        found = new
    raise Refused("The model has no finite estimate on this file.")
