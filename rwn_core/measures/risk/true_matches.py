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


# Sets of known variables of one table; True for a confidential variable in a set, shape (sets,
# confidential variables); the variables of each set, by position; sample uniques on each set; and
# True for a set of one or two variables that was only tried, shape (sets,).
_AskedSets = tuple[KnownSets, Booleans, list[tuple[int, ...]], KnownColumns, Booleans]


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
    grown = isolating_sets(table.codes, [tuple(map(position.__getitem__, each)) for each in mates])
    further = (*mates, *(tuple(table.names[at] for at in each) for each in grown))
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
    inside = np.array([[name in names for name in secrets] for names in found.sets], bool)
    places = [tuple(position[name] for name in names) for names in found.sets]
    only = np.array([frozenset(names) in tried for names in found.sets], bool)
    return found, inside, places, KnownColumns(table.codes, places), only


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
    # the sets of known variables: keys, stated sets, units, isolating sets, any few
    keys = tuple(name for name in key_names(comparison) if name not in secrets)
    stated = tuple(each for each in (keys, *comparison.key_sets) if each)
    slices = () if comparison.law is None else tuple(map(tuple, comparison.law.units()))
    own = zip(table.names, table.codes.T, released.T, strict=True)
    spared = tuple(name for name, *both in own if secrets and np.array_equal(*both))
    known, inside, places, columns, only = comparison.cached_for_original(
        ("known sets", table.precision, stated, slices, secrets, spared),
        lambda: _searched(table, stated, slices, secrets, spared),
    )
    if units is not None:
        columns = comparison.cached_for_original(
            ("true matches", steps, known.sets), lambda: KnownColumns(table.codes, places, units)
        )
    asked = [Secret(comparison, name, units) for name in secrets]
    found, reads, chances, named = count(columns, released, asked)
    best_level = worst_level(named, asked, inside)
    people = _people(comparison, columns, units)
    # of each set the people with a value of each confidential variable, how many of them are read,
    # and by chance, shape (s, m + 1); the last column is no variable, but how many are found
    valued = [people if not np.isnan(each.own).any()
              else _people(comparison, columns, units, ~np.isnan(each.own[: len(table.codes)]))
              for each in asked]  # fmt: skip
    of = np.column_stack((*valued, people))
    right = np.minimum(np.column_stack((reads, 0.0 * found if secrets else found)), of)
    total, nothing = np.maximum(of, 1), np.zeros((len(people), 1))
    reading, luck = right / total, np.column_stack((chances, nothing)) / total
    # a share of a few people counts as it is only where no set has more; of one or two values,
    # by which most people are found in any release, what it is at least counts
    most, enough = int(people.max()), max(ENOUGH, SMALL * table.n)
    enough = next(count for count in (enough, FEW, 1, 0) if count <= most)
    sure, unsure = reading.copy(), (of < enough) | only[:, None]
    # the lower 97.5 % confidence limit (Clopper and Pearson 1934)
    some, those = right[unsure], of[unsure]
    low = betaincinv(np.maximum(some, 1e-9), np.maximum(those - some, 0) + 1, 0.025)
    sure[unsure] = np.where(some > 0, low, 0.0)
    # luck is what it is, whatever the release
    beyond, sure = (np.maximum(each - luck, 0.0) for each in (reading, sure))
    # of a confidential variable that is known itself nothing is read; where all are, none is
    usable = np.where(np.column_stack((inside, nothing > 0)), -1.0, sure)
    usable[:, -1] -= 0.5 * bool(secrets)
    best = (usable + 1e-9 * reading).argmax(axis=1)
    sets = np.arange(len(people)), best
    read, chance, shares, counts, asked_of = (
        each[sets] for each in (reading, luck, beyond, np.maximum(usable, 0.0), of)
    )
    ends = share_interval(right[sets], asked_of) - chance[:, None]
    worst = int(np.lexsort((people, counts, people >= min(enough, FEW)))[-1])
    few = int(np.lexsort((people, shares, people > 0))[-1])
    # one level may be named better than any set shows
    value, level = float(counts[worst]), None
    low, high = np.clip(ends[worst], 0.0, (value, 1.0)).tolist()
    if best_level["score"] > value:
        level, value = best_level, best_level["score"]
        level |= {"names": list(known.sets[level["set"]]), "secret": secrets[level["secret"]]}
        recall, sure = (
            share_interval(np.array([min(level["right"], of)]), np.array([max(1, round(of))]))[0]
            for of in (level["people"], level["named"])
        )
        low, high = (recall * np.maximum(sure - level["base"], 0.0) / (1 - level["base"])).tolist()
        low, high = min(low, value), min(1.0, max(high, value))
    return Reading(
        value=value,
        baseline=0.0 if secrets else _found_by_chance(columns, released, places[worst], worst),
        interval=(low, high),
        detail=TrueMatches(
            known=known,
            people=people,
            valued=asked_of,
            found=np.minimum(found / np.maximum(people, 1), 1.0),
            secret=[(*secrets, None)[number] for number in best.tolist()],
            read=read,
            chance=chance,
            shares=shares,
            worst=worst,
            few=few if shares[few] > shares[worst] else None,
            level=level,
        ),
    )


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
    detail, worst = reading.detail, reading.detail.worst
    sets, left = len(detail.known.sets), detail.known.possible - detail.known.searched
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
    beyond, share = f"{percent(reading.value)} more than by chance", float(detail.shares[worst])
    if reading.value < share:
        so_few = "of so few people " * bool(detail.valued[worst] < ENOUGH)
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
    known, people = _known(detail.known.sets[place]), detail.people[place]
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
    detail, stated = reading.detail, reading.detail.known.stated
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
