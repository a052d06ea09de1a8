"""The table of masking methods, and what the page of each says of parameters, levers and law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, get_args, get_type_hints

import rwn_core as rwn
from docs.docstrings import default, entries, sentence
from rwn_core.masking import Lever, LeverRange
from rwn_core.masking.lever import neutral_levers

_BEGINNING = """
# Masking methods

Every method of `rwn_core.METHODS`, by its key. A parameter is set by its name: in Python as an
argument of the parameter record, with `rwn mask --method KEY --set NAME=VALUE` on the command line,
in the `[setting.parameters]` of a scenario file. Sliders move the levers; the others stay.
Each method's own page has its parameters with types and meanings, its law and its source.

| key | method | record | levers | other parameters |
|---|---|---|---|---|
"""


def page() -> str:
    """The page's text: one line for each method, which leads to its own page."""
    return _BEGINNING.strip() + "\n" + "\n".join(map(_line, rwn.METHODS.values()))


def _line(method: Any) -> str:
    levers = [lever.name for lever in method.levers]
    others = [each.name for each in fields(method) if each.name not in levers]
    cells = [
        f"`{method.method}`",
        f"[{method.title}](../methods/{method.method}.md)",
        f"`{method.__name__}`",
        ", ".join(f"`{name}`" for name in levers) or "none",
        ", ".join(f"`{name}`" for name in others) or "none",
    ]
    return f"| {' | '.join(cells)} |"


def _example(method: Any) -> Any:
    """The method at positions of its levers that any table takes."""
    return method(**neutral_levers(method))


def parameters(method: Any) -> str:
    """The table of a method's parameters."""
    rows = ["| parameter | type | if left out | meaning |", "|---|---|---|---|"]
    about = entries(method)
    for each in fields(method):
        kind, words = about[each.name]
        rows.append(f"| `{each.name}` | {_kind(kind)} | {default(each)} | {words} |")
    return "\n".join(rows)


def _kind(kind: str) -> str:
    return kind.removesuffix(", optional").replace("|", "\\|")


def levers(method: Any) -> str:
    """A line for each lever: how far it goes on a demo table, and what it does."""
    ranges = _example(method).preview(rwn.load_demo("bodyfat")).ranges
    return "\n".join(_lever(lever, ranges, method.strength) for lever in method.levers)


def _lever(lever: Lever, ranges: Mapping[str, LeverRange], strength: str) -> str:
    ends = ranges[lever.name]
    unit = f" {lever.unit}" if lever.unit else ""
    swept = " It is the strength along which the method is swept." * (lever.name == strength)
    return (
        f"- **{lever.title}** (`{lever.name}`): {ends.low:g} to {ends.high:g}{unit} in steps of "
        f"{ends.step:g}. {lever.help}{swept}"
    )


def keeps(method: Any) -> str:
    """A line for each invariant of the masked columns; all others are released unmasked."""
    lines = [f"- {each.words[0].upper()}{each.words[1:]}." for each in method.keeps]
    return "\n".join(lines) or "Nothing."


def law(method: Any) -> str:
    """The kind of law a method has, in words."""
    if not hasattr(method, "law"):
        return "none."
    law = get_type_hints(method.law)["return"]
    kinds = [kind for kind in get_args(law) or (law,) if kind is not NoneType]
    if not kinds:
        return f"none. {sentence(method.law)}"
    return f"`{kinds[0].__name__}`. {sentence(kinds[0])}"
