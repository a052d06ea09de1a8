"""The stated limits of the neighborhood search: what is measured for each, and what may come out.

Each line has a name, so that one of them can be checked in a minute or two:
``python benchmarks/engine.py --line ckdtree kdtree``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

UNLIMITED = 1e6  # seconds

_MIXED = {"kind": "mixed", "p": 10}
MILLION = {"what": "engine", **_MIXED, "n": 1e6, "size": 90, "k": 5, "threads": 2}
HALVES = [{**MILLION, "n": n} for n in (2.5e5, 5e5)]
HUNDRED = {"what": "engine", **_MIXED, "n": 1e5, "size": 100, "k": 5, "threads": 1}
CKDTREE = {"what": "peer", **_MIXED, "n": 1e5, "size": 100, "peer": "cKDTree"}
KDTREE = {**CKDTREE, "peer": "KDTree"}
BRUTE = {**CKDTREE, "peer": "brute"}
DISCRETE = {"what": "engine", "kind": "discrete", "n": 1e6, "p": 5, "k": 5, "threads": 1}
MOVE = {"what": "move", **_MIXED}
CANCEL = {"what": "cancel", **_MIXED, "n": 1e6, "size": 90, "k": 5, "threads": 2}

Rows = list[dict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One limit.

    Attributes
    ----------
    name, says : str
    cases : list of dict
        What is measured for it.
    figure : callable
        From the measurements of the cases, in their order, to the number that is limited.
    most, least : float, optional
        The limit.
    quick : bool
        Takes a minute or two.
    """

    name: str
    says: str
    cases: Rows
    figure: Callable[[Rows], float]
    most: float = float("inf")
    least: float = float("-inf")
    quick: bool = True

    def kept(self, figure: float) -> bool:
        """Whether a figure keeps the limit."""
        return self.least <= figure <= self.most

    @property
    def limit(self) -> str:
        """The limit in words."""
        return f"at most {self.most:g}" if self.most < float("inf") else f"at least {self.least:g}"


def _first(name: str) -> Callable[[Rows], float]:
    return lambda rows: float(rows[0][name])


def _ratio(rows: Rows) -> float:
    """The peer's processor time, measured between two searches, over theirs."""
    before, peer, after = rows
    return 2 * peer["cpu_s"] / (before["cpu_s"] + after["cpu_s"])


def _beside(peer: dict) -> Rows:
    return [{**HUNDRED, "turn": 1}, peer, {**HUNDRED, "turn": 2}]


def _bytes_a_record(rows: Rows) -> float:
    """How much more memory a record of the largest table takes than one of the smallest."""
    small, large = ((row["peak_gb"] - row["idle_gb"]) / row["n"] for row in (rows[0], rows[-1]))
    return float(large / small)


LINES = (
    Line(
        name="million",
        says="n = 1e6, p = 10 mixed, mean size 90, k = 5, q = 1: processor seconds in all",
        cases=[MILLION],
        figure=_first("cpu_s"),
        most=50,
        quick=False,
    ),
    Line(
        name="million-memory",
        says="the same: peak memory, GB",
        cases=[MILLION],
        figure=_first("peak_gb"),
        most=1.2,
        quick=False,
    ),
    Line(
        name="million-wall",
        says="the same on two processors of an idle machine: wall time over processor time",
        cases=[MILLION],
        figure=lambda rows: rows[0]["wall_s"] / rows[0]["cpu_s"],
        most=0.65,
        quick=False,
    ),
    Line(
        name="memory",
        says="memory of a record at n = 1e6 over that at n = 2.5e5",
        cases=[*HALVES, MILLION],
        figure=_bytes_a_record,
        most=1.1,
        quick=False,
    ),
    Line(
        name="ckdtree",
        says="n = 1e5, p = 10, mean size 100, one thread: times faster than cKDTree's count alone",
        cases=_beside(CKDTREE),
        figure=_ratio,
        least=15,
    ),
    Line(
        name="kdtree",
        says="the same: times faster than scikit-learn's KDTree count alone",
        cases=_beside(KDTREE),
        figure=_ratio,
        least=20,
    ),
    Line(
        name="discrete",
        says="3 binary and 2 integer columns, n = 1e6, mean size 100: processor seconds",
        cases=[{**DISCRETE, "size": 100}],
        figure=_first("cpu_s"),
        most=4,
    ),
    Line(
        name="discrete-1000",
        says="the same, mean size 1,000",
        cases=[{**DISCRETE, "size": 1000}],
        figure=_first("cpu_s"),
        most=4,
    ),
    Line(
        name="move-20190",
        says="a slider move at 20,190 x 10: median ms",
        cases=[{**MOVE, "n": 20_190}],
        figure=_first("median_ms"),
        most=10,
    ),
    Line(
        name="move-100000",
        says="a slider move at 100,000 x 10: median ms",
        cases=[{**MOVE, "n": 100_000}],
        figure=_first("median_ms"),
        most=45,
    ),
    Line(
        name="cancel",
        says="n = 1e6: longest time from cancelling to the end, at ten moments, s",
        cases=[CANCEL],
        figure=_first("longest_s"),
        most=0.5,
    ),
)


def lines_of(names: list[str] | None, quick: bool) -> list[Line]:
    """The lines of these names, or all, or the quick ones."""
    known = {line.name: line for line in LINES}
    if names:
        unknown = [name for name in names if name not in known]
        if unknown:
            raise SystemExit(f"No line is named {unknown[0]}; there are {', '.join(known)}.")
        return [known[name] for name in names]
    return [line for line in LINES if line.quick or not quick]
