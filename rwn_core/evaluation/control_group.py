"""Control group: records left out of a release, so that attacks can be tried on them, too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import Audit, audit
from rwn_core.masking import Method, Release, mask
from rwn_core.measures.attacks.guessing import ATTACKS, attacked_people, canonical_sample
from rwn_core.measures.attacks.red_team import NAMES, nearest, prediction
from rwn_core.measures.attacks.red_team.files import Files, intruder_files
from rwn_core.measures.attacks.red_team.finding import Finding, NameCounts
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
Ways = frozenset[tuple[str, str]]
"""Attacks of the red team, each with a confidential variable."""
_SURELY = 2.0  # standard errors by which differences are compared
_WHOLE = ("levels", "common")  # what the files of halves take over from those of the whole
_SETS = ("greedy", "rich")  # sets by which people are looked up: the same for both sides


def control_group(
    base: Comparison,
    params: Method,
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
    """The success of simple attacks on people inside a file, less that on people outside.

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
        What the difference is of: a share of the people, or recall times precision beyond chance;
        of a further attack, `outside` is by the best way there.
    is_share : bool
        Whether these two are shares of the people.
    records, splits : int
        Records that were halved, and how often.
    ways : frozenset of (str, str)
        The attacks that were tried besides the nearest rows, each with its variable.
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
    is_share: bool
    records: int
    splits: int
    rows: list[dict[str, Any]] = field(repr=False)
    ways: Ways = frozenset()
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
    params: Method,
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
    halves = Halves(microdata, params, splits=splits, seed=seed, precision=precision, masked=masked)
    return halves.difference()


class Halves:
    """A table halved at random and masked, and what simple attacks name on both sides.

    Attacks are tried when they are asked for, on the same releases.

    Parameters
    ----------
    microdata, params, splits, seed, precision, masked
        As `attribute_difference` takes them, and refuses them.
    """

    def __init__(
        self,
        microdata: Microdata,
        params: Method,
        *,
        splits: int = SPLITS,
        seed: int = _SEED,
        precision: Mapping[str, float] | None = None,
        masked: Microdata | None = None,
    ) -> None:
        base = Comparison(original=microdata, masked=microdata)
        required_confidential(base)
        if splits < 2:
            raise ParameterError("splits must be a whole number of at least 2.")
        if microdata.n > 2 * QUICK_RECORDS:
            some = microdata.take(np.sort(attacked_people(base, 2 * QUICK_RECORDS)))
            base = Comparison(original=some, masked=some)
        n = base.original.n
        _, order = _people(base)
        if len(order) < 2 * LEAST:
            raise NotApplicable(f"There are fewer than {2 * LEAST} people to halve.")
        self._records = n
        self._splits = splits
        self._of_file = masked is not None
        self._sides: list[_Side] = []
        for split, files in _halved(base, order, params, precision or {}, seed, splits):
            own = np.unique(files.owner)  # people without a row of their own are outside
            self._sides.append(_Side(files, np.setdiff1d(np.arange(n), own), (split // 2, 1)))
            if masked is None:
                self._sides.append(_Side(files, own, (split // 2, 0)))
        if masked is not None:
            files = intruder_files(Comparison(original=microdata, masked=masked))
            some_people = np.arange(min(files.n, 2 * QUICK_RECORDS))
            self._sides.append(_Side(files, some_people, (slice(None), 0)))
        # which values are levels is decided on all records
        whole = intruder_files(base)
        nearest.names_by(whole, np.arange(whole.n))
        for side in self._sides:
            if side.files.levels == whole.levels:
                side.files.memo.update(_of_memo(whole, _WHOLE))
        self._nearest = self._counted(lambda side: nearest.names_by(side.files, side.people))
        self._further: dict[tuple[str, str], _Counts] = {}

    def difference(self, ways: Iterable[tuple[str, str]] = ()) -> AttributeDifference:
        """Return the worst difference of the nearest rows and of further attacks.

        Parameters
        ----------
        ways : iterable of (str, str)
            Attacks of the red team that name values ("nearest", "merge", "prediction", "matching"),
            each with the confidential variable that it is tried on.
        """
        tried = frozenset(ways)
        further: dict[_Way, Floats] = {}
        for attack in sorted(tried):
            if attack not in self._further:
                self._further[attack] = self._try(*attack)
            further |= self._further[attack]
        # what the nearest rows name of everybody is counted as one of their ways
        further = {way: each for way, each in further.items() if way not in self._nearest}
        rows = _worst(self._nearest, further, self._splits, self._of_file)
        about: dict[str, Any] = {"ways": tried, "of_file": self._of_file, **rows[0]}
        return AttributeDifference(records=self._records, splits=self._splits, rows=rows, **about)

    def _try(self, attack: str, secret: str) -> _Counts:
        """Count the names of one variable by one further attack."""
        sets: dict[Any, Any] = {}

        def names(side: _Side) -> list[NameCounts]:
            files = side.files
            if secret not in files.secrets:
                return []
            some = files.of_people(np.isin(np.arange(len(files.people)), side.people), (secret,))
            # the same sets of variables, and models of these rows, serve both sides
            some.memo.update(_of_memo(files, (*_WHOLE, prediction.FITTED)) | sets)
            found = NAMES[attack](some)
            files.memo.update(_of_memo(some, (prediction.FITTED,)))
            sets.update(_of_memo(some, _SETS))
            return found

        counts = self._counted(names)
        for side in self._sides:  # models take more memory than all else
            side.files.memo.pop((prediction.FITTED, secret), None)
        return counts

    def _counted(self, names: Callable[[_Side], list[NameCounts]]) -> _Counts:
        """Count the names on each side; a way that names nobody there has its people all the same.

        All ways of an attack ask the same people.
        """
        counts: dict[_Way, Floats] = defaultdict(lambda: np.zeros((self._splits, 2, 4)))
        for side in self._sides:
            seen: set[_Way] = set()
            for each in names(side):
                four = each.right, each.named, each.people, each.base * each.people
                for level, *sums in zip(each.levels, *four, strict=True):
                    way = _Way(each.attack, each.secret, each.words, level)
                    if way not in seen:  # of numbers, names within reach come before exact ones
                        seen.add(way)
                        counts[way][side.places] += sums
        asked: dict[Hashable, Floats] = {}
        for way, numbers in counts.items():
            asked[way.people] = np.maximum(asked.get(way.people, 0.0), numbers[..., 2:])
        for way, numbers in counts.items():
            unasked = numbers[..., 2:3] == 0
            numbers[..., 2:] = np.where(unasked, asked[way.people], numbers[..., 2:])
        return counts


class _Way(NamedTuple):
    """A way to name a variable, or one level of it."""

    attack: str
    secret: str
    words: str
    level: str | None

    @property
    def people(self) -> Hashable:
        """The key of the people that a way is tried on."""
        return self.attack, self.secret, self.level


_Counts = Mapping[_Way, Floats]
"""By way, arrays of shape (splits, 2, 4): by halving and side (inside, outside) the numbers of
right names, names, people, and people named rightly by naming random ones."""


class _Side(NamedTuple):
    """A side of a file: some people inside or outside of it, and the places of their counts."""

    files: Files
    people: Integers
    places: tuple[Any, ...]


def _of_memo(files: Files, kinds: Sequence[str]) -> dict[Any, Any]:
    """Return what a file remembers of some kinds."""
    return {key: kept for key, kept in files.memo.items() if key[0] in kinds}


def _halved(
    base: Comparison,
    order: Integers,
    params: Method,
    precision: Mapping[str, float],
    seed: int,
    splits: int,
) -> Iterator[tuple[int, Files]]:
    """Yield the files of releases of random halves of the units, two of each halving."""
    units, _ = _people(base)
    draw = np.random.default_rng(seed)
    for number in steps(range(2 * splits)):
        if number % 2 == 0:
            half = np.isin(units, draw.permutation(order)[: len(order) // 2])
        inside = np.flatnonzero(half == (number % 2 == 0))
        try:
            own = params.for_fewer(len(inside))
            release = mask(base.original.take(inside), own, precision=precision, seed=seed + number)
        except ParameterError as refusal:
            raise NotApplicable(f"Half of the records cannot be masked: {refusal}") from refusal
        yield number, intruder_files(base.with_masked(release.masked, release.law), inside)


class _Scores(NamedTuple):
    """The success of a way: of all halvings, then without each; shape (1 + splits, 2) each."""

    share: Floats  # right names over people
    lifted: Floats  # times the precision beyond naming random people
    people: float  # people inside


def _scores(counts: Floats) -> _Scores:
    # Shape: counts (splits, 2, 4).
    total = counts.sum(axis=0)
    right, named, people, based = np.moveaxis(np.stack((total, *(total - counts))), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = right / people
        base = based / people
        lifted = share * np.maximum((right / named - base) / (1 - base), 0.0)
    return _Scores(np.nan_to_num(share), np.nan_to_num(lifted), float(people[0, 0]))


def _worst(near: _Counts, further: _Counts, splits: int, of_file: bool) -> list[dict[str, Any]]:
    """Return the worst level and way for each variable and attack, the worst first.

    The nearest rows name everybody: their success inside is compared with theirs outside. A further
    attack may name a few people only; it is compared with the most successful attack on people
    outside, which an intruder would choose for these. People inside of one file are the same for
    all halvings, so that the error of a share is added.
    """
    if not near:
        raise NotApplicable("No released row has a value of a confidential variable.")
    scores = {way: _scores(counts) for way, counts in {**near, **further}.items()}
    best_outside: dict[tuple[str, str | None], Floats] = {}
    for way, score in scores.items():
        about = way.secret, way.level
        best_outside[about] = np.maximum(best_outside.get(about, 0.0), score.lifted[:, 1])
    best: dict[tuple[str, str, bool], dict[str, Any]] = {}
    for way, score in scores.items():
        # of one level recall says nothing without precision
        is_share = way in near and way.level is None
        sides = score.share if is_share else score.lifted
        inside = sides[:, 0]
        outside = sides[:, 1] if way in near else best_outside[way.secret, way.level]
        difference = inside - outside
        error = _jackknife_error(difference)
        if of_file:
            error = float(np.hypot(error, _error_of_luck(inside[0], score.people / splits)))
        found = {
            "secret": way.secret,
            "words": way.words,
            "level": way.level,
            "inside": float(inside[0]),
            "outside": float(outside[0]),
            "is_share": is_share,
            "value": float(difference[0]),
            "error": float(error),
        }
        place = way.secret, way.attack, "of the keys" in way.words
        best[place] = max(best.get(place, found), found, key=_surely)
    return sorted(best.values(), key=_surely, reverse=True)


def _jackknife_error(values: Floats) -> float:
    """Return the standard error of a number of all halvings, by those without each of them."""
    # Shape: values (1 + splits,).
    without = values[1:]
    splits = len(without)
    spread = without - without.mean()
    return float(np.sqrt((splits - 1) / splits * (spread**2).sum()))


def _error_of_luck(share: float, people: float) -> float:
    """Return the standard error of a share of people that are named in one file."""
    share = min(share, 1.0)
    return float(np.sqrt(share * (1 - share) / max(people, 1)))


def _surely(found: Mapping[str, Any]) -> tuple[float, bool, float]:
    """Return what sorts differences: beyond luck first, then those of all people."""
    value = found["value"]
    return max(value - _SURELY * found["error"], 0.0), found["level"] is None, value


def with_difference(
    readings: Mapping[str, object], find: Callable[[Ways], AttributeDifference]
) -> dict[str, Any]:
    """Add the difference to what the red team found, where there is one.

    Whatever names more people than the stated gain is tried on people outside, too.
    """
    team = readings.get(_TEAM)
    if isinstance(team, Reading):
        ways = _beyond_gain(team.detail.findings, readings.get(ATTRIBUTE_GAIN.key))
        with suppress(NotApplicable):
            return {**readings, _TEAM: with_parts(team, difference=find(ways), caveat="")}
    return dict(readings)


def _beyond_gain(findings: Sequence[Finding], gain: object) -> Ways:
    """Return the attacks whose names go beyond a stated gain, each with its variable.

    Predictions are added: an intruder has them of people outside, too.
    """
    ways: set[tuple[str, str]] = set()
    if not isinstance(gain, Reading):
        return frozenset(ways)
    for found in findings:
        if found.secret is not None and found.score > gain.value:
            ways.add((found.attack, found.secret))
            ways.add((prediction.KEY, found.secret))
    return frozenset(ways)


def audit_attacked(microdata: Microdata, release: Release, measures: Sequence[str]) -> Audit:
    """Read measures of a release with the red team, and where they limit it, the difference."""
    with (now := current_work()).part(0.0, 0.7):
        audited = audit(microdata, release, measures=tuple(dict.fromkeys((*measures, _TEAM))))
    if ATTRIBUTE_GAIN.key not in audited.readings:
        return audited

    def find(ways: Ways) -> AttributeDifference:
        precision = dict(release.precision)
        halves = Halves(microdata, release.params, precision=precision, masked=release.masked)
        return halves.difference(ways)

    with now.part(0.7, 1.0):
        return Audit(readings=with_difference(audited.readings, find))
