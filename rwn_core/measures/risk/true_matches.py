"""True matches: rows that show a person's own values, found by values alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.rounding import steps_by_name
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.likeliest_value import WORDS
from rwn_core.measures.attacks.true_match import (
    KnownColumns,
    KnownSets,
    KnownTable,
    Names,
    Secret,
    count,
    isolating_sets,
    known_sets,
    small_sets,
    travel_mates,
    worst_level,
)
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.paired_bars import Pair, bars, frame
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import BY_VALUES, Detail, Measure, Reading, with_parts
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.intervals import share_interval
from rwn_core.measures.statistics.key_variables import confidential_names, key_names

MOST_NAMED = 5  # variables of a set that a sentence names
FEW = 20  # people: a note next to the value says where fewer count
ENOUGH = 100  # people, of fewer a share may be luck: what it is at least counts
SMALL = 0.01  # share of the file: of fewer, the same


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _AskedSets:
    """The sets of variables by which people of one table are looked up.

    Shapes: s sets, c confidential variables.
    """

    known: KnownSets
    inside: Booleans  # (s, c), True for a confidential variable that a set holds
    places: list[tuple[int, ...]]  # the variables of each set by their positions, s of them
    columns: KnownColumns  # the sample uniques on each set
    only_tried: Booleans  # (s,), True for a set of one or two variables that was only tried


def _which_are_in(names: Names, secrets: Names) -> list[bool]:
    """Return for each confidential variable whether it is in a set."""
    return [name in names for name in secrets]


def _searched(
    table: KnownTable,
    stated: Sequence[Names],
    units: Sequence[Names],
    secrets: Names,
    spared: Names,
) -> _AskedSets:
    rich = {name: len(known) for name, known in zip(table.names, table.known, strict=True)}
    others = [name for name in table.names if name not in secrets]
    others.sort(key=lambda name: -rich[name])
    position = {name: place for place, name in enumerate(table.names)}
    mates = travel_mates(others, units, secrets)
    mates_at = [tuple(map(position.__getitem__, each)) for each in mates]
    grown = isolating_sets(table.codes, mates_at)
    further = (*mates, *(tuple(map(table.names.__getitem__, each)) for each in grown))
    # one value or two of variables released unmasked lead to the own row; by others most are
    # found anyway, and what they tell is a relation
    small, left = small_sets([name for name in others if name in spared], table.n)
    found = known_sets(stated, others, units, secrets, table.n, (*further, *small))._replace(
        left=left
    )
    tried = set(map(frozenset, small)) - set(map(frozenset, (*stated, *mates)))
    if not found.sets:
        raise NotApplicable(
            "Every variable is confidential, so nothing is known to find a person by; give one "
            "another role."
        )
    inside = np.array([_which_are_in(names, secrets) for names in found.sets], bool)
    places = [tuple(map(position.__getitem__, names)) for names in found.sets]
    only = np.array([frozenset(names) in tried for names in found.sets], bool)
    return _AskedSets(
        known=found,
        inside=inside,
        places=places,
        columns=KnownColumns(table.codes, places),
        only_tried=only,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrueMatches(Detail):
    """The details of the sets of known variables, and of the sample uniques on each.

    Attributes
    ----------
    known : KnownSets
        The s sets of variables, how many are stated, larger or searched, and how many there are.
    people, valued : ndarray of int64, shape (s,)
        Sample uniques on each set, and those with a value of the variable that is read best.
    found : ndarray of float64, shape (s,)
        Share of them with a row of exactly these values.
    secret : list of str or None, length s
        The confidential variable that is read best.
    read, chance : ndarray of float64, shape (s,)
        Share of them with a row that shows their own value of it, and the share by chance.
    shares : ndarray of float64, shape (s,)
        What is read beyond chance; without a confidential variable what is found.
    worst : int
        The set that decides.
    few : int, optional
        A set with a larger share, of which less is sure.
    level : mapping, optional
        Counts of one level that is named better than any set shows, its "secret" and "names".
    unit_words : {"people", "households", "records"}
        What the sample uniques are.
    """

    known: KnownSets
    people: Integers
    valued: Integers
    found: Floats
    secret: list[str | None]
    read: Floats
    chance: Floats
    shares: Floats
    worst: int
    few: int | None
    level: dict[str, Any] | None
    unit_words: str = "people"


def compute(comparison: Comparison) -> Reading[TrueMatches]:
    """Return the largest share of sample uniques with a value that a row shows, beyond chance."""
    rows = _counted(comparison, None)
    if comparison.unit is None:
        return rows
    # a unit is read if any of its records is; that is worse, unless by chance
    units = _counted(comparison, comparison.units)
    if units.value < rows.value:
        return with_parts(rows, unit_words="records")
    return with_parts(units, unit_words=comparison.unit.words)


def _counted(comparison: Comparison, units: Integers | None) -> Reading[TrueMatches]:
    """Return the reading in records, or in units by the number of each record's."""
    secrets = confidential_names(comparison)
    steps = steps_by_name({} if comparison.law is None else comparison.law.precision)
    table = comparison.cached_for_original(
        ("true matches", steps), lambda: KnownTable(comparison.original, steps)
    )
    released = table.numbered(comparison.original, comparison.masked)
    asked = _asked_sets(comparison, table, released, secrets)
    columns = asked.columns
    if units is not None:
        columns = comparison.cached_for_original(
            ("true matches", steps, asked.known.sets),
            lambda: KnownColumns(table.codes, asked.places, units),
        )

    # what is found and read of each set
    values = [Secret(comparison, name, units) for name in secrets]
    found, reads, chances, named = count(columns, released, values)
    people = _people(comparison, columns, units)
    shares = _shares(
        of=_people_with_values(comparison, columns, units, values, people),
        # without a confidential variable the people that are found count
        right=np.column_stack((reads, np.zeros_like(found) if secrets else found)),
        by_chance=np.column_stack((chances, np.zeros(len(people)))),
    )

    # what counts of it, and the variable that each set reads best
    enough = _enough(int(people.max()), table.n)
    few_people = (shares.of < enough) | asked.only_tried[:, None]
    usable = shares.sure(few_people)
    usable[:, :-1][asked.inside] = NOT_USABLE
    if secrets:
        # no variable comes after any confidential one, and before those that are known themselves
        usable[:, -1] -= 0.5
    best = (usable + 1e-9 * shares.read).argmax(axis=1)
    chosen = (np.arange(len(people)), best)
    counted = np.maximum(usable, 0.0)[chosen]
    beyond = shares.beyond_chance[chosen]

    # the set that decides: of those of some people the one that reads most
    worst = int(np.lexsort((people, counted, people >= min(enough, FEW)))[-1])
    few = int(np.lexsort((people, beyond, people > 0))[-1])
    value = float(counted[worst])
    luck = shares.luck[chosen]
    ends = share_interval(shares.right[chosen], shares.of[chosen]) - luck[:, None]
    low, high = np.clip(ends[worst], 0.0, (value, 1.0)).tolist()

    # one level may be named better than any set shows
    best_level = worst_level(named, values, asked.inside)
    level: dict[str, Any] | None = None
    if best_level["score"] > value:
        value = best_level["score"]
        level = best_level | {
            "names": list(asked.known.sets[best_level["set"]]),
            "secret": secrets[best_level["secret"]],
        }
        low, high = _interval_of_level(level)
    baseline = 0.0
    if not secrets:
        baseline = _found_by_chance(columns, released, asked.places[worst], worst)
    return Reading(
        value=value,
        baseline=baseline,
        interval=(low, high),
        detail=TrueMatches(
            known=asked.known,
            people=people,
            valued=shares.of[chosen],
            found=np.minimum(found / np.maximum(people, 1), 1.0),
            secret=[(*secrets, None)[number] for number in best.tolist()],
            read=shares.read[chosen],
            chance=luck,
            shares=beyond,
            worst=worst,
            few=few if beyond[few] > beyond[worst] else None,
            level=level,
        ),
    )


NOT_USABLE = -1.0  # of a confidential variable that is known itself nothing is read


def _asked_sets(
    comparison: Comparison, table: KnownTable, released: Integers, secrets: Names
) -> _AskedSets:
    """Return the sets of known variables: keys, stated sets, units, isolating sets, any few."""
    keys = tuple(name for name in key_names(comparison) if name not in secrets)
    stated = tuple(each for each in (keys, *comparison.key_sets) if each)
    slices: tuple[Names, ...] = ()
    if comparison.law is not None:
        # a variable alone travels with no other one: the same sets are asked of any such release
        slices = tuple(tuple(unit) for unit in comparison.law.units() if len(unit) > 1)
    spared: Names = ()
    if secrets:
        pairs = zip(table.names, table.codes.T, released.T, strict=True)
        spared = tuple(name for name, own, shown in pairs if np.array_equal(own, shown))
    asked: _AskedSets = comparison.cached_for_original(
        ("known sets", table.precision, stated, slices, secrets, spared),
        lambda: _searched(table, stated, slices, secrets, spared),
    )
    return asked


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """The people of each set whose value of each confidential variable is read, shape (s, c + 1).

    The last column counts the people that are found, for no variable.
    """

    of: Integers  # people with a value
    right: Floats  # those whose value is read, expected where several rows match
    read: Floats  # their share
    luck: Floats  # the share by chance, whatever the release
    beyond_chance: Floats

    def sure(self, few_people: Booleans) -> Floats:
        """Return what counts: the share beyond chance, of few people what it is at least."""
        share = self.read.copy()
        right = self.right[few_people]
        others = np.maximum(self.of[few_people] - right, 0)
        # the lower 97.5 % confidence limit (Clopper and Pearson 1934)
        low = betaincinv(np.maximum(right, 1e-9), others + 1, 0.025)
        share[few_people] = np.where(right > 0, low, 0.0)
        return np.maximum(share - self.luck, 0.0)


def _shares(of: Integers, right: Floats, by_chance: Floats) -> _Shares:
    """Return shares of people, from those that are read and those that chance would read."""
    some = np.maximum(of, 1)
    right = np.minimum(right, of)
    read = right / some
    luck = by_chance / some
    return _Shares(of, right, read, luck, np.maximum(read - luck, 0.0))


def _people_with_values(
    comparison: Comparison,
    columns: KnownColumns,
    units: Integers | None,
    values: Sequence[Secret],
    people: Integers,
) -> Integers:
    """Return the people of each set with a value of each confidential variable, (s, c + 1)."""
    valued = []
    for each in values:
        missing = np.isnan(each.own)
        if missing.any():
            present = ~missing[: comparison.original.n]
            valued.append(_people(comparison, columns, units, present))
        else:
            valued.append(people)
    return np.column_stack((*valued, people))


def _enough(most: int, n: int) -> float:
    """Return of how many people a share counts as it is: fewer only where no set has so many.

    By one or two values most people are found in any release; of those what it is at least counts.
    """
    for people in (max(ENOUGH, SMALL * n), FEW, 1):
        if people <= most:
            return people
    return 0


def _interval_of_level(level: dict[str, Any]) -> tuple[float, float]:
    """Return the interval of a level's score, from those of its recall and of its names."""
    right = level["right"]
    recall = _share_of_level(right, level["people"])
    precision = _share_of_level(right, level["named"])
    beyond = np.maximum(precision - level["base"], 0.0) / (1 - level["base"])
    low, high = (recall * beyond).tolist()
    score = level["score"]
    return min(low, score), min(1.0, max(high, score))


def _share_of_level(right: float, of: float) -> Floats:
    """Return the interval of a share, shape (2,)."""
    interval: Floats = share_interval(np.array([min(right, of)]), np.array([max(1, round(of))]))[0]
    return interval


def _people(
    comparison: Comparison,
    columns: KnownColumns,
    units: Integers | None,
    valued: Booleans | None = None,
) -> Integers:
    """Return the sample uniques on each set with a row in the file that leaves, and a value."""
    # Shapes: units, valued (n,); the answer (s,).
    rows = released_rows(comparison.original, comparison.masked)
    aligned = comparison.masked.n == comparison.original.n
    if valued is None and (not aligned or len(rows) == comparison.original.n):
        return columns.people
    leaves = np.zeros(comparison.original.n)
    leaves[rows if aligned else slice(None)] = 1.0
    if valued is not None:
        leaves *= valued
    if units is not None:
        leaves = (np.bincount(units, leaves) > 0)[units].astype(np.float64)
    return np.rint(columns.sums(leaves)).astype(np.int64)


def _found_by_chance(
    columns: KnownColumns, released: Integers, chosen: tuple[int, ...], which: int
) -> float:
    """Return the share of sample uniques found if each variable were dealt independently."""
    person = np.concatenate([unique.person[unique.which == which] for unique in columns.unique])
    if not person.size or not len(released):
        return 0.0
    chance = np.ones(len(person))
    for position in chosen:
        own = columns.codes[person, position]
        rows = np.bincount(released[released[:, position] >= 0, position], minlength=own.max() + 1)
        chance *= rows[own] / len(released)
    return float(np.mean(1 - (1 - chance) ** len(released)))


def sentence(reading: Reading[TrueMatches], n: int) -> str:
    """Say for how many people matches show a true value beyond the known ones."""
    detail = reading.detail
    worst = reading.detail.worst
    sets = len(detail.known.sets)
    left = detail.known.possible - detail.known.searched
    fewer = f" and {detail.known.left:,} of fewer" if detail.known.left else ""
    looked = f"the worst of {sets:,} sets of variables" if sets > 1 else "the one set tried"
    more = f"; {left:,} more sets of three{fewer} were not looked at" if left or fewer else ""
    # no set of variables has a sample unique: the sentence names the sets that were tried
    if not detail.people[worst]:
        larger = detail.known.larger
        tried = f", {larger:,} of more than three variables" if larger else ""
        which = f"any of the {sets:,} sets of variables" if sets > 1 else "the one set of variables"
        return f"Nobody is alone with all values of {which} tried{tried}{more}."
    # how the people of the worst level are named
    if detail.level is not None:
        level = detail.level
        recall, right = level["right"] / level["people"], level["right"] / level["named"]
        return (
            f"The worst level is {level['secret']} = {level['level']}: of its "
            f"{level['people']:,.0f} {detail.unit_words} {percent(recall)} are named correctly by "
            f"{_known(level['names'])}, and {percent(right)} of the names are right, "
            f"{percent(level['score'])} beyond chance: {looked}{more}."
        )
    # a larger share of too few people
    few = ""
    if detail.few is not None:
        few = f" It is {percent(float(detail.shares[detail.few]))} of {_who(detail, detail.few)}."
    # of sample uniques: the share that is found, without a confidential variable no more
    who = f"Of {_who(detail, worst)}, "
    found = "are found in the release by exactly these values"
    if detail.secret[worst] is None:
        return (
            f"{who}{percent(reading.value)} {found} ({percent(reading.baseline or 0)} by chance), "
            f"so that it is known that they are in it: {looked}{more}. No variable is "
            f"confidential, so nothing more is read.{few}"
        )
    # a share that counts by its lower limit: the sentence says both
    beyond = f"{percent(reading.value)} more than by chance"
    share = float(detail.shares[worst])
    if reading.value < share:
        so_few = "of so few people " if detail.valued[worst] < ENOUGH else ""
        beyond = f"{percent(share)} more than by chance, {so_few}{percent(reading.value)} for sure"
    some, every = int(detail.valued[worst]), int(detail.people[worst])
    of = "" if some == every else f"of the {some:,} with a value "
    return (
        f"{who}{percent(float(detail.found[worst]))} {found}, and for "
        f"{percent(float(detail.read[worst]))} {of}such a row shows their own "
        f"{detail.secret[worst]}, "
        f"{beyond}: {looked}{more}.{few}"
    )


def _known(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMED else f"values of {len(names)} variables"


def _who(detail: TrueMatches, place: int) -> str:
    """Say how many sample uniques one set has."""
    known = _known(detail.known.sets[place])
    people = detail.people[place]
    one, many = {
        "households": ("household that", "households that"),
        "records": ("record that", "records that"),
    }.get(detail.unit_words, ("person who", "people who"))
    if people == 1:
        return f"the one {one} is alone with certain {known}"
    return f"the {people:,} {many} are alone with their {known}"


# Sample uniques on known values that a row of the release shows

_BARS = 7


def draw_true_matches(reading: Reading[TrueMatches]) -> style.Chart:
    """Draw the stated and the worst sets of variables: shares found and read."""
    detail = reading.detail
    stated = reading.detail.known.stated
    # the stated sets first, then the worst of the others
    secret = detail.secret[detail.worst]
    names = [", ".join(each) for each in detail.known.sets]
    shares = detail.found if secret is None else detail.read
    others = stated + np.argsort(-shares[stated:], kind="stable")
    pairs: list[Pair] = [
        (names[at], detail.found[at], None if detail.secret[at] is None else float(detail.read[at]))
        for at in [*range(min(stated, _BARS)), *others.tolist()][:_BARS]
    ]
    # what the largest number is a share of
    worst = style.percent(reading.value, 1)
    what = noted = "read truly" if secret else "found"
    if detail.level is not None:
        named = [str(detail.level[part]) for part in ("secret", "level")]
        short = [style.shorten(name, 12) for name in named]
        what, noted = (f"of {' = '.join(each)}" for each in (named, short))
    return style.chart(
        "true_matches",
        "True matches",
        f"outlined: found · {noted} {worst}",
        f"Of the people who are alone with some values, the share who are found in the release by "
        f"exactly these, and whose own confidential value the row shows; at worst {worst} {what}",
        data=bars(pairs, ("found", "read truly"), before=style.NEUTRAL),
        layout=frame(pairs, "people who are alone with them"),
        large={"legend": True},
        table=table(
            ["known", "people alone", "found", "read truly", "by chance"],
            [names, detail.people, detail.found, detail.read, detail.chance],
            by=("stated and largest", np.where(np.arange(len(names)) < stated, 2.0, shares)),
        ),
    )


MEASURE = Measure(
    key="true_matches",
    usual_limit=0.05,
    effort=BY_VALUES,
    title="True matches",
    unit="share of people who are alone with what is known of them, beyond chance",
    question="For how many people who are alone with their key values, with what travels with a "
    "confidential variable, or with any three values (one or two of variables released "
    "unmasked), does a released row with exactly these values show their own confidential value "
    f"({WORDS}), more than if the values were dealt at random, for the worst set, variable and "
    "level?",
    sentence=sentence,
    source="Values alone, of any masked table; less rows whose confidential values are dealt "
    "at random. Of several rows with the same values the share that is right counts, and of "
    "several records of a person any. Of a level: recall times precision beyond chance. "
    "The lower bound of Clopper and Pearson (1934) counts for a level, for few people, and for one "
    "or two values",
    compute=compute,
    of_released=True,
    about="value",
    charts={"true_matches": draw_true_matches},
    places={"record of a dataset": 10, "risk": 3, "report": 8, "worst cases": 6, "attacks": 4},
)
