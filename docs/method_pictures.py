"""Draws a picture of every masking method: demo data before and after, and how much moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rwn_core as rwn
from docs.plots import Plot, Scale
from rwn_core.data.arrays import Floats
from rwn_core.masking import METHODS
from rwn_core.masking.k_noise import delta
from rwn_core.measures.drawing.style import NEUTRAL, ORIGINAL, RELEASED

SEED = 7
SAMPLE = 300
"""Records of a large table that are shown: random ones, always the same."""
WIDTH, HEIGHT, TOP, BOTTOM = 940, 330, 52, 268
PANEL = 230
LEFT = (62, 362)
BARS = 742


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Say what the picture of a method shows.

    Attributes
    ----------
    demo : str
        A demo table.
    pair : tuple of str
        Two variables: a point each record, or where both are categories a share each.
    levers : mapping of str to float
        The setting, beside the method's defaults.
    """

    demo: str = "bodyfat"
    pair: tuple[str, str] = ("abdomen", "siri")
    levers: Mapping[str, float]


_REGIONS, _WAGES, _YEARS = (
    ("region", "ethnicity"),
    ("education", "wage"),
    ("experience", "wage"),
)
EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "rwn": Example(levers={"epsilon": 2.0, "k": 5, "q": 1.0}),
        "soft_rwn": Example(levers={"width": 1.0, "balance": 1.0, "q": 1.0}),
        "nbrs2015": Example(levers={"epsilon": 3.0, "q": 1.0}),
        "additive_noise": Example(levers={"size": 0.5}),
        "correlated_noise": Example(levers={"size": 0.5}),
        "k_noise": Example(levers={"k": 10}),
        "rank_swapping": Example(levers={"p": 0.2}),
        "random_swapping": Example(demo="cps1988", pair=_REGIONS, levers={"share": 0.8}),
        "data_shuffling": Example(levers={"anew": 1.0}),
        "record_swapping": Example(
            demo="cps1988", pair=("education", "wage"), levers={"share": 0.5}
        ),
        "pram": Example(demo="cps1988", pair=_REGIONS, levers={"change": 0.4}),
        "k_pram": Example(levers={"k": 30}),
        "recoding": Example(levers={"k": 3}),
        "row_copy": Example(levers={"epsilon": 2.0, "k": 5, "q": 1.0}),
        "microaggregation": Example(levers={"k": 10}),
        "local_suppression": Example(demo="cps1988", pair=("experience", "wage"), levers={"k": 3}),
        "cart_synthesis": Example(levers={"q": 1.0, "leaf": 5}),
        "sampling": Example(levers={"left_out": 0.5}),
    }
)
"""By the key of the method."""


def _table(example: Example) -> rwn.Microdata:
    """A demo table; of a large one as many records as points can be told apart."""
    data = rwn.load_demo(example.demo)
    if data.n <= 1000 or not set(example.pair) <= set(data.numeric_names):
        return data
    return data.take(np.sort(np.random.default_rng(SEED).permutation(data.n)[:SAMPLE]))


def setting(key: str) -> Any:
    """The method at the setting that its picture shows."""
    return METHODS[key](**EXAMPLES[key].levers)


def caption(key: str) -> str:
    """What the picture shows, in words."""
    example = EXAMPLES[key]
    data, whole = _table(example), rwn.load_demo(example.demo).n
    of = f"{data.n:,} records" if data.n == whole else f"{data.n:,} of {whole:,} records"
    moved = ", ".join(f"{name} = {value:g}" for name, value in example.levers.items())
    return (
        f"The demo table `{example.demo}` ({of}) before and after, at "
        f"{moved}, and how far the values of each variable moved: "
        "numbers on average in standard deviations, categories as the share that changed; "
        "a value that is lost counts as 1."
    )


def picture(key: str) -> str:
    """The text of the picture of a method."""
    example, kind = EXAMPLES[key], METHODS[key]
    original = _table(example)
    masked = rwn.mask(original, setting(key), seed=SEED).masked
    result = Plot(WIDTH, HEIGHT, f"{kind.title}: {', '.join(example.pair)} of {example.demo}")
    tables = {"original": original, "released": masked}
    for left, (name, table) in zip(LEFT, tables.items(), strict=True):
        color = ORIGINAL if name == "original" else RELEASED
        if set(example.pair) <= set(original.numeric_names):
            words = _points(result, left, original, table, example.pair, color)
        else:
            words = _shares(result, left, table, example.pair, color)
        result.text(left, 22, name, more=' font-weight="bold"')
        result.text(left, 42, words)
    _bars(result, original, masked)
    return result.svg()


NEAR_NAME = "k_noise-near.svg"
NEAR_CAPTION = (
    "The ages of 241 men (`bodyfat`) at k = 10, uniform noise: at every age, how many records lie "
    "within 2 delta of it, and how many of these are expected to be released within 2 delta of it: "
    "at least half (theorem 1). The loneliest man, who has hardly more than k near him, decides "
    "how wide the noise is for all."
)


def records_near(k: int) -> tuple[Floats, Floats, Floats, float]:
    """The ages, how many lie within 2 delta of each, how many stay there, and delta."""
    ages = np.sort(rwn.load_demo("bodyfat").values("age"))
    reach = delta(ages, k)
    at = np.unique(ages)
    apart = np.abs(ages - at[:, np.newaxis])
    near = apart <= 2 * reach
    # uniform noise on [-delta, delta] of a value at a distance d stays within 2 delta
    stays = np.clip((3 * reach - apart) / (2 * reach), 0.0, 1.0)
    return at, near.sum(axis=1).astype(np.float64), (near * stays).sum(axis=1), reach


def near_picture() -> str:
    """The text of the picture of theorem 1 for k-noise."""
    k = int(EXAMPLES["k_noise"].levers["k"])
    ages, near, stay, reach = records_near(k)
    result = Plot(WIDTH, HEIGHT, f"k-noise: records within 2 delta of each age, k = {k}")
    across = Scale(float(ages[0]) - 2, float(ages[-1]) + 2, LEFT[0], WIDTH - 250)
    up = Scale(0.0, 1.05 * float(near.max()), BOTTOM, TOP)
    result.axes(across, up, ("age", "records within 2 delta"))
    lines = ((near, ORIGINAL, "original"), (stay, RELEASED, "of these, expected as released"))
    for row, (counts, color, words) in enumerate(lines):
        x, y = across(ages), up(counts)
        for i in range(len(ages) - 1):
            result.line((x[i], y[i], x[i + 1], y[i + 1]), color, ' stroke-width="2"')
        result.text(WIDTH - 235, TOP + 20 * row + 12, words, more=f' style="fill:{color}"')
    result.area(
        np.concatenate([across(ages), across(ages)[::-1]]),
        np.concatenate([up(near), up(near / 2)[::-1]]),
        f'{ORIGINAL}" fill-opacity="0.12',
    )
    result.text(WIDTH - 235, TOP + 52, "shaded: from half of the original to all")
    level = float(up(k))
    result.line((across.start, level, across.stop, level), NEUTRAL, ' stroke-dasharray="4 4"')
    result.text(across.stop + 6, level + 4, f"k = {k}")
    result.text(LEFT[0], 22, "records near each age", more=' font-weight="bold"')
    result.text(LEFT[0], 42, f"delta = {reach:g} years")
    return result.svg()


def _scale(values: NDArray[np.float64], start: float, stop: float) -> Scale:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    log = low > 0 and high / low > 100
    rim = 0.0 if log else 0.05 * (high - low)
    return Scale(low - rim, high + rim, start, stop, log)


def _points(
    result: Plot,
    left: float,
    original: rwn.Microdata,
    table: rwn.Microdata,
    pair: tuple[str, str],
    color: str,
) -> str:
    """Draw a point for each record; what is said of them."""
    x, y = (table.values(name) for name in pair)
    across = _scale(original.values(pair[0]), left, left + PANEL)
    up = _scale(original.values(pair[1]), BOTTOM, TOP)
    result.axes(across, up, pair)
    result.cloud(across(x), up(y), color)
    known = ~(np.isnan(x) | np.isnan(y))
    count = f", {known.sum()} of {len(x)} records" if not known.all() else ""
    return f"correlation {np.corrcoef(x[known], y[known])[0, 1]:.2f}{count}"


def _shares(
    result: Plot, left: float, table: rwn.Microdata, pair: tuple[str, str], color: str
) -> str:
    """Draw the share of each level of the first variable, for each level of the second."""
    (rows, names), (columns, groups) = (table.codes(name)[:2] for name in pair)
    counts = np.zeros((len(names), len(groups)))
    np.add.at(counts, (rows, columns), 1)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    wide, high = (PANEL - 50) / len(groups), (BOTTOM - TOP) / len(names)
    for i, name in enumerate(names):
        middle = TOP + high * (i + 0.5) + 4
        result.text(left + 44, middle, str(name), at="end")
        for j in range(len(groups)):
            place = (left + 50 + wide * j, TOP + high * i, wide - 2, high - 2)
            result.box(place, color, f' fill-opacity="{0.08 + 0.8 * shares[i, j]:.2f}"')
            result.text(place[0] + wide / 2, middle, f"{shares[i, j]:.0%}", at="middle")
    for j, group in enumerate(groups):
        result.text(left + 50 + wide * (j + 0.5), BOTTOM + 17, str(group), at="middle")
    return f"{pair[0]} within {pair[1]}"


def moved(original: rwn.Microdata, masked: rwn.Microdata, name: str) -> float:
    """How far the values of a variable moved: in standard deviations, or as a share."""
    if name not in original.numeric_names:
        before, after = (_words(table, name) for table in (original, masked))
        return float((before != after).mean())
    own, shown = original.values(name), masked.values(name)
    spread = np.nanstd(own, ddof=1)
    apart = np.abs(shown - own) / spread if spread > 0 else np.where(shown != own, 1.0, 0.0)
    apart = np.where(np.isnan(shown) & ~np.isnan(own), 1.0, apart)
    return float(np.nanmean(apart))


def _words(table: rwn.Microdata, name: str) -> NDArray[np.str_]:
    """The levels of the records as texts, an empty one where a value is missing."""
    codes, levels = table.codes(name)[:2]
    return np.array([*map(str, levels), ""])[codes]


def _bars(result: Plot, original: rwn.Microdata, masked: rwn.Microdata) -> None:
    """Draw how far each variable moved."""
    names = [variable.name for variable in original.schema.released]
    far = [moved(original, masked, name) for name in names]
    scale = Scale(0.0, max(1.0, *far), BARS, BARS + 150)
    high = min((BOTTOM - TOP) / len(names), 24)
    result.text(BARS - 80, 22, "how far values moved", more=' font-weight="bold"')
    result.text(BARS - 80, 42, "sd, or share of changed categories")
    for number, (name, value) in enumerate(zip(names, far, strict=True)):
        top = TOP + high * number
        result.text(BARS - 6, top + high / 2 + 4, name, at="end")
        result.box((BARS, top + 1, float(scale(value)) - BARS, high - 3), RELEASED)
        end = float(scale(value)) + 4
        result.text(end, top + high / 2 + 4, f"{value:.2f}", more=f' style="fill:{NEUTRAL}"')
