"""Measures: each judges one thing that a release keeps or discloses.

A measure is a pure function of arrays, a `compute` that reads a Comparison, and their `Measure`
record, in the file of its family in `utility/` or `risk/`: no list names it. A measure of risk has
its plain sentence there, too, and says which charts draw it and which pages show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from rwn_core.errors import Catalogue, NotApplicable
from rwn_core.measures import risk, utility
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.risk.nearness import CELLS_CHANGED
from rwn_core.measures.risk.ordinary_linkage import DISTANCE_LINKAGE
from rwn_core.measures.risk.true_matches import MEASURE as _TRUE_MATCHES
from rwn_core.measures.utility.distributions import MARGINALS as _MARGINALS
from rwn_core.measures.utility.relations import ASSOCIATION_LOSS
from rwn_core.measures.utility.use_left import USE_LEFT
from rwn_core.measures.view import Tile
from rwn_core.moved_names import MEASURES_INSTEAD

__all__ = [
    "CHANGED",
    "MARGINALS",
    "MEASURES",
    "ORDINARY",
    "TRUE_ROWS",
    "USE",
    "UTILITY",
    "measures_of",
    "no_measure",
    "read",
    "tiles_of",
]

UTILITY = ASSOCIATION_LOSS.key
"""The measure of utility of maps, searches and matches that name none."""
USE = USE_LEFT.key
"""The measure of what a file is for, which every search makes as large as it can."""
ORDINARY = DISTANCE_LINKAGE.key
"""What an intruder links without the method; no page shows a worst case without it."""
TRUE_ROWS = _TRUE_MATCHES.key
"""The measure of true values that a released row shows of its person."""
CHANGED = CELLS_CHANGED.key
"""The measure of what a release changed at all, which every record and page states."""
MARGINALS = _MARGINALS.key
"""The measure of single variables, of which notices and maps say the shifts."""

_NAMED = 5  # of nearly the name that was asked for

_FIRST = (
    "relations",
    "regressions",
    "joint_distribution",
    "distributions",
    "tables",
    "worst_linkage",
    "certified_linkage",
    "repeated_releases",
    "ordinary_linkage",
    "membership",
    "attributes",
    "true_matches",
    "red_team",
    "values",
    "key_classes",
    "population_risk",
    "nearness",
    "outliers",
    "guesses",
)
"""Families in the order on screen; others follow by name."""


def _found() -> Iterator[tuple[str, Measure]]:
    """Yield the measures of all files of both rooms with their file, a family after another."""
    for room in (utility, risk):
        names = sorted(each.name for each in iter_modules(room.__path__))
        for name in sorted(names, key=lambda name: (*_FIRST, name).index(name)):
            module = import_module(f"{room.__name__}.{name}")
            for each in vars(module).values():
                if isinstance(each, Measure):
                    yield f"{room.__name__.rpartition('.')[2]}/{name}.py", each


def by_key(found: Iterable[tuple[str, Measure]]) -> dict[str, Measure]:
    """Return measures by their key, given each with its file.

    Raises
    ------
    ValueError
        A key is there already, a file is in the room of the other side, or another measure is
        raised by the same attacks.
    """
    known: dict[str, Measure] = {}
    homes: dict[str, str] = {}
    raised: dict[str, str] = {}
    for file, measure in found:
        key = measure.key
        if known.get(key) is measure:  # a file that imports it
            continue
        if key in known:
            raise ValueError(
                f"The measure {key} of {file} has the key of one in {homes[key]}; give it its own."
            )
        if file.partition("/")[0] != measure.side:
            raise ValueError(
                f"The measure {key} of the side {measure.side} is in {file}; move its file to "
                f"{measure.side}/."
            )
        if measure.raised_by in raised:
            raise ValueError(
                f"The measure {key} has raised_by = {measure.raised_by}, as "
                f"{raised[measure.raised_by]} has; one measure states that worst case."
            )
        known[key] = measure
        homes[key] = file
        if measure.raised_by is not None:
            raised[measure.raised_by] = key
    return known


MEASURES: Mapping[str, Measure] = MappingProxyType(
    Catalogue(by_key(_found()), lambda key: no_measure(str(key)))
)


def read(measure: str, comparison: Comparison) -> Reading | NotApplicable:
    """Read one measure of a comparison by its key; return the reason if there is no reading."""
    return MEASURES[measure].read(comparison)


@cache
def measures_of(place: str) -> tuple[str, ...]:
    """Return the keys of the measures that a page or table shows, in its order."""
    shown = [measure for measure in MEASURES.values() if place in measure.places]
    return tuple(m.key for m in sorted(shown, key=lambda m: m.places[place]))


def tiles_of(page: str) -> dict[str, Tile]:
    """Return the tiles of a page in its order, by the key of their measure."""
    tiles = {m.key: m.tile for m in MEASURES.values() if m.tile and page in m.tile.places}
    return dict(sorted(tiles.items(), key=lambda pair: pair[1].places[page]))


def no_measure(key: str) -> str:
    """The refusal of an unknown measure: the nearest that there are, and where all are listed.

    >>> no_measure("entropi")
    'There is no measure entropi; docs/reference/measures.md lists all.'
    """
    if key in MEASURES_INSTEAD:
        return f"The measure {key} is gone; read {MEASURES_INSTEAD[key]}."
    near = [known for known in MEASURES if str(key) in known][:_NAMED]
    near = near or get_close_matches(str(key), MEASURES, n=_NAMED)
    meant = f"; near it: {', '.join(near)}" if near else ""
    return f"There is no measure {key}{meant}; docs/reference/measures.md lists all."
