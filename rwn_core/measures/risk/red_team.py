"""Red team: success of simple attacks on the actual release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rwn_core.measures.attacks.red_team import WITHOUT_ASSIGNMENT, Finding, attack, prediction
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Detail, Reading, linkage_measure
from rwn_core.measures.sentence import percent

SURE = 0.9  # precision of names that are nearly sure
_OUTSIDE = (
    "by {}, {} is named for {} of {} in the file, and people outside were not attacked in this "
    "way, so that what the file adds to it (attribute gain, inside less outside) is not judged."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RedTeam(Detail):
    """The details of the simple attacks.

    Attributes
    ----------
    findings : list of Finding
        The best one of each attack and variable, and the farthest of high precision.
    identity, attribute : Finding, optional
        The best link of rows, and the best name of a confidential value.
    difference : AttributeDifference, optional
        What the nearest rows tell more of people inside a file than of people outside, where halves
        of the table were masked for it.
    """

    findings: list[Finding]
    identity: Finding | None
    attribute: Finding | None
    difference: Any = None


def compute(comparison: Comparison) -> Reading[RedTeam]:
    """Return the largest score of the simple attacks, and the best finding of each."""
    return _reading(comparison, attack(comparison))


def _of_ends(comparison: Comparison) -> Reading[RedTeam]:
    # an assignment of all rows links those of an unmasked file as the nearest row does, and those
    # of a shuffled file by luck, in a hundred times the time
    return _reading(comparison, attack(comparison, WITHOUT_ASSIGNMENT))


def _reading(comparison: Comparison, found: Sequence[Finding]) -> Reading[RedTeam]:
    link = next((each for each in found if each.kind == "identity"), None)
    name = next((each for each in found if each.kind == "attribute"), None)
    # the best finding of each attack per variable, and the farthest of high precision
    best: dict[Any, Finding] = {}
    for each in found:  # best first
        best.setdefault((each.attack, each.secret), each)
        if each.kind == "attribute" and each.precision > SURE:
            key = (each.attack, each.secret, "sure")
            best[key] = max(best.get(key, each), each, key=lambda one: one.recall)
    # names of people outside would be no disclosure; only predictions are tried on them
    caveat = ""
    if name and (comparison.holdout is None or name.attack != prediction.KEY):
        people = "the people" if name.level is None else "the people with one of its values"
        caveat = _OUTSIDE.format(name.words, name.secret, percent(name.recall), people)
    return Reading(
        value=max((each.score for each in found), default=0.0),
        baseline=0.0,
        detail=RedTeam(
            findings=list({id(each): each for each in best.values()}.values()),
            identity=link,
            attribute=name,
            caveat=caveat,
        ),
    )


def sentence(reading: Reading[RedTeam], n: int) -> str:
    """Say what the best link and the best name reach, and by which attack."""
    link, name = reading.detail.identity, reading.detail.attribute
    parts = [f"The risk is at least {percent(reading.value)}, which simple attacks achieve."]
    if link is not None:
        parts.append(
            f"They link {percent(link.score)} of the released rows correctly, by {link.words}."
        )
    if (apart := reading.detail.difference) is not None:
        what = "of the people" if apart.is_share else "(recall times lift)"
        if apart.level is not None:
            what += f" of {apart.level}"
        parts.append(
            f"In {apart.splits} random halvings of {apart.records:,} records, {apart.words}, names "
            f"{apart.secret} for {percent(apart.inside)} {what} inside the file and "
            f"{percent(apart.outside)} outside: a difference of {percent(apart.value)} (standard "
            f"error {percent(apart.error)})."
        )
    if name is None:
        parts.append("They name no confidential value more often than luck does.")
    else:
        unit_words = reading.unit_words
        who = "who" if unit_words == "people" else "that"
        people = unit_words if name.level is None else f"{unit_words} {who} have one of its values"
        parts.append(
            f"By {name.words}, {name.secret} is named for {name.named:,.0f} {unit_words}, "
            f"{percent(name.precision)} of the names are right: {percent(name.recall)} of the "
            f"{name.people:,.0f} {people}."
        )
    return " ".join(parts)


def findings_table(reading: Reading[RedTeam], _: int) -> dict[str, Any] | None:
    """Return the success of each simple attack on this release, without the named values."""
    if not reading.detail.findings:
        return None
    return {
        "title": "What simple attacks achieve on this release, at least",
        "columns": ["attack", "is after", "right", "of answers", "of all", "score"],
        "rows": [
            [each.words, _target(each)]
            + [f"{count:,.0f}" for count in (each.right, each.named, each.people)]
            + [percent(each.score)]
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


MEASURE = linkage_measure(
    key="red_team",
    title="Red team",
    unit="share, of the attack that goes furthest",
    question="How far do simple attacks go on this very release: what share of the rows do they "
    "link, and of which confidential value do they name the people, beyond luck?",
    sentence=sentence,
    source="Merges on known values, nearest rows, agreement as learned from half of the pairs "
    "(Fellegi and Sunter 1969), predictions (a random forest: Breiman 2001), and assignments of "
    "values and ranks (Nin, Herranz, Torra 2008), each counted on this release; names by recall "
    "and precision beyond naming the value of random people (Clopper and Pearson 1934)",
    compute=compute,
    of_ends=_of_ends,
    about="value",
    tables=(findings_table,),
    places={"tables of keys": 1, "attacks": 1},
)
