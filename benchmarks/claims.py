"""Whether claims hold: 20 analyses of each of six tables, judged again on fresh releases.

``python -m benchmarks claims [TABLE ...] [--draws N] [--fresh N]`` prints the figures of
docs/explanation/claims-measured.md.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import patsy
from sklearn.datasets import load_diabetes

import rwn_core as rwn
from benchmarks.methods import say
from rwn_core.data.variable import Kind, Role
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.claims import AnalysisClaims, ClaimTable, claim_table
from rwn_core.evaluation.registered_analysis import Analysis, fit_model
from rwn_core.evaluation.repeated_draws import releases
from rwn_core.tuning import Policy, Setting
from rwn_core.tuning.recommend import recommend

KINDS = ("linear",) * 8 + ("crossed",) * 4 + ("grouped",) * 4 + ("tied",) * 4
MOST_RECORDS = 3_000
Z95 = 1.959964


def diabetes() -> rwn.Microdata:
    """442 patients of scikit-learn, one of them a rare level's."""
    frame = load_diabetes(as_frame=True, scaled=False).frame
    data = rwn.Microdata.from_frame(frame.assign(sex=np.where(frame["sex"] > 1, "two", "one")))
    return with_roles(data, keys=("age", "sex"), confidential="target")


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
    return with_roles(
        rwn.Microdata.from_frame(frame), keys=("age", "region", "sex"), confidential="income"
    )


def with_roles(data: rwn.Microdata, *, keys: tuple[str, ...], confidential: str) -> rwn.Microdata:
    """Return a table with key variables and a confidential one."""
    schema = data.schema
    for name in keys:
        schema = schema.replace_variable(name, role=Role.KEY)
    return data.with_schema(schema.replace_variable(confidential, role=Role.CONFIDENTIAL))


def demo(name: str) -> rwn.Microdata:
    """Return a demo table, or a random part of a large one."""
    data = rwn.load_demo(name)
    if data.n <= MOST_RECORDS:
        return data
    return data.take(np.sort(np.random.default_rng(1).permutation(data.n)[:MOST_RECORDS]))


TABLES: Mapping[str, Callable[[], rwn.Microdata]] = {
    "diabetes": diabetes,
    "survey": survey,
    **{name: (lambda name=name: demo(name)) for name in ("bodyfat", "pima", "cps1988", "randhie")},
}


def plan_of(data: rwn.Microdata) -> AnalysisPlan:
    """Return 20 analyses: plain, crossed, with categories, and nearly collinear ones."""
    rng = np.random.default_rng(5)
    released = data.schema.released
    numbers = [v.name for v in released if v.kind in (Kind.CONTINUOUS, Kind.COUNT)]
    groups = [v.name for v in released if v.kind is Kind.CATEGORICAL]
    wide = [n for n in numbers if len(np.unique(data.values(n)[~np.isnan(data.values(n))])) > 5]
    found: dict[str, Analysis] = {}
    for kind in KINDS:
        for _ in range(100):
            response, *others = rng.permutation(wide if len(wide) > 3 else numbers)
            some = [str(each) for each in others[: rng.integers(1, 4)]]
            if kind == "crossed":
                some = [" * ".join(map(str, others[:2]))]
            elif kind == "grouped" and groups:
                some = [*some[:2], str(rng.choice(groups))]
            elif kind == "tied":
                narrow = sorted(wide, key=lambda n: np.nanstd(data.values(n)) / _mean(data, n))
                one = str(rng.choice(narrow[:4]))
                response = next(n for n in reversed(narrow) if n != one)
                some = [f"{one} * square({one})", *(n for n in some[:1] if n != response)]
            formula = f"{response} ~ {' + '.join(some)}"
            if formula not in found:
                found[formula] = Analysis(name=formula, kind="linear", tolerance=1, formula=formula)
                break
    return AnalysisPlan(analyses=tuple(found.values()))


def _mean(data: rwn.Microdata, name: str) -> float:
    return float(max(np.nanmean(data.values(name)), 1e-9))


def held(data: rwn.Microdata, setting: Setting, table: ClaimTable, fresh: int) -> np.ndarray:
    """Return the share of fresh releases in which each claim of a model holds."""
    models = [each for each in table.analyses if each.claims]
    own = [_fit(each, data, data) for each in models]
    counts: dict[tuple[int, int, str], int] = {}
    for masked, _ in releases(data, setting.params, fresh, 100_000):
        for number, each in enumerate(models):
            try:
                new, errors = _fit(each, data, masked)
            except NotApplicable:
                new = errors = np.full(len(each.claims), np.nan)
            old, error = own[number]
            for at, claim in enumerate(each.claims):
                change = abs(new[at] - old[at])
                holds = {
                    "sign": claim.sign and np.sign(new[at]) == np.sign(old[at]),
                    "within": claim.within is not None and change <= claim.within * error[at],
                    "factor": claim.factor is not None
                    and change <= claim.factor * Z95 * errors[at],
                }
                made = {
                    "sign": claim.sign,
                    "within": claim.within is not None,
                    "factor": claim.factor is not None,
                }
                for what in ("sign", "within", "factor"):
                    if made[what]:
                        key = number, at, what
                        counts[key] = counts.get(key, 0) + bool(holds[what])
    return np.array(list(counts.values())) / fresh


def tall(data: rwn.Microdata, analysis: Analysis) -> bool:
    """Whether a model's predictors are nearly collinear, by statsmodels' own design."""
    formula = re.sub(r"square\((\w+)\)", r"I(\1**2)", analysis.formula)
    _, exog = patsy.dmatrices(formula, data.frame)
    columns = np.asarray(exog)[:, 1:]
    return bool(np.linalg.cond((columns - columns.mean(axis=0)) / columns.std(axis=0)) > 30)


def _fit(each: AnalysisClaims, data: rwn.Microdata, table: rwn.Microdata) -> tuple[np.ndarray, ...]:
    return tuple(part[1:] for part in fit_model(each.analysis, data, table, ""))


def report(name: str, draws: int, fresh: int) -> None:
    """Print the figures of a table."""
    data = TABLES[name]()
    advice = recommend(data, Policy())
    setting = advice.setting.resolved(data)
    data = setting.applied_to(data)
    table = claim_table(data, setting.params, plan_of(data), draws=draws, seed=1)
    shares = held(data, setting, table, fresh)
    models = table.analyses
    usable = sum(any(c.factor or c.sign for c in each.claims) for each in models)
    firm = sum(bool(each.claims) and all(c.factor for c in each.claims) for each in models)
    tied = [each for each in models if tall(data, each.analysis)]
    through = sum(each.usable for each in tied)
    say(f"{name}, {data.n} records: {setting.words}")
    say(f"  {len(models)} analyses: {usable} have a usable claim, {firm} a factor for each slope")
    say(f"  {len(tied)} nearly collinear ones, {through} of them let through")
    pairs = sum(pair.usable for pair in table.pairs)
    say(f"  {pairs} of {len(table.pairs)} pairs of variables have a claim")
    if len(shares):
        few, mean, least = int((shares < 0.9).sum()), 100 * shares.mean(), 100 * shares.min()
        say(
            f"  {len(shares)} claims on {fresh} fresh releases: hold in {mean:.1f} % on average, "
            f"in {least:.1f} % at least; {few} below 90 %"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--fresh", type=int, default=200)
    given = parser.parse_args()
    for each in given.tables:
        report(each, given.draws, given.fresh)
