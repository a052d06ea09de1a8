"""Intervals from one release, their readers, and standard errors."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import linalg, stats

import rwn_core as rwn
from rwn_core import Comparison, Microdata, Role, SoftRWN, combine_releases, standard_error_validity
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.schema import Question
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.draws import draws
from rwn_core.evaluation.registered_analysis import Analysis, AnalysisPlan
from rwn_core.evaluation.two_way import two_way
from rwn_core.evaluation.valid_intervals import FACTOR, valid_intervals
from rwn_core.evaluation.validity import misses, slope_trust, turns
from rwn_core.neighbors import neighbor_table
from rwn_core.neighbors.metric import coordinates
from rwn_core.reporting import ReleasedFile, internal_record, read_record
from rwn_core.reporting.facts import Material
from rwn_core.reporting.public_notice import public_file
from rwn_core.reporting.readers import READERS, rwn_claims
from tests.check_values import check_values
from tests.core.reporting.conftest import touched
from tests.tables import described

BALANCED = SoftRWN(kernel="gaussian", balance=1.0, bandwidth_k=6)
EVEN = rwn.RWN(k=60)


def masking_variance(weights: np.ndarray, values: np.ndarray) -> float:
    """The variance of a mean over all draws, donor by donor."""
    total = 0.0
    for row in weights:
        mean = sum(w * v for w, v in zip(row, values, strict=True))
        total += sum(w * (v - mean) ** 2 for w, v in zip(row, values, strict=True))
    return float(total) / len(values) ** 2


@pytest.mark.parametrize("id_", ["SE-2", "SE-3"])
def test_masking_variance_and_its_bound(id_: str) -> None:
    entry = check_values("interval")[id_]
    given, expected = entry["input"], entry["expected"]
    n, q = len(given["weights"]), given["q"]
    drawn = (1 - q) * np.eye(n) + q * np.array(given["weights"])
    values = np.array(given["values"], dtype=float)
    each = (expected[name] for name in ("columns", "share_kept_each", "factor_each"))
    for column, said, share, factor in zip(values.T, *each, strict=True):
        variance = masking_variance(drawn, column)
        assert variance == pytest.approx(said["masking_variance"], abs=1e-10)
        assert column.var() / n == pytest.approx(said["bound"], abs=1e-10)
        assert column.var(ddof=1) / n == pytest.approx(said["sampling_variance"], abs=1e-10)
        assert variance <= column.var() / n
        centered = column - column.mean()
        kept = float(((drawn @ centered) ** 2).sum() / (centered**2).sum())
        assert kept == pytest.approx(share, abs=1e-10)
        assert np.sqrt(2 - kept) == pytest.approx(factor, abs=1e-10)
        assert factor <= FACTOR
    centered = values - values.mean(axis=0)
    moved = drawn @ centered
    least = linalg.eigh(moved.T @ moved, centered.T @ centered, eigvals_only=True)[0]
    assert least == pytest.approx(expected["rho"], abs=1e-10)
    assert np.sqrt(2 - least) == pytest.approx(expected["factor_all"], abs=1e-10)


def people(rng: np.random.Generator, n: int = 150) -> pd.DataFrame:
    x = rng.normal(size=n)
    y = 1 + x + rng.normal(size=n)
    z = x + rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": y, "z": z, "w": rng.exponential(size=n)})


SLICES = [["x", "y"], ["z", "w"]]


def sliced(frame: pd.DataFrame) -> Microdata:
    return described(frame, SLICES)


def test_the_bound_holds_for_the_law_of_a_release() -> None:
    data = sliced(people(np.random.default_rng(1), 80))
    for q in (1.0, 0.5):
        law = rwn.mask(data, replace(BALANCED, q=q), seed=1).law
        drawn = (1 - q) * np.eye(80) + q * law.probabilities.toarray()
        assert abs(drawn.sum(axis=0) - 1).max() < 1e-6
        said = rwn.forecast(data, replace(BALANCED, q=q)).mean_variances
        for name, own in said.items():
            column = data.frame[name].to_numpy()
            assert masking_variance(drawn, column) == pytest.approx(own, rel=1e-6)
            assert own <= column.var() / 80
    # a product with the residual is a function of the slice, too
    odd = (data.frame["x"] * (data.frame["y"] - data.frame["x"])).to_numpy()
    assert masking_variance(drawn, odd) <= odd.var() / 80


def judged(data: Microdata, params: Any, **more: Any) -> dict[str, Any]:
    release = rwn.mask(data, params, seed=1, **more)
    return valid_intervals(release.original, release.law, release.masked.n)


def test_slices_are_what_one_donor_gives() -> None:
    data = sliced(people(np.random.default_rng(1)))
    said = judged(data, BALANCED)
    assert said == {"records": 150, "refusal": "", "slices": [["x", "y"], ["z", "w"]]}
    # variables that stay as they are stay together
    alone = Microdata.from_frame(data.frame)
    said = judged(alone, BALANCED, as_is=["y", "w"])
    assert said["slices"] == [["x"], ["z"], ["y", "w"]]
    assert judged(data, replace(BALANCED, q=0.0))["slices"] == [["x", "y", "z", "w"]]
    assert judged(data, replace(BALANCED, q=0.5), precision={"x": 0.5})["refusal"] == ""


def panel(frame: pd.DataFrame) -> pd.DataFrame:
    """Several rows a person, of whom nobody said so."""
    rows = frame.iloc[np.repeat(np.arange(30), 5)].reset_index(drop=True)
    wave = np.tile(np.arange(5), 30)
    rows["z"] += wave / 10
    return rows.assign(person_id=np.repeat(np.arange(1000, 1030), 5), wave=wave)


def with_role(role: Role) -> Callable[[pd.DataFrame], Microdata]:
    """Three records of each household, person or name."""
    return lambda frame: described(
        frame.assign(number=np.arange(len(frame)) // 3), SLICES, number=role
    )


@pytest.mark.parametrize(
    ("make", "params", "why"),
    [
        (sliced, EVEN, "drift"),
        (sliced, replace(BALANCED, balance=0.0), "drift"),
        (sliced, replace(BALANCED, balance=0.9), "drift"),
        (sliced, rwn.AdditiveNoise(size=0.5), "drift"),
        (sliced, rwn.RowCopy(k=5), "drift"),
        (with_role(Role.HOUSEHOLD), BALANCED, "clustered"),
        (with_role(Role.PERSON), BALANCED, "clustered"),
        (with_role(Role.IDENTIFIER), BALANCED, "clustered"),
        (lambda frame: Microdata.from_frame(panel(frame)), BALANCED, "clustered"),
        (lambda frame: sliced(frame.iloc[:59]), BALANCED, "few"),
        (lambda frame: sliced(frame.iloc[:60]), BALANCED, ""),
        # other units, or one person far out, change nothing
        (lambda frame: sliced(frame * 1e6), BALANCED, ""),
        (lambda frame: sliced(pd.concat([frame.iloc[:1] * 1e4, frame.iloc[1:]])), BALANCED, ""),
    ],
)
def test_conditions(make: Callable[[pd.DataFrame], Microdata], params: Any, why: str) -> None:
    assert judged(make(people(np.random.default_rng(1))), params)["refusal"] == why


def fitted(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The line through two columns and HC3, by the definition: intercept and slope."""
    design = np.column_stack([np.ones(len(one)), one])
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ design.T @ other
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    scores = design * ((other - design @ found) / (1 - leverage))[:, None]
    return found, np.sqrt(np.diag(inverse @ scores.T @ scores @ inverse))


@pytest.fixture(scope="module")
def covered() -> dict[str, float]:
    """How often intervals hold the truth, over 160 samples of 150 people each."""
    held: dict[str, list[bool]] = {}
    rng = np.random.default_rng(8)
    reach = float(stats.t.ppf(0.975, 150 / 2 - 2))
    for number in range(160):
        frame = people(rng)
        data = sliced(frame)
        files = {"unmasked": frame}
        for name, params in (("balanced", BALANCED), ("even", EVEN)):
            files[name] = rwn.mask(data, params, seed=number).masked.frame
        again = rwn.mask(data, BALANCED, seed=number + 1000).masked.frame
        files["two releases"] = pd.concat([files["balanced"], again])
        for name, file in files.items():
            file = {key: file[key].to_numpy() for key in file}
            factor = 1.0 if name == "unmasked" else FACTOR
            (_, value), (_, error) = fitted(file["x"], file["y"])
            held.setdefault(name, []).append(abs(value - 1) <= reach * factor * error)
            mean, error = file["w"].mean(), file["w"].std(ddof=1) / np.sqrt(150)
            held.setdefault(f"mean, {name}", []).append(abs(mean - 1) <= reach * factor * error)
            if name == "balanced":
                held.setdefault("reported", []).append(abs(value - 1) <= reach * error)
                # people whose x is in the highest tenth, against their own truth
                top = file["x"] > stats.norm.ppf(0.9)
                mean, spread = file["y"][top].mean(), file["y"][top].std(ddof=1)
                truth = 1 + stats.norm.pdf(stats.norm.ppf(0.9)) / 0.1
                half = stats.t.ppf(0.975, top.sum() / 2) * FACTOR * spread / np.sqrt(top.sum())
                held.setdefault("worst tenth", []).append(abs(mean - truth) <= half)
                (_, value), (_, error) = fitted(file["x"], file["z"])
                held.setdefault("across", []).append(abs(value - 1) <= reach * FACTOR * error)
    return {name: float(np.mean(each)) for name, each in held.items()}


def test_intervals_inside_a_slice_cover(covered: dict[str, float]) -> None:
    # the standard error of a coverage of .95 over 160 samples is .017
    for of in ("", "mean, "):
        assert covered[f"{of}balanced"] >= min(0.95, covered[f"{of}unmasked"]) - 0.035
    assert covered["worst tenth"] >= 0.915


def test_planted_faults_are_seen(covered: dict[str, float]) -> None:
    assert covered["reported"] < 0.9
    assert covered["across"] < 0.5
    assert covered["mean, even"] < covered["mean, balanced"] - 0.1
    assert covered["two releases"] < covered["balanced"]


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
    "wage ~ rare": "fewer than 30 records differ",
    "wage ~ job": "fewer than 30 records differ",
    "share(rare > 0": "read",
    "mean(rare)": "fewer than 30 records differ",
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
    return released_into(tmp_path_factory.mktemp("intervals"), FileLayout(), "csv")


def released_into(into: Path, layout: FileLayout, form: str) -> Path:
    """Write a release of a file with this layout, its notice and both readers."""
    frame = survey()
    data = Microdata.from_frame(frame)
    data = data.with_slices([[name for name in frame if name != "height"]])
    data = data.with_schema(replace(data.schema, file=layout))
    release = rwn.mask(data, SoftRWN(kernel="gaussian", balance=1.0), seed=5)
    content = release.to_bytes(form, keep=[each.variable for each in release.find_doubts()])
    file = ReleasedFile.of(content, form)
    no_limits = rwn.Policy(limits=())
    text = internal_record(data, release, file, measures=["marginals"], policy=no_limits)
    made = read_record(text)
    made["file"]["key"] = "fresh"  # of a secret; the seed gives the same file in each layout
    notice = public_file(touched(Material(record=made)), data, ".json")
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
    slopes, errors = fitted(known["age"].to_numpy(), known["wage"].to_numpy())
    result = read.interval("wage ~ age")
    assert result.records == len(known)
    reach = stats.t.ppf(0.975, len(known) / 2 - 2)
    for row, value, own in zip(result.rows, slopes, np.sqrt(2) * errors, strict=True):
        np.testing.assert_allclose((row.estimate, row.error), (value, own), rtol=1e-9)
        np.testing.assert_allclose(row.interval, (value - reach * own, value + reach * own))
    (mean,) = read.interval("mean(wage)").rows
    assert mean.error == pytest.approx(np.sqrt(2 / len(known)) * known["wage"].std())
    assert "95 % interval" in str(result)
    # other units change nothing but the unit
    columns = {name: list(file[name]) for name in file}
    scaled = rwn_claims.Survey(columns, {**read.claims, "variables": []})
    scaled._columns["wage"] = [1e6 * value for value in file["wage"]]
    (large,) = scaled.interval("mean(wage)").rows
    np.testing.assert_allclose(large.interval, 1e6 * np.array(mean.interval))


def in_one_slice(values: dict[str, Any]) -> rwn_claims.Survey:
    about = {"refusal": "", "factor": FACTOR, "slices": [list(values)]}
    return rwn_claims.Survey(values, {"variables": [], "intervals": about})


def small(values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> rwn_claims.Survey:
    """A table of a check value, however few its records are."""
    for name in ("FEWEST", "FEWEST_APART", "FEWEST_OTHER", "LEAST_FREEDOM"):
        monkeypatch.setattr(rwn_claims, name, 1)
    return in_one_slice(values)


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


def test_half_the_records_leave_ten_beyond_the_coefficients() -> None:
    rng = np.random.default_rng(1)
    read = in_one_slice({f"v{number}": list(rng.normal(size=60)) for number in range(21)})
    model = "v0 ~ " + " + ".join(f"v{number}" for number in range(1, 20))
    assert len(read.interval(model).rows) == 20
    with pytest.raises(rwn_claims.Refused, match="too few records for so many coefficients"):
        read.interval(f"{model} + v20")


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


GERMAN = FileLayout(encoding="cp1252", separator=";", decimal=",")
ASK = """
source("rwn_claims.R")
s <- tryCatch(load_claims("release.csv", "notice.json"), error = function(e) cat(e$message))
if (!is.null(s)) for (one in c("mean(wage)", "wage ~ age + factor(region)"))
  cat(format(interval_claimed(s, one)$estimate, digits = 12))
"""


@pytest.mark.parametrize("layout", [GERMAN, FileLayout(separator="\t")])
def test_the_readers_take_the_separator_and_the_decimal_mark_from_the_notice(
    folder: Path, tmp_path: Path, layout: FileLayout
) -> None:
    """The same release in another layout gives the same numbers; no notice states a usual mark."""
    other = released_into(tmp_path, layout, "csv")
    stated = {"separator": ";", "decimal": ","} if layout is GERMAN else {"separator": "\t"}
    assert json.loads((other / "notice.json").read_text("utf-8"))["marks"] == stated
    assert "marks" not in json.loads((folder / "notice.json").read_text("utf-8"))
    assert (other / "release.csv").read_bytes().count(stated["separator"].encode()) > 420
    for one in (*MODELS, *SINGLE):
        assert str(loaded(other).interval(one, MODELS.get(one, "linear"))) == str(
            loaded(folder).interval(one, MODELS.get(one, "linear"))
        )
    if shutil.which("Rscript") is not None:
        assert asked_in_r(other) == asked_in_r(folder) != ""


def test_a_file_that_is_no_text_is_refused_in_one_sentence_and_its_table_is_taken(
    tmp_path: Path,
) -> None:
    sentence = "Read the file as a data frame and give that: it is no such text."
    folder = released_into(tmp_path, GERMAN, "excel")
    with pytest.raises(rwn_claims.Refused) as refused:
        loaded(folder)
    assert str(refused.value) == sentence
    frame = pd.read_excel(folder / "release.csv", engine="openpyxl")
    assert (
        rwn_claims.load(frame, folder / "notice.json").interval("mean(wage)").records
        == frame["wage"].count()
    )
    if shutil.which("Rscript") is not None:
        assert asked_in_r(folder) == sentence
    # a notice of an earlier version states no marks
    (early := tmp_path / "early").mkdir()
    document = json.loads((released_into(early, GERMAN, "csv") / "notice.json").read_text("utf-8"))
    del document["marks"]
    (early / "notice.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(rwn_claims.Refused, match="give that"):
        loaded(early)


def asked_in_r(folder: Path) -> str:
    done = subprocess.run(
        ["Rscript", "-e", ASK], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


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
        ours = np.array([[row.estimate, row.error, *row.interval] for row in rows], float).T
        # terms stand in another order where categories are written after numbers
        both = (np.sort(each, axis=1) for each in (theirs.reshape(4, -1), ours))
        np.testing.assert_allclose(*both, rtol=1e-10, err_msg=model)
    assert [line.strip() for line in lines[len(asked) : -1]] == ["refused"] * len(REFUSED)
    assert lines[-1].split() == ["(Intercept)", "age"]
    assert json.loads((folder / "notice.json").read_text("utf-8"))["intervals"]["refusal"] == ""


MI_1 = check_values("utility")["MI-1"]
QUESTION = Question(response="y", predictors=("a", "b", "c"))
TRUTH = np.array([1.0, 1.0, -0.5, 0.5])


def sample(rng: np.random.Generator, n: int = 300) -> Microdata:
    shared = rng.normal(size=(n, 1))
    x = shared * 0.7 + rng.normal(size=(n, 3)) * 0.7
    y = TRUTH[0] + x @ TRUTH[1:] + rng.normal(size=n)
    frame = pd.DataFrame({"y": y, "a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    return asked(Microdata.from_frame(frame), QUESTION)


def asked(data: Microdata, question: Question | None) -> Microdata:
    return data.with_schema(replace(data.schema, question=question))


def test_MI_1_combining_releases():
    given, wanted = MI_1["input"], MI_1["expected"]
    found = combine_releases(np.array(given["q"]), np.array(given["u"]))
    parts = {"estimate": "qbar", "within": "ubar", "between": "b", "variance": "T", "degrees": "nu"}
    for part, published in parts.items():
        rel = 1e-9 if part == "degrees" else 1e-12
        assert getattr(found, part) == pytest.approx(wanted[published], rel=rel), part


def test_equal_estimates_have_all_the_degrees_of_freedom():
    assert combine_releases(np.ones(3), np.ones(3)).degrees == np.inf
    with pytest.raises(ParameterError, match="at least two"):
        combine_releases(np.ones(1), np.ones(1))
    with pytest.raises(ParameterError, match="above 0"):
        combine_releases(np.ones(2), np.array([1.0, 0.0]))


@pytest.fixture(scope="module")
def simulated(key_base):
    """Reported over true standard error and coverage over fresh samples from a population."""
    rng = np.random.default_rng(list(f"{key_base} validity".encode()))
    found = {}
    for q in (0.0, 1.0):
        estimates, errors = [], []
        for number in range(150):
            data = sample(rng)
            masked = rwn.mask(data, rwn.RWN(k=5, q=q), seed=number).masked
            reading = rwn.MEASURES["regression"].compute(compare(data, masked))
            estimates.append(reading.detail.coefficient_released)
            errors.append(reading.detail.se_released)
        found[q] = np.array(estimates), np.array(errors)
    return found


def ratio(estimates: np.ndarray, errors: np.ndarray) -> float:
    return float((errors.mean(axis=0) / estimates.std(axis=0, ddof=1)).mean())


def test_SE_1_reported_standard_errors_are_true_only_without_masking(simulated):
    """Measured elsewhere, 600 replications: 1.01 at q = 0 and 0.76 at q = 1, k = 5."""
    assert ratio(*simulated[0.0]) == pytest.approx(1.01, abs=0.09)  # 150: s.e. 0.03 a coefficient
    assert ratio(*simulated[1.0]) == pytest.approx(0.76, abs=0.09)
    estimates, errors = simulated[0.0]
    assert (np.abs(estimates - TRUTH) < 1.96 * errors).mean() > 0.92
    estimates, errors = simulated[1.0]
    assert (np.abs(estimates - TRUTH) < 1.96 * errors).mean() < 0.9


def test_SE_1_the_bootstrap_finds_what_sampling_would(simulated):
    data = sample(np.random.default_rng(77))
    unmasked = standard_error_validity(data, rwn.RWN(k=5, q=0.0), repeats=80, seed=1)
    masked = standard_error_validity(data, rwn.RWN(k=5, q=1.0), repeats=80, seed=1)
    assert unmasked.ratio.mean() == pytest.approx(ratio(*simulated[0.0]), abs=0.15)
    assert masked.ratio.mean() == pytest.approx(ratio(*simulated[1.0]), abs=0.15)
    assert masked.ratio.mean() < unmasked.ratio.mean()
    np.testing.assert_allclose(unmasked.inflation, 1.0, atol=1e-12)
    assert (masked.inflation > 1).all()
    assert (masked.inflation_with_bias >= masked.inflation).all()
    assert (masked.factor >= 1).all()


def test_a_sample_never_draws_from_its_own_copies():
    data = sample(np.random.default_rng(3), 60)
    table = neighbor_table(coordinates(data), k=10, epsilon=None)
    rows = np.sort(np.random.default_rng(1).integers(0, 60, 60))
    rows[:2] = 0  # the first record is there, too
    neighborhoods = table.without_copies(rows).cut(k=4, epsilon=None)
    assert (neighborhoods.sizes >= 4).all()
    for record in range(60):
        assert rows[record] not in rows[neighborhoods.members(record)]
    other = table.without_copies(rows)
    for record in range(60):  # every copy of every other original, once
        start, end = other.offsets[record : record + 2]
        others = np.flatnonzero(rows != rows[record])
        assert sorted(other.records[start:end]) == others.tolist()
    # the nearest member is the nearest other original that the sample holds
    points = coordinates(data)
    for record in (0, 17, 59):
        distance = np.linalg.norm(points - points[rows[record]], axis=1)
        others = [row for row in set(rows.tolist()) if row != rows[record]]
        nearest = min(others, key=lambda row: distance[row])
        assert rows[neighborhoods.members(record)[0]] == nearest


def test_refusals_name_the_columns():
    data, params = sample(np.random.default_rng(5), 50), rwn.RWN(k=5)
    doubled, exact = (
        Microdata.from_frame(data.frame.assign(d=values))
        for values in (2 * data.frame["a"], 3 * data.frame["y"])
    )
    for table, predictors, why in (
        (asked(data, None), (), "No regression"),
        (doubled, ("a", "d"), r"collinear.*: d"),
        (exact, ("d",), "exactly"),
    ):
        question = Question(response="y", predictors=predictors) if predictors else None
        with pytest.raises(NotApplicable, match=why):
            standard_error_validity(table, params, question=question)
    with pytest.raises(ParameterError, match="repeats"):
        standard_error_validity(data, params, repeats=3)


FORMULA = "siri ~ age + abdomen + weight + height"


def plan(formula: str, kind: str = "linear") -> AnalysisPlan:
    return AnalysisPlan(analyses=(Analysis(name="a", kind=kind, tolerance=2.0, formula=formula),))


def test_biased_slopes_of_bodyfat_are_never_called_fine() -> None:
    """Finding N2: 95 % intervals hold the slope of abdomen in none of 60 releases."""
    data = rwn.load_demo("bodyfat")
    (found,) = slope_trust(data, rwn.RWN(epsilon=2.0, k=5), plan=plan(FORMULA), seed=100)
    by_name = dict(zip(found["names"], found["coverage"], strict=True))
    assert (found["drawn"], found["releases"]) == (60, 60)
    assert by_name["abdomen"] == by_name["weight"] == 0.0
    assert {"abdomen", "weight", "age", "height"} == set(misses(found))
    assert turns(found) == ["weight"]


def linear(n: int = 400, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    frame = pd.DataFrame({"x": x, "z": z, "g": rng.choice(list("ab"), n)})
    frame["y"] = x - 2 * z + (frame["g"] == "b") + rng.normal(size=n)
    question = Question(response="y", predictors=("x", "z", "g"))
    return asked(Microdata.from_frame(frame), question)


def test_an_unmasked_file_is_trusted_and_one_without_relations_is_not() -> None:
    data = linear()
    (same,) = slope_trust(data, rwn.RWN(k=1, q=0.0), repeats=5, seed=1)
    assert same["names"] == ("x", "z", "g")
    assert same["coverage"] == same["signs"] == (1.0, 1.0, 1.0)
    assert misses(same) == turns(same) == []
    (gone,) = slope_trust(data, rwn.RWN(epsilon=1e6, k=399), repeats=40, seed=1)
    assert set(misses(gone)) == {"x", "z", "g"}
    assert set(turns(gone)) >= {"x", "z"}


def test_terms_belong_to_variables_and_levels_are_not_named() -> None:
    data = linear()
    (found,) = slope_trust(data, rwn.RWN(k=3, q=0.1), plan=plan("y ~ x * z + g"), repeats=4, seed=1)
    assert (found["names"], found["response"]) == (("x", "z", "g"), "y")


def test_without_a_regression_nothing_is_judged() -> None:
    table = Microdata.from_frame(pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}))
    assert slope_trust(table, rwn.RWN(k=3)) == ()


def test_a_regression_that_releases_cannot_fit_is_not_to_be_trusted() -> None:
    record = {"response": "y", "names": ["x"], "releases": 47, "drawn": 60}
    record |= {"coverage": [1.0], "signs": [1.0], "shift": [0.0]}
    assert misses(record) == ["x"]
    assert misses({**record, "releases": 48}) == []


def test_intervals_of_thirty_records_are_those_of_student() -> None:
    """The coverage is that of fits by statsmodels; with 1.96 it is another one, as planted."""
    data = linear(30)
    (found,) = slope_trust(data, rwn.RWN(k=3, q=0.3), repeats=60, seed=4)

    def fitted(table: Microdata) -> sm.regression.linear_model.RegressionResults:
        frame = table.frame
        dummy = frame["g"].astype(str).eq("b").to_numpy(float)
        design = np.column_stack([np.ones(30), frame["x"], frame["z"], dummy])
        return sm.OLS(frame["y"], design).fit()

    own, held, by_normal = fitted(data).params.to_numpy(), [], []
    for work in draws(data, rwn.RWN(k=3, q=0.3), 60, 4):
        fit = fitted(work.masked)
        low, high = fit.conf_int().to_numpy().T
        held.append((low <= own) & (own <= high))
        by_normal.append(np.abs(fit.params.to_numpy() - own) <= 1.96 * fit.bse.to_numpy())
    np.testing.assert_allclose(found["coverage"], np.mean(held, axis=0)[1:])
    assert np.abs(np.mean(by_normal, axis=0)[1:] - found["coverage"]).max() > 0


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=80), "g": rng.choice(list("uv"), 80), "c": 1.0})
    frame["y"] = frame["x"] + rng.normal(size=80)
    frame.loc[3, "y"] = np.nan
    data = Microdata.from_frame(frame)
    return compare(data, rwn.mask(data, rwn.RWN(k=4), seed=1))


def test_two_numbers_a_constant_and_one_variable(comparison):
    found = two_way(comparison, "x", "y")
    original = comparison.original.frame[["x", "y"]].dropna()
    assert found.detail.original.shape == (79, 2)
    assert found.detail.correlation_original == pytest.approx(original.corr().iloc[0, 1])
    change = found.detail.correlation_released - found.detail.correlation_original
    assert found.value == pytest.approx(abs(change))
    found = two_way(comparison, "x", "c")
    assert (found.detail.correlation_original, found.value) == (None, 0.0)
    flat = comparison.masked.frame.assign(y=1.0)  # a relation to what is constant now is lost
    masked = Microdata.from_frame(flat)
    lost = two_way(Comparison(original=comparison.original, masked=masked), "x", "y")
    assert lost.value == pytest.approx(abs(lost.detail.correlation_original))
    with pytest.raises(NotApplicable, match="different"):
        two_way(comparison, "x", "x")


def test_a_category_makes_a_table(comparison):
    found = two_way(comparison, "g", "y")
    assert found.detail.kind == "table"
    assert found.detail.original.sum() == 80
    assert "(missing)" in found.detail.columns
    itself = Comparison(original=comparison.original, masked=comparison.original)
    assert two_way(itself, "g", "y").value == 0.0
