"""A page for each masking method: what it does, when to use it, what it destroys, its law."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from docs import method_pictures
from docs.docstrings import one_line, sections, sentence
from docs.reference_of import methods

_BEGINNING = """
# Masking methods, one by one

What each method does, when to use it and what it destroys, with a picture of real data. All
parameters by name: [reference](../reference/methods.md). Side by side, at the same limits:
[methods compared](../explanation/methods-compared.md).

Methods here mask records. Suppressing cells of published tables and adding differentially private
noise to answers are out of scope. Distances are Euclidean: Gower's and Manhattan
[bring no gain](../decisions/0037-the-distance-is-euclidean.md).

| method | when to use it |
|---|---|
"""


_SAID_OF_ALL = "The exact law of this setting on this table."


def index() -> str:
    """The page that leads to all methods."""
    rows = [
        f"| [{method.title}]({key}.md) | {_first(sections(method)['When to use'])} |"
        for key, method in rwn.METHODS.items()
    ]
    return _BEGINNING.strip() + "\n" + "\n".join(rows)


def page(key: str) -> str:
    """The page of a method.

    Raises
    ------
    KeyError
        Its documentation does not say when to use it or what it destroys.
    """
    method = rwn.METHODS[key]
    about = sections(method)
    does = about[""].partition("\n\n")[2]
    parts = [
        f"# {method.title}",
        f"`rwn_core.{method.__name__}`, on the command line `--method {key}`.",
        one_line(does),
        f"![{method.title}: a demo table before and after]({key}.svg)",
        method_pictures.caption(key),
        *_more_pictures(key),
        f"## When to use it\n\n{one_line(about['When to use'])}",
        f"## What it destroys\n\n{one_line(about['What it destroys'])}",
        f"## What every release keeps\n\n{methods.keeps(method)}",
        f"## Its law\n\n{_law(method)}",
        f"## Parameters\n\n{methods.parameters(method)}",
        f"## Levers\n\n{methods.levers(method)}",
        f"## Run it\n\n```\n{_command(key)}\n```",
        f"## Source\n\n{one_line(about['References'])}",
        "[All methods](index.md)",
    ]
    return "\n\n".join(parts)


def _more_pictures(key: str) -> list[str]:
    """The picture of theorem 1 on the page of k-noise."""
    if key != "k_noise":
        return []
    shown = f"![k-noise: records near each age]({method_pictures.NEAR_NAME})"
    return [shown, method_pictures.NEAR_CAPTION]


def _first(text: str) -> str:
    """The first sentence of a text."""
    return one_line(text).partition(". ")[0].rstrip(".") + "."


def _law(method: Any) -> str:
    """What is known of a release for certain, in the method's own words."""
    own = sentence(method.law).partition("; see ")[0].rstrip(".") + "."
    kind = methods.law(method)
    if kind.startswith("none"):
        return f"None. {own} The worst case, and every measure that needs a law, cannot be read."
    said = [own, kind] if own != _SAID_OF_ALL else [kind]
    said = said if not kind.startswith("`Law`") else [own]  # which says nothing of the method
    return (
        f"{' '.join(said)} With it the worst-case intruder is computed and not guessed; see "
        "[know the risk](../how-to/know-the-risk.md)."
    )


def _command(key: str) -> str:
    levers = method_pictures.EXAMPLES[key].levers
    options = "".join(f" --set {name}={value:g}" for name, value in levers.items())
    return f"rwn mask IN OUT --method {key}{options}"
