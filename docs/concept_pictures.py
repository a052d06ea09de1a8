"""Draws the pictures of the concepts: ``python -m docs.concept_pictures``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

import rwn_core as rwn
from docs.plots import Plot, Scale
from rwn_core.evaluation.lessons import intruder, neighborhood
from rwn_core.measures.drawing.style import NEUTRAL, ORIGINAL, RELEASED

HERE = Path(__file__).parent / "explanation"
_EPSILON, _K = 0.6, 5
_RECORDS = ("in the middle", "the outlier")
_SHOWN = ("age", "weight", "height", "abdomen", "siri")
_ROW, _NEIGHBORS = 20, 5
_KNOWN = (1, 3, 15)
_BARS = 8
_CIRCLE = ' fill="none" stroke="{}" stroke-width="1.5"{}'


def neighborhoods() -> str:
    """Draw the neighborhoods of a record in a dense region and of an outlier."""
    data = neighborhood.table(0.0)
    x, y = (data.values(name) for name in data.numeric_names)
    law = rwn.RWN(epsilon=_EPSILON, k=_K).prepare(data).law
    assert law is not None
    donors = law.probabilities.toarray() > 0
    result = Plot(760, 400, "Donors of a record in a dense region and of an outlier")
    low, high = min(x.min(), y.min()) - 0.5, max(x.max(), y.max()) + 0.5
    for place, name in enumerate(_RECORDS):
        left = 50 + 375 * place
        across, up = Scale(low, high, left, left + 320), Scale(low, high, 370, 50)
        row = neighborhood.RECORDS[name]
        mine = donors[row]
        result.text(left, 22, f"{name}: {mine.sum()} donors", more=' font-weight="bold"')
        decides = "epsilon decides" if mine.sum() > _K else "k decides"
        result.text(left, 40, f"epsilon = {_EPSILON:g}, k = {_K}: {decides}")
        result.cloud(across(x[~mine]), up(y[~mine]), ORIGINAL)
        result.cloud(across(x[mine]), up(y[mine]), RELEASED)
        at = float(across(x[row])), float(up(y[row]))
        spread = np.array([x.std(ddof=1), y.std(ddof=1)])
        radius = _EPSILON * float(spread.mean()) * 320 / (high - low)
        result.circle(*at, radius, _CIRCLE.format(NEUTRAL, ""))
        result.circle(*at, 6, _CIRCLE.format("#222222", ""))
    return result.svg()


def donors() -> str:
    """Draw a record, its neighbors and its released row, with the donor of each cell."""
    data = rwn.load_demo("bodyfat")
    prepared = rwn.RWN(epsilon=0.0, k=_NEIGHBORS).prepare(data)
    made = prepared.release(rwn.SecretKey.from_seed(1))
    assert prepared.law is not None
    assert made.donors is not None
    near = np.flatnonzero(prepared.law.probabilities.toarray()[_ROW] > 0)[:_NEIGHBORS]
    names = [variable.name for variable in data.schema.released]
    drawn = {name: int(made.donors[_ROW, names.index(name)]) for name in _SHOWN}
    result = Plot(760, 60 + 30 * (len(near) + 2), "A record, its neighbors and its released row")
    for at, name in enumerate(_SHOWN):
        result.text(250 + 100 * at, 26, name, at="middle", more=' font-weight="bold"')
    rows = [("the record", _ROW), *((f"neighbor {i + 1}", int(r)) for i, r in enumerate(near))]
    for line, (title, record) in enumerate(rows):
        y = 52 + 30 * line
        result.text(180, y, title, at="end")
        for at, name in enumerate(_SHOWN):
            if drawn[name] == record:
                result.box((204 + 100 * at, y - 17, 92, 24), RELEASED, ' fill-opacity="0.35"')
            result.text(250 + 100 * at, y, f"{data.values(name)[record]:g}", at="middle")
    y = 62 + 30 * len(rows)
    result.line((40, y - 24, 720, y - 24), NEUTRAL)
    result.text(180, y, "released row", at="end", more=' font-weight="bold"')
    for at, name in enumerate(_SHOWN):
        value = data.values(name)[drawn[name]]
        result.text(250 + 100 * at, y, f"{value:g}", at="middle", more=' font-weight="bold"')
    return result.svg()


def posterior() -> str:
    """Draw the probability of each original for one row, by the number of known variables."""
    data = rwn.load_demo("bodyfat")
    made = rwn.RWN(epsilon=0.0, k=5).prepare(data).release(rwn.SecretKey.from_seed(1))
    result = Plot(760, 220, "Probability of originals for one released row")
    for place, known in enumerate(_KNOWN):
        found = intruder.intruder(made, row=4, known=known)
        left = 50 + 245 * place
        words = f"{known} known variable{'s' if known > 1 else ''}"
        result.text(left, 22, words, more=' font-weight="bold"')
        count = int(found.candidates)
        result.text(left, 40, f"{count} original{'s' if count > 1 else ''} possible")
        scale = Scale(0.0, 1.0, 190, 68)
        for at, belief in enumerate(found.belief[:_BARS]):
            top = float(scale(belief))
            result.box((left + 28 * at, top, 18, 190 - top), RELEASED)
            if belief >= 0.01:
                result.text(left + 28 * at + 9, top - 4, f"{belief:.0%}", at="middle")
        result.line((left, 190, left + 28 * _BARS, 190), NEUTRAL)
        result.text(left, 208, "originals, most probable first")
    return result.svg()


PICTURES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "concepts-neighborhoods.svg": neighborhoods,
        "concepts-donors.svg": donors,
        "concepts-posterior.svg": posterior,
    }
)


def main() -> None:
    """Write the pictures."""
    for name, picture in PICTURES.items():
        (HERE / name).write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
