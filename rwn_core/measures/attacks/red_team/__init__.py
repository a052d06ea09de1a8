"""Simple attacks on a release, which share no code with the exact ones: a red team.

Each starts from plain columns of the people and the released rows in random order (`files`), and
gives findings (`finding`): which rows it links, or which confidential values it names, and how
often it is right. `merge` looks people up by sets of values, `nearest` takes the nearest row,
`prediction` fits a small model to the release, `matching` gives all rows to people at once.
Besides, `chain` merges several releases of the same people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from rwn_core.measures.attacks.red_team import learned, matching, merge, nearest, prediction
from rwn_core.measures.attacks.red_team.files import Files, intruder_files
from rwn_core.measures.attacks.red_team.finding import Finding, NameCounts, scored
from rwn_core.measures.comparison import Comparison

__all__ = ["ATTACKS", "NAMES", "WITHOUT_ASSIGNMENT", "Finding", "attack", "findings"]

Attack = Callable[[Files], list[Finding | NameCounts]]
"""What one attack links and names."""

ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {each.KEY: each.attack for each in (merge, nearest, learned, prediction, matching)}
)
"""Every attack by its key: what it linked, and the names that it gave."""

NAMES: Mapping[str, Callable[[Files], list[NameCounts]]] = MappingProxyType(
    {each.KEY: each.names for each in (merge, nearest, prediction, matching)}
)
"""The attacks that name values, by their keys: the names alone."""


WITHOUT_ASSIGNMENT = tuple(each for key, each in ATTACKS.items() if key != matching.KEY)
"""The attacks that take rows or people one by one, and so no time beyond their number."""


def attack(comparison: Comparison, attacks: Iterable[Attack] = ATTACKS.values()) -> list[Finding]:
    """Return the findings of every attack on a release; NotApplicable without aligned rows."""
    return findings(intruder_files(comparison), attacks)


def findings(files: Files, attacks: Iterable[Attack] = ATTACKS.values()) -> list[Finding]:
    """Return every link and the named values beyond luck, best first."""
    made: list[Finding | NameCounts] = []
    for one in attacks:
        made += one(files)
    links = [each for each in made if isinstance(each, Finding)]
    named = scored([each for each in made if isinstance(each, NameCounts)])
    return sorted([*links, *named], key=lambda each: -each.score)
