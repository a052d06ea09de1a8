"""All methods under one policy, and at one loss: what each costs and what each protects.

``python -m benchmarks.methods [bodyfat pima cps1988]`` tunes every method by its strength and
writes docs/explanation/methods-compared.csv, with a figure for each table. Of a table with more
records than ``--records`` random ones are taken, which the file and the figures say.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.charts.parts.style import LIMIT, NEUTRAL, RELEASED
from rwn_core.charts.parts.svg import Picture, Scale, tick_values
from rwn_core.masking import METHODS
from rwn_core.tuning import Plan, Policy, Setting, Trials
from rwn_core.tuning.match import Loss, Matched, match

DEMOS = ("bodyfat", "pima", "cps1988")
HERE = Path(__file__).parents[1] / "docs" / "explanation"
FILE = HERE / "methods-compared.csv"
RECORDS = 1_000
SAMPLE_SEED = 0
RELEASES = 20
LOSS = 0.1
POLICY = Policy()
UTILITY = ("correlation", "regression", "marginals", "pmse", "contingency")
WAYS = {"policy": POLICY, "loss": Loss(measure="correlation", value=LOSS)}
NOTES = (
    "Filled: reached. Hollow: not, drawn where its strength ends. Above the frame or at the right:",
    "without an exact law; the worst case is unknown and the policy not kept. 1s: RWN in slices.",
)
WAYS_ORDER = ("policy", "slices", "loss")
SLICED = {
    "bodyfat": (6.6, (), ("siri",)),
    "pima": (5.5, (("diastolic", "glucose", "insulin", "test"),), ()),
}
"""By table what the slice search found for RWN: the radius, slices, and what stands alone; all
other variables travel together (benchmarks/slices.py)."""
LEAST, MOST = 0.05, 20.0  # shares of a limit that the figure reaches


def sampled(demo: str, records: int) -> tuple[rwn.Microdata, int]:
    """A demo table, or random records of it, and how many it has."""
    data = rwn.load_demo(demo)
    if data.n <= records:
        return data, data.n
    chosen = np.random.default_rng(SAMPLE_SEED).permutation(data.n)[:records]
    return data.take(np.sort(chosen)), data.n


def row_of(demo: str, sizes: tuple[int, int], way: str, found: Matched) -> dict[str, Any]:
    """One line of the file."""
    point, verdict = found.point, POLICY.judge_point(found.point)
    row: dict[str, Any] = {
        "table": demo,
        "records": sizes[0],
        "of": sizes[1],
        "tuned_to": way,
        "method": found.method,
        "setting": point.setting.words,
        "reached": "yes" if found.reached else "no",
        "kept": "yes" if verdict.kept else "no",
        "largest_share": _plain(verdict.largest),
        "largest_of": verdict.first or "",
        "not_read": " ".join(sorted(verdict.unread)),
    }
    for key in (*POLICY.measures, *UTILITY):
        row[key] = _plain(point.median(key))
    ends = point.spreads["correlation"].interval
    row["correlation_low"], row["correlation_high"] = (
        (_plain(ends[0]), _plain(ends[1])) if ends else ("", "")
    )
    return row


def _plain(value: float | None) -> str:
    return "" if value is None or not np.isfinite(value) else f"{value:.4g}"


def compared(demo: str, methods: list[str], records: int, releases: int) -> list[dict[str, Any]]:
    """Methods on one table, tuned in both ways."""
    data, whole = sampled(demo, records)
    plan = Plan(measures=(*POLICY.measures, *UTILITY), releases=releases)
    rows = []
    for way, to in WAYS.items():
        for key in methods:
            start = time.process_time()
            try:
                (found,) = match(data, [key], to, plan=plan)
            except rwn.ParameterError as refusal:
                say(f"{demo}, {way}: {key} is refused: {refusal}")
                continue
            rows.append(row_of(demo, (data.n, whole), way, found))
            took = time.process_time() - start
            say(f"{demo}, {way}: {rows[-1]['setting'] or key}: reached {rows[-1]['reached']}, "
                f"share of a limit {rows[-1]['largest_share']}, correlation "
                f"{rows[-1]['correlation']}; {took:.1f} CPU s")  # fmt: skip
    if demo in SLICED and "rwn" in methods:
        rows.append(row_of(demo, (data.n, whole), "slices", sliced(demo, data, plan)))
    return rows


def sliced(demo: str, data: rwn.Microdata, plan: Plan) -> Matched:
    """RWN with the slices that the slice search found."""
    epsilon, slices, alone = SLICED[demo]
    apart = {*alone, *chain.from_iterable(slices)}
    rest = tuple(v.name for v in data.schema.released if v.name not in apart)
    setting = Setting(params=rwn.RWN(epsilon=epsilon, k=5), slices=(*slices, rest)).resolved(data)
    point = Trials(data, [setting], plan).run(setting)
    return Matched(point=point, reached=POLICY.judge_point(point).kept)


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def figure(demo: str, rows: list[dict[str, Any]]) -> str:
    """The map of a table: tuned to the policy on the left, to one loss on the right."""
    mine = [row for row in rows if row["table"] == demo]
    size, whole = mine[0]["records"], mine[0]["of"]
    of = f"{int(size):,} random records of {int(whole):,}" if size != whole else f"{size} records"
    picture = Picture(1090, 490, f"All methods on {demo}: loss of correlations and risk")
    picture.text(60, 22, f"{demo}, {of}; medians of releases")
    policy, loss = ([row for row in mine if row["tuned_to"] == way] for way in WAYS)
    policy += [row for row in mine if row["tuned_to"] == "slices"]
    _map(picture, policy)
    _strip(picture, loss)
    return picture.svg()


def _map(picture: Picture, rows: list[dict[str, Any]]) -> None:
    """Loss and risk of every method that is tuned to the policy."""
    losses = [float(row["correlation"]) for row in rows if row["correlation"]]
    highest = max(0.1, float(np.ceil(10 * max(losses))) / 10)
    x, y = Scale(0.0, highest, 60, 460), Scale(LEAST, MOST, 410, 90, log=True)
    picture.text(60, 48, "Tuned to the policy: its weakest setting that keeps it, or the strongest")
    picture.axes(x, y, ("loss of correlations", "share of the nearest limit (1: all of it)"))
    one = float(y(1.0))
    picture.line((60, one, 460, one), LIMIT, ' stroke-dasharray="6 3"')
    taken: list[tuple[float, float]] = []
    for row in rows:
        if row["correlation"]:
            across, up = float(x(float(row["correlation"]))), _height(y, row)
            while any(abs(a - across) < 9 and abs(b - up) < 9 for a, b in taken):
                across += 3
            taken.append((across, up))
            _mark(picture, across, up, row)
    lost = [METHODS[row["method"]].title for row in rows if not row["correlation"]]
    if lost:
        words = f"Not drawn, no correlation is left to read: {', '.join(lost)}"
        picture.text(60, 466, words, more=f' style="fill:{NEUTRAL}"')


def _strip(picture: Picture, rows: list[dict[str, Any]]) -> None:
    """Risk of every method that is tuned to one loss, a line each, with the loss it has."""
    x = Scale(LEAST, MOST, 760, 1060, log=True)
    words = f"Tuned to a loss of correlations of at most {LOSS:g}: share of the nearest limit"
    picture.text(530, 48, words)
    picture.text(752, 74, "method and its loss", at="end", more=f' style="fill:{NEUTRAL}"')
    for value in tick_values(x):
        place = float(x(value))
        picture.line((place, 84, place, 424), NEUTRAL, ' stroke-opacity="0.3"')
        picture.text(place, 440, f"{value:g}", at="middle")
    one = float(x(1.0))
    picture.line((one, 84, one, 424), LIMIT, ' stroke-dasharray="6 3"')
    for row in rows:
        number = list(METHODS).index(row["method"])
        up = 96 + 22 * number
        loss = f"{float(row['correlation']):.3f}" if row["correlation"] else "none to read"
        title = f"{METHODS[row['method']].title}, {loss}"
        picture.text(752, up + 4, title, at="end")
        across = 1075.0 if row["not_read"] else float(x(max(float(row["largest_share"]), LEAST)))
        _mark(picture, across, up, row)
    for number, line in enumerate(NOTES):
        picture.text(530, 466 + 15 * number, line, more=f' style="fill:{NEUTRAL}"')


def _height(y: Scale, row: dict[str, Any]) -> float:
    """Where a method stands; above the frame where its worst case is unknown."""
    return 72.0 if row["not_read"] else float(y(max(float(row["largest_share"]), LEAST)))


def _mark(picture: Picture, across: float, up: float, row: dict[str, Any]) -> None:
    """A method's number, filled where what was asked for is reached."""
    reached = row["reached"] == "yes"
    fill, edge, ink = (RELEASED, RELEASED, "#ffffff") if reached else ("#ffffff", NEUTRAL, NEUTRAL)
    picture.circle(across, up, 9, f' fill="{fill}" fill-opacity="0.85" stroke="{edge}"')
    number = f"{list(METHODS).index(row['method']) + 1}{'s' * (row['tuned_to'] == 'slices')}"
    style = f' style="fill:{ink};font-size:11px"'
    picture.text(across, up + 4, number, at="middle", more=style)


def kept_rows(demos: list[str], methods: list[str]) -> list[dict[str, Any]]:
    """The lines of the file that are about other tables or methods."""
    if not FILE.exists():
        return []
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if row["table"] not in demos or row["method"] not in methods]


def main() -> None:
    """Read the command line, tune, and write the file and the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demos", nargs="*", default=list(DEMOS))
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--releases", type=int, default=RELEASES)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--draw", action="store_true", help="only draw the figures anew")
    chosen = parser.parse_args()
    demos = [] if chosen.draw else chosen.demos
    rows: list[dict[str, Any]] = []
    for demo in demos:
        rows += compared(demo, chosen.methods, chosen.records, chosen.releases)
    rows += kept_rows(demos, chosen.methods)
    order = list(METHODS)
    rows.sort(
        key=lambda row: (
            DEMOS.index(row["table"]),
            WAYS_ORDER.index(row["tuned_to"]),
            order.index(row["method"]),
        )
    )
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for demo in dict.fromkeys(row["table"] for row in rows):
        (HERE / f"methods-compared-{demo}.svg").write_text(figure(demo, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
