"""Control group: records left out of a release, so that attacks can be tried on them, too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import Audit, audit
from rwn_core.masking import Release, mask
from rwn_core.measures.attacks.guessing import ATTACKS, attacked_people, canonical_sample
from rwn_core.measures.attacks.red_team.files import Files, intruder_files
from rwn_core.measures.attacks.red_team.nearest import names_by
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading, with_parts
from rwn_core.measures.risk import red_team
from rwn_core.measures.risk.attributes import ATTRIBUTE_GAIN
from rwn_core.measures.statistics.key_variables import required_confidential
from rwn_core.parallel.threads import current_work, steps

LEAST = 20  # people outside, below which their success says nothing
SPLITS = 8  # random halvings of a table, of which each half is masked once
_SEED = 7
_TEAM = red_team.MEASURE.key
_SURELY = 2.0  # standard errors by which differences are compared
_WHOLE = ("levels", "common")  # what the files of halves take over from those of the whole


def control_group(
    base: Comparison,
    params: Any,
    seed: int,
    precision: Mapping[str, float] | None = None,
    part: int = 0,
) -> Comparison | None:
    """A release of the same setting that leaves one person in five out, for comparison."""
    # `part`, from 0 to 4, says which people; of a person or household no row stays inside
    original = base.original
    precision = precision or {}
    units, order = _people(base)
    order = np.random.default_rng(_SEED).permutation(order)
    count = min(len(order) // 5, ATTACKS)
    if count < LEAST:
        return None
    out = np.isin(units, np.roll(order, -part * count)[:count])
    held = np.flatnonzero(out)
    inside = original.take(np.flatnonzero(~out))
    try:
        release = mask(inside, params, precision=precision, seed=seed)
    except ParameterError:
        return None
    made = Comparison(
        original=inside,
        masked=release.masked,
        law=release.law,
        holdout=original.take(held),  # as they are, like the people in the file
        question=base.question,
    )
    made.halves = base.halves
    return made


def _people(base: Comparison) -> tuple[Integers, Integers]:
    """Return each record's unit, and the units in an order that is the same for any row order."""
    # Shapes: numbers (n,); order (u,).
    units = np.arange(base.original.n) if base.units is None else base.units
    order = units[canonical_sample(base.original, base.original.n)]
    return units, order[np.sort(np.unique(order, return_index=True)[1])]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeDifference:
    """The success of nearest-row guesses on people inside a file, less that on people outside.

    Attributes
    ----------
    value, error : float
        The difference of the worst confidential variable and way, inside less outside, from -1 to
        1, and its standard error over the halvings.
    secret, words : str
        The variable, and the way to name it.
    level : str, optional
        The level of the variable, where naming it goes furthest.
    inside, outside : float
        What the difference is of: a share of the people, or of a level recall times precision
        beyond chance.
    records, splits : int
        Records that were halved, and how often.
    of_file : bool
        Whether people inside were attacked in one file that exists: its error is then also that of
        the names that come right there by luck.
    rows : list of dict
        The worst level and way for each variable and each knowledge.
    """

    value: float
    error: float
    secret: str
    words: str
    level: str | None
    inside: float
    outside: float
    records: int
    splits: int
    rows: list[dict[str, Any]] = field(repr=False)
    of_file: bool = False

    @property
    def certain(self) -> float:
        """The difference, as the policy reads what the red team found.

        Of a setting it is the mean of its releases; of one file what is beyond luck, at two
        standard errors: who is named by luck in a file is disclosed by nothing.
        """
        return self.value - _SURELY * self.error if self.of_file else self.value

    def frame(self) -> pd.DataFrame:
        """Return a row for each confidential variable and each knowledge."""
        return pd.DataFrame(self.rows)


@takes_tables
def attribute_difference(
    microdata: Microdata,
    params: Any,
    *,
    splits: int = SPLITS,
    seed: int = _SEED,
    precision: Mapping[str, float] | None = None,
    masked: Microdata | None = None,
) -> AttributeDifference:
    """Find how often the nearest rows name values of people inside a file and outside of it.

    The table is halved at random, each half is masked once, and two attacks name a confidential
    variable of all people: the value of the row nearest on the keys, and of the row nearest on all
    other variables. They need no law, so all methods are judged by one rule. A name of people that
    are not in the file is no disclosure: only the difference is the mechanism's.

    Parameters
    ----------
    microdata : Microdata
        At least 40 records; of more than 2,000, random ones are halved.
    params : Method
        Of any method.
    splits : int
        Random halvings, at least 2. Both halves of each are masked, the other one is outside.
    seed : int
        Of the halvings and releases.
    precision : mapping of str to float, optional
        Steps to which released values are rounded.
    masked : Microdata, optional
        A release that exists, row-aligned: people inside are then attacked in this very file.

    Returns
    -------
    AttributeDifference

    Raises
    ------
    NotApplicable
        No variable is confidential, there are too few records, or the method refuses a half.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> weak = attribute_difference(data, rwn.RWN(epsilon=0, k=1, q=0.1))
    >>> strong = attribute_difference(data, rwn.RWN(epsilon=6.0, k=20))
    >>> weak.value > 0.3, strong.value < 0.05
    (True, True)
    """
    base = Comparison(original=microdata, masked=microdata)
    precision = precision or {}
    required_confidential(base)
    if splits < 2:
        raise ParameterError("splits must be a whole number of at least 2.")
    if microdata.n > 2 * QUICK_RECORDS:
        some = microdata.take(np.sort(attacked_people(base, 2 * QUICK_RECORDS)))
        base = Comparison(original=some, masked=some)
    data = base.original
    _, order = _people(base)
    if len(order) < 2 * LEAST:
        raise NotApplicable(f"There are fewer than {2 * LEAST} people to halve.")
    # which values are levels is decided on all records
    table_files = intruder_files(base)
    names_by(table_files, np.arange(table_files.n))
    # counts of each variable, way and level: shape (splits, inside and outside, 4)
    counts: dict[_About, Floats] = defaultdict(lambda: np.zeros((splits, 2, 4)))

    def add(files: Files, people: Integers, places: tuple[Any, ...]) -> None:
        """Add the counts of names of some people."""
        same = files.levels == table_files.levels
        kept = {key: held for key, held in table_files.memo.items() if same and key[0] in _WHOLE}
        files.memo.update(kept)
        seen = set()
        for each in names_by(files, people):
            four = each.right, each.named, each.people, each.base * each.people
            for level, *sums in zip(each.levels, *four, strict=True):
                about = (each.secret, each.words, level)
                if about not in seen:  # of numbers, names within reach come before exact ones
                    seen.add(about)
                    counts[about][places] += sums

    for split, files in _halved(base, order, params, precision, range(seed, seed + 2 * splits)):
        own = np.unique(files.owner)  # people without a row of their own are outside
        add(files, np.setdiff1d(np.arange(data.n), own), (split // 2, 1))
        if masked is None:
            add(files, own, (split // 2, 0))
    if masked is not None:
        files = intruder_files(Comparison(original=microdata, masked=masked))
        add(files, np.arange(min(files.n, 2 * QUICK_RECORDS)), (slice(None), 0))
    of_file = masked is not None
    rows = _worst(counts, of_file=of_file)
    return AttributeDifference(records=data.n, splits=splits, rows=rows, of_file=of_file, **rows[0])


_About = tuple[str, str, str | None]
"""A variable, the way to name it, and the level."""


def _halved(
    base: Comparison, order: Integers, params: Any, precision: Mapping[str, float], seeds: range
) -> Iterator[tuple[int, Files]]:
    """Yield the files of releases of random halves of the units, two of each halving."""
    units, _ = _people(base)
    draw = np.random.default_rng(seeds[0])
    for number, seed in enumerate(steps(seeds)):
        if number % 2 == 0:
            half = np.isin(units, draw.permutation(order)[: len(order) // 2])
        inside = np.flatnonzero(half == (number % 2 == 0))
        try:
            own = params.for_fewer(len(inside))
            release = mask(base.original.take(inside), own, precision=precision, seed=seed)
        except ParameterError as refusal:
            raise NotApplicable(f"Half of the records cannot be masked: {refusal}") from refusal
        yield number, intruder_files(base.with_masked(release.masked, release.law), inside)


def _worst(counts: Mapping[_About, Floats], *, of_file: bool) -> list[dict[str, Any]]:
    """Return the worst level and way for each variable and knowledge, the worst first.

    People inside of one file are the same for all halvings, and their names may be luck.
    """
    if not counts:
        raise NotApplicable("No released row has a value of a confidential variable.")
    best: dict[tuple[str, bool], dict[str, Any]] = {}
    for about, each in counts.items():
        # each (splits, 2, 4), of halvings, sides and numbers of the strategies: inside, outside,
        # and their difference with its jackknife error over the halvings
        total = each.sum(axis=0)
        right, named, people, based = np.moveaxis(np.stack((total, *(total - each))), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = right / people
            if about[2] is not None:  # of one level recall says nothing without precision
                base = based / people
                score = score * np.maximum((right / named - base) / (1 - base), 0.0)
        score = np.nan_to_num(score)
        difference = score[:, 0] - score[:, 1]
        splits = len(each)
        spread = difference[1:] - difference[1:].mean()
        error = np.sqrt((splits - 1) / splits * (spread**2).sum())
        if of_file:
            inside = min(score[0, 0], 1.0)
            error = np.hypot(error, np.sqrt(inside * (1 - inside) / max(people[0, 0] / splits, 1)))
        found = {
            **dict(zip(("secret", "words", "level"), about, strict=True)),
            **dict(zip(("inside", "outside"), map(float, score[0]), strict=True)),
            "value": float(difference[0]),
            "error": float(error),
        }
        place = about[0], "of the keys" in about[1]
        best[place] = max(best.get(place, found), found, key=_surely)
    return sorted(best.values(), key=_surely, reverse=True)


def _surely(found: Mapping[str, Any]) -> tuple[float, bool, float]:
    """Return what sorts differences: beyond luck first, then those of all people."""
    value = found["value"]
    return max(value - _SURELY * found["error"], 0.0), found["level"] is None, value


def with_difference(
    readings: Mapping[str, Any], find: Callable[[], AttributeDifference]
) -> dict[str, Any]:
    """Add the difference to what the red team found, where there is one."""
    team = readings.get(_TEAM)
    if isinstance(team, Reading):
        with suppress(NotApplicable):
            return {**readings, _TEAM: with_parts(team, difference=find(), caveat="")}
    return dict(readings)


def audit_attacked(microdata: Microdata, release: Release, measures: Sequence[str]) -> Audit:
    """Read measures of a release with the red team, and where they limit it, the difference."""
    with (now := current_work()).part(0.0, 0.7):
        audited = audit(microdata, release, measures=tuple(dict.fromkeys((*measures, _TEAM))))
    if ATTRIBUTE_GAIN.key not in audited.readings:
        return audited
    about = microdata, release.params
    precision = dict(release.precision)
    masked = release.masked
    find = partial(attribute_difference, *about, precision=precision, masked=masked)
    with now.part(0.7, 1.0):
        return Audit(readings=with_difference(audited.readings, find))
