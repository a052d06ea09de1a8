"""Writes the first three lessons as one HTML file, which needs no other file and asks no server."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from string import Template
from typing import Any

import rwn_core as rwn
from rwn_core.evaluation.lessons import intruder, neighborhood
from rwn_core.evaluation.lessons.densities import DENSITIES, points_of
from rwn_core.randomness import SecretKey
from rwn_ui.server.launch import FIRST_PORT

HERE = Path(__file__).parent
TEMPLATE = HERE / "page.html"
NAME = "learn.html"
"""Of the file, at the top of the site."""
SCRIPTS = ("numbers.js", "pictures.js", "lessons.js")
RECORDS = 600  # where the slider of n ends
LARGEST_K = 30
ROWS = 12  # released rows that the class may look at
DEMO = "bodyfat"


def text() -> str:
    """The page: template, style, scripts and points in one.

    Its content security policy names the style and the script by their hashes and nothing else,
    so the browser itself refuses whatever would be fetched or added.

    Returns
    -------
    str
        HTML.
    """
    style = (HERE / "page.css").read_text(encoding="utf-8")
    script = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    data = json.dumps(points(), separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = Template(TEMPLATE.read_text(encoding="utf-8"))
    return page.substitute(
        policy=policy,
        style=style,
        script=script,
        points=data,
        densities="".join(f"<option>{name}</option>" for name in DENSITIES),
        largest_k=LARGEST_K,
        rows=ROWS,
        demo=DEMO,
        port=FIRST_PORT,
    )


def points() -> dict[str, Any]:
    """The data of each lesson, with all their digits.

    Returns
    -------
    dict
        theorem: for each density the x and the y of `RECORDS` records. intruder: the values of the
        demo table, variable by variable, those first that an intruder knows first; the source of
        each of `ROWS` released rows; and the donors of its values for each k from 1.
        neighborhood: x and y of each record.
    """
    table = neighborhood.table(0.0)
    return {
        "theorem": {name: _columns(points_of(name, RECORDS), ("x", "y")) for name in DENSITIES},
        "intruder": _rows(rwn.load_demo(DEMO)),
        "neighborhood": _columns(table, ("x", "y")),
    }


def _columns(data: rwn.Microdata, names: tuple[str, ...]) -> list[list[float]]:
    return [data.array(name).tolist() for name in names]


def _rows(data: rwn.Microdata) -> dict[str, Any]:
    """The demo table, and the donors of some released rows: drawn as `rwn mask` draws them."""
    names = intruder.known_order(data)
    released = [variable.name for variable in data.schema.released]
    places = [released.index(name) for name in names]
    sources = [intruder.source_of(row, data.n) for row in range(ROWS)]
    prepared, key = rwn.RWN(epsilon=0.0, k=1).preview(data), SecretKey.from_seed(intruder.SEED)
    by_k = [prepared.with_levers(k=k).release(key).donors for k in range(1, LARGEST_K + 1)]
    return {
        "names": names,
        "values": _columns(data, names),
        "sources": sources,
        "donors": [
            [each[source][places].tolist() for each in by_k if each is not None]
            for source in sources
        ],
    }


def _hash(source: str) -> str:
    """What a content security policy calls a style or a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"
