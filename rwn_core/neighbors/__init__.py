"""Neighborhoods of records: the public names of this room."""

from typing import Any

from rwn_core.moved_names import has_moved, moved
from rwn_core.neighbors.candidates import neighbor_table
from rwn_core.neighbors.find import Finder, find_neighborhoods, nearest_radii
from rwn_core.neighbors.kernel import Radii, Radius, check_radius_and_k
from rwn_core.neighbors.record_draws import DrawRequest
from rwn_core.neighbors.table import LARGEST_DENSE, Neighborhoods, NeighborTable

__all__ = [
    "LARGEST_DENSE",
    "DrawRequest",
    "Finder",
    "NeighborTable",
    "Neighborhoods",
    "Radii",
    "Radius",
    "check_radius_and_k",
    "find_neighborhoods",
    "nearest_radii",
    "neighbor_table",
]


def __getattr__(name: str) -> Any:
    """Return a name of the version before, or say what it is now."""
    if has_moved(f"{__name__}.{name}"):
        return moved(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")
