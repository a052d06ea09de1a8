"""Linkage by an intruder with the key variables and the method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np

from rwn_core.data.sizes import LARGEST_ASSIGNMENT, LIVE_RECORDS
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.measures.attacks.posterior import Linkage, link, posteriors
from rwn_core.measures.attacks.worst_case import WorstLinkage, linked, worst_case
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled, tenths
from rwn_core.measures.statistics.key_variables import cell_codes, class_sizes, key_names, only
from rwn_core.measures.statistics.nearest_points import (
    distinct_points,
    nearest_links,
    original_points,
    spread_sample,
)
from rwn_core.measures.view import Linker, Tile, View

# Intruder levels: ordinary and worst-case intruders on the key variables


def distance_success(comparison: Comparison, keys: Sequence[str]) -> float:
    """Return the share of released records nearest to their own source."""
    known = keys if comparison.unit is None else [*keys, comparison.unit.name]
    small = Comparison(
        original=only(comparison.original, known), masked=only(comparison.masked, keys)
    )
    points = original_points(small)
    if comparison.masked.n != len(points):
        raise NotApplicable("The released table has another number of records than the original.")
    rows = released_rows(comparison.original, comparison.masked)
    return float(nearest_links(small, distinct_points(points), rows)[1].mean())


def keys_only_links(comparison: Comparison, keys: Sequence[str]) -> Linkage:
    """Return the links of an intruder with the keys only; NotApplicable for large tables."""
    law = comparison.required_law()
    n = law.original.n
    if n > LIVE_RECORDS:
        raise NotApplicable(
            f"Neighborhoods on the keys alone are found for at most {LIVE_RECORDS:,} "
            f"records, and the table has {n:,}."
        )
    try:
        guess = law.restricted_to(only(law.original, keys))
    except ParameterError:
        raise NotApplicable(
            "No key variable varies with a weight above 0, so the keys make no neighborhoods."
        ) from None
    return link(guess, comparison.masked, keys, units=comparison.units)


def compute_intruder_levels(comparison: Comparison) -> Reading[WorstLinkage]:
    """Return the success of an intruder with the keys and all neighborhoods, and of four others."""
    keys = key_names(comparison)
    steps: dict[str, Callable[[], float]] = {
        # guesses
        "L0": lambda: comparison.random_share,
        # compares distances on the keys
        "L1": lambda: distance_success(comparison, keys),
        # knows the method and the keys; the model is not the true one, so the posterior is no
        # measure of success: the share of rows with the first choice right is
        "L2": lambda: float(keys_only_links(comparison, keys).top1.mean()),
        # knows the keys and all neighborhoods
        "L3": lambda: worst_case(comparison, keys).success,
        # holds the whole original file
        "L4": lambda: worst_case(comparison).success,
    }
    success: dict[str, float | None] = dict.fromkeys(steps)
    reasons = dict.fromkeys(steps, "")
    for key, make in steps.items():
        try:
            success[key] = make()
        except NotApplicable as refusal:
            reasons[key] = refusal.reason
    value = success["L3"]
    if value is None:
        raise NotApplicable(reasons["L3"])
    detail = replace(
        worst_case(comparison, keys).detail,
        names=list(keys),
        neighborhoods=comparison.law is not None and comparison.law.neighborhoods is not None,
        levels=list(steps),
        success=list(success.values()),
        reasons=list(reasons.values()),
    )
    return Reading(value=value, baseline=success["L0"], detail=detail)


def intruder_levels_sentence(reading: Reading[WorstLinkage], n: int) -> str:
    """Say how many records are linked by the keys and by which attack."""
    keys, drawn = ", ".join(reading.detail.names), reading.detail.neighborhoods
    known = ", the method and the neighborhoods" if drawn else " and the method"
    who = f"Somebody who knows only {keys} of everybody{known}"
    return f"{linked(reading, n, who)}."


def strongest(reading: Reading[WorstLinkage] | NotApplicable) -> str:
    """Say what the strongest intruder on the keys knows."""
    drawn = not isinstance(reading, Reading) or reading.detail.neighborhoods
    return "… and neighborhoods" if drawn else METHOD


METHOD = "method, keys"
INTRUDER_LEVELS = Measure(
    key="intruder_levels",
    title="Linkage by the keys, worst case",
    question="How many released records would an intruder link correctly who knows the key "
    "variables of everybody, the method and all neighborhoods?",
    sentence=intruder_levels_sentence,
    at_least="Linkage by the keys, at least",
    certain_up_to=LARGEST_ASSIGNMENT,
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5; distance "
    "linkage after Domingo-Ferrer and Torra 2001",
    compute=compute_intruder_levels,
    of_released=True,
    of_units=True,
    view=View(
        tiles=(Tile(places={"risk": 2}, label="Worst case, by keys", words=tenths),),
        about="row",
        linkers=(
            Linker(
                place=0,
                words=lambda reading: "guessing" if isinstance(reading, Reading) else "",
                success=attrgetter("baseline"),
            ),
            Linker(
                place=1,
                words="distance, keys",
                success=lambda reading: reading.detail.success[1],
            ),
            Linker(
                place=5,
                # else it is the same intruder as the next
                words=lambda reading: "" if strongest(reading) == METHOD else METHOD,
                success=lambda reading: reading.detail.success[2],
                worst=True,
            ),
            Linker(place=6, words=strongest, worst=True, estimated=True),
        ),
        places={"report": 99, "worst cases": 4, "scenarios": 5},
    ),
)


# Misclassified keys: released rows that still carry a person's own key values


def compute_misclassification(comparison: Comparison) -> Reading[WorstLinkage]:
    """Return the mean of M_jj / F~_j: P(a row with a person's key is that person's)."""
    law = comparison.required_law()
    keys = key_names(comparison)
    rows = spread_sample(np.arange(law.original.n))
    belief = posteriors(law, law.original, rows, keys)
    risk = np.asarray(belief[rows, np.arange(len(rows))]).ravel()
    before, _ = cell_codes(comparison, keys)
    detail = WorstLinkage(
        names=list(keys),
        truth=risk,
        records=rows,
        sampled=len(rows) < law.original.n,
        of=law.original.n,
    )
    baseline = float((1.0 / class_sizes(before)).mean())
    return Reading(value=float(np.clip(risk, 0, 1).mean()), baseline=baseline, detail=detail)


MISCLASSIFICATION = Measure(
    key="misclassification",
    title="Rows with a person's own key",
    unit="mean probability",
    question="If a released row has exactly a person's key values, how likely is it that person's "
    "row?",
    sentence=filled(
        "A row that has exactly a person's key values is that person's with probability {share} "
        "on average, against {base} unmasked."
    ),
    source="Shlomo and Skinner 2010: M_jj / F~_j with each record's own law in place of M",
    compute=compute_misclassification,
    view=View(about="row"),
)
