"""What the documentation of every public name owes: a sentence, parameters, shapes, refusals."""

import inspect
import re
from collections.abc import Callable
from enum import Enum
from typing import Any

import rwn_core as rwn

PUBLIC = {
    name: each
    for name in rwn._HOME_OF
    if inspect.isclass(each := getattr(rwn, name)) or inspect.isfunction(each)
}
BEGINNINGS = {
    "Combine",
    "Draw",
    "Fill",
    "Find",
    "Give",
    "Hold",
    "Judge",
    "Mask",
    "Place",
    "Read",
    "Say",
    "Try",
    "Write",
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
    parts = sections(text)
    first = text.partition("\n")[0]
    complaints = []
    if not first.endswith("."):
        complaints.append("the first line is no sentence")
    if inspect.isfunction(each) and first.split(" ")[0] not in BEGINNINGS:
        complaints.append("the first line has no verb")
    if name in PUBLISHED and not parts.get("References", "").strip():
        complaints.append("there is no source")
    complaints += arrays_without_shapes(parts)
    if inspect.isfunction(each) and len(inspect.signature(each).parameters) >= 2:
        complaints += [
            f"there is no {title}"
            for title in ("Parameters", "Returns", "Raises")
            if not parts.get(title, "").strip()
        ]
    return complaints + _wrong_names(each, parts)


def arrays_without_shapes(parts: dict[str, str]) -> list[str]:
    """What is said of arrays without their shapes."""
    return [
        f"{title} has an array without its shape: {line}"
        for title in ("Parameters", "Attributes", "Returns")
        for line in parts.get(title, "").splitlines()
        if not line.startswith(" ") and "ndarray" in line and "shape" not in line
    ]


def _wrong_names(each: Callable[..., Any], parts: dict[str, str]) -> list[str]:
    if inspect.isclass(each) and issubclass(each, Enum | Exception):
        return []
    named = entries(parts.get("Parameters", "")) | entries(parts.get("Attributes", ""))
    for base in getattr(each, "__mro__", (each,))[1:-1]:  # which describe what they bring along
        about = sections(inspect.getdoc(base) or "")
        named |= entries(about.get("Attributes", "")) | entries(about.get("Parameters", ""))
    taken = [name for name in inspect.signature(each).parameters if not name.startswith("_")]
    complaints = [f"{name} is not described" for name in taken if name not in named]
    described = entries(parts.get("Parameters", ""))
    complaints += [f"{name} is no parameter" for name in described if name not in taken]
    if list(described) != [name for name in taken if name in described]:
        complaints.append("the parameters stand in another order")
    return complaints


def test_a_public_name_is_documented_in_full() -> None:
    assert {name: found for name, each in PUBLIC.items() if (found := faults(name, each))} == {}


def test_nothing_public_is_left_out_but_the_catalogues() -> None:
    assert set(rwn._HOME_OF) - set(PUBLIC) == {"DEMOS", "MEASURES", "METHODS", "NAMED_POLICIES"}
