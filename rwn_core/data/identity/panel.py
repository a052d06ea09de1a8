"""Find the column that numbers who comes again: several rows each, and a counter beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.identity.doubt import Confidence, Found
from rwn_core.data.identity.of_numbers import FEW, LARGEST_HOUSEHOLD
from rwn_core.data.identity.profile import block_rows
from rwn_core.data.identity.words import NameWords, Subject, name_words, word_list

COMES_AGAIN = "numbers of people who come again"
ROWS_EACH = (1.5, 100.0)  # rows a value, on average: fewest and most
PAIRS = 4_000  # pairs of rows of one value that are compared
TIES = 5.0  # of a counter in these that chance would bring, at least, where none is seen
SEEN = 0.02  # of these ties that are taken for slips
CONSTANT = 0.95  # of the pairs in which another column stays the same
BY_CHANCE = 0.5  # the same share, from which chance explains it
ALIKE = 0.4  # intraclass correlation of rows of one person, at least
RELATED = 0.5  # rank correlation, above which a number is a quantity
_NUMBERED = {Subject.NUMBER, Subject.PERSON, Subject.HOUSEHOLD}
_BY_NAME = {Subject.NUMBER, Subject.HOUSEHOLD}
_OTHER = {*Subject} - {*_NUMBERED, Subject.CONTACT}
_TIMES = {"visit", "wave", "welle", "round", "period", "session", "occasion", "cycle", "time"}

Codes = NDArray[np.int64]


def repeated_people(
    frame: pd.DataFrame, names: Sequence[str], declared: Sequence[str] | None = None
) -> dict[str, Found]:
    """Return the columns that number people with several rows each, with the reason."""
    # A counter beside people, such as a year, never ties: with one of them a value comes once. As
    # people and years are counters of each other, those of whom more stays the same are people.
    # All names are asked for, or the declared identifiers, which may stay out of a release for any
    # reason: they number people unless called otherwise, or with many rows a value that differ.
    coded = [pd.factorize(block_rows(frame[name]))[0] for name in names]
    table = np.column_stack(coded).astype(np.int64) if coded else np.empty((0, 0), np.int64)
    alike = np.array([_tie_share(codes[codes >= 0]) for codes in coded])
    found: dict[str, Found] = {}
    for name in names if declared is None else declared:
        words, place = name_words(name), list(names).index(name)
        numbered = bool(words.subjects & _NUMBERED) and not words.is_measure
        called = numbered and bool(words.subjects & _BY_NAME)
        if declared is not None and called:
            found[name] = Found(COMES_AGAIN, "it is called so")
        elif _may_number(frame[name], table[:, place], numbered):
            counters, fixed = _beside(table, place, alike)
            counted, reason = _by_counter(names, place, counters, fixed, table, alike), None
            if fixed.size and (numbered or declared is not None):
                reason = f"{names[fixed[0]]} is the same in all rows of a value"
            elif called and table[:, place].max() >= FEW:
                reason = "the variable is called so"
            elif declared is not None and _alike(frame, name):
                reason = "rows of a value stand together, or are alike"
            if counted is not None or reason is not None:
                found[name] = counted or Found(COMES_AGAIN, str(reason), Confidence.MODERATE)
    return found


def _tie_share(codes: Codes) -> float:
    """Return the share of all pairs of rows with equal values."""
    n, often = len(codes), np.bincount(codes, minlength=1)
    return float((often * (often - 1.0)).sum() / max(n * (n - 1.0), 1.0))


def _may_number(column: pd.Series[Any], codes: Codes, numbered: bool) -> bool:
    """True for integers and texts with several rows a value that are not called otherwise."""
    words, different = name_words(str(column.name)), int(codes.max(initial=-1)) + 1
    low, high = ROWS_EACH
    if different < 2 or not low <= (codes >= 0).sum() / different <= high:
        return False
    called = {*words.words, "".join(words.words)} & word_list("roles", "key")
    if not numbered and (_is_time(words) or called or words.subjects & _OTHER):
        return False
    if pd.api.types.is_float_dtype(column.dtype):
        values = column.dropna().to_numpy(dtype=np.float64)
        return bool((np.floor(values) == values).all())
    return not pd.api.types.is_datetime64_any_dtype(column.dtype)


def _is_time(words: NameWords) -> bool:
    return words.is_series or bool(_TIMES & {*words.words})


def _beside(table: Codes, place: int, alike: NDArray[np.float64]) -> tuple[Codes, Codes]:
    """Return the columns that count the rows of each value of one, and those that stay the same."""
    own = table[:, place]
    order = np.argsort(own, kind="stable")
    order = order[np.searchsorted(own[order], 0) :]
    ends = [(order[:-step], order[step:]) for step in (1, 2, 4)]
    one, two = (np.concatenate(each) for each in zip(*ends, strict=True))
    same = np.flatnonzero(own[one] == own[two])
    same = same[np.linspace(0, len(same) - 1, min(PAIRS, len(same))).astype(np.int64)]
    first, second = table[one[same]], table[two[same]]
    known = (first >= 0) & (second >= 0)
    pairs, ties = known.sum(axis=0), (known & (first == second)).sum(axis=0)
    counts = (pairs * alike >= TIES) & (ties <= SEEN * pairs * alike)
    fixed = (pairs >= TIES) & (ties >= CONSTANT * pairs) & (alike < BY_CHANCE)
    fixed[place] = False
    return np.flatnonzero(counts), np.flatnonzero(fixed)


def _by_counter(
    names: Sequence[str],
    place: int,
    counters: Codes,
    fixed: Codes,
    table: Codes,
    alike: NDArray[np.float64],
) -> Found | None:
    """Return what a counter tells whose own values have less in common; None without one."""
    for counter in sorted(counters, key=lambda each: not _is_time(name_words(names[each]))):
        other = _beside(table, counter, alike)[1]
        fewer = not other.size and table[:, place].max() > 2 * table[:, counter].max()
        time = _is_time(name_words(names[counter]))
        if time or fewer or len(fixed) > len(other):
            reason = f"with {names[counter]} beside it, each of its values comes once"
            sure = Confidence.HIGH if time else Confidence.MODERATE
            return Found(COMES_AGAIN, reason, sure)
    return None


def _alike(frame: pd.DataFrame, name: str) -> bool:
    """True if rows of a value stand together, or some number differs less within values.

    By an intraclass correlation; a quantity, to which others are related, is no number of people.
    """
    known = frame[frame[name].notna()]
    own = pd.Series(pd.factorize(known[name])[0], index=known.index)
    if len(own) <= LARGEST_HOUSEHOLD * own.nunique() and (own.diff() != 0).sum() == own.nunique():
        return True
    for other in known.columns.drop(name):
        values = known[other]
        if not pd.api.types.is_numeric_dtype(values.dtype):
            continue
        values = values.astype(np.float64).dropna()
        groups, n, means = own[values.index].nunique(), len(values), values.groupby(own).mean()
        if not 1 < groups < n:
            continue
        each = means[own[values.index]].to_numpy()
        between = float(((each - values.mean()) ** 2).sum()) / (groups - 1)
        within = float(((values.to_numpy() - each) ** 2).sum()) / (n - groups)
        quantity = pd.api.types.is_numeric_dtype(known[name].dtype) and (
            abs(known[name].astype(np.float64).corr(values, method="spearman")) > RELATED
        )
        if between - within > ALIKE * (between + (n / groups - 1) * within) and not quantity:
            return True
    return False
