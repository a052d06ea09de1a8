"""Tables of the Risk page: uniqueness and links, models of keys, intervals, shown values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.evaluation.attack_list import Answers
from rwn_core.evaluation.disclosure import Disclosure
from rwn_core.measures.attacks.attribute_attack import STRATEGIES
from rwn_core.measures.attacks.red_team import Finding
from rwn_core.measures.measure import UNMASKED, UNRELATED, Reading, Sides
from rwn_core.measures.risk.attributes import AttributeGuesses
from rwn_core.measures.risk.key_classes import KeyClasses
from rwn_core.measures.risk.nearness import Nearness
from rwn_core.measures.risk.red_team import RedTeam
from rwn_core.measures.risk.true_matches import TrueMatches
from rwn_core.measures.risk.worst_linkage import SureLinks
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.population import PopulationRisk
from rwn_ui.widgets.tables import Table, measure_tables


def limits(policy: rwn.Policy, readings: Answers) -> Table:
    """Each limit between both ends of the table: what the unmasked file reads, and what chance."""
    verdict, rows = policy.judge(readings), []
    for limit in policy.limits:
        key = limit.measure
        reading, ends = readings.get(key), verdict.ends.get(key, {})
        values = (
            reading.value if isinstance(reading, Reading) else None,
            limit.at_most,
            ends.get(UNMASKED),
            ends.get(UNRELATED),
        )
        words = ["–" if value is None else rwn.MEASURES[key].words(value) for value in values]
        state = "broken" if key in verdict.broken else verdict.unread.get(key, "kept")
        rows.append([verdict.title(key), *words, state])
    return {
        "title": "Limits of the policy",
        "columns": ["measure", "reads", "at most", "unmasked file", "no relation left", "verdict"],
        "rows": rows,
        "caption": "A limit that the unmasked file keeps cannot be broken: it is not judged. No "
        "relation left: each variable shuffled by itself.",
    }


def field(readings: Answers, n: int) -> list[Table]:
    """The tables that have something to say of n records."""
    return measure_tables(
        readings,
        ("red_team", _red_team),
        ("uniqueness", partial(_linked, n=n)),
        ("loglinear_risk", partial(_loglinear, n=n)),
        ("interval_disclosure", _intervals),
    )


def repetition(found: Disclosure) -> Table | None:
    """Averaging attack on several releases."""
    repeated = found.repetition
    if repeated is None or repeated["q"] == 0:
        return None
    retained = repeated["q"] < 1
    columns = ["releases", "different donors seen"]
    rows = [
        [str(times), f"{distinct:.1f} of {repeated['donors']:,}"]
        for times, distinct in zip(repeated["releases"], repeated["distinct"], strict=True)
    ]
    if retained:
        columns.insert(1, "most frequent value is the true one")
        for row, mode in zip(rows, repeated["mode"], strict=True):
            row.insert(1, percent(mode))
    caption = (
        "What somebody sees who has nothing else: a cell of a typical record, with "
        f"{repeated['donors']:,} donors of different values, in releases whose rows keep their "
        f"places. {_repeated(repeated)}"
    )
    return {
        "title": "Repeated releases by themselves",
        "columns": columns,
        "rows": rows,
        "caption": caption,
    }


def _repeated(repeated: Mapping[str, Any]) -> str:
    if repeated["even"]:
        return repeated_words(repeated["q"], repeated["donors"])
    return weighted_words(repeated["q"], repeated["own"], repeated["largest"])


def weighted_words(q: float, own: float, largest: float) -> str:
    """Say the same of donors that are not equally likely."""
    often = "the value of the most probable donor" if own < largest else "the person's own"
    return (
        f"At q = {q:g} the own value has probability {own:.2g}; the value of the most probable "
        f"donor has {largest:.2g}. In the long run {often} becomes the most frequent one. The "
        "donors are laid open. Their number is that of equally likely donors that hide as much."
    )


def repeated_words(q: float, donors: int) -> str:
    """Say where a cell's mean and its most frequent value tend to, release after release."""
    if q == 1:
        return (
            "The mean of a person's released values tends to the mean of the neighborhood. At q = "
            "1 the own value comes only where a donor has it, too, but the donors are laid open."
        )
    each = f"the own value comes with probability {1 - q:.2g}, each donor's with {q / donors:.2g}"
    often = "the value that comes most often becomes the person's own"
    if np.isclose(q * (donors + 1), donors):
        often = "none comes more often than another"
    elif q * (donors + 1) > donors:
        often = "the person's own becomes the rarest one, which also reveals it"
    return (
        f"At q = {q:g} {each}: in the long run {often}. The mean of a person's released values "
        "tends to "
        f"{1 - q:.2g} of the own value and {q:.2g} of the neighborhood's mean. Donors are counted "
        "where every value is modified."
    )


def _red_team(reading: Reading[RedTeam]) -> Table | None:
    """Return the success of each simple attack on this release, without the named values."""
    if not reading.detail.findings:
        return None
    return {
        "title": "What simple attacks achieve on this release, at least",
        "columns": ["attack", "is after", "right", "of answers", "of all", "score"],
        "rows": [
            [
                each.words,
                _target(each),
                f"{each.right:,.0f}",
                f"{each.named:,.0f}",
                f"{each.people:,.0f}",
                percent(each.score),
            ]
            for each in reading.detail.findings
        ],
        "caption": "Counted on this very release. A link scores the share of rows; a name the "
        "share of the people who have the value, times the precision beyond naming it of random "
        "people. What luck would give scores nothing.",
    }


def _target(found: Finding) -> str:
    if found.secret is None:
        return "the row's person"
    return found.secret if found.level is None else f"one value of {found.secret}"


def _linked(reading: Reading[KeyClasses], n: int) -> Table | None:
    """Being unique is neither needed nor enough to be linked."""
    linked = reading.detail.linked
    if not linked:
        return None
    rows = [
        [*("unique" if each else "shared" for each in alone), f"{count:,}", percent(right / count)]
        for *alone, count, right in linked
        if count
    ]
    seen = sum(count for _, _, count, _ in linked)
    sample = "" if seen == n else f" Rows of a random sample: {seen:,} of {n:,}."
    return {
        "title": "Unique on the keys, and linked by them one row at a time",
        "columns": ["original keys", "released keys", "records", "linked correctly"],
        "rows": rows,
        "caption": "With masked keys a class of one is no proof of identity, and a class of ten no "
        f"protection.{sample}",
    }


def _loglinear(reading: Reading[PopulationRisk], n: int) -> Table:
    detail = reading.detail
    rows = [
        [side, *(f"{each:,.4g}" for each in (uniques, alone, right, alone / max(uniques, 1)))]
        for side, uniques, alone, right in zip(
            Sides._fields, detail.uniques, detail.alone, detail.expected, strict=True
        )
    ]
    out = f" {detail.caveat}" if detail.caveat else ""
    out += f" Left out: {', '.join(detail.left_out)}." if detail.left_out else ""
    model = (
        f"Model of the released counts: {detail.model or 'main effects only'}; check B of τ2 "
        f"{detail.check:.3g}, {detail.z:.2g} standard deviations (above 2: too simple, the risk is "
        "overestimated)."
    )
    if detail.population <= n:
        model = (
            "The file is taken for the whole population, so that unique is unique; give the size "
            "of the population or sampling weights."
        )
    return {
        "title": f"Log-linear risk on {', '.join([*detail.names, *detail.independent])}",
        "columns": [
            "file",
            "sample uniques",
            "of them unique in the population (τ1)",
            "right matches expected (τ2)",
            "leakage (τ1 / uniques)",
        ],
        "rows": rows,
        "caption": f"{model} Numbers are grouped by their quantiles; {detail.cells:,} cells.{out}",
    }


def _intervals(reading: Reading[Nearness]) -> Table:
    detail = reading.detail
    rows = [["all numbers within 0.05 SD", percent(reading.value)]]
    if detail.ranks is not None:
        rows.append(["all ranks within 1 to 10 %, mean", percent(float(detail.ranks.mean()))])
    if detail.robust is not None:
        rows.append(["any number in its robust interval", percent(detail.robust[0])])
        rows.append(["… and no other released row near", percent(detail.robust[1])])
    caption = detail.robust_reason if detail.robust is None else ""
    return {
        "title": "Interval disclosure",
        "columns": ["released value near its own record", "share of records"],
        "rows": rows,
        "caption": caption or "Robust intervals widen with the record's outlyingness.",
    }


_SETS = 8  # of the search, those that show most


def shown_values(readings: Answers) -> list[Table]:
    """True matches by key set, links that are sure, and how confidential values are named."""
    return measure_tables(
        readings,
        ("true_matches", _matches),
        ("abstaining_linkage", _sure),
        ("attribute_inference", _worst),
        ("attribute_inference", _strategies),
    )


def _matches(reading: Reading[TrueMatches]) -> Table:
    detail, known = reading.detail, reading.detail.known
    ranked = np.lexsort((-detail.found[known.stated :], -detail.read[known.stated :]))
    shown = [*range(known.stated), *(known.stated + ranked[:_SETS]).tolist()]
    left = known.possible - known.searched
    skipped = f" {left:,} more sets of three were not looked at." if left else ""
    return {
        "title": "Whose values does a row show?",
        "columns": [
            "known of everybody",
            "people alone with it",
            "found in the release",
            "expected by the law",
            "read truly",
            "by chance",
        ],
        "rows": [_row(detail, at) for at in shown],
        "caption": "Found: a released row has exactly these values of a person, so it is known "
        "that the person is in the file. Read truly: such a row shows the person's own "
        "confidential value, with its 95 % interval; by chance: if those values were dealt at "
        f"random. First what is stated, then the worst of {known.larger:,} sets of more than "
        f"three variables and of any three ({known.searched:,} sets).{skipped} Expected: for "
        "variables that share a donor, before any release is drawn.",
    }


def _row(detail: TrueMatches, at: int) -> list[str]:
    expected, secret = detail.expected[at], detail.secret[at]
    low, high = (percent(end) for end in detail.read_interval[at].tolist())
    read = f"{percent(float(detail.read[at]))} ({low} to {high}) of {secret}"
    return [
        ", ".join(detail.known.sets[at]),
        f"{detail.people[at]:,}",
        percent(float(detail.found[at])),
        "–" if expected is None else percent(expected),
        "–" if secret is None else read,
        "–" if secret is None else percent(float(detail.chance[at])),
    ]


def _sure(reading: Reading[SureLinks]) -> Table:
    """Number of links at several posterior probabilities."""
    detail = reading.detail
    sides = ("all variables", detail.all_at), ("the keys alone", detail.keys_at)
    return {
        "title": "Links of the surest rows",
        "columns": ["known of everybody", *(f"{percent(p)} right" for p in detail.precisions)],
        "rows": [[words, *map(percent, found)] for words, found in sides],
        "caption": "Share of the rows that an intruder can link, the surest first, so that the "
        "expected share of right links is as stated.",
    }


def _worst(reading: Reading[AttributeGuesses]) -> Table:
    """Return the gain in naming each confidential variable, and its worst level."""
    detail = reading.detail
    order = np.argsort([-gain["value"] for gain in detail.gains], kind="stable")
    return {
        "title": "Which confidential value is disclosed?",
        "columns": [
            "confidential",
            "named correctly",
            "exact value",
            "without the release",
            "worst level",
            "named of it",
            "names that are right",
            "gain",
        ],
        "rows": [_gain_row(detail, at) for at in order.tolist()],
        "caption": "Named correctly: the share of people, by the best strategy. Worst level: "
        "recall and precision of naming its people, or people an intruder is sure of. "
        "Gain: the larger one of both, beyond the baseline. The largest gain decides.",
    }


def _gain_row(detail: AttributeGuesses, at: int) -> list[str]:
    gain = detail.gains[at]
    naming = gain["naming"]
    level, recall, right = "–", "–", "–"
    if naming["score"]:
        level = "all" if naming["level"] is None else naming["level"]
        level += f", {percent(naming['certainty'])} sure" if naming["certainty"] else ""
        recall = percent(naming["right"] / naming["people"])
        right = percent(naming["right"] / naming["named"])
    return [
        detail.secrets[at],
        percent(float(detail.informed[at])),
        percent(float(detail.exact[at])),
        percent(gain["reference"]),
        level,
        recall,
        right,
        percent(gain["value"]),
    ]


def _strategies(reading: Reading[AttributeGuesses]) -> Table:
    """Return the success of each strategy on each confidential variable."""
    detail = reading.detail
    found = list(zip(detail.rates, detail.strategies, strict=True))
    shown = [key for key in STRATEGIES if any(key in rates for rates, _ in found)]
    return {
        "title": "How a confidential value is found out",
        "columns": ["strategy", *detail.secrets],
        "rows": [
            [
                STRATEGIES[key][0].upper() + STRATEGIES[key][1:],
                *(
                    (percent(rates[key]) if key in rates else "–")
                    + (" (best)" if key == best else "")
                    for rates, best in found
                ),
            ]
            for key in shown
        ],
        "caption": f"An intruder who knows {', '.join(detail.names)} of every person and the "
        "method "
        "guesses the most probable value. The table shows the share of correct guesses by "
        "strategy. "
        "A prediction from the keys also applies to people outside of the file.",
    }
