"""Whether claims hold: 20 analyses of each of six tables, judged again on fresh releases.

``python -m benchmarks claims [TABLE ...] [--draws N] [--fresh N]`` judges these tables anew and
writes docs/explanation/claims-measured.csv and the table of its page.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import patsy
from sklearn.datasets import load_diabetes

import rwn_core as rwn
from benchmarks.pages import HERE, read_lines, say, write_end, write_lines
from benchmarks.tables import sampled, with_roles
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.claims import (
    AnalysisClaims,
    Claim,
    ClaimTable,
    claim_table,
    has_rare_levels,
)
from rwn_core.evaluation.draws import unmasked
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan, fit_model
from rwn_core.measures.comparison import Comparison
from rwn_core.reporting.claims_file import claims_document
from rwn_core.reporting.readers import READERS, rwn_claims
from rwn_core.tuning import Policy
from rwn_core.tuning.recommend import recommend

FILE, PAGE = HERE / "claims-measured.csv", HERE / "claims-measured.md"
BEGINS = "<!-- what follows is written by python -m benchmarks claims -->"
KINDS = (
    *(*("linear",) * 6, *("logistic",) * 2, *("crossed",) * 4),
    *(*("grouped",) * 4, *("tied",) * 4),
)
MOST_RECORDS = 3_000
T95 = 1.96


def diabetes() -> rwn.Microdata:
    """442 patients of scikit-learn, one of them a rare level's."""
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame = frame.assign(sex=np.where(frame["sex"] > 1, "two", "one"))
    return with_roles(frame, "age sex", "target")


def survey() -> rwn.Microdata:
    """1,200 people: counts, categories, a skewed number."""
    rng = np.random.default_rng(11)
    n = 1200
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "region": rng.choice(["east", "north", "south", "west"], n),
            "school": rng.integers(8, 20, n),
            "sex": rng.choice(["f", "m"], n),
            "children": rng.poisson(1.4, n),
        }
    )
    score = 0.09 * frame["school"] + 0.008 * frame["age"] + 0.2 * (frame["sex"] == "m")
    frame["income"] = np.exp(6.5 + score + rng.normal(0, 0.4, n)).round()
    frame["rent"] = (0.3 * frame["income"] + rng.normal(0, 80, n)).round()
    frame["happy"] = (frame["income"] / 900 + rng.normal(0, 2, n)).round(1)
    return with_roles(frame, "age region sex", "income")


TABLES: Mapping[str, Callable[[], rwn.Microdata]] = {
    "diabetes": diabetes,
    "survey": survey,
    **{
        name: (lambda name=name: sampled(name, MOST_RECORDS, seed=1)[0])
        for name in ("bodyfat", "pima", "cps1988", "randhie")
    },
}


def plan_of(data: rwn.Microdata) -> AnalysisPlan:
    """Return 20 analyses: plain, logistic, crossed, with categories, and nearly collinear ones."""
    rng = np.random.default_rng(5)
    released = data.schema.released
    numbers = [v.name for v in released if v.kind in (Kind.CONTINUOUS, Kind.COUNT)]
    groups = [v.name for v in released if v.kind is Kind.CATEGORICAL]
    wide = [n for n in numbers if len(np.unique(data.values(n)[~np.isnan(data.values(n))])) > 5]
    two = binary(data)
    found: dict[str, Analysis] = {}
    for kind in KINDS:
        for _ in range(100):
            response, *others = rng.permutation(wide if len(wide) > 3 else numbers)
            some = [str(each) for each in others[: rng.integers(1, 4)]]
            if kind == "crossed":
                some = [" * ".join(map(str, others[:2]))]
            elif kind == "grouped" and groups:
                some = [*some[:2], str(rng.choice(groups))]
            elif kind == "logistic" and two:
                response = str(rng.choice(two))
            elif kind == "tied":
                narrow = sorted(wide, key=lambda n: np.nanstd(data.values(n)) / _mean(data, n))
                one = str(rng.choice(narrow[:4]))
                response = next(n for n in reversed(narrow) if n != one)
                some = [f"{one} * square({one})", *(n for n in some[:1] if n != response)]
            formula = f"{response} ~ {' + '.join(some)}"
            if formula not in found:
                how = "logistic" if kind == "logistic" and two else "linear"
                found[formula] = Analysis(name=formula, kind=how, tolerance=1, formula=formula)
                break
    return AnalysisPlan(analyses=tuple(found.values()))


def binary(data: rwn.Microdata) -> list[str]:
    """Return the categories of two frequent values, which a logistic model can explain."""
    return [
        v.name
        for v in data.schema.released
        if v.kind is Kind.CATEGORICAL
        and data.frame[v.name].nunique() == 2
        and not has_rare_levels(data, v.name)
    ]


def _mean(data: rwn.Microdata, name: str) -> float:
    return float(max(np.nanmean(data.values(name)), 1e-9))


class Count:
    """How often each claim holds in fresh releases."""

    def __init__(self) -> None:
        self._held: dict[tuple[object, str], list[bool]] = {}

    def add(
        self, about: object, claim: Claim, old: float, new: float, error: float, width: float
    ) -> None:
        """Judge one number; without an answer nothing holds."""
        change = abs(new - old)
        if claim.sign:
            self._note(about, "sign", bool(np.sign(new) == np.sign(old)))
        if claim.within_standard_errors is not None:
            self._note(about, "within", bool(change <= claim.within_standard_errors * error))
        if claim.factor is not None:
            self._note(about, "factor", bool(change <= claim.factor * T95 * width))

    def _note(self, about: object, what: str, held: bool) -> None:
        self._held.setdefault((about, what), []).append(held)

    @property
    def shares(self) -> np.ndarray:
        """Share of the releases in which each claim holds, in percent."""
        return np.array([100 * np.mean(held) for held in self._held.values()])

    def words(self) -> tuple[int, str, str]:
        """Number of claims, and in how many releases they hold on average and at least."""
        shares = self.shares
        if not len(shares):
            return 0, "", ""
        return len(shares), f"{shares.mean():.1f}", f"{shares.min():.1f}"


def judge_models(
    count: Count, data: rwn.Microdata, own: Mapping[AnalysisClaims, Any], masked: rwn.Microdata
) -> None:
    """Judge the claims of models on a fresh release; `own`: their fits of the original."""
    for number, (each, fit) in enumerate(own.items()):
        old, error = (part[1:] for part in fit)
        try:
            new, width = (part[1:] for part in fit_model(each.analysis, data, masked, ""))
        except NotApplicable:
            new = width = np.full(len(old), np.nan)
        for at, claim in enumerate(each.claims):
            count.add((number, at), claim, old[at], new[at], error[at], width[at])


def judge_pairs(count: Count, table: ClaimTable, release: Comparison) -> None:
    """Judge the claims of pairs on a fresh release."""
    for claim in table.pairs:
        before, after = (
            np.column_stack([each.values(name) for name in claim.pair])
            for each in (release.original, release.masked)
        )
        (old, error), (new, width) = map(fisher, (before, after))
        count.add(claim.pair, claim, old, new, error, width)


def fisher(columns: np.ndarray) -> tuple[float, float]:
    """Return Fisher's z of two columns, and its standard error, of complete records."""
    known = columns[~np.isnan(columns).any(axis=1)]
    value = np.clip(np.corrcoef(known.T)[0, 1], -1 + 1e-12, 1 - 1e-12)
    return float(np.arctanh(value)), float(1 / np.sqrt(len(known) - 3))


def tall(data: rwn.Microdata, analysis: Analysis) -> bool:
    """Whether a model's predictors are nearly collinear, by statsmodels' own design."""
    formula = re.sub(r"square\((\w+)\)", r"I(\1**2)", analysis.formula.split("~")[1])
    columns = np.asarray(patsy.dmatrix(formula, data.frame))[:, 1:]
    return bool(np.linalg.cond((columns - columns.mean(axis=0)) / columns.std(axis=0)) > 30)


def readers_differ(data: rwn.Microdata, params: Any, table: ClaimTable) -> float:
    """Return the largest relative difference of the readers' estimates and standard errors."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        release = rwn.mask(data, params, seed=4)
        content = release.to_bytes("csv")
        record = {"release": {"id": "1f" * 16}, "file": {"sha256": sha256(content).hexdigest()}}
        (folder / "release.csv").write_bytes(content)
        (folder / "claims.json").write_text(json.dumps(claims_document(record, data, table)))
        (folder / "rwn_claims.R").write_bytes(READERS["rwn_claims.R"])
        survey = rwn_claims.load(folder / "release.csv", folder / "claims.json")
        models = [each.analysis for each in table.analyses if each.claims]
        program = 'source("rwn_claims.R"); s <- load_claims("release.csv", "claims.json")\n'
        for each in models:
            program += f'r <- fit_claimed(s, "{each.formula}", "{each.kind}")\n'
            program += "r <- r[!is.na(r$estimate), ]; "
            program += 'cat(format(c(r$estimate, r$error), digits = 17), "\\n")\n'
        (folder / "program.R").write_text(program)
        done = subprocess.run(
            ["Rscript", "program.R"], cwd=folder, capture_output=True, text=True, check=True
        )
        largest = 0.0
        for line, each in zip(done.stdout.splitlines(), models, strict=True):
            rows = survey.fit(each.formula, each.kind).rows
            told = [row for row in rows if row.estimate is not None]
            ours = np.array([*(row.estimate for row in told), *(row.error for row in told)])
            theirs = np.array(line.split(), dtype=np.float64)
            largest = max(largest, float(np.abs(theirs / ours - 1).max(initial=0.0)))
    return largest


def r_version() -> str:
    """Return the version of R; empty without it."""
    if shutil.which("Rscript") is None:
        return ""
    done = subprocess.run(["Rscript", "--version"], capture_output=True, text=True, check=True)
    return (done.stdout + done.stderr).split("version ")[1].split()[0]


def figures(name: str, draws: int, fresh: int) -> dict[str, object]:
    """Return the row of a table."""
    began = time.process_time()
    data = TABLES[name]()
    setting = recommend(data, Policy()).setting.resolved(data)
    data = setting.applied_to(data)
    params = setting.params
    if setting.precision:
        params = rwn.Rounded(params=params, precision=setting.precision)
    plan = plan_of(data)
    table = claim_table(data, params, plan, draws=draws, seed=1)
    tied = [each for each in plan.analyses if tall(data, each)]
    models, pairs = Count(), Count()
    comparison = unmasked(data)
    own = {each: fit_model(each.analysis, data, data, "") for each in table.analyses if each.claims}
    for work in draws(data, params, fresh, 100_000):
        judge_models(models, data, own, work.masked)
        judge_pairs(pairs, table, comparison.with_masked(work.masked, work.law))
    known = [each for each in table.analyses if each.usable]
    firm = [each for each in known if all(claim.factor for claim in each.claims)]
    number, mean, least = models.words()
    pair_number, pair_mean, pair_least = pairs.words()
    version = r_version()
    return {
        "table": name,
        "records": data.n,
        "setting": setting.words,
        "draws": draws,
        "fresh": fresh,
        "logistic": sum(each.kind == "logistic" for each in plan.analyses),
        "usable": len(known),
        "factors": len(firm),
        "tied": len(tied),
        "registered through": sum(each.usable for each in table.analyses if each.analysis in tied),
        "claims": number,
        "mean": mean,
        "least": least,
        "pairs": len(table.pairs),
        "pairs usable": sum(pair.usable for pair in table.pairs),
        "pair claims": pair_number,
        "pair mean": pair_mean,
        "pair least": pair_least,
        "R": version,
        "readers differ": f"{readers_differ(data, params, table):.0e}" if version else "",
        "processor seconds": round(time.process_time() - began),
    }


def page_lines(rows: list[dict[str, str]]) -> Iterator[str]:
    """The tables of the page."""
    yield (
        "| table | records | setting | releases that make and judge claims | processor seconds |\n"
        "|---|---|---|---|---|\n"
        + "\n".join(
            f"| {r['table']} | {r['records']} | {r['setting']} | {r['draws']} + {r['fresh']} "
            f"| {r['processor seconds']} |"
            for r in rows
        )
    )
    yield (
        "| table | logistic, of 20 | with a usable claim | with a factor for each slope "
        "| claims of models | hold on average, % | at least, % "
        "| pairs with a claim | claims of pairs | hold on average, % | at least, % |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n"
        + "\n".join(
            f"| {r['table']} | {r['logistic']} | {r['usable']} | {r['factors']} | {r['claims']} "
            f"| {r['mean']} | {r['least']} | {r['pairs usable']} of {r['pairs']} "
            f"| {r['pair claims']} | {r['pair mean']} | {r['pair least']} |"
            for r in rows
        )
    )
    yield (
        "| table | nearly collinear, of 20 | of them with a claim |\n|---|---|---|\n"
        + "\n".join(f"| {r['table']} | {r['tied']} | {r['registered through']} |" for r in rows)
    )
    yield (
        "| table | version of R | readers differ by at most (relative) |\n|---|---|---|\n"
        + "\n".join(f"| {r['table']} | {r['R']} | {r['readers differ']} |" for r in rows)
    )


def main() -> None:
    """Judge tables, and write the file and its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--fresh", type=int, default=200)
    given = parser.parse_args()
    for name in given.tables:
        row = {key: str(value) for key, value in figures(name, given.draws, given.fresh).items()}
        say(", ".join(f"{key}: {value}" for key, value in row.items()))
        rows = {each["table"]: each for each in read_lines(FILE)} | {name: row}
        ordered = [rows[each] for each in TABLES if each in rows]
        write_lines(FILE, ordered, list(row))
        write_end(PAGE, BEGINS, "\n\n" + "\n\n".join(page_lines(ordered)))


if __name__ == "__main__":
    main()
