"""Writes the reference from the catalogues: ``python -m docs.build``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import rwn_cli
import rwn_core as rwn
from docs import docstrings, method_pictures
from docs.reference_of import (
    commands,
    measures,
    method_pages,
    methods,
    python_names,
    settings,
    thresholds,
)

HERE = Path(__file__).parent / "reference"
METHODS_HERE = Path(__file__).parent / "methods"
NOTE = "<!-- Written by `python -m docs.build`; change the catalogue, not this file. -->"

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "measures.md": measures.page,
        "methods.md": methods.page,
        "settings.md": settings.page,
        "commands.md": commands.page,
        "thresholds.md": thresholds.page,
        "python.md": python_names.page,
    }
)
"""What writes each page of the reference that is not written by hand or by a benchmark."""


def text(name: str) -> str:
    """A page as it should be."""
    return _noted(PAGES[name]())


def texts_of_the_program() -> dict[Path, str]:
    """What the program says from documentation texts, as it should be, by its file."""
    core, commands = Path(rwn.__file__).parent, Path(rwn_cli.__file__).parent
    return {
        core / "__init__.pyi": _stub(),
        core / "masking" / "words.json": _json(docstrings.method_texts()),
        commands / "help.json": _json(docstrings.command_texts()),
    }


def _stub() -> str:
    """The public names for type checkers, which refuse any other."""
    lines = ["from rwn_core._version import __version__ as __version__"]
    lines += [f"from {home} import {name} as {name}" for name, home in rwn._HOME_OF.items()]
    return (
        "# Written by `python -m docs.build`.\n\n"
        + "\n".join(lines)
        + "\n\n_HOME_OF: dict[str, str]\n"
    )


def _json(texts: Mapping[str, Any]) -> str:
    said = "Written by `python -m docs.build` from the documentation texts; change those."
    return json.dumps({"": said, **texts}, indent=1, ensure_ascii=False) + "\n"


def about_methods() -> dict[str, str]:
    """The page of each masking method, and the index of them, as they should be, by file name."""
    pages = {f"{key}.md": _noted(method_pages.page(key)) for key in rwn.METHODS}
    return {"index.md": _noted(method_pages.index()), **pages}


def _noted(page: str) -> str:
    return f"{NOTE}\n\n{page.strip()}\n"


def main() -> None:
    """Write every page, and the pictures of the methods."""
    for path, said in texts_of_the_program().items():
        path.write_text(said, encoding="utf-8")
    for name in PAGES:
        (HERE / name).write_text(text(name), encoding="utf-8")
    for name, page in about_methods().items():
        (METHODS_HERE / name).write_text(page, encoding="utf-8")
    for key in rwn.METHODS:
        picture = method_pictures.picture(key)
        (METHODS_HERE / f"{key}.svg").write_text(picture, encoding="utf-8")
    near = METHODS_HERE / method_pictures.NEAR_NAME
    near.write_text(method_pictures.near_picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
