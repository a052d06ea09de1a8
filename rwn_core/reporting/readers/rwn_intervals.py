"""Read a masked file with its notice: a model in, 95 % intervals out, or the reason why not.

This one file needs statsmodels. Copy it next to the masked file and its notice, then:

    import rwn_intervals
    survey = rwn_intervals.load("release.csv", "notice.json")
    print(survey.interval("wage ~ education + log(experience) + factor(region)"))
    print(survey.interval("member ~ age + sex:age", "logistic"))
    for one in ("mean(wage)", "median(wage)", "quantile(wage, 0.9)", "share(region = north)"):
        print(survey.interval(one))

Formulas are those of patsy, with log, sqrt, square and factor.

Intervals cover sampling and masking as if the file had half as many records; they assume that
records were sampled independently. A model across slices, or of too few records, is refused, and so
is a term that reads other records than its own, such as center(wage): it would change when half of
the records are left out.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import patsy  # comes with statsmodels
from scipy import stats

MOST_CONDITION = 30.0
MOST_ERROR = 50.0  # of a standardized slope that has an estimate
STEPS = 100
LONGEST_LINE = 70  # letters of the names of slices, where a file prints itself
FEWEST = 60  # records of an interval
FEWEST_APART = 20  # records that lie beyond a quantile
FEWEST_OTHER = 30  # records that differ from the rest; with fewer, intervals do not hold
LEAST_FREEDOM = 10
Z = 1.959963984540054
_TRANSFORMS: Any = {"": np.array, "log": np.log, "sqrt": np.sqrt, "square": np.square}
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_STATISTIC = re.compile(
    r"\s*(?P<what>mean|median|quantile|share)\s*\(\s*(?P<name>[^\W\d]\w*|Q\(.+?\))"
    r"\s*(?:(?P<sign>,|>=|<=|==?|>|<)\s*(?P<given>.+?)\s*)?\)\s*"
)
_COMPARED = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
# of halves that no order of the records follows: the golden ratio, the roots of 2 and 3
IRRATIONAL = (0.6180339887498949, 0.4142135623730951, 0.7320508075688772)
# beyond rounding: of the value, and of the standard deviation of a column
ROUNDING = 1e-14
NO_CHANGE = 1e-9
# what patsy and its splines raise of a formula
_NO_VALUE = (patsy.PatsyError, SyntaxError, TypeError, ValueError, LookupError, ArithmeticError)
_FAMILIES = {"linear": "Gaussian", "logistic": "Binomial", "poisson": "Poisson"}


class Refused(ValueError):
    """A result that the masked file cannot give."""


def load(file: Any, notice: str | Path) -> Survey:
    """Read a masked text file, or take a data frame, and the notice that belongs to it."""
    content = json.loads(Path(notice).read_text(encoding="utf-8"))
    if content.get("format") != "rwn notice 1" or "sha256" not in content:
        raise Refused("The notice has another form; get the reader that came with it.")
    slices = content.get("intervals", {}).get("slices", ())
    names = list(dict.fromkeys(name for each in slices for name in each))
    if not isinstance(file, str | Path):
        try:
            columns = {name: file[name] for name in names}
        except (KeyError, TypeError, IndexError, ValueError):
            raise Refused("The table is no data frame with the variables of the notice.") from None
        cells = {n: c.to_pylist() if hasattr(c, "to_pylist") else c for n, c in columns.items()}
        return Survey({name: list(column) for name, column in cells.items()}, content)
    data = Path(file).read_bytes()
    if hashlib.sha256(data).hexdigest() != content["sha256"]:
        raise Refused("The notice belongs to another file: its SHA-256 differs.")
    # text with the marks that the notice states
    tabs = str(file).endswith((".tsv", ".tab"))
    marks = {"separator": "\t" if tabs else ",", "decimal": ".", **content.get("marks", {})}
    try:
        text = io.StringIO(data.decode("utf-8"), newline="")
        header, *rows = csv.reader(text, delimiter=marks["separator"])
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
        cells = {name: _pointed(columns[name], marks["decimal"]) for name in names}
    except (ValueError, LookupError, csv.Error):
        raise Refused("Read the file as a data frame and give that: it is no such text.") from None
    return Survey(cells, content)


def _pointed(cells: Sequence[str], decimal: str) -> list[str]:
    """The cells of a column, with decimal points where all of them are numbers."""
    pointed = [cell.replace(decimal, ".") for cell in cells]
    numbers = all(map(_NUMBER.fullmatch, filter(None, pointed)))
    return pointed if numbers or decimal == "." else list(cells)


@dataclass(frozen=True)
class Row:
    """One number with its 95 % interval, of sampling and masking."""

    term: str
    estimate: float
    error: float | None  # the standard error of both; None of a share or a quantile
    interval: tuple[float, float]

    def __str__(self) -> str:
        """Return the number and its interval."""
        low, high = self.interval
        return f"{self.term}: {self.estimate:.6g}: 95 % interval {low:.6g} to {high:.6g}"


@dataclass(frozen=True)
class Result:
    """The numbers that were asked for: of a model a row for each coefficient."""

    rows: tuple[Row, ...]
    records: int

    def __str__(self) -> str:
        """Return a line for each row."""
        return "\n".join(map(str, self.rows))


class Survey:
    """A masked table with its notice."""

    def __init__(self, columns: dict[str, list[Any]], notice: dict[str, Any]) -> None:
        self.notice = notice
        self._columns = columns

    def __repr__(self) -> str:
        """Return five lines: what this is, and what can be asked of it."""
        about = self.notice.get("intervals", {"refusal": "The file says nothing of intervals."})
        slices = [", ".join(map(str, each)) for each in about.get("slices", ())]
        shown = " | ".join(slices)
        if len(shown) > LONGEST_LINE:
            shown = f"{shown[:LONGEST_LINE]} ..."
        records = max(map(len, self._columns.values()), default=0)
        first = next((each[0] for each in about.get("slices", ()) if each), "x")
        lines = [
            f"{self.notice.get('title', 'Masked microdata')}: a masked file of {records:,} records",
            f"Release {self.notice.get('release', '?')}, made on {self.notice.get('made', '?')}",
            f"Method: {self.notice.get('method', '?')}",
            about["refusal"] or f"Intervals for variables of one slice: {shown}",
            f'Ask: survey.interval("mean({first})"); see the notice for what holds',
        ]
        return "\n".join(lines)

    def interval(self, model: str, kind: str = "linear") -> Result:
        """Return 95 % intervals of a model, a mean, a share, a median or a quantile."""
        about = self.notice.get("intervals", {"refusal": "The file says nothing of intervals."})
        if about["refusal"]:
            raise Refused(about["refusal"])
        match = _STATISTIC.fullmatch(model)
        try:
            described = patsy.ModelDesc.from_formula(f"~ {match['name']}" if match else model)
            terms = [*described.lhs_termlist, *described.rhs_termlist]
            factors = list(dict.fromkeys(factor for term in terms for factor in term.factors))
            found = (name for factor in factors for name in _names_in(factor.code))
            names = list(dict.fromkeys(found))
            data = self._slice(names, about["slices"])
            if match:
                return _statistic(data[names[0]], match, about["factor"])
            known = {**_FUNCTIONS, **data}
            left, right = patsy.dmatrices(model, known, eval_env=_NOTHING)
            for factor in factors:
                _of_one_record(factor, data)
        except Refused:
            raise
        except RecursionError:
            raise Refused("The formula has too many terms or brackets; take some out.") from None
        except _NO_VALUE as error:
            reason = str(error).partition("\n")[0]
            raise Refused(f"{model} cannot be read: {reason}") from None
        response = _modeled(left, right, kind)
        columns = np.asarray(right)[:, 1:]
        _varied(response, right)
        labels = right.design_info.column_names
        freedom = len(response) / 2 - len(labels)
        if freedom < LEAST_FREEDOM:
            raise Refused("The file has too few records for so many coefficients.")
        values, errors = _fitted(response, columns, kind)
        rows = zip(labels, values, about["factor"] * errors, strict=True)
        return Result(tuple(_around(*row, freedom) for row in rows), len(response))

    def _slice(self, names: list[str], slices: list[list[str]]) -> dict[str, np.ndarray]:
        """Return the columns, shape (n,) each, of the slice that a formula sees, and no other."""
        own = max(slices, key=lambda each: len({*names} & {*each}))
        outside = [name for name in names if name not in own]
        if outside:
            raise Refused(
                f"No interval: {', '.join(outside)} lies outside of the slice {', '.join(own)}. An "
                "interval holds for variables of one slice only."
            )
        return {name: _typed(self._columns[name]) for name in own}


def _names_in(code: str) -> list[str]:
    """Return the variables that a factor of a formula names, also as Q("a name")."""
    nodes = list(ast.walk(ast.parse(code)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    found = [getattr(n, "id", getattr(n, "value", None)) for n in nodes if id(n) not in called]
    return [name for name in found if isinstance(name, str)]


def _of_one_record(factor: patsy.EvalFactor, data: dict[str, np.ndarray]) -> None:
    """Refuse a factor that changes when half of the records are left out, as center(age) does.

    Intervals hold for means of functions of one record; a mean, a knot or a range that was read
    from the sample moves with it, and the standard error does not know of that.
    """
    # shape of each column: (n,)
    complete = _evaluated(factor, data)
    n = len(next(iter(data.values())))
    halves = [np.arange(n) * step % 1 < 0.5 for step in IRRATIONAL]
    for half in (*halves, *(~each for each in halves)):
        try:
            alone = _evaluated(factor, {name: column[half] for name, column in data.items()})
            same = _same(complete, alone, half)
        except _NO_VALUE:  # it has no value without the others
            same = False
        if not same:
            raise Refused(
                f"No interval: {factor.code} changes when half of the records are left out, so it "
                "is no function of one record; state its numbers yourself, as in I(age - 40)."
            )


def _evaluated(factor: patsy.EvalFactor, data: dict[str, np.ndarray]) -> object:
    """Return what a factor of a formula makes of these records, by patsy's protocol of factors."""
    state: dict[str, Any] = {}
    known = {**_FUNCTIONS, **data}
    for each in range(factor.memorize_passes_needed(state, _NOTHING)):
        factor.memorize_chunk(state, each, known)
        factor.memorize_finish(state, each)
    made: object = factor.eval(state, known)
    return made


def _same(complete: object, alone: object, half: np.ndarray) -> bool:
    """True if all records gave what a half of them gives alone, but for rounding."""
    # shape of half: (n,); of the values (n,) or (n, c)
    values, coding = _plain(complete)
    after, coding_after = _plain(alone)
    before = values[half]
    if coding != coding_after or before.shape != after.shape:
        return False
    if before.dtype.kind not in "fiub":
        return bool((before == after).all())
    numbers = before[np.isfinite(before)].astype(float)
    spread = float(numbers.std()) if numbers.size else 0.0
    return np.allclose(after, before, rtol=ROUNDING, atol=NO_CHANGE * spread, equal_nan=True)


def _plain(made: object) -> tuple[np.ndarray, str]:
    """Return the values of a factor, and how the levels of a category are coded."""
    if not hasattr(made, "contrast"):
        return np.asarray(made), ""
    category: Any = made
    return np.asarray(category.data), repr((category.contrast, category.levels))


def _modeled(left: patsy.DesignMatrix, right: patsy.DesignMatrix, kind: str) -> np.ndarray:
    """Return the response of a model, shape (n,), or refuse what the model cannot take."""
    two = kind == "logistic"
    intercept = right.design_info.column_names[:1] == ["Intercept"]
    if kind not in _FAMILIES or not intercept or left.shape[1] > 1 + two:
        raise Refused("A model needs an intercept, a known kind, and a response of numbers.")
    response: np.ndarray = np.asarray(left)[:, -1]
    if two:
        if len(np.unique(response)) != 2:
            raise Refused("The response must have two values.")
        return np.where(response == response.max(), 1.0, 0.0)
    if kind == "poisson" and response.min() < 0:
        raise Refused("The response has negative values.")
    return response


def _varied(response: np.ndarray, right: patsy.DesignMatrix) -> None:
    """Refuse a response, shape (n,), a term or a column of a design that varies too little."""
    design = np.asarray(right)
    _enough("the response", response)
    # the columns of a category, added, tell the records of its reference
    for term, part in right.design_info.term_name_slices.items():
        if term != "Intercept":
            _enough(term, design[:, part].sum(axis=1))
    for label, column in zip(right.design_info.column_names[1:], design[:, 1:].T, strict=True):
        _enough(label, column)


def _typed(cells: list[Any]) -> np.ndarray:  # shape (n,)
    """Return numbers where all cells are numbers, else texts; a missing one is NaN or None."""
    texts = [_text(cell) for cell in cells]
    if all(_NUMBER.fullmatch(text) for text in texts if text):
        return np.array([_number(text) for text in texts])
    return np.array([text or None for text in texts], dtype=object)


def _enough(label: str, values: np.ndarray) -> None:
    """Refuse too few records, or values of which nearly all are the same."""
    # shape of values: (n,)
    if len(values) < FEWEST:
        raise Refused(f"Fewer than {FEWEST} records have all values.")
    if len(values) - np.unique(values, return_counts=True)[1].max() < FEWEST_OTHER:
        raise Refused(f"In {label} fewer than {FEWEST_OTHER} records differ from the rest.")


def _around(term: str, value: float, error: float, freedom: float) -> Row:
    half = float(stats.t.ppf(0.975, freedom)) * error
    return Row(term, float(value), float(error), (float(value - half), float(value + half)))


def _statistic(values: np.ndarray, asked: re.Match[str], factor: float) -> Result:
    """Return the interval of a mean, a share or a quantile of one variable, shape (n,)."""
    what = asked["what"]
    sign = asked["sign"]
    given = asked["given"]
    term = asked[0].strip()
    values = np.sort(values[[value == value and value is not None for value in values]])
    n = len(values)
    texts = values.dtype == object
    if n < FEWEST:
        raise Refused(f"Fewer than {FEWEST} records have a value.")
    signs = {"share": ("=", "==", *_COMPARED), "quantile": (",",)}.get(what, (None,))
    number = given is None or _NUMBER.fullmatch(given)
    if sign not in signs or (texts and sign not in ("=", "==")) or not (texts or number):
        raise Refused(f"{term} cannot be read: see the examples of this reader.")
    if what == "share":
        from statsmodels.stats.proportion import proportion_confint

        count = int(_COMPARED.get(sign, np.equal)(values, given if texts else float(given)).sum())
        # Wilson's interval of half as many records
        low, high = proportion_confint(count / 2, n / 2, 0.05, "wilson")
        return Result((Row(term, count / n, None, (float(low), float(high))),), n)
    if what == "mean":
        _enough(term, values)
        error = factor * float(values.std(ddof=1)) / math.sqrt(n)
        return Result((_around(term, float(values.mean()), error, n / 2 - 1),), n)
    level = 0.5 if given is None else float(given)
    if not n * min(level, 1 - level) >= FEWEST_APART:
        raise Refused(f"Fewer than {FEWEST_APART} records lie beyond {term}.")
    # the sorted values at the ends of the interval of their share
    reach = Z * math.sqrt(2 * level * (1 - level) / n)
    ranks = [min(max(math.ceil(n * (level + end)), 1), n) for end in (-reach, reach)]
    low, high = (float(values[rank - 1]) for rank in ranks)
    return Result((Row(term, float(np.quantile(values, level)), None, (low, high)),), n)


def _text(cell: Any) -> str:
    """Return a cell as the file has it; empty if it is missing."""
    return "" if cell is None or type(cell).__name__ == "NAType" or cell != cell else str(cell)


def _number(cell: Any) -> float:
    text = _text(cell)
    return float(text) if text else math.nan


def _transformed(values: np.ndarray, transform: str) -> np.ndarray:  # shape (n,)
    with np.errstate(invalid="ignore", divide="ignore"):
        made: np.ndarray = _TRANSFORMS[transform](values)
    if not np.isfinite(made[~np.isnan(values)]).all():
        raise Refused(f"{transform} has no value for some records.")
    return made


# what a formula sees besides the variables of its slice
_FUNCTIONS: dict[str, Any] = {each: partial(_transformed, transform=each) for each in _TRANSFORMS}
_FUNCTIONS["factor"] = patsy.builtins.C
_NOTHING = patsy.EvalEnvironment([])


def _fitted(response: np.ndarray, columns: np.ndarray, kind: str) -> np.ndarray:
    """Return coefficients, the intercept first, and their robust standard errors."""
    # response: shape (n,); columns: (n, p); the answer: (2, 1 + p)
    import statsmodels.api as sm  # as long to import as all the rest

    unit = columns.std(axis=0, ddof=1)
    mean = columns.mean(axis=0)
    exog = sm.add_constant((columns - mean) / unit, has_constant="add")
    if columns.shape[1] and np.linalg.cond(exog[:, 1:]) > MOST_CONDITION:
        raise Refused("Do not use this model: its predictors are nearly collinear.")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of has no standard error below
        try:
            if kind == "linear":
                fit = sm.OLS(response, exog).fit(cov_type="HC3")
            else:
                model = sm.GLM(response, exog, family=getattr(sm.families, _FAMILIES[kind])())
                fit = model.fit(maxiter=STEPS, tol=1e-12, cov_type="HC0")
            spread = fit.cov_params()
        except (np.linalg.LinAlgError, ValueError):
            spread = np.full((1 + len(unit),) * 2, np.inf)
        # back to the units of the columns
        back = np.diag(np.concatenate(([1.0], 1 / unit)))
        back[0, 1:] = -mean / unit
        errors = np.sqrt(np.diag(back @ spread @ back.T))
        largest = np.sqrt(np.diag(spread)[1:]).max(initial=0.0)
    if not np.isfinite(errors).all() or (kind != "linear" and not largest <= MOST_ERROR):
        raise Refused("The model has no finite estimate on this file.")
    return np.array([back @ fit.params, errors])
