"""Claims: what holds in nine of ten releases is claimed, and nothing else."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError, ReleaseError
from rwn_core.evaluation import claims
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.claims import claim_table, holds, slope_claim
from rwn_core.evaluation.registered_analysis import Analysis, fit_model
from rwn_core.reporting.claims_file import check_claims, claims_document, claims_file
from rwn_core.reporting.readers import READERS, rwn_claims

FORMULAS = {
    "pay ~ age + school": "linear",
    "pay ~ log(age) * sex": "linear",
    "pay ~ region:school + square(age)": "linear",
    "member ~ age + sex": "logistic",
    "sex ~ pay + school": "logistic",
    "visits ~ school + region": "poisson",
}
TIED = "pay ~ age + square(age) + months"
RARE = "pay ~ job"


def survey(n: int = 400, seed: int = 3) -> Microdata:
    """Numbers, categories, a count, a rare level and a variable that repeats another."""
    rng = np.random.default_rng(seed)
    age, school = rng.uniform(18, 80, n), rng.normal(12, 3, n)
    sex, region = rng.choice(["f", "m"], n), rng.choice(["east", "north", "west"], n)
    pay = 10 + 0.1 * age + 0.5 * school + (sex == "m") * 1.5 + rng.normal(0, 2, n)
    frame = pd.DataFrame(
        {
            "age": age.round(1),
            "school": school.round(1),
            "sex": sex,
            "region": region,
            "pay": pay.round(2),
            "member": (rng.uniform(size=n) < 1 / (1 + np.exp(-(age - 50) / 10))).astype(int),
            "visits": rng.poisson(np.exp(0.1 * school - 0.5)),
            "months": (12 * age + rng.normal(0, 0.5, n)).round(),
            "job": np.where(np.arange(n) < 3, "astronaut", rng.choice(["a", "b"], n)),
        }
    )
    frame.loc[[5, 9], "pay"] = np.nan
    data = Microdata.from_frame(frame)
    return data.with_schema(data.schema.replace_variable("pay", role=Role.CONFIDENTIAL))


def analysis(formula: str, kind: str = "linear") -> Analysis:
    return Analysis(name=formula, kind=kind, tolerance=1.0, formula=formula)


PLAN = AnalysisPlan(
    analyses=(
        *(analysis(formula, kind) for formula, kind in FORMULAS.items()),
        *(analysis(TIED), analysis(RARE)),
        Analysis(name="table", kind="table", tolerance=0.1, variables=("sex", "region")),
        Analysis(name="means", kind="means", tolerance=0.1, variables=("pay", "sex")),
    )
)


@pytest.mark.parametrize(("times", "of"), [(189, 200), (36, 36), (200, 200)])
def test_nine_of_ten_is_shown_by_the_exact_interval(times: int, of: int) -> None:
    assert holds(times, of)
    assert not holds(times - 1, of) or times == of
    # the bound by hand: the chance of so many hits where nine of ten hold is at most 2.5 %
    assert stats.binom.sf(times - 1, of, 0.9) <= 0.025


def test_a_claim_by_hand() -> None:
    slopes, errors = np.full(40, 2.4), np.full(40, 1.0)
    claim = slope_claim("x", 3.0, 1.0, slopes, errors, 40)
    assert (claim.sign, claim.within) == (True, 1.0)
    # an interval around 2.4 holds a slope around 3.0 with P(-2.56 < z < 1.36) = .91, with 1.2
    # times the width P(-2.952 < z < 1.752) = .959
    assert claim.factor == 1.2
    none = slope_claim("x", 3.0, 1.0, slopes - 9, errors, 40)
    assert (none.sign, none.within, none.factor) == (False, None, None)
    assert not none.usable


def test_a_sign_is_claimed_only_beyond_chance_and_in_nine_of_ten() -> None:
    errors = np.full(200, 1.0)
    assert not slope_claim("x", 1.0, 1.0, np.full(200, 1.0), errors, 200).sign
    turned = np.where(np.arange(200) < 12, -3.0, 3.0)
    assert not slope_claim("x", 3.0, 1.0, turned, errors, 200).sign
    turned[:2] = 3.0
    assert not slope_claim("x", 3.0, 1.0, turned[:150], errors[:150], 200).sign  # 50 no answer


@pytest.fixture(scope="module")
def found() -> tuple[Microdata, claims.ClaimTable]:
    data = survey()
    return data, claim_table(data, rwn.RWN(epsilon=1.0, k=5), PLAN, draws=60, seed=1)


def test_every_slope_has_a_claim_and_what_must_not_be_used_is_refused(found: Any) -> None:
    _, table = found
    by_name = {each.analysis.name: each for each in table.analyses}
    assert by_name[TIED].refusal == claims.TIED
    assert by_name[RARE].refusal == claims.RARE_LEVELS
    assert [claim.term for claim in by_name["pay ~ log(age) * sex"].claims] == [
        "log(age)",
        "sex = m",
        "log(age):sex = m",
    ]
    assert by_name["table"].claims[0].within is not None
    assert len(table.pairs) == 36
    assert sum(each.usable for each in table.analyses) >= 5


def test_claims_hold_in_fresh_releases(found: Any) -> None:
    data, table = found
    held: list[bool] = []
    for seed in range(100, 140):
        masked = rwn.mask(data, rwn.RWN(epsilon=1.0, k=5), seed=seed).masked
        for each in table.analyses:
            if each.analysis.kind not in ("linear", "logistic", "poisson") or each.refusal:
                continue
            own, error = (part[1:] for part in fit_model(each.analysis, data, data, ""))
            new, new_error = (part[1:] for part in fit_model(each.analysis, data, masked, ""))
            for at, claim in enumerate(each.claims):
                if claim.sign:
                    held.append(np.sign(new[at]) == np.sign(own[at]))
                if claim.within is not None:
                    held.append(abs(new[at] - own[at]) <= claim.within * error[at])
                if claim.factor is not None:
                    half = 1.96 * claim.factor * new_error[at]
                    held.append(abs(new[at] - own[at]) <= half)
    assert len(held) > 500
    assert np.mean(held) > 0.93


def test_the_planted_fault_of_naive_standard_errors_would_be_seen() -> None:
    """Taken for exact, the masked file's own intervals miss the slope far too often."""
    data, plan = survey(), AnalysisPlan(analyses=(analysis("pay ~ school"),))
    table = claim_table(data, rwn.RWN(epsilon=2.5, k=40), plan, draws=60, seed=1)
    factor = table.analyses[0].claims[0].factor
    assert factor is None or factor > 1.0


def test_few_draws_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least 36 draws"):
        claim_table(survey(60), rwn.RWN(k=3), PLAN, draws=35)


def record_of(data: Microdata, content: bytes) -> dict[str, Any]:
    file = {"sha256": hashlib.sha256(content).hexdigest(), "order": "shuffled", "key": {}}
    return {"release": {"id": "1f" * 16}, "file": file, "table": {"fingerprint": data.fingerprint}}


@pytest.fixture(scope="module")
def files(found: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, rwn.Release]:
    data, table = found
    folder = tmp_path_factory.mktemp("claims")
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=5), seed=7)
    content = release.to_bytes("csv")
    (folder / "release.csv").write_bytes(content)
    (folder / "claims.json").write_bytes(claims_file(record_of(data, content), data, table))
    for name, text in READERS.items():
        (folder / name).write_bytes(text)
    return folder, release


def test_the_reader_fits_as_the_library_does_and_multiplies_standard_errors(
    found: Any, files: Any
) -> None:
    (data, table), (folder, release) = found, files
    survey_file = rwn_claims.load(folder / "release.csv", folder / "claims.json")
    for formula, kind in FORMULAS.items():
        each = next(a for a in table.analyses if a.analysis.name == formula)
        result = survey_file.fit(formula, kind)
        values, errors = fit_model(each.analysis, data, release.masked, "")
        np.testing.assert_allclose([row.estimate for row in result.rows], values[1:], rtol=1e-8)
        np.testing.assert_allclose([row.error for row in result.rows], errors[1:], rtol=1e-8)
        assert [row.factor for row in result.rows] == [claim.factor for claim in each.claims]
        assert result.covered
        for row in result.rows:
            if row.factor is not None:
                assert row.interval is not None
                low, high = row.interval
                np.testing.assert_allclose(high - low, 2 * 1.959964 * row.factor * row.error, 1e-6)


def test_the_reader_refuses_and_warns(files: Any) -> None:
    folder, release = files
    read = rwn_claims.load(folder / "release.csv", folder / "claims.json")
    for formula in (TIED, RARE, "pay ~ months + age", "pay ~ nothing", "pay", "pay ~ exp(age)"):
        with pytest.raises(rwn_claims.Refused):
            read.fit(formula)
    with pytest.warns(UserWarning, match="No claim covers"):
        other = read.fit("pay ~ visits")
    assert not other.covered
    assert other.rows[0].factor is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read.fit("pay ~ school + age")  # in another order
        rwn_claims.load(release.masked.frame, folder / "claims.json").fit("pay ~ school + age")
    wrong = folder / "other.csv"
    wrong.write_bytes((folder / "release.csv").read_bytes() + b"\n")
    with pytest.raises(rwn_claims.Refused, match="another file"):
        rwn_claims.load(wrong, folder / "claims.json")
    assert read.pair("pay", "school").sign
    assert "do not use" in str(rwn_claims.Row("x", 1.0, 1.0))


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_reader_for_r_agrees_to_eight_digits(files: Any) -> None:
    folder, _ = files
    program = 'source("rwn_claims.R"); options(digits = 17)\n'
    program += 's <- load_claims("release.csv", "claims.json")\n'
    for formula, kind in FORMULAS.items():
        program += f'r <- fit_claimed(s, "{formula}", "{kind}")\n'
        program += "cat(r$estimate, r$error, r$factor, r$low, sep = ' '); cat('\\n')\n"
    program += f'cat(tryCatch(fit_claimed(s, "{TIED}"), rwn_refusal = conditionMessage), "\\n")\n'
    read = rwn_claims.load(folder / "release.csv", folder / "claims.json")
    claimed = next(each for each in read.claims["pairs"] if each["factor"] is not None)
    names = claimed["one"], claimed["other"]
    program += f'p <- pair_claimed(s, "{names[0]}", "{names[1]}"); cat(p$estimate, p$low, "\\n")'
    done = subprocess.run(
        ["Rscript", "-e", program], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    for line, (formula, kind) in zip(lines, FORMULAS.items(), strict=False):
        rows = read.fit(formula, kind).rows
        none = float("nan")
        ours = [
            *(row.estimate for row in rows),
            *(row.error for row in rows),
            *(none if row.factor is None else row.factor for row in rows),
            *(none if row.interval is None else row.interval[0] for row in rows),
        ]
        theirs = [none if word == "NA" else float(word) for word in line.split()]
        np.testing.assert_allclose(theirs, ours, rtol=1e-8)
    assert "nearly collinear" in lines[-2]
    pair = read.pair(*names)
    assert pair.interval is not None
    np.testing.assert_allclose(
        [float(word) for word in lines[-1].split()], [pair.estimate, pair.interval[0]], 1e-8
    )


def test_the_file_holds_names_frequent_levels_and_bounds_alone(found: Any, files: Any) -> None:
    data, table = found
    folder, _ = files
    content = (folder / "claims.json").read_text(encoding="utf-8")
    assert "astronaut" not in content
    document = json.loads(content)
    job = next(each for each in document["variables"] if each["name"] == "job")
    assert job["levels"] is None
    record = record_of(data, b"")
    for plant in (61.3, "astronaut", "rows of Mr X", {"pay": 412.25}):
        leaking = claims_document(record, data, table)
        leaking["models"][0]["refusal"] = plant
        with pytest.raises(ReleaseError, match="must not say"):
            check_claims(leaking, record, data)


def test_a_release_in_the_original_order_or_of_a_seed_gets_no_claims(found: Any) -> None:
    data, table = found
    record = record_of(data, b"")
    for change in ({"order": "original"}, {"key": {"seed": 1}}):
        with pytest.raises(ReleaseError):
            claims_file({**record, "file": {**record["file"], **change}}, data, table)
