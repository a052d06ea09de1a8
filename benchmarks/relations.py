"""What is left of relations at one linkage, and what its rows tell: apart, by prediction, tied.

``python -m benchmarks relations [TABLE ...]`` finds for each table and each way the weakest
strength at which the best of all linkage attacks is right for at most 5 and 2 % of the rows, in the
mean of three releases, and reads loss and disclosure there. Only the response of the
regression is confidential. Each line goes into
docs/explanation/relations.csv as soon as it is known; ``--page`` writes the tables of the page of
that name from the file. Without names it does the tables that are not in the file, ``--ways`` does
some ways only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

import rwn_core as rwn
from benchmarks.pages import HERE, read_lines, say, write_end, write_lines
from benchmarks.tables import sampled
from rwn_core.data.schema import Slices
from rwn_core.data.variable import Role
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.parallel.processes import be_polite

FILE, PAGE = HERE / "relations.csv", HERE / "relations.md"
BEGINS = "## All tables\n"
TABLES = {"bodyfat": 2_000, "pima": 2_000, "cps1988": 1_000, "randhie": 1_000}  # records at most
LIMITS = (0.05, 0.02)
RELEASES, SPLITS = 3, 4  # of the splits both halves are masked in turn
WIDTHS = tuple(round(0.35 * 1.3**step, 3) for step in range(18))  # standard deviations
LEAVES = (3, 5, 10, 20, 40, 80)
KERNEL = rwn.SoftRWN(kernel="exponential", bandwidth="absolute", own=True, balance=1.0, width=1.0)
LINKS = ("bayes_linkage", "whole_file_linkage", "distance_linkage")
LOSSES = {"loss": "association_loss", "slopes": "regression", "pmse": "pmse"}
COLUMNS = (
    *("table", "records", "limit", "way", "slices", "setting", "linkage", "loss", "loss_se"),
    *("slopes", "slopes_se", "pmse", "pmse_se", "gain", "gain_se", "inside", "outside"),
    *("matches", "whole_rows", "seconds", "note"),
)
_FIELDS = {field.name for field in fields(rwn.SoftRWN)}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to mask, by its strength."""

    name: str
    slices: str
    table: rwn.Microdata
    strengths: Sequence[float]
    params: Callable[[float], Any]


def cuts(data: rwn.Microdata) -> Iterator[tuple[str, Slices]]:
    """Yield the slices that are compared: the response alone, without and with the keys apart."""
    question = data.schema.question
    assert question is not None, "every table has a regression"
    released = [v for v in data.schema.released if v.masked and v.name != question.response]
    yield "response apart", (tuple(v.name for v in released),)
    keys = tuple(v.name for v in released if v.role is Role.KEY)
    others = tuple(v.name for v in released if v.role is not Role.KEY)
    yield "keys, others, response", tuple(each for each in (keys, others) if len(each) > 1)


def ways(data: rwn.Microdata) -> Iterator[Way]:
    """Yield all ways of a table."""

    def wide(**options: Any) -> Callable[[float], Any]:
        return lambda width: replace(KERNEL, width=width, **options)

    yield Way("each alone", "", data.with_slices(()), WIDTHS, wide())
    for words, slices in cuts(data):
        cut = data.with_slices(slices)
        yield Way("slices apart", words, cut, WIDTHS, wide())
        for name, option in (("by prediction", "by_prediction"), ("tied", "tie")):
            if option in _FIELDS:
                yield Way(name, words, cut, WIDTHS, wide(**{option: True}))
    numbers = tuple(data.numeric_names)
    shuffled = rwn.DataShuffling(variables=numbers)
    yield Way("data shuffling", "", data, (1.0,), lambda anew: replace(shuffled, anew=anew))
    yield Way("CART", "", data, LEAVES, lambda leaf: rwn.CARTSynthesis(leaf=int(leaf)))


def value(measure: str, compared: Comparison) -> float:
    """Return a reading, of a lower bound its upper end; NaN where there is none."""
    found = rwn.MEASURES[measure].read(compared, bare=True)
    if not isinstance(found, Reading):
        return np.nan
    most = found.detail.at_most if found.detail.standing == "at least" else None
    return found.value if most is None else most


def drawn(way: Way, strength: float) -> list[Comparison]:
    """Return three releases; a strength that cannot be drawn has a refusal."""
    made = way.params(strength).prepare(way.table)
    base = Comparison(original=way.table, masked=way.table)
    found = []
    for seed in range(RELEASES):
        release = made.release(rwn.SecretKey.from_seed(seed + 1))
        found.append(base.with_masked(release.masked, release.law))
    return found


def linkage(compared: Comparison, measures: Sequence[str] = LINKS) -> float:
    """Return the share of rows that the best attack links; without a law, of the simple ones."""
    shares = [value(key, compared) for key in measures]
    if compared.law is None:
        team = rwn.MEASURES["red_team"].read(compared, bare=True)
        assert isinstance(team, Reading)
        shares += [each.score for each in team.detail.findings if each.kind == "identity"]
    return float(np.nanmax(shares))


def whole_rows(compared: Comparison) -> float:
    """Return the share of released rows that are some original row as a whole."""
    names = [variable.name for variable in compared.masked.schema.released]
    known = set(compared.original.frame[names].itertuples(index=False, name=None))
    rows = compared.masked.frame[names].itertuples(index=False, name=None)
    return float(np.mean([row in known for row in rows]))


def read(way: Way, strength: float, releases: Sequence[Comparison]) -> dict[str, str]:
    """Return what a way loses and tells at a strength."""
    found: dict[str, float] = {}
    for key, measure in LOSSES.items():
        values = np.array([value(measure, each) for each in releases])
        found[key], found[f"{key}_se"] = values.mean(), values.std(ddof=1) / len(values) ** 0.5
    found["matches"] = np.mean([value("true_matches", each) for each in releases])
    found["whole_rows"] = np.mean([whole_rows(each) for each in releases])
    told = rwn.attribute_difference(way.table, way.params(strength), splits=SPLITS)
    found |= {"gain": told.value, "gain_se": told.error}
    found |= {"inside": told.inside, "outside": told.outside}
    return {key: f"{number:.4f}" for key, number in found.items()}


def response_only(name: str, most: int | None = None) -> rwn.Microdata:
    """Return a table with the response of its regression as the only confidential variable."""
    data, _ = sampled(name, most or TABLES[name])
    schema = data.schema
    question = data.schema.question
    assert question is not None, "every table has a regression"
    for variable in schema.released:
        if variable.role is Role.CONFIDENTIAL and variable.name != question.response:
            schema = schema.replace_variable(variable.name, role=Role.OTHER)
    return data.with_schema(schema.replace_variable(question.response, role=Role.CONFIDENTIAL))


def rows_of(name: str, only: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a line for each way and limit of a table."""
    data = response_only(name)
    for way in ways(data):
        if only and way.name not in only:
            continue
        start = time.perf_counter()
        releases = cache(lambda place, way=way: drawn(way, way.strengths[place]))
        quick = cache(lambda place, releases=releases: linkage(releases(place)[0], LINKS[:1]))
        full = cache(lambda place, releases=releases: float(
            np.mean([linkage(each) for each in releases(place)])))  # fmt: skip
        for limit in LIMITS:
            line = {"table": name, "records": data.n, "limit": limit, "way": way.name}
            line |= {"slices": way.slices}
            # the weakest place that keeps the limit
            low = 0
            high = len(way.strengths)
            try:
                while low < high:
                    middle = (low + high) // 2
                    low, high = (low, middle) if quick(middle) <= limit else (middle + 1, high)
                low = min(low, len(way.strengths) - 1)
                while low and full(low - 1) <= limit:  # one release has luck
                    low -= 1
                while low < len(way.strengths) and full(low) > limit:
                    low += 1
                if low == len(way.strengths):
                    yield {**line, "note": f"not kept: {full(low - 1):.3f} at the strongest"}
                    continue
                numbers = read(way, way.strengths[low], releases(low))
            except rwn.RWNError as refusal:
                yield {**line, "note": str(refusal)}
                break
            line |= {"setting": way.strengths[low], "linkage": f"{full(low):.4f}"}
            yield {**line, **numbers, "seconds": f"{time.perf_counter() - start:.0f}"}


def table_of(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield one table of the page: each way at its best slices."""
    yield "| way | linkage | relations lost | slopes | pMSE | gain | true matches | whole rows |"
    yield f"|{'---|' * 8}"
    best: dict[str, Mapping[str, str]] = {}
    for row in rows:
        known = best.setdefault(row["way"], row)
        if row["loss"] and (not known["loss"] or float(row["loss"]) < float(known["loss"])):
            best[row["way"]] = row
    for way, row in best.items():
        name = f"{way}, {row['slices']}" if row["slices"] else way
        if not row["loss"]:
            yield f"| {name} | {row['note']} | | | | | | |"
            continue
        pairs = [f"{float(row[k]):.3f} ± {float(row[k + '_se']):.3f}" for k in (*LOSSES, "gain")]
        ends = [f"{float(row[key]):.3f}" for key in ("matches", "whole_rows")]
        yield f"| {name} | {float(row['linkage']):.3f} | {' | '.join((*pairs, *ends))} |"


def against_apart(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield for each table how slices by prediction and tied compare with the same slices apart."""
    yield "| table | way | relations lost, times those of the slices apart | gain, less theirs |"
    yield "|---|---|---|---|"
    read = {(r["table"], r["limit"], r["slices"], r["way"]): r for r in rows if r["loss"]}
    for name in TABLES:
        for way in ("by prediction", "tied"):
            mine = [
                (row, read[*key[:3], "slices apart"])
                for key, row in read.items()
                if key[0] == name and key[3] == way and (*key[:3], "slices apart") in read
            ]
            if mine:
                times = [float(row["loss"]) / float(apart["loss"]) for row, apart in mine]
                more = [float(row["gain"]) - float(apart["gain"]) for row, apart in mine]
                ends = (
                    f"{min(times):.2f} to {max(times):.2f} | {min(more):+.3f} to {max(more):+.3f}"
                )
                yield f"| {name} | {way} | {ends} |".replace("-0.", "−0.")


def page(rows: Sequence[Mapping[str, str]]) -> str:
    """The part of the page that this program writes."""
    parts = ["\n".join(against_apart(rows))]
    for name in TABLES:
        for limit in LIMITS:
            mine = [r for r in rows if r["table"] == name and float(r["limit"]) == limit]
            if mine:
                records = int(mine[0]["records"])
                parts.append(f"### {name}, {records:,} records, linkage at most {limit:g}")
                parts.append("\n".join(table_of(mine)))
    return "\n\n".join(parts)


def main() -> None:
    """Read the command line, and write the file line by line, and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=", ".join(TABLES))
    parser.add_argument("--ways", default="", help="some ways only, between commas")
    parser.add_argument("--page", action="store_true", help="write the page only")
    given = parser.parse_args()
    be_polite()
    known = {row["table"] for row in read_lines(FILE)}
    missing = [] if given.page else [name for name in TABLES if name not in known]
    for name in given.tables or missing:
        only = list(filter(None, given.ways.split(",")))
        kept: list[Mapping[str, Any]] = [
            row
            for row in read_lines(FILE)
            if row["table"] != name or (only and row["way"] not in only)
        ]
        for row in rows_of(name, only):
            kept.append(row)
            write_lines(FILE, kept, COLUMNS)
            say(" ".join(f"{key}={held}" for key, held in row.items()))
    write_end(PAGE, BEGINS, f"\n{page(read_lines(FILE))}")


if __name__ == "__main__":
    main()
