"""Our measures beside those of sdcMicro, pycanon, sdmetrics and suda, on public tables.

``python -m benchmarks side_by_side`` writes our numbers in docs/explanation/side-by-side.csv and
its page anew; what the other programs said when they were run stays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.pages import HERE, read_lines, write_end, write_lines
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.key_classes import distinct_values
from rwn_core.measures.risk.nearness import inside
from rwn_core.measures.risk.population_risk import scores
from rwn_core.measures.statistics.key_variables import class_sizes, class_totals
from rwn_core.measures.statistics.population import individual_risk

FILE, PAGE = HERE / "side-by-side.csv", HERE / "side-by-side.md"
BEGINS = "<!-- what follows is written by python -m benchmarks side_by_side -->"
MANUAL, TESTS = "manual of 5.7.9", "tests of the package"
FORMULA = "formula of its source"


ROLES: dict[str, Any] = {
    "keys": ["ethnicity", "smsa", "region"],
    "secret": "parttime",
    "ranked": "education",
    "number": "wage",
    "category": "smsa",
}
FRANCDAT = {
    "key 1": [1, 1, 1, 3, 4, 4, 6, 1],
    "key 2": [2, 2, 2, 3, 3, 3, 2, 2],
    "key 3": [5, 1, 1, 1, 1, 1, 1, 5],
    "key 4": [1, 1, 1, 5, 4, 1, 5, 1],
    "weight": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
}
GUIDELINE = ("UUUURUUUUU", "FFFMFMFMFF", "iipcccdsii", "EENEUENUNN")
BOOK = ("yyyyyyyo", "mmmmfffm", "++------", "hhhhuhmu")
SMALL = ("baa", "xyx", "pqp")
SIX = (
    [[1.0, 10.0], [2.0, 12.0], [3.0, 11.0], [4.0, 15.0], [5.0, 14.0], [6.0, 18.0]],
    [[2.0, 10.0], [1.0, 11.0], [3.0, 12.0], [5.0, 15.0], [4.0, 18.0], [6.0, 14.0]],
)


def codes(columns: tuple[str, ...]) -> np.ndarray:
    """Return the letters of some columns as numbers, shape (n, m)."""
    return np.column_stack([np.unique(list(c), return_inverse=True)[1] for c in columns])


def francdat(missing: bool) -> np.ndarray:
    """Return the keys of sdcMicro's example, shape (8, 4); -1 for a missing value."""
    cells = np.column_stack([FRANCDAT[f"key {number}"] for number in range(1, 5)]).astype(np.int64)
    if missing:
        cells[[2, 3, 3, 4, 5], [2, 0, 1, 3, 0]] = -1
    return cells


WEIGHT = np.array(FRANCDAT["weight"])


def older_risk() -> np.ndarray:
    """Return the individual risk of Benedetti and Franconi of each record."""
    cells = francdat(missing=False)
    return individual_risk(class_sizes(cells), class_totals(cells, WEIGHT))


def older(size: int, population: float) -> float:
    """Return the individual risk of a class by Benedetti and Franconi."""
    return float(individual_risk(np.array([size]), np.array([population]))[0])


def fitted_risk() -> float:
    """Return the mean individual risk that the program shows."""
    kinds = [(name, Kind.CATEGORICAL, Role.KEY) for name in FRANCDAT if name != "weight"]
    kinds.append(("weight", Kind.CONTINUOUS, Role.OTHER))
    schema = Schema(variables=tuple(Variable(name=n, kind=k, role=r) for n, k, r in kinds))
    frame = pd.DataFrame(FRANCDAT).astype(
        {name: str for name, _, role in kinds if role is Role.KEY}
    )
    data = rwn.Microdata.from_frame(frame, schema)
    comparison = Comparison(original=data, masked=data, sampling=Sampling(weights="weight"))
    return MEASURES["individual_risk"].compute(comparison).value


def six(measure: str, what: str = "") -> float:
    """Return a measure, or a number of its detail, of six records in two versions."""
    one, two = (pd.DataFrame(rows, columns=["x", "y"]) for rows in SIX)
    original = rwn.Microdata.from_frame(one)
    comparison = Comparison(original=original, masked=rwn.Microdata(two, original.schema))
    reading = MEASURES[measure].compute(comparison)
    return getattr(reading.detail, what) if what else reading.value


@cache
def survey() -> Comparison:
    """Return 1,000 records of cps1988 and a release of them."""
    data = rwn.load_demo("cps1988").take(np.arange(1000) * 28)
    roles = {ROLES["secret"]: Role.CONFIDENTIAL, ROLES["ranked"]: Role.CONFIDENTIAL}
    schema = data.schema
    for name in data.names:
        role = Role.KEY if name in ROLES["keys"] else roles.get(name, Role.OTHER)
        schema = schema.replace_variable(name, role=role)
    data = rwn.Microdata(data.frame, schema)
    return Comparison(
        original=data, masked=rwn.mask(data, rwn.RWN(epsilon=1.0, k=5), seed=7).masked
    )


@cache
def detail(measure: str) -> Any:
    """Return the detail of a measure of the release."""
    reading = read(measure, survey())
    assert isinstance(reading, Reading)
    return reading.detail


def of_classes(measure: str, what: str, side: str, role: str) -> float:
    """Return what a measure says of all classes, or of one confidential variable."""
    found = getattr(getattr(detail(measure), what), side)
    return float(found[detail(measure).secrets.index(ROLES[role])] if role else found)


def similarity(measure: str) -> float:
    """Return a measure of the release on the scale of sdmetrics: 1 is equal."""
    found = detail(measure)
    if measure == "correlation":
        places = np.ix_(*2 * [[found.names.index(ROLES[r]) for r in ("number", "ranked")]])
        return 1 - abs(found.original[places] - found.released[places])[0, 1] / 2
    pair = sorted((ROLES["category"], ROLES["secret"]), key=survey().original.names.index)
    return 1 - float(found.distance[found.pairs.index(pair)])


def variation(role: str) -> float:
    """Return 1 - the distance of the distributions of one variable."""
    return 1 - detail("marginals").variables[ROLES[role]].difference


def contributions(cells: np.ndarray) -> np.ndarray:
    """Return each variable's share of the scores in percent."""
    score, _, shares = scores(cells)
    return 100 * score @ shares / score.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Hold one number of another program and the function that gives ours."""

    program: str
    quantity: str
    table: str
    source: str
    theirs: str | tuple[float, ...]  # a name in what they said when run, or published numbers
    ours: Callable[[], Any]  # returns a number or several
    why: str = ""  # what differs, or what is equal
    digits: int = 6  # decimal places to which the other program's numbers are published


CLASS = np.array([0, 0, 0, 1, 1, 2, 2])
SHARE = (
    "sdcMicro adds over the records or cells; the measure shows the mean, and the detail the sum"
)
ROWS = (
    Row(
        program="sdcMicro", quantity="records below 2- and 3-anonymity", table="francdat",
        source=MANUAL, theirs=(4, 8), digits=0,
        ours=lambda: [(class_sizes(francdat(missing=False)) < k).sum() for k in (2, 3)],
    ),
    Row(
        program="sdcMicro", quantity="fk, sample frequency of the keys", table="francdat with gaps",
        source=MANUAL, theirs=(3, 2, 4, 3, 3, 2, 2, 3), digits=0,
        ours=lambda: class_sizes(francdat(missing=True)),
        why="a missing value matches any in both",
    ),
    Row(
        program="sdcMicro", quantity="Fk, population frequency", table="francdat with gaps",
        source=MANUAL, theirs=(149, 84.5, 194.5, 563, 566, 549, 22, 149), digits=1,
        ours=lambda: class_totals(francdat(missing=True), WEIGHT),
    ),
    Row(
        program="sdcMicro", quantity="individual risk of each record (indivRisk)", table="francdat",
        source=MANUAL, digits=8, ours=older_risk,
        theirs=(0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308,
                0.40235948, 0.01714426),
        why="Benedetti and Franconi; in the detail of the measure",
    ),
    Row(
        program="sdcMicro", quantity="individual risk of 3 records of 30 people", table="one class",
        source=FORMULA, theirs=(0.047619,), ours=lambda: older(3, 30.0),
        why="from three records on sdcMicro takes an approximation by default, with at most 30 "
        "records the exact expectation is taken here",
    ),
    Row(
        program="sdcMicro", quantity="mean individual risk", table="francdat", source=MANUAL,
        theirs=(0.12081576,), digits=4, ours=fitted_risk,  # the fit ends at the fifth
        why="the measure leads with Pitman's sampling formula fitted to the keys, which came "
        "nearer to the truth in simulated populations; sdcMicro's number is in its detail",
    ),
    Row(
        program="sdcMicro", quantity="SUDA scores", table="guideline, 10 records", source=TESTS,
        theirs=(0, 0, 6, 0, 12, 0, 6, 10, 0, 0), digits=0,
        ours=lambda: scores(codes(GUIDELINE))[0],
        why="equal for up to four keys; of more, sdcMicro searches sets of any size and weights by "
        "the number of keys, here sets have at most three; a missing value is a value here",
    ),
    Row(
        program="sdcMicro", quantity="SUDA scores, records 5 to 8", table="book, 8 records",
        source=TESTS, theirs=(4, 2, 6, 8), digits=0, ours=lambda: scores(codes(BOOK))[0][4:],
    ),
    Row(
        program="sdcMicro", quantity="SUDA contributions (percent)", table="3 records",
        source=TESTS, theirs=(50, 37.5, 37.5), digits=1,
        ours=lambda: contributions(codes(SMALL)),
    ),
    Row(
        program="sdcMicro", quantity="distinct l-diversity", table="7 records with gaps",
        source=TESTS, theirs=(3, 3, 3, 2, 2, 2, 2), digits=0,
        ours=lambda: distinct_values(CLASS, np.array([1, 0, 2, 1, 0, 0, 1]))[CLASS],
    ),
    Row(
        program="sdcMicro", quantity="dRisk, k = 0.5 and 0.8", table="six records, two variables",
        source=FORMULA, theirs=(0.166667, 0.666667),
        ours=lambda: [inside(*np.array(SIX), width).mean() for width in (0.5, 0.8)],
        why="the half-width is k standard deviations of the original here and of the release in "
        "sdcMicro; in this table both have the same",
    ),
    Row(
        program="sdcMicro", quantity="dUtility, IL1s", table="six records, two variables",
        source=FORMULA, theirs=(3.913780,), ours=lambda: six("il1s", "il1s_sum"),
        why=SHARE,
    ),
    Row(
        program="sdcMicro", quantity="dUtility, eigen", table="six records, two variables",
        source=FORMULA, theirs=(2.891475,), ours=lambda: six("eigenvalues"),
    ),
    *(
        Row(
            program="pycanon", quantity=quantity, table=f"1,000 of cps1988, {side}", source="run",
            theirs=f"{name} {side}",
            ours=partial(of_classes, measure, what, side, role),
            why=why,
        )
        for side in ("original", "released")
        for name, quantity, measure, what, role, why in (
            ("k", "k of k-anonymity", "k_anonymity", "smallest", "", ""),
            ("l", "distinct l-diversity", "l_diversity", "worst", "secret", ""),
            ("entropy l", "entropy l-diversity", "l_diversity", "entropy", "ranked",
             "pycanon cuts off what follows the point"),
            ("t", "t-closeness of categories", "t_closeness", "worst", "secret", ""),
            ("ordered t", "t-closeness of ordered values", "t_closeness", "worst", "ranked", ""),
        )
    ),
    Row(
        program="sdmetrics", quantity="KSComplement", table="1,000 of cps1988", source="run",
        theirs="ks", ours=lambda: variation("number"),
    ),
    Row(
        program="sdmetrics", quantity="TVComplement", table="1,000 of cps1988", source="run",
        theirs="tv", ours=lambda: variation("category"),
    ),
    Row(
        program="sdmetrics", quantity="CorrelationSimilarity", table="1,000 of cps1988",
        source="run", theirs="correlation", ours=lambda: similarity("correlation"),
    ),
    Row(
        program="sdmetrics", quantity="ContingencySimilarity", table="1,000 of cps1988",
        source="run", theirs="contingency", ours=lambda: similarity("contingency"),
    ),
    Row(
        program="suda", quantity="SUDA scores", table="guideline, 10 records", source="run",
        theirs="suda scores", digits=0, ours=lambda: scores(codes(GUIDELINE))[0],
        why="it also counts sets that contain a smaller unique set, which the definition leaves "
        "out; ours are those of sdcMicro",
    ),
)  # fmt: skip


def line(row: Row, run: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, str]:
    """Return a line of the file."""
    theirs = np.atleast_1d(run[row.theirs] if isinstance(row.theirs, str) else row.theirs)
    ours = np.atleast_1d(np.asarray(row.ours(), dtype=np.float64))
    half = 0.5 * 10.0**-row.digits * (1 + 1e-6)
    equal = theirs.shape == ours.shape and bool((np.abs(theirs - ours) <= half).all())
    words = (" ".join(f"{v:.{row.digits}f}".rstrip("0").rstrip(".") if row.digits else f"{v:.0f}"
                      for v in values) for values in (theirs, ours))  # fmt: skip
    program = f"{row.program} {versions.get(row.program, '')}".strip()
    return dict(
        zip(
            ("program", "quantity", "table", "theirs", "ours", "verdict", "source", "why"),
            (program, row.quantity, row.table, *words, "equal" if equal else "different",
             row.source, row.why),
            strict=True,
        )
    )  # fmt: skip


def stored_run() -> dict[str, Any]:
    """Return what the other programs said when the file was written."""
    run: dict[str, Any] = {}
    for row, stored in zip(ROWS, read_lines(FILE), strict=True):
        run[row.program] = stored["program"].partition(" ")[2]
        if isinstance(row.theirs, str):
            run[row.theirs] = [float(part) for part in stored["theirs"].split()]
    return run


def page_lines(lines: list[dict[str, str]]) -> list[str]:
    """Return the tables of the page, one a program."""
    parts = list[str]()
    for program in dict.fromkeys(each["program"] for each in lines):
        table = [
            f"## {program}",
            "",
            "| quantity | table | theirs | ours | | why |",
            "|---|---|---|---|---|---|",
        ]
        for each in (each for each in lines if each["program"] == program):
            cells = (each["quantity"], each["table"], each["theirs"], each["ours"],
                     each["verdict"], each["why"])  # fmt: skip
            table.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
        parts.append("\n".join(table))
    return parts


def main() -> None:
    """Write the file and the page."""
    run = stored_run()
    lines = [line(row, run, run) for row in ROWS]
    write_lines(FILE, lines)
    write_end(PAGE, BEGINS, "\n" + "\n\n".join(page_lines(lines)))
    sys.stdout.write("\n".join(f"{e['program']}, {e['quantity']}, {e['table']}: {e['theirs']} | "
                               f"{e['ours']}: {e['verdict']}" for e in lines) + "\n")  # fmt: skip


if __name__ == "__main__":
    main()
