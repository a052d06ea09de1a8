"""Find the variable that numbers the people of a panel, such as years of the same patients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.identity.of_numbers import FEW, LARGEST_HOUSEHOLD
from rwn_core.data.identity.profile import (
    Confidence,
    IdentityDoubt,
    NameWords,
    Subject,
    block_rows,
    name_words,
    word_list,
)

COMES_AGAIN = "numbers of people who come again"
FEWEST_PEOPLE = 6  # of a panel: fewer values are categories
ROWS_EACH = (1.5, 100.0)  # rows a value, on average: fewest and most
PAIRS = 4_000  # pairs of rows of one value that are compared
TIES = 12.0  # of a counter in these that chance would bring, at least, where none is seen
SEEN = 0.02  # of these ties that are taken for slips
CONSTANT = 0.95  # of the pairs in which another column stays the same
BY_CHANCE = 0.5  # the same share, from which chance explains it
SIMILAR = 0.4  # intraclass correlation of rows of one person, at least
RELATED = 0.5  # rank correlation, above which a number is a quantity
_NUMBERED = {Subject.NUMBER, Subject.PERSON, Subject.HOUSEHOLD}
_BY_NAME = {Subject.NUMBER, Subject.HOUSEHOLD}
_OTHER = {*Subject} - {*_NUMBERED, Subject.CONTACT}
TIMES = {"visit", "wave", "welle", "round", "period", "session", "occasion", "cycle", "time"}

Codes = NDArray[np.int64]


def repeated_people(
    frame: pd.DataFrame, names: Sequence[str], declared: Sequence[str] | None = None
) -> dict[str, IdentityDoubt]:
    """Return the columns that number people with several rows each, with the reason."""
    # No person has two rows of one year, where chance would give some. People and years are
    # counters of each other: the column that has more constant columns numbers the people.
    # All names are tried, or the declared identifiers, which may stay out of a release for any
    # reason: they number people unless their name says otherwise or their rows differ widely.
    coded = [pd.factorize(block_rows(frame[name]))[0] for name in names]
    table = np.column_stack(coded).astype(np.int64) if coded else np.empty((0, 0), np.int64)
    # the share of all pairs of rows with equal values, by column
    often = [np.bincount(codes[codes >= 0], minlength=1) for codes in coded]
    tie_shares = np.array(
        [(each * (each - 1.0)).sum() / max(each.sum() * (each.sum() - 1.0), 1.0) for each in often]
    )
    columns = _Columns(frame, list(names), table, tie_shares)
    found: dict[str, IdentityDoubt] = {}
    for name in names if declared is None else declared:
        place = columns.names.index(name)
        if declared is not None and _is_called_number(name) and columns.has_many(place):
            found[name] = IdentityDoubt(COMES_AGAIN, "it is called so")
            continue
        doubt = _people_of(columns, place, declared=declared is not None)
        if doubt is not None:
            found[name] = doubt
    return found


class _Columns(NamedTuple):
    """The columns of a table, in numbers for their values."""

    frame: pd.DataFrame
    names: list[str]
    codes: Codes  # shape (n, p)
    tie_shares: NDArray[np.float64]  # shape (p,): of all pairs of rows those with equal values

    def has_many(self, place: int) -> bool:
        """True if a column has more values than a category."""
        return bool(self.codes[:, place].max(initial=-1) + 1 >= FEWEST_PEOPLE)


def _is_numbered(words: NameWords) -> bool:
    """True if a name is that of numbers of people, households or anything."""
    return bool(words.subjects & _NUMBERED) and not words.is_measure


def _is_called_number(name: str) -> bool:
    """True if a name is that of numbers, and no such thing as a region."""
    words = name_words(name)
    called = _is_numbered(words) and bool(words.subjects & _BY_NAME)
    return called and not {*words.words} & word_list("roles", "key")


def _people_of(columns: _Columns, place: int, *, declared: bool) -> IdentityDoubt | None:
    """Return why a column numbers people with several rows each; None where it does not."""
    name = columns.names[place]
    words = name_words(name)
    numbered = _is_numbered(words)
    codes = columns.codes[:, place]
    if not _may_number(columns.frame[name], codes, numbered):
        return None
    counters, fixed = _counters_and_constants(columns.codes, place, columns.tie_shares)
    counted = _counted_by(columns, place, counters, fixed)
    if counted is not None:
        return counted
    reason = None
    if fixed.size and (numbered or declared):
        reason = f"{columns.names[fixed[0]]} is the same in all rows of a value"
    elif numbered and words.subjects & _BY_NAME and codes.max() >= FEW:
        reason = "the variable is called so"
    elif declared and _similar(columns.frame, name):
        reason = "rows of a value are consecutive or similar"
    return None if reason is None else IdentityDoubt(COMES_AGAIN, reason, Confidence.MODERATE)


def _counted_by(
    columns: _Columns, place: int, counters: Codes, fixed: Codes
) -> IdentityDoubt | None:
    """Return the doubt by a counter, such as a year, of which no two rows of a value have one."""
    # people and years count each other: people have more constant columns, or more values
    names = columns.names
    values = columns.codes[:, place].max()
    for counter in sorted(counters, key=lambda each: not _is_time(name_words(names[each]))):
        time = _is_time(name_words(names[counter]))
        other = _counters_and_constants(columns.codes, counter, columns.tie_shares)[1]
        more_values = not other.size and values > 2 * columns.codes[:, counter].max()
        if time or more_values or len(fixed) > len(other):
            agrees = f"no two rows agree on it and on {names[counter]}"
            sure = Confidence.HIGH if time else Confidence.MODERATE
            return IdentityDoubt(COMES_AGAIN, agrees, sure)
    return None


def _may_number(column: pd.Series[Any], codes: Codes, numbered: bool) -> bool:
    """True if integers or texts have several rows a value, and their name has no other sense."""
    words = name_words(str(column.name))
    different = int(codes.max(initial=-1)) + 1
    low, high = ROWS_EACH
    if different < FEWEST_PEOPLE or not low <= (codes >= 0).sum() / different <= high:
        return False
    named = word_list("roles", "key") | word_list("roles", "confidential")
    called = {*words.words, "".join(words.words)} & named
    if not numbered and (_is_time(words) or called or words.subjects & _OTHER):
        return False
    if pd.api.types.is_float_dtype(column.dtype):
        values = column.dropna().to_numpy(dtype=np.float64)
        return bool((np.floor(values) == values).all())
    return not pd.api.types.is_datetime64_any_dtype(column.dtype)


def _is_time(words: NameWords) -> bool:
    return words.is_series or bool(TIMES & {*words.words})


def _counters_and_constants(
    table: Codes, place: int, tie_shares: NDArray[np.float64]
) -> tuple[Codes, Codes]:
    """Return the columns that count the rows of each value of one, and those that stay the same."""
    # table: shape (n, p); tie_shares: (p,); both results: numbers of columns, (c,)
    own = table[:, place]
    order = np.argsort(own, kind="stable")
    order = order[np.searchsorted(own[order], 0) :]
    ends = [(order[:-step], order[step:]) for step in (1, 2, 4)]
    one, two = (np.concatenate(each) for each in zip(*ends, strict=True))
    same = np.flatnonzero(own[one] == own[two])
    same = same[np.linspace(0, len(same) - 1, min(PAIRS, len(same))).astype(np.int64)]
    first, second = table[one[same]], table[two[same]]
    known = (first >= 0) & (second >= 0)
    pairs = known.sum(axis=0)
    ties = (known & (first == second)).sum(axis=0)
    counts = (pairs * tie_shares >= TIES) & (ties <= SEEN * pairs * tie_shares)
    fixed = (pairs >= TIES) & (ties >= CONSTANT * pairs) & (tie_shares < BY_CHANCE)
    fixed[place] = False
    return np.flatnonzero(counts), np.flatnonzero(fixed)


def _similar(frame: pd.DataFrame, name: str) -> bool:
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
        groups = own[values.index].nunique()
        n = len(values)
        means = values.groupby(own).mean()
        if not 1 < groups < n:
            continue
        each = means[own[values.index]].to_numpy()
        between = float(((each - values.mean()) ** 2).sum()) / (groups - 1)
        within = float(((values.to_numpy() - each) ** 2).sum()) / (n - groups)
        quantity = pd.api.types.is_numeric_dtype(known[name].dtype) and (
            abs(known[name].astype(np.float64).corr(values, method="spearman")) > RELATED
        )
        if between - within > SIMILAR * (between + (n / groups - 1) * within) and not quantity:
            return True
    return False
