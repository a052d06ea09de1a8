"""Even, gaussian and balanced neighborhoods at one worst-case linkage: what each costs.

``python -m benchmarks kernels [bodyfat pima cps1988 randhie]`` moves the strength of each until
linkage is at its limit, measures fresh releases there, and adds a line to
docs/explanation/kernels.csv, which it skips when run again. Then it follows a rare category
(docs/explanation/kernels-rare.csv) and writes the tables of docs/explanation/kernels.md; ``--page``
does no more than that last step. Of a table with more than ``--records`` random ones are taken.
Linkage is the best of three attacks, which do not see the order of rows and records.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.pages import HERE, read_lines, say, write_end, write_lines
from benchmarks.tables import mixed, sampled
from rwn_core.data.schema import Slices, as_slices
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey
from rwn_core.tuning.slice_presets import masked_names, preset_slices, related

DEMOS = ("bodyfat", "pima", "cps1988", "randhie")
FILE = HERE / "kernels.csv"
RARE = HERE / "kernels-rare.csv"
PAGE = HERE / "kernels.md"
BEGINS = "## All numbers\n"  # of the page: what this program writes
LIMITS = (0.05, 0.1)
RECORDS = 1_000
ROWS, RELEASES = 6_000, 24  # linked at a strength of the search; drawn at the one that is found
FRESH = 10_000_000  # seeds between the releases of the search and those that are measured
CLOSE = 1.015  # ratio of the two strengths between which linkage passes its limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One kind of neighborhood: its setting at any strength, the lever, and its ends."""

    setting: rwn.RWN
    lever: str
    low: float
    high: float


WAYS = {
    "nearest": Way(setting=rwn.RWN(k=1), lever="k", low=1, high=500),
    "ball": Way(setting=rwn.RWN(epsilon=1.0, k=5), lever="epsilon", low=0.5, high=40),
    "gaussian": Way(setting=rwn.SoftRWN(kernel="gaussian"), lever="width", low=0.1, high=10),
    "balanced": Way(
        setting=rwn.SoftRWN(kernel="gaussian", balance=1.0), lever="width", low=0.1, high=10
    ),
}
INSIDE = "keys + confidential | others"
SLICINGS: dict[str, Callable[[rwn.Microdata], Slices]] = {
    "each alone": lambda data: (),
    "keys | others": lambda data: preset_slices(data, "keys_together"),
    "four slices": related(4),
    INSIDE: lambda data: _key_and_confidential(data),
}
READ = {
    "linkage": "bayes_linkage",
    "loss": "association",
    "relations_lost": "association_loss",
    "quantiles": "quantiles",
    "regression": "regression",
    "attribute": "attribute_gain",
    "matches": "true_matches",
    "extremes": "extremes",
}
COUNTED = ("sd", "drift", "changed", "shares")


def _key_and_confidential(data: rwn.Microdata) -> Slices:
    """Identifying and confidential variables in one slice, the price of which is measured."""
    inside = masked_names(data, Role.KEY, Role.CONFIDENTIAL)
    others = [name for name in masked_names(data) if name not in inside]
    return as_slices(each for each in (inside, others) if len(each) > 1)


def moments(original: rwn.Microdata, masked: rwn.Microdata) -> tuple[list[float], list[float]]:
    """The relative change of each number's standard deviation, and its mean's drift in SD."""
    spreads, drifts = [], []
    for name in original.numeric_names:
        before, after = original.values(name), masked.values(name)
        spread = float(np.nanstd(before, ddof=1))
        spreads.append(float(np.nanstd(after, ddof=1)) / spread - 1.0)
        drifts.append(float(np.nanmean(after) - np.nanmean(before)) / spread)
    return spreads, drifts


def categories(original: rwn.Microdata, masked: rwn.Microdata) -> tuple[float, float]:
    """The share of categories that change, and the mean change of the share of a level."""
    changed, moved = [], []
    for variable in original.schema.released:
        if variable.name in original.numeric_names:
            continue
        before, after = (each.frame[variable.name].astype(str) for each in (original, masked))
        changed.append(float((before.to_numpy() != after.to_numpy()).mean()))
        shares = before.value_counts(normalize=True)
        other = after.value_counts(normalize=True).reindex(shares.index, fill_value=0.0)
        moved += (other - shares).abs().tolist()
    return (float(np.mean(changed)), float(np.mean(moved))) if changed else (np.nan, np.nan)


@dataclass(slots=True, kw_only=True)
class Cell:
    """One way on one table in one slicing, with linkage by strength as far as it was read."""

    data: rwn.Microdata
    way: Way
    seed: int

    def comparisons(self, strength: float, seeds: range) -> Iterator[Comparison]:
        """Releases at a strength."""
        start = Comparison(original=self.data, masked=self.data)
        moved = self.way.setting.prepare(self.data).with_levers(**{self.way.lever: strength})
        for seed in seeds:
            release = moved.release(SecretKey.from_seed(seed), threads=1)
            yield start.with_masked(release.masked, release.law)

    def linkage(self, strength: float) -> float:
        """The mean linkage of a few releases."""
        read = MEASURES["bayes_linkage"].read
        seeds = range(self.seed, self.seed + round(ROWS / self.data.n))
        return float(np.mean([read(each).value for each in self.comparisons(strength, seeds)]))

    def weakest(self, limit: float) -> tuple[float, bool]:
        """The weakest strength at which linkage is within a limit, and whether there is one."""
        whole = self.way.lever == "k"
        low, high = self.way.low, min(self.way.high, self.data.n - 1) if whole else self.way.high
        if self.linkage(high) > limit:
            return high, False
        while high - low > 1 if whole else high / low > CLOSE:
            middle = round((low * high) ** 0.5) if whole else (low * high) ** 0.5
            middle = min(max(middle, low + 1), high - 1) if whole else middle
            if self.linkage(middle) > limit:
                low = middle
            else:
                high = middle
        return (int(high) if whole else round(high, 3)), True

    def measured(self, strength: float) -> dict[str, float]:
        """Means and standard errors over fresh releases, and the largest t of a mean's drift."""
        rows: list[list[float]] = []
        every: list[list[float]] = []
        fresh = self.seed + FRESH
        for each in self.comparisons(strength, range(fresh, fresh + RELEASES)):
            spreads, drifts = moments(each.original, each.masked)
            every.append(drifts)
            rows.append(
                [
                    *(_value(MEASURES[key].read(each)) for key in READ.values()),
                    float(np.mean(np.abs(spreads))),
                    float(np.mean(np.abs(drifts))),
                    *categories(each.original, each.masked),
                ]
            )
        found: dict[str, float] = {}
        for name, values in zip((*READ, *COUNTED), np.array(rows).T, strict=True):
            found[name] = float(values.mean())
            found[f"{name}_se"] = float(values.std(ddof=1) / RELEASES**0.5)
        drifted = np.array(every)
        error = drifted.std(axis=0, ddof=1) / RELEASES**0.5
        found["drift_t"] = float(np.max(np.abs(drifted.mean(axis=0)) / error))
        return found


def _value(reading: Reading | NotApplicable) -> float:
    """The value; not a number where a release has none, as a slope of a level that vanished."""
    return float(reading.value) if isinstance(reading, Reading) else np.nan


def line(demo: str, slicing: str, limit: float, key: str, records: int) -> dict[str, Any]:
    """One line of the file."""
    start = time.process_time()
    data, whole = sampled(demo, records)
    data = data.with_slices(SLICINGS[slicing](data))
    seed = zlib.crc32(f"{demo}, {slicing}, {limit}, {key}".encode()) % FRESH
    cell = Cell(data=data, way=WAYS[key], seed=seed)
    strength, reached = cell.weakest(limit)
    row: dict[str, Any] = {
        "table": demo,
        "records": data.n,
        "of": whole,
        "slicing": slicing,
        "limit": limit,
        "way": key,
        "lever": cell.way.lever,
        "strength": strength,
        "reached": "yes" if reached else "no",
    }
    found = cell.measured(strength)
    row |= {name: "" if np.isnan(value) else f"{value:.4g}" for name, value in found.items()}
    return row | {"seconds": f"{time.process_time() - start:.1f}"}


def rare_lines() -> Iterator[dict[str, Any]]:
    """What becomes of a flag that 8 of 400 records have, exactly, at the first limit."""
    frame = pd.DataFrame(mixed(400, 4), columns=list("abcd"))
    flag = np.isin(np.arange(400), np.random.default_rng(1).permutation(400)[:8])
    data = rwn.Microdata.from_frame(frame.assign(flag=np.where(flag, "yes", "no")))
    for key, way in WAYS.items():
        cell = Cell(data=data, way=way, seed=1)
        strength, reached = cell.weakest(LIMITS[0])
        law = next(cell.comparisons(strength, range(1))).law
        assert law is not None
        table, values = law.table("flag")
        shown = table[:, values.index("yes")]
        yield {
            "way": key,
            "lever": way.lever,
            "strength": strength,
            "reached": "yes" if reached else "no",
            "own": f"{shown[flag].mean():.3f}",
            "count": f"{shown.sum() / flag.sum():.3f}",
        }


Key = tuple[str, str, str]
Group = dict[str, dict[str, str]]


def grouped(rows: Sequence[dict[str, str]]) -> dict[Key, Group]:
    """By limit, table and slices the lines of all ways; `even` is the one that loses less."""
    groups: dict[Key, Group] = {}
    for row in rows:
        groups.setdefault((row["limit"], row["table"], row["slicing"]), {})[row["way"]] = row
    groups = {key: group for key, group in groups.items() if set(group) == set(WAYS)}
    for group in groups.values():
        found = [group[each] for each in ("nearest", "ball")]
        reached = [each for each in found if each["reached"] == "yes"]
        group["even"] = min(reached or found, key=lambda each: float(each["loss"]))
    return groups


def against(group: Group, key: str, measure: str) -> tuple[float, float]:
    """The relative difference from the even kernel, and the same in standard errors."""
    (one, error), (other, second) = (
        (float(group[way][measure]), float(group[way][f"{measure}_se"])) for way in (key, "even")
    )
    return one / other - 1.0, (one - other) / float(np.hypot(error, second))


def page_lines(rows: Sequence[dict[str, str]], rare: Sequence[dict[str, str]]) -> Iterator[str]:
    """The part of the page that this program writes."""
    groups = grouped(rows)
    seconds = sum(float(row["seconds"]) for row in rows)
    yield (
        f"`python -m benchmarks kernels` made the numbers in {seconds / 60:.0f} processor minutes; "
        "all of them, with standard errors, are in [kernels.csv](kernels.csv). Each is the mean of "
        f"{RELEASES} releases at the weakest strength that keeps the limit on worst-case linkage. "
        "Bold: more than two standard errors worse than even."
    )
    for limit in map(str, LIMITS):
        yield f"### Loss at {_percent(float(limit))} linkage"
        yield "\n".join(_loss_table({k: v for k, v in groups.items() if k[0] == limit}))
    yield (
        "In the tables below *SD* is the mean change of standard deviations, *means* the mean "
        "drift in SD, *t* the largest drift over all releases in standard errors, *slope* the "
        "largest change of a regression slope in standard errors of the original (–: in some "
        "release a level had vanished, so that there was none), *categories* the share of them "
        "that change, and *shares* the mean change of the share of a level."
    )
    for demo in dict.fromkeys(row["table"] for row in rows):
        yield f"### {demo} at {_percent(LIMITS[0])} linkage"
        first = next(row for row in rows if row["table"] == demo)
        if first["records"] != first["of"]:
            yield f"{int(first['records']):,} random records of {int(first['of']):,}."
        yield "\n".join(_measures_table([row for row in rows if row["table"] == demo]))
    yield "### A flag of 8 in 400 records"
    yield "| neighborhood | keep it | expected count |\n|---|---|---|\n" + "\n".join(
        f"| {_named(row)} | {_percent(float(row['own']))} | {_percent(float(row['count']))} |"
        for row in rare
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _named(row: Mapping[str, str]) -> str:
    names = {"k": "k", "epsilon": "ε", "width": "h"}
    return f"{row['way']}, {names[row['lever']]} = {float(row['strength']):.3g}"


def _loss_table(groups: Mapping[Key, Group]) -> Iterator[str]:
    """The change of associations in each cell of one limit."""
    yield "| table | slices | even | gaussian | balanced | balanced against even | relations lost |"
    yield "|---|---|---|---|---|---|---|"
    for (_, demo, slicing), group in groups.items():
        losses = (
            f"{float(group[way]['loss']):.3f} ± {float(group[way]['loss_se']):.3f}"
            for way in ("even", "gaussian", "balanced")
        )
        change, errors = against(group, "balanced", "loss")
        lost = (_percent(float(group[way]["relations_lost"])) for way in ("even", "balanced"))
        beyond = f", **{errors:+.0f} s.e.**" if errors > 2 else ""
        cells = (demo, slicing.replace("|", "/"), *losses, f"{100 * change:+.0f} %{beyond}")
        yield f"| {' | '.join(cells)} | {' → '.join(lost)} |"


def _measures_table(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Every measure of a table at the first limit."""
    heads = {
        "SD": "sd",
        "means": "drift",
        "t": "drift_t",
        "quantiles": "quantiles",
        "slope": "regression",
        "attribute": "attribute",
        "matches": "matches",
        "extremes": "extremes",
        "categories": "changed",
        "shares": "shares",
    }
    shown = {head: name for head, name in heads.items() if any(row[name] for row in rows)}
    yield f"| slices | neighborhood | {' | '.join(shown)} |"
    yield "|---" * (2 + len(shown)) + "|"
    for row in rows:
        if row["limit"] == str(LIMITS[0]):
            values = (f"{float(row[name]):.2g}" if row[name] else "–" for name in shown.values())
            yield f"| {row['slicing'].replace('|', '/')} | {_named(row)} | {' | '.join(values)} |"


def main() -> None:
    """Read the command line, add the lines that the files lack, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demos", nargs="*", default=list(DEMOS))
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    chosen = parser.parse_args()
    cells = [] if chosen.page else product(LIMITS, chosen.demos, SLICINGS, WAYS)
    for limit, demo, slicing, key in cells:
        rows: list[Mapping[str, Any]] = [*read_lines(FILE)]
        known = {tuple(row[c] for c in ("table", "slicing", "limit", "way")) for row in rows}
        inside = slicing == INSIDE and limit != LIMITS[0]
        if inside or (demo, slicing, str(limit), key) in known:
            continue
        rows.append(line(demo, slicing, limit, key, chosen.records))
        write_lines(FILE, rows)
        say(" ".join(f"{name} {value}" for name, value in rows[-1].items() if value != ""))
    if not RARE.exists():
        write_lines(RARE, list(rare_lines()))
    write_end(PAGE, BEGINS, "\n" + "\n\n".join(page_lines(read_lines(FILE), read_lines(RARE))))


if __name__ == "__main__":
    main()
