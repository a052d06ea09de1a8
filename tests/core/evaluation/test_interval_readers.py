"""The readers of a masked file give the intervals of a balanced release, and refuse all others."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.masking import SoftRWN
from rwn_core.reporting import ReleasedFile, internal_record, read_record
from rwn_core.reporting.facts import Material
from rwn_core.reporting.public_notice import public_file
from rwn_core.reporting.readers import READERS, rwn_claims
from tests.check_values import check_values
from tests.core.reporting.conftest import touched

MODELS = {
    "wage ~ age": "linear",
    "log(wage) ~ region + age + square(age)": "linear",
    "wage ~ region + sex + age + sex:age": "linear",
    "wage ~ factor(team) + sqrt(age)": "linear",
    "member ~ sex + age": "logistic",
    "sex ~ region + wage": "logistic",
    "visits ~ sex + age": "poisson",
    "wage ~ 1": "linear",
}
SINGLE = (
    *("mean(wage)", "median(wage)", "quantile(age, 0.9)", "share(wage > 12)", "share(member = 1)"),
    *("share(region = north)", "share(age <= 30)", "quantile( wage ,.25 )"),
)
REFUSED = {
    "wage ~ age + height": "height lies outside of the slice",
    "wage ~ age + nothing": "nothing lies outside of the slice",
    "mean(height) ~ age": "outside of the slice",
    "wage ~ rare": "fewer than 20 records differ",
    "wage ~ job": "fewer than 20 records differ",
    "share(rare > 0": "read",
    "mean(rare)": "fewer than 20 records differ",
    "quantile(wage, 0.97)": "Fewer than 20 records lie beyond",
    "share(wage)": "cannot be read",
    "share(region > 3)": "cannot be read",
    "mean(region)": "cannot be read",
    "region ~ age": "response of numbers",
    "wage ~ age - 1": "needs an intercept",
    "wage ~ log(low)": "log has no value",
    "wage ~ age + twin": "nearly collinear",
    "wage ~ age +": "cannot be read",
}


def survey(n: int = 420, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, sex = rng.uniform(18, 80, n).round(1), rng.choice(["f", "m"], n)
    wage = np.exp(2 + age / 100 + (sex == "m") / 5 + rng.normal(0, 0.4, n)).round(2)
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "region": rng.choice(["South", "north", "äst"], n),
            "team": rng.integers(1, 4, n),
            "wage": wage,
            "member": (rng.uniform(size=n) < 1 / (1 + np.exp(-(age - 50) / 10))).astype(int),
            "visits": rng.poisson(2, n),
            "rare": (np.arange(n) < 12).astype(int),
            "job": np.where(np.arange(n) < 12, "astronaut", rng.choice(["a", "b"], n)),
            "low": rng.normal(size=n),
            "twin": age + rng.normal(0, 0.01, n),
            "height": rng.normal(170, 9, n),
        }
    )
    frame.loc[[5, 9], "wage"] = np.nan
    frame.loc[[7], "region"] = None
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A released file, its notice and both readers."""
    into, frame = tmp_path_factory.mktemp("intervals"), survey()
    data = Microdata.from_frame(frame)
    data = data.with_slices([[name for name in frame if name != "height"]])
    release = rwn.mask(data, SoftRWN(kernel="gaussian", balance=1.0))
    content = release.to_bytes("csv", keep=[each.variable for each in release.find_doubts()])
    file = ReleasedFile.of(content, "csv")
    text = internal_record(
        data, release, file, measures=["marginals"], policy=rwn.Policy(limits=())
    )
    notice = public_file(touched(Material(record=read_record(text))), data, ".json")
    (into / "release.csv").write_bytes(content)
    (into / "notice.json").write_bytes(notice)
    for name, reader in READERS.items():
        (into / name).write_bytes(reader)
    return into


def loaded(folder: Path) -> rwn_claims.Survey:
    return rwn_claims.load(folder / "release.csv", folder / "notice.json")


def test_one_call_gives_an_interval_by_the_definition(folder: Path) -> None:
    read, file = loaded(folder), pd.read_csv(folder / "release.csv")
    known = file.dropna(subset=["wage"])
    design = np.column_stack([np.ones(len(known)), known["age"]])
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ known["wage"]
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    scores = design * ((known["wage"] - design @ slopes) / (1 - leverage)).to_numpy()[:, None]
    error = np.sqrt(2 * np.diag(inverse @ scores.T @ scores @ inverse))
    result = read.interval("wage ~ age")
    assert result.records == len(known)
    reach = stats.t.ppf(0.975, len(known) / 2 - 2)
    for row, value, own in zip(result.rows, slopes, error, strict=True):
        np.testing.assert_allclose((row.estimate, row.error), (value, own), rtol=1e-9)
        np.testing.assert_allclose(row.interval, (value - reach * own, value + reach * own))
    (mean,) = read.interval("mean(wage)").rows
    assert mean.error == pytest.approx(np.sqrt(2 / len(known)) * known["wage"].std())
    assert "95 % interval" in str(result)
    # other units change nothing but the unit
    scaled = rwn_claims.Survey(
        {name: list(file[name]) for name in file}, {**read.claims, "variables": []}
    )
    scaled._columns["wage"] = [1e6 * value for value in file["wage"]]
    (large,) = scaled.interval("mean(wage)").rows
    np.testing.assert_allclose(large.interval, 1e6 * np.array(mean.interval))


def small(values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> rwn_claims.Survey:
    """A table of a check value, however few its records are."""
    for name in ("FEWEST", "FEWEST_APART", "LEAST_FREEDOM"):
        monkeypatch.setattr(rwn_claims, name, 1)
    about = {"refusal": "", "factor": 2**0.5, "slices": [list(values)]}
    return rwn_claims.Survey(values, {"variables": [], "intervals": about})


def test_SE_4_mean_share_and_median(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = check_values("interval")["SE-4"]
    read, expected = small({"v": entry["input"]["values"]}, monkeypatch), entry["expected"]
    (mean,), (share,) = read.interval("mean(v)").rows, read.interval("share(v > 5)").rows
    (median,) = read.interval("median(v)").rows
    found = [mean.estimate, mean.error, share.estimate, *share.interval, median.estimate]
    said = [expected["mean"], expected["se_masked"], expected["share_above_5"]]
    said += [*expected["wilson_half_n"], expected["median"]]
    np.testing.assert_allclose(found, said, atol=1e-10)
    assert list(median.interval) == expected["woodruff"]
    ends = [mean.estimate - rwn_claims.Z * mean.error, mean.estimate + rwn_claims.Z * mean.error]
    np.testing.assert_allclose(ends, expected["interval"], atol=1e-10)


def test_SE_5_regression_with_HC3(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = check_values("interval")["SE-5"]
    one, other = zip(*entry["input"]["x"], strict=True)
    read = small({"y": entry["input"]["y"], "a": list(one), "b": list(other)}, monkeypatch)
    rows = read.interval("y ~ a + b").rows
    expected = entry["expected"]
    np.testing.assert_allclose([r.estimate for r in rows], expected["coefficients"], atol=1e-10)
    np.testing.assert_allclose([r.error for r in rows], expected["hc3_masked"], atol=1e-10)


@pytest.mark.parametrize(("model", "why"), REFUSED.items())
def test_refusals(folder: Path, model: str, why: str) -> None:
    with pytest.raises(rwn_claims.Refused, match=why.replace("(", r"\(")):
        loaded(folder).interval(model)


def test_conditions_of_the_file_are_read(folder: Path) -> None:
    read = loaded(folder)
    with pytest.raises(rwn_claims.Refused, match="No claim covers this model"):
        read.fit("wage ~ age")  # a notice has no claims
    read.claims["intervals"] = {"refusal": "No interval from this file alone holds: few."}
    with pytest.raises(rwn_claims.Refused, match="alone holds: few"):
        read.interval("mean(wage)")
    del read.claims["intervals"]
    with pytest.raises(rwn_claims.Refused, match="nothing of intervals"):
        read.interval("mean(wage)")
    few = {name: cells[:59] for name, cells in loaded(folder)._columns.items()}
    with pytest.raises(rwn_claims.Refused, match="Fewer than 60"):
        rwn_claims.Survey(few, loaded(folder).claims).interval("mean(age)")
    # a file changed by hand is not the file of the notice
    changed = folder / "changed.csv"
    changed.write_bytes((folder / "release.csv").read_bytes().replace(b"1", b"2"))
    with pytest.raises(rwn_claims.Refused, match="another file"):
        rwn_claims.load(changed, folder / "notice.json")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_reader_for_r_is_equal(folder: Path) -> None:
    read = loaded(folder)
    program = 'source("rwn_claims.R"); s <- load_claims("release.csv", "notice.json")\n'
    asked = [*MODELS.items(), *((one, "linear") for one in SINGLE)]
    for model, kind in asked:
        program += f"r <- interval_claimed(s, '{model}', '{kind}')\n"
        program += "cat(format(c(r$estimate, r$error, r$low, r$high), digits = 17), '\\n')\n"
    for model in REFUSED:
        program += f"cat(tryCatch({{interval_claimed(s, '{model}'); 'none'}}, "
        program += "rwn_refusal = function(e) 'refused'), '\\n')\n"
    program += "cat(interval_claimed(s, log(wage) ~ age)$term, '\\n')"
    (folder / "program.R").write_text(program, encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "program.R"], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    for (model, kind), line in zip(asked, lines, strict=False):
        theirs = np.array([np.nan if word == "NA" else float(word) for word in line.split()])
        rows = read.interval(model, kind).rows
        ours = [[row.estimate, row.error, *row.interval] for row in rows]
        ours = np.array(ours, dtype=np.float64).T
        # terms stand in another order where categories are written after numbers
        theirs = theirs.reshape(4, -1)
        np.testing.assert_allclose(
            np.sort(theirs, axis=1), np.sort(ours, axis=1), rtol=1e-10, err_msg=model
        )
    assert [line.strip() for line in lines[len(asked) : -1]] == ["refused"] * len(REFUSED)
    assert lines[-1].split() == ["(Intercept)", "age"]
    assert json.loads((folder / "notice.json").read_text("utf-8"))["intervals"]["refusal"] == ""
