"""Exchanges whole households between the areas of a hierarchy, those with rare people first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.neighbors.excluded import number_households

Unit = tuple[tuple[int, ...], int]  # a profile, and the area that both households share


@dataclass(frozen=True, slots=True, kw_only=True)
class Households:
    """Hold the households of a table with their members, areas, profiles and risk."""

    members: list[NDArray[np.int64]]  # the records of each of the h households
    # shape (h, levels): the area of each at each level, the largest areas first
    areas: NDArray[np.int64]
    # the sorted codes of the members, which exchanging households have in common
    profiles: list[tuple[int, ...]]
    # shape (h,): the first level at which a member is rare; the number of levels where none is
    level: NDArray[np.int64]


def find_households(
    microdata: Microdata, hierarchy: tuple[str, ...], equal: tuple[str, ...], rarer_than: int
) -> Households:
    """Gather the households of a table, and find those with a rare member."""
    n, levels = microdata.n, len(hierarchy)
    numbers = _numbered(microdata)
    kinds = joint_codes(microdata, equal) if equal else np.zeros(n, dtype=np.int64)
    order = np.lexsort((kinds, numbers))
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    members = np.split(order, starts[1:])
    nested = np.stack([joint_codes(microdata, hierarchy[: i + 1]) for i in range(levels)], axis=1)
    if any((nested[each] != nested[each[0]]).any() for each in members):
        raise ParameterError("hierarchy must have one area for all members of a household.")
    keys = tuple(v.name for v in microdata.schema.released if v.role is Role.KEY)
    keys = tuple(name for name in keys if name not in hierarchy)
    level = np.full(len(members), levels)
    for i in range(levels - 1, -1, -1) if keys and rarer_than else ():
        cells = joint_codes(microdata, (*keys, *hierarchy[: i + 1]))
        rare = (np.bincount(cells)[cells] < rarer_than)[order]
        level[np.logical_or.reduceat(rare, starts)] = i
    profiles = [tuple(each.tolist()) for each in np.split(kinds[order], starts[1:])]
    return Households(members=members, areas=nested[order[starts]], profiles=profiles, level=level)


def _numbered(microdata: Microdata) -> NDArray[np.int64]:
    name = microdata.schema.name_with_role(Role.HOUSEHOLD)
    if name is None:
        return np.arange(microdata.n)
    return number_households(microdata.codes(name)[0])


def household_donors(
    households: Households, share: float, uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Draw the donor of each record's area, the record itself where it stays, shape (n,).

    Level by level from the largest areas, each household that holds a rare person exchanges with a
    random one that has its profile, lies in another area of this level and in the same larger one,
    and has not moved. Then random households exchange on the lowest level, until `share` of all
    have. `uniform` has two rows of a number for each record. The idea is that of targeted record
    swapping in sdcMicro's `recordSwap`.
    """
    first = np.array([each[0] for each in households.members])
    turn, lot = np.argsort(uniform[0][first]), uniform[1][first]
    levels, moved = households.areas.shape[1], np.zeros(len(first), dtype=bool)
    pairs: list[tuple[int, int]] = []
    for level in range(levels):
        risky = turn[households.level[turn] == level]
        pairs += _exchange(households, level, risky, lot, moved, len(first))
    wanted = int(np.ceil(share * len(first) - 1e-9)) - 2 * len(pairs)
    pairs += _exchange(households, levels - 1, turn, lot, moved, wanted / 2)
    donors = np.arange(len(uniform[0]))
    for one, other in pairs:
        a, b = households.members[one], households.members[other]
        donors[a], donors[b] = b, a
    return donors


def _exchange(
    households: Households,
    level: int,
    asking: NDArray[np.int64],
    lot: NDArray[np.float64],
    moved: NDArray[np.bool_],
    most: float,
) -> list[tuple[int, int]]:
    """Pair households with random ones of another area, and mark both as moved."""
    pairs: list[tuple[int, int]] = []
    waiting = _waiting(households, level, lot, moved) if len(asking) and most > 0 else {}
    for one in asking.tolist():
        if len(pairs) >= most:
            break
        own = households.areas[one, level]
        other = (
            None if moved[one] else _free(waiting[_unit(households, one, level)], own, moved, lot)
        )
        if other is not None:
            moved[[one, other]] = True
            pairs.append((one, other))
    return pairs


def _waiting(
    households: Households, level: int, lot: NDArray[np.float64], moved: NDArray[np.bool_]
) -> dict[Unit, dict[int, list[int]]]:
    """Households that have not moved, by unit and area, the smallest lot last."""
    waiting: dict[Unit, dict[int, list[int]]] = {}
    for each in np.argsort(-lot).tolist():
        if not moved[each]:
            areas = waiting.setdefault(_unit(households, each, level), {})
            areas.setdefault(int(households.areas[each, level]), []).append(each)
    return waiting


def _free(
    areas: dict[int, list[int]], own: int, moved: NDArray[np.bool_], lot: NDArray[np.float64]
) -> int | None:
    """The household with the smallest lot that has not moved, outside one area."""
    heads = []
    for area, listed in areas.items():
        while listed and moved[listed[-1]]:
            listed.pop()
        if listed and area != own:
            heads.append(listed[-1])
    return min(heads, key=lot.__getitem__, default=None)


def _unit(households: Households, each: int, level: int) -> Unit:
    above = -1 if level == 0 else int(households.areas[each, level - 1])
    return households.profiles[each], above
