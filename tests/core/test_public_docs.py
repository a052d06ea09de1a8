"""What the documentation of every public name owes: a sentence, parameters, shapes, refusals."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rwn_core as rwn

PUBLIC = {
    name: each
    for name in rwn._HOME_OF
    if inspect.isclass(each := getattr(rwn, name)) or inspect.isfunction(each)
}
BEGINNINGS = {
    *("Combine", "Draw", "Fill", "Find", "Give", "Hold", "Judge", "Mask", "Place", "Read", "Say"),
    *("Try", "Write"),
}
"""Verbs with which the first line of a function may begin; that of a class begins with a noun."""
PUBLISHED = {
    "NBRS2015",
    "RWN",
    "Metric",
    "Radii",
    "combine_releases",
    "coordinates",
    "draw_donors",
    "find_neighborhoods",
    "forecast",
    "standard_error_validity",
}
"""Names that stand for a formula or a method of the literature."""


def sections(text: str) -> dict[str, str]:
    """The numpydoc sections of a documentation text by their titles."""
    parts = re.split(r"^([A-Z]\w+)\n-{3,}\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(section: str) -> dict[str, str]:
    """Each name that a section describes, with its line."""
    described = {}
    for line in section.splitlines():
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            described |= {name.strip().lstrip("*"): kind for name in names.split(",")}
    return described


def faults(name: str, each: Callable[..., Any]) -> list[str]:
    """What the documentation of a public name lacks."""
    text = inspect.getdoc(each) or ""
    parts, first = sections(text), text.partition("\n")[0]
    complaints = []
    if not first.endswith("."):
        complaints.append("the first line is no sentence")
    if inspect.isfunction(each) and first.split(" ")[0] not in BEGINNINGS:
        complaints.append("the first line has no verb")
    if name in PUBLISHED and not parts.get("References", "").strip():
        complaints.append("there is no source")
    complaints += [
        f"{title} has an array without its shape: {line}"
        for title in ("Parameters", "Attributes", "Returns")
        for line in parts.get(title, "").splitlines()
        if not line.startswith(" ") and "ndarray" in line and "shape" not in line
    ]
    if inspect.isfunction(each) and len(inspect.signature(each).parameters) >= 2:
        complaints += [
            f"there is no {title}"
            for title in ("Parameters", "Returns", "Raises")
            if not parts.get(title, "").strip()
        ]
    return complaints + _wrong_names(each, parts)


def _wrong_names(each: Callable[..., Any], parts: dict[str, str]) -> list[str]:
    if inspect.isclass(each) and issubclass(each, Enum | Exception):
        return []
    named = entries(parts.get("Parameters", "")) | entries(parts.get("Attributes", ""))
    for base in getattr(each, "__mro__", (each,))[1:-1]:  # which describe what they bring along
        named |= entries(sections(inspect.getdoc(base) or "").get("Attributes", ""))
    taken = [name for name in inspect.signature(each).parameters if not name.startswith("_")]
    complaints = [f"{name} is not described" for name in taken if name not in named]
    described = entries(parts.get("Parameters", ""))
    complaints += [f"{name} is no parameter" for name in described if name not in taken]
    if list(described) != [name for name in taken if name in described]:
        complaints.append("the parameters stand in another order")
    return complaints


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_documented_in_full(name: str) -> None:
    assert faults(name, PUBLIC[name]) == []


def test_nothing_public_is_left_out_but_the_catalogues() -> None:
    assert set(rwn._HOME_OF) - set(PUBLIC) == {"DEMOS", "MEASURES", "METHODS"}


def test_a_lack_is_found() -> None:
    def good(one: int, other: NDArray[np.float64]) -> int:
        """Give a number.

        Parameters
        ----------
        one : int
        other : ndarray of float64, shape (n,)

        Returns
        -------
        int

        Raises
        ------
        ParameterError

        References
        ----------
        Somebody 1999.
        """
        return one

    text = inspect.getdoc(good) or ""
    assert faults("coordinates", good) == []
    for old, new, fault in (
        ("Give a number.", "Give a number", "no sentence"),
        ("Give a number.", "The number.", "no verb"),
        ("one : int\n", "", "one is not described"),
        ("one : int\n", "one : int\nthird : int\n", "third is no parameter"),
        ("one : int\nother", "other : int\none", "another order"),
        (", shape (n,)", "", "without its shape"),
        ("Returns\n-------\nint\n", "", "no Returns"),
        ("Raises\n------\nParameterError\n", "", "no Raises"),
        ("Somebody 1999.", "", "no source"),
    ):
        assert old in text
        good.__doc__ = text.replace(old, new)
        assert any(fault in complaints for complaints in faults("coordinates", good)), fault
