"""Single values of a release: rare categories, extremes, and answers that one person has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import value_codes
from rwn_core.data.variable import LEVELS
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.likeliest_value import named_values, tolerance
from rwn_core.measures.attacks.predicate import Predicate, answer, single_record_predicates
from rwn_core.measures.attacks.value_survival import appearance, expected_copies
from rwn_core.measures.comparison import Comparison, numbers
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.paired_bars import Pair, bars, frame
from rwn_core.measures.drawing.tables import known, table
from rwn_core.measures.measure import Detail, Measure, Reading
from rwn_core.measures.sentence import filled, percent, tenths
from rwn_core.measures.statistics.key_variables import confidential_names, key_names
from rwn_core.measures.view import Tile

# Posterior odds: how likely a released category is the true one, category by category


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PosteriorOdds(Detail):
    """The details of released categories that are true, variable by variable.

    Attributes
    ----------
    names : tuple of str
    rarest : tuple of float
        P(a rarest released category is true).
    chances, shares : tuple of ndarray of float64, shape (levels,)
        P(a released category is true), and P(it is true of any record): the share of people with
        it, each counted as often as they have records.
    """

    rarest: tuple[float, ...]
    chances: tuple[Floats, ...]
    shares: tuple[Floats, ...]


def compute_posterior_odds(comparison: Comparison) -> Reading[PosteriorOdds]:
    """Return the largest chance, of all variables, that a rarest category is true."""
    law = comparison.required_law()
    parts = []
    for name in (v.name for v in law.original.schema.released if v.kind in LEVELS):
        # P(a released category is true) of each level, and P(it is true of any record), shape (V,);
        # of units, true is a category that any record of the unit has. With t the transition matrix
        # and v the shares of the original, the odds of level k are t_kk v_k / sum over l != k of
        # t_lk v_l; each record's own law stands for its level's row of t
        codes, values = value_codes(law.original, name)
        try:
            table, columns = law.table(name)
        except NotApplicable:  # variables that change together have no table each
            continue
        place = {value: number for number, value in enumerate(columns)}
        cells = table.tocsc()[:, [place[value] for value in values]].tocoo()
        shown = np.bincount(cells.col, weights=cells.data, minlength=len(values))
        own = np.arange(len(codes)) if comparison.units is None else comparison.units
        has = np.zeros((int(own.max()) + 1, len(values)), dtype=bool)
        has[own, codes] = True
        right = cells.data * has[own[cells.row], cells.col]
        true = np.bincount(cells.col, weights=right, minlength=len(values))
        chances = np.divide(true, shown, out=np.zeros(len(values)), where=shown > 0)
        share = has[own].mean(axis=0)
        levels = np.array([value is not None for value in values])
        if levels.sum() >= 2:
            most = float(np.clip(chances[levels & (share == share[levels].min())].max(), 0.0, 1.0))
            parts.append((name, most, chances[levels], share[levels]))
    if not parts:
        raise NotApplicable(
            "No variable has categories, two or more, that are released one by one."
        )
    names, rarest, chances_of, shares = zip(*parts, strict=True)
    detail = PosteriorOdds(names=names, rarest=rarest, chances=chances_of, shares=shares)
    worst = int(np.argmax(detail.rarest))
    base = float(detail.shares[worst].min())
    return Reading(value=detail.rarest[worst], baseline=base, detail=detail)


def posterior_odds_sentence(reading: Reading[PosteriorOdds], n: int) -> str:
    """Say how likely a released rare category is true."""
    name = reading.detail.names[int(np.argmax(reading.detail.rarest))]
    return (
        f"A released record with the rarest category of {name} truly has it "
        f"with probability {percent(reading.value)}, and {percent(reading.baseline or 0.0)} of all "
        "people do."
    )


POSTERIOR_ODDS = Measure(
    key="posterior_odds",
    title="A rare category is the true one",
    unit="probability",
    question="If a released record shows the rarest category of a variable, how likely is that "
    "category the person's own?",
    sentence=posterior_odds_sentence,
    source="Gouweleeuw, Kooiman, Willenborg, de Wolf 1998: posterior odds t_kk v_k / sum of "
    "t_lk v_l, here as a probability, of the worst variable",
    compute=compute_posterior_odds,
    about="value",
)


# Extremes: survival of the largest and smallest original values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Extremes(Detail):
    """The details of the largest and the smallest value of each numeric variable in turn.

    Attributes
    ----------
    name, side : sequence of str
        The variable, and "largest" or "smallest".
    value : sequence of float
    record, holders : sequence of int
        The first record that has the value, and how many do.
    released : sequence of int
        Rows of this release that show it.
    survival, copies, own_row : sequence of float or None
        Probability that a release shows it, expected rows that do, and probability that the row of
        `record` does; by this release alone, without a law.
    """

    name: list[str]
    side: list[str]
    value: list[float]
    record: list[int]
    holders: list[int]
    released: list[int]
    survival: list[float]
    copies: list[float | None]
    own_row: list[float | None]


def compute_extremes(comparison: Comparison) -> Reading[Extremes]:
    """Return the expected share of the original's extreme values that the release shows."""
    law = comparison.law
    extremes = []
    original = comparison.original if law is None else law.original
    for name in original.numeric_names:
        values = original.values(name)
        known = values[~np.isnan(values)]
        if not known.size or known.min() == known.max():
            continue
        after = numbers(comparison.original, comparison.masked, name)
        for side, value in (("largest", float(known.max())), ("smallest", float(known.min()))):
            holders = np.flatnonzero(values == value)
            released = int((after == value).sum())
            extreme = {"name": name, "side": side, "value": value, "released": released}
            extreme |= {"record": int(holders[0]), "holders": len(holders)}
            extreme |= {"survival": float(released > 0), "copies": None, "own_row": None}
            if law is not None:
                table, columns = law.table(name)
                column = table[:, [columns.index(value)]]
                survival = 1.0 if law.keeps_value_counts(name) else appearance(column)[0]
                extreme["survival"] = float(np.clip(survival, 0.0, 1.0))
                extreme["copies"] = float(expected_copies(column)[0])
                extreme["own_row"] = float(np.clip(column[[holders[0]], [0]], 0.0, 1.0).item())
            extremes.append(extreme)
    if not extremes:
        raise NotApplicable("No numeric variable varies, so there is no extreme value.")
    detail = Extremes(**_columns(extremes))
    return Reading(value=float(np.mean(detail.survival)), baseline=1.0, detail=detail)


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: [row[name] for row in rows] for name in rows[0]}


# Survival of the largest and smallest values

_VARIABLES = 16
_SIDES = ("largest", "smallest")
_EXTREMES = {
    "variable": "name",
    "extreme": "side",
    "probability": "survival",
    "expected copies": "copies",
    "in its own row": "own_row",
    "copies now": "released",
}
"""The part of the detail in each column of the table."""


def draw_extreme_values(reading: Reading[Extremes]) -> style.Chart:
    """Draw the probability that each variable's largest and smallest value is released."""
    detail = reading.detail
    # a row for each variable: its largest and its smallest value are entries of their own
    shown = list(dict.fromkeys(detail.name))[:_VARIABLES]
    small: dict[str, Any] = {"tickfont": {"size": 10}} if len(shown) > 9 else {}
    marks: dict[str, Any] = {"tickvals": [0, 0.25, 0.5, 0.75, 1.0]}
    marks["ticktext"] = ["0%", "25%", "50%", "75%", "100%"]
    # the title has the expected share; the description counts those in this release
    released = int(np.count_nonzero(detail.released))
    return style.chart(
        "extreme_values",
        "Extremes that survive",
        f"{style.percent(reading.value)} expected",
        f"Probability that each numeric variable's largest and smallest value is released; "
        f"{style.percent(reading.value, 1)} are expected and {released} of "
        f"{len(detail.name)} are in this release",
        data=[_points(detail, shown, side) for side in _SIDES],
        layout=style.layout(
            style.axis("probability to appear: ● largest, ○ smallest", -0.03, 1.05, **marks),
            style.name_axis(shown, length=18, rim=0.6) | small,
        ),
        large={"legend": True},
        table=table(
            list(_EXTREMES), [known(getattr(detail, part)) for part in _EXTREMES.values()], rank=2
        ),
    )


def _points(detail: Extremes, shown: list[str], side: str) -> style.Trace:
    rows = zip(detail.name, detail.side, detail.survival, strict=True)
    chosen = [
        (chance, shown.index(name))
        for name, which, chance in rows
        if which == side and name in shown
    ]
    marker: dict[str, Any] = {"size": 8, "color": style.RELEASED, "symbol": "circle"}
    if side == "smallest":
        marker = {"size": 8, "color": style.NEUTRAL, "symbol": "circle-open", "line": {"width": 2}}
    return style.scatter(
        [chance for chance, _ in chosen],
        [place for _, place in chosen],
        side,
        marker=marker,
        cliponaxis=False,
        hovertemplate="%{x:.1%}<extra>%{fullData.name}</extra>",
    )


def warn_of_extremes(reading: Reading[Extremes], *, drawn: bool, **_: object) -> list[str]:
    """Say how many of the largest and smallest values stand in the release."""
    copies = reading.detail.released
    there = sum(count > 0 for count in copies)
    if not there:
        return [f"None of the {len(copies)} largest and smallest values stands in this release."]
    often = f", one of them {max(copies)} times" if max(copies) > 1 else ""
    whose = "each is a real person's value."
    if drawn:
        whose = "an extreme may stay, vanish or be copied to others, and it is a real person's."
    return [
        f"Of the {len(copies)} largest and smallest values {there} stand in this release{often}: "
        f"{whose}"
    ]


EXTREMES = Measure(
    key="extremes",
    title="Extremes that survive",
    unit="share of extreme values",
    question="How many of the largest and smallest original values does the release still show?",
    sentence=filled(
        "Of the largest and smallest original values {share} are expected in the release; each is "
        "a real value of a real person, up to the release precision. It assumes somebody who knows "
        "who holds an extreme, and nothing else of anybody."
    ),
    source="Cell law of Perry, Matloff, Tendick 2022, section 5: survival of a value",
    compute=compute_extremes,
    tile=Tile(places={"risk": 5}, label="Extremes that survive", words=tenths),
    about="value",
    charts={"extreme_values": draw_extreme_values},
    warn=warn_of_extremes,
    places={"risk": 7, "report": 10, "warnings": 3},
)


# Query attack: questions to the release that exactly one person answers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Queries(Detail):
    """The details of questions that one original person answers, one after another.

    Attributes
    ----------
    names : sequence of str
        The keys.
    secret : str, optional
        The confidential variable that answers may disclose.
    words : sequence of str
        The question.
    record : sequence of int
        The person.
    none, one, one_and_target : sequence of float
        Probability that no row answers it, that one does, and that this is the person's.
    matches : sequence of int
        Rows of this release that answer it.
    same_person : sequence of bool
        Whether only the person's does.
    disclosed, baseline : sequence of float or None
        Probability that one row answers and is near the person's confidential value, and the
        share of rows that are.
    """

    secret: str | None
    words: list[str]
    record: list[int]
    none: list[float]
    one: list[float]
    one_and_target: list[float]
    matches: list[int]
    same_person: list[bool]
    disclosed: list[float | None]
    baseline: list[float | None]


def ask(
    comparison: Comparison, law: Law, predicate: Predicate, record: int, secret: str | None
) -> dict[str, Any]:
    """Return the release's answer to one predicate, expected by the law and actual."""
    original = law.original
    masked = comparison.masked
    counts, alone = answer(law, predicate)
    matches = np.flatnonzero(predicate.matches(original, masked)).tolist()
    asked: dict[str, Any] = {"words": predicate.words, "record": record, "matches": len(matches)}
    asked |= {"none": float(counts[0]), "one": float(counts[1]) if len(counts) > 1 else 0.0}
    asked |= {"one_and_target": float(np.clip(alone[record], 0.0, 1.0))}
    asked |= {"same_person": matches == [record], "disclosed": None, "baseline": None}
    if secret is not None and secret not in {c.name for c in predicate.conditions}:
        # released rows near the person's confidential value
        near = tolerance(original, secret)
        own, shown = (named_values(original, each, secret) for each in (original, masked))
        matching = predicate.tells(law, secret, near.right(own, own[[record]]))
        asked["disclosed"] = float(np.clip(alone @ matching, 0.0, 1.0))
        asked["baseline"] = float(near.right(shown, own[[record]]).mean())
    return asked


def compute_queries(comparison: Comparison) -> Reading[Queries]:
    """Return the mean chance that a question with one true answer returns that person's row."""
    law = comparison.required_law("The query attack")
    keys = key_names(comparison)
    uniques = comparison.cached_for_original(
        ("lone members", keys), lambda: single_record_predicates(comparison.original, keys)
    )
    if not uniques:
        raise NotApplicable(
            "No question about up to three key variables is answered by exactly one record."
        )
    secret = next(iter(confidential_names(comparison)), None)
    asked = [ask(comparison, law, predicate, record, secret) for predicate, record in uniques]
    detail = Queries(**_columns(asked), names=list(keys), secret=secret)
    return Reading(value=float(np.mean(detail.one_and_target)), baseline=1.0, detail=detail)


def queries_sentence(reading: Reading[Queries], n: int) -> str:
    """Say how often a question with one true answer finds that person's row."""
    return (
        f"Asked one of {len(reading.detail.words)} questions that one person answers, the "
        f"release answers with exactly that person's row with probability "
        f"{percent(reading.value)}."
    )


# Questions with one true answer: probability that the release returns that person's row

_SHOWN = 9
_ASKED = {
    "question": "words",
    "no match": "none",
    "exactly one": "one",
    "and that person": "one_and_target",
    "confidential value learned": "disclosed",
    "matches now": "matches",
    "that person now": "same_person",
}
"""The part of the detail in each column of the table."""


def draw_queries(reading: Reading[Queries]) -> style.Chart:
    """Draw the predicates that are answered most often; internal, since they hold values."""
    detail = reading.detail
    target = np.asarray(detail.one_and_target)
    order = np.argsort(-target, kind="stable")
    pairs: list[Pair] = [
        (detail.words[index], detail.one[index], float(target[index]))
        for index in order[:_SHOWN].tolist()
    ]
    count = len(target)
    mean = style.percent(reading.value, 1)
    columns = [known([getattr(detail, part)[at] for at in order]) for part in _ASKED.values()]
    columns[-1] = ["yes" if same else "no" for same in columns[-1]]
    return style.chart(
        "queries",
        "Query attack (internal)",
        f"{count} questions · mean {mean}",
        f"For {count} questions with one person as the original answer, the chance that the "
        f"release answers with exactly that person's row; the mean is {mean}",
        data=bars(pairs, ("exactly one match", "and it is that person"), before=style.NEUTRAL),
        layout=frame(pairs, "probability", length=30),
        large={"legend": True},
        table=table(list(_ASKED), columns, rank=3),
    )


QUERIES = Measure(
    key="queries",
    title="Query attack",
    unit="mean probability",
    question="If a question about the key variables has one person as its answer, how likely does "
    "the release answer it with exactly that person's row?",
    sentence=queries_sentence,
    source="Matloff and Tendick 2015 (a single worker); the count of matches is Poisson-binomial",
    compute=compute_queries,
    of_units="A question has one row as its answer: a {} with equal rows is not asked about",
    about="value",
    charts={"queries": draw_queries},
    places={"risk": 8, "report": 11},
)
