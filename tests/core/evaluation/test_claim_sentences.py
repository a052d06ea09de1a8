"""Every sentence of a reader of claims is true as often as it must be, on tables drawn by us."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

import rwn_core as rwn
from rwn_core.data.variable import Role
from rwn_core.evaluation import claims
from rwn_core.evaluation.claims import ClaimTable, claim_table
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_core.reporting.claims_file import claims_document
from rwn_core.reporting.readers import rwn_claims

FORMULA = "y ~ a + b"
PLAN = AnalysisPlan(
    analyses=(
        Analysis(name="y", kind="linear", tolerance=1.0, formula=FORMULA),
        Analysis(name="table", kind="table", tolerance=0.1, variables=("sex", "area")),
        Analysis(name="means", kind="means", tolerance=0.1, variables=("y", "sex")),
    )
)
SLOPES = {"a": 0.8, "b": 0.15}  # of the population
SAID = re.compile(
    r"95 % interval (?P<low>\S+) to (?P<high>[^;\s]+)|(?P<sign>positive|negative)(?=,|;)"
    r"|by at most (?P<errors>\S+) of the original's standard errors"
)
DISTANCE = re.compile(r"at most (\S+)")


def sample(seed: int, n: int) -> pd.DataFrame:
    """People of one population, each drawn by itself."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["sex"], frame["area"] = rng.choice(["f", "m"], n), rng.choice(["e", "w"], n)
    frame["y"] = 0.8 * frame["a"] + 0.15 * frame["b"] + rng.normal(size=n)
    return frame


def document(data: rwn.Microdata, table: ClaimTable) -> dict[str, Any]:
    record = {"release": {"id": "1f" * 16}, "file": {"sha256": ""}}
    found: dict[str, Any] = json.loads(json.dumps(claims_document(record, data, table)))
    return found


@dataclass
class Heard:
    """How often each kind of sentence was true."""

    kinds: dict[str, list[bool]] = field(default_factory=dict)

    def note(self, kind: str, true: bool) -> None:
        self.kinds.setdefault(kind, []).append(bool(true))

    def share(self, kind: str) -> float:
        return float(np.mean(self.kinds[kind]))

    def listen(self, row: Any, own: float, error: float, truth: float) -> None:
        """Read a row's sentence word by word and hold it against the original and the truth."""
        words = str(row)
        if "size unknown" in words or "do not use" in words:
            assert not re.search(r"\d", words)
        for said in SAID.finditer(words):
            if said["low"]:
                self.note("interval", float(said["low"]) <= truth <= float(said["high"]))
            elif said["sign"]:
                self.note("sign", (own > 0) == (said["sign"] == "positive"))
            else:
                change = abs(row.estimate - own)
                self.note("errors", change <= float(said["errors"]) * error)


def fresh(data: rwn.Microdata, setting: rwn.RWN, many: int) -> Iterator[pd.DataFrame]:
    for seed in range(5_000, 5_000 + many):
        yield rwn.mask(data, setting, seed=seed).masked.frame


def heard_in_fresh_releases(heard: Heard, seed: int, setting: rwn.RWN, n: int) -> None:
    frame = sample(seed, n)
    data = rwn.Microdata.from_frame(frame)
    told = document(data, claim_table(data, setting, PLAN, draws=60, seed=seed))
    fit = smf.ols(FORMULA, frame).fit()
    r = stats.pearsonr(frame["a"], frame["y"]).statistic
    tables = pd.crosstab(frame["sex"], frame["area"]) / n
    means, spread = frame.groupby("sex")["y"].mean(), frame["y"].std()
    for masked in fresh(data, setting, 25):
        columns = {name: list(masked[name]) for name in masked}
        read = rwn_claims.Survey(columns, told)
        for row in read.fit(FORMULA).rows:
            heard.listen(row, fit.params[row.term], fit.bse[row.term], np.nan)
        heard.listen(read.pair("y", "a"), np.arctanh(r), 1 / np.sqrt(n - 3), np.nan)
        found = pd.crosstab(masked["sex"], masked["area"]).reindex_like(tables).fillna(0) / n
        moved = (masked.groupby("sex")["y"].mean() - means).abs().max() / spread
        for line, value in zip(
            read.distances(), ((found - tables).abs().to_numpy().sum() / 2, moved), strict=True
        ):
            bound = DISTANCE.search(line)
            if bound:
                heard.note("distance", value <= float(bound[1]) + 1e-12)


def test_signs_and_bounds_are_true_in_nine_of_ten_fresh_releases() -> None:
    heard = Heard()
    for seed, (n, k) in enumerate([(60, 3), (150, 5), (300, 5), (300, 30)]):
        heard_in_fresh_releases(heard, seed, rwn.RWN(epsilon=0.5, k=k), n)
    assert set(heard.kinds) >= {"sign", "errors", "distance"}
    for kind in ("sign", "errors", "distance"):
        assert len(heard.kinds[kind]) >= 50, kind
        assert heard.share(kind) >= 0.9, kind


def test_intervals_hold_the_population_s_slope_at_thirty_records_and_uncorrected_ones_do_not() -> (
    None
):
    plan, setting = AnalysisPlan(analyses=PLAN.analyses[:1]), rwn.RWN(epsilon=0.0, k=3)
    corrected, plain = Heard(), Heard()
    for seed in range(70):
        frame = sample(seed, 30)[["a", "b", "y"]]
        data = rwn.Microdata.from_frame(frame)
        told = document(data, claim_table(data, setting, plan, draws=36, seed=seed))
        masked = rwn.mask(data, setting, seed=9_000 + seed).masked.frame
        columns = {name: list(masked[name]) for name in masked}
        for heard in (corrected, plain):
            for row in rwn_claims.Survey(columns, told).fit(FORMULA).rows:
                heard.listen(row, 0.0, 0.0, SLOPES[row.term])
            for claim in told["models"][0]["claims"]:  # a planted fault: no factor is needed
                claim["factor"] = claim["factor"] and 1.0
    assert len(corrected.kinds["interval"]) >= 70
    assert corrected.share("interval") >= 0.93
    assert plain.share("interval") < 0.9


def homes(seed: int, n: int = 150) -> pd.DataFrame:
    """People of households of three, who resemble each other in everything."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(size=(n // 3, 2)), 3, axis=0) * np.sqrt(0.9)
    a, left = (shared + rng.normal(size=(n, 2)) * np.sqrt(0.1)).T
    return pd.DataFrame({"home": np.repeat(np.arange(n // 3), 3), "a": a, "y": 0.8 * a + left})


@pytest.mark.parametrize("role", [Role.HOUSEHOLD, Role.IDENTIFIER])
def test_records_that_share_a_household_or_person_get_no_claim_of_a_model(role: Role) -> None:
    plan = AnalysisPlan(
        analyses=(
            Analysis(name="y", kind="linear", tolerance=1.0, formula="y ~ a"),
            Analysis(name="means", kind="means", tolerance=0.1, variables=("y", "area")),
        )
    )
    frame = homes(1).assign(area=np.arange(150) % 2, home=lambda f: f["home"].astype(str))
    frame["area"] = np.where(frame["area"] == 1, "e", "w")
    data = rwn.Microdata.from_frame(frame)
    data = data.with_schema(data.schema.replace_variable("home", role=role))
    table = claim_table(data, rwn.RWN(k=3), plan, draws=36, seed=1)
    assert [each.refusal for each in table.analyses] == [claims.CLUSTERED, ""]
    assert (table.pairs, table.refusal) == ((), claims.CLUSTERED)
    assert "Records share a household or a person" in str(table)
    read = rwn_claims.Survey({name: [] for name in frame}, document(data, table))
    for ask in (lambda: read.fit("y ~ a"), lambda: read.pair("y", "a")):
        with pytest.raises(rwn_claims.Refused, match="share a household or a person"):
            ask()


def test_people_with_a_name_of_their_own_are_independent() -> None:
    frame = homes(1).assign(home=[f"p{number // 1}" for number in range(150)])
    frame.loc[1, "home"] = "p0"  # two of one name
    data = rwn.Microdata.from_frame(frame)
    data = data.with_schema(data.schema.replace_variable("home", role=Role.IDENTIFIER))
    assert not claims.is_clustered(data)


def test_intervals_of_undeclared_households_would_miss_the_slope() -> None:
    """The fault that the refusal prevents: it is no small one."""
    plan = AnalysisPlan(
        analyses=(Analysis(name="y", kind="linear", tolerance=1.0, formula="y ~ a"),)
    )
    held = []
    for seed in range(40):
        data = rwn.Microdata.from_frame(homes(seed).drop(columns="home"))
        told = document(data, claim_table(data, rwn.RWN(epsilon=0.0, k=2), plan, draws=36, seed=1))
        read = rwn_claims.Survey(
            {name: list(data.frame[name]) for name in ("a", "y")}, {**told, "refusal": ""}
        )
        (row,) = read.fit("y ~ a").rows
        if row.interval is not None:
            held.append(row.interval[0] <= 0.8 <= row.interval[1])
    assert len(held) > 20
    assert np.mean(held) < 0.93


EXTREME = {"a": 40.0, "y": 60.0}


def test_one_extreme_person_makes_no_claim() -> None:
    """Two unrelated numbers and a person far out in both: no sign, no bound, in no line."""
    rng = np.random.default_rng(14)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "y"])
    plan = AnalysisPlan(
        analyses=(
            Analysis(name="y", kind="linear", tolerance=1.0, formula="y ~ a"),
            Analysis(name="means", kind="means", tolerance=0.1, variables=("y", "sex")),
        )
    )
    frame["sex"] = np.where(np.arange(200) % 2, "f", "m")
    far = frame.copy()
    far.loc[0, list(EXTREME)] = list(EXTREME.values())
    setting = rwn.RWN(epsilon=0.0, k=3, q=0.05)
    tables = [
        claim_table(rwn.Microdata.from_frame(each), setting, plan, draws=60, seed=1)
        for each in (frame, far)
    ]
    assert tables[0].analyses[0].claims[0].usable
    assert smf.ols("y ~ a", far).fit().tvalues["a"] > 10  # the person alone makes it
    assert abs(smf.ols("y ~ a", far[1:]).fit().tvalues["a"]) < 1.9
    (slope,) = tables[1].analyses[0].claims
    assert (slope.sign, slope.within_standard_errors) == (False, None)
    (pair,) = [each for each in tables[1].pairs if each.pair == ("a", "y")]
    assert (pair.sign, pair.within_standard_errors) == (False, None)
    assert tables[1].analyses[1].claims[0].within is None  # a mean that one value moves
    assert not any(
        "tied" in key
        for each in document(rwn.Microdata.from_frame(far), tables[1])["pairs"]
        for key in each
    )


@pytest.mark.parametrize("kind", ["linear", "logistic", "poisson"])
def test_the_record_that_moves_a_slope_most_is_found(kind: str) -> None:
    """Leave every record out and fit again: no other one moves the slope further."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"x": rng.normal(5, 2, 40)})
    score = 0.3 * (frame["x"] - 5)
    frame["y"] = {
        "linear": lambda: score + rng.standard_t(3, 40),
        "logistic": lambda: (rng.uniform(size=40) < 1 / (1 + np.exp(-score))).astype(int),
        "poisson": lambda: rng.poisson(np.exp(score)),
    }[kind]()
    frame.loc[7, "x"] = 14.0
    data = rwn.Microdata.from_frame(frame)
    asked = Analysis(name="y", kind=kind, tolerance=1.0, formula="y ~ x")
    design = claims.model_design(asked, data, data)
    coefficients, _ = claims.fit_design(asked, design, "", own=True)
    (place,) = claims._most_influential(asked, design)
    moves = []
    for left in range(40):
        found, _ = claims.fit_design(asked, claims._left_out(design, left), "", own=True)
        moves.append(abs(found[1] - coefficients[1]))
    assert moves[place] >= 0.9 * max(moves)
