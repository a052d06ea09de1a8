"""Intervals from one release, their readers, and standard errors."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats

import rwn_core as rwn
from rwn_core import Comparison, Microdata, SoftRWN, combine_releases, standard_error_validity
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
from rwn_core.reporting.readers import READERS, rwn_intervals
from tests.attacked_tables import released
from tests.check_values import check_values
from tests.core.reporting.conftest import touched
from tests.lanes import lanes
from tests.oracles.expected_moments import expected_moments
from tests.rows_together import blocks
from tests.tables import described

BLOCKS = blocks()
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
    n = len(given["weights"])
    q = given["q"]
    drawn = (1 - q) * np.eye(n) + q * np.array(given["weights"])
    values = np.array(given["values"], dtype=float)
    centered = values - values.mean(axis=0)
    moved = drawn @ centered
    kept = (moved**2).sum(axis=0) / (centered**2).sum(axis=0)
    least = linalg.eigh(moved.T @ moved, centered.T @ centered, eigvals_only=True)[0]
    variances = [masking_variance(drawn, column) for column in values.T]
    said = {name: [each[name] for each in expected["columns"]] for name in expected["columns"][0]}
    for found, wanted in (
        (variances, said["masking_variance"]),
        (values.var(axis=0) / n, said["bound"]),
        (values.var(axis=0, ddof=1) / n, said["sampling_variance"]),
        (kept, expected["share_kept_each"]),
        (np.sqrt(2 - kept), expected["factor_each"]),
        ([least, np.sqrt(2 - least)], [expected["rho"], expected["factor_all"]]),
    ):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
    assert (variances <= values.var(axis=0) / n).all()
    assert (np.sqrt(2 - kept) <= FACTOR).all()


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
        for name, own in expected_moments(law).mean_variances.items():
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
    rows = {"found": [], "stated": ""}
    assert said == {"records": 150, "refusal": "", "slices": [["x", "y"], ["z", "w"]], **rows}
    # variables that stay as they are stay together
    said = judged(described(data.frame), BALANCED, as_is=["y", "w"])
    assert said["slices"] == [["x"], ["z"], ["y", "w"]]
    assert judged(data, replace(BALANCED, q=0.0))["slices"] == [["x", "y", "z", "w"]]
    assert judged(data, replace(BALANCED, q=0.5), precision={"x": 0.5})["refusal"] == ""


def test_what_was_found_is_said_and_what_is_stated_counts() -> None:
    """Rows that are stated to be separate people are an independent sample, on that word."""
    data = described(BLOCKS["classes"])
    found = judged(data, BALANCED)
    assert (found["refusal"], found["found"], found["stated"]) == ("clustered", ["cluster"], "")
    for text, why in (("separate", ""), ("cluster=class", "clustered"), ("series", "series")):
        said = judged(data, BALANCED, rows=text)
        assert (said["refusal"], said["found"]) == (why, ["cluster"])
        assert said["stated"] == text.partition("=")[0]


def panel(frame: pd.DataFrame) -> pd.DataFrame:
    """Several rows a person, of whom nobody said so."""
    rows = frame.iloc[np.repeat(np.arange(30), 5)].reset_index(drop=True)
    wave = np.tile(np.arange(5), 30)
    rows["z"] += wave / 10
    return rows.assign(person_id=np.repeat(np.arange(1000, 1030), 5), wave=wave)


@pytest.mark.parametrize(
    ("make", "params", "why"),
    [
        (sliced, EVEN, "drift"),
        (sliced, replace(BALANCED, balance=0.9), "drift"),
        (sliced, rwn.AdditiveNoise(size=0.5), "drift"),
        (lambda frame: described(frame.assign(home=np.arange(150) // 3), SLICES, home="household"),
         BALANCED, "clustered"),
        (lambda frame: described(panel(frame)), BALANCED, "clustered"),
        (lambda frame: described(frame.assign(year=np.arange(1850, 2000))), BALANCED, "series"),
        (lambda _: described(BLOCKS["classes, shuffled"]), BALANCED, "clustered"),
        (lambda _: described(BLOCKS["panel, nothing but height"]), BALANCED, "clustered"),
        (lambda _: described(BLOCKS["years without the year"]), BALANCED, "series"),
        (lambda frame: sliced(frame.iloc[:59]), BALANCED, "few"),
        (lambda frame: sliced(frame.iloc[:60]), BALANCED, ""),
    ],
)  # fmt: skip
def test_conditions(make: Callable[[pd.DataFrame], Microdata], params: Any, why: str) -> None:
    assert judged(make(people(np.random.default_rng(1))), params)["refusal"] == why


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
    "mean(wage)",
    "median(wage)",
    "quantile(age, 0.9)",
    "share(wage > 12)",
    "share(member = 1)",
    "share(region = north)",
    "share(age <= 30)",
    "quantile( wage ,.25 )",
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
    age = rng.uniform(18, 80, n).round(1)
    sex = rng.choice(["f", "m"], n)
    few = np.arange(n) < 12
    frame = pd.DataFrame({"age": age, "sex": sex})
    frame["region"] = rng.choice(["South", "north", "äst"], n)
    frame["team"] = rng.integers(1, 4, n)
    frame["wage"] = np.exp(2 + age / 100 + (sex == "m") / 5 + rng.normal(0, 0.4, n)).round(2)
    frame["member"] = (rng.uniform(size=n) < 1 / (1 + np.exp(-(age - 50) / 10))).astype(int)
    frame["visits"] = rng.poisson(2, n)
    frame["rare"] = few.astype(int)
    frame["job"] = np.where(few, "astronaut", rng.choice(["a", "b"], n))
    frame["low"] = rng.normal(size=n)
    frame["twin"] = age + rng.normal(0, 0.01, n)
    frame["height"] = rng.normal(170, 9, n)
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
    data = described(frame)
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


def loaded(folder: Path) -> rwn_intervals.Survey:
    return rwn_intervals.load(folder / "release.csv", folder / "notice.json")


def in_one_slice(values: dict[str, Any]) -> rwn_intervals.Survey:
    about = {"refusal": "", "factor": FACTOR, "slices": [list(values)]}
    return rwn_intervals.Survey(values, {"variables": [], "intervals": about})


def small(values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> rwn_intervals.Survey:
    """A table of a check value, however few its records are."""
    for name in ("FEWEST", "FEWEST_APART", "FEWEST_OTHER", "LEAST_FREEDOM"):
        monkeypatch.setattr(rwn_intervals, name, 1)
    return in_one_slice(values)


def test_SE_4_mean_share_and_median(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = check_values("interval")["SE-4"]
    read = small({"v": entry["input"]["values"]}, monkeypatch)
    expected = entry["expected"]
    (mean,) = read.interval("mean(v)").rows
    (share,) = read.interval("share(v > 5)").rows
    (median,) = read.interval("median(v)").rows
    found = [mean.estimate, mean.error, share.estimate, *share.interval, median.estimate]
    said = [expected["mean"], expected["se_masked"], expected["share_above_5"]]
    said += [*expected["wilson_half_n"], expected["median"]]
    np.testing.assert_allclose(found, said, atol=1e-10)
    assert list(median.interval) == expected["woodruff"]
    ends = [
        mean.estimate - rwn_intervals.Z * mean.error,
        mean.estimate + rwn_intervals.Z * mean.error,
    ]
    np.testing.assert_allclose(ends, expected["interval"], atol=1e-10)


def test_SE_5_regression_with_HC3(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = check_values("interval")["SE-5"]
    one, other = zip(*entry["input"]["x"], strict=True)
    read = small({"y": entry["input"]["y"], "a": list(one), "b": list(other)}, monkeypatch)
    rows = read.interval("y ~ a + b").rows
    expected = entry["expected"]
    np.testing.assert_allclose([r.estimate for r in rows], expected["coefficients"], atol=1e-10)
    np.testing.assert_allclose([r.error for r in rows], expected["hc3_masked"], atol=1e-10)
    # an interval of Student's t, with half of the records less the coefficients
    reach = stats.t.ppf(0.975, len(one) / 2 - 3)
    ends = [(r.estimate - reach * r.error, r.estimate + reach * r.error) for r in rows]
    np.testing.assert_allclose([r.interval for r in rows], ends)


def test_refusals(folder: Path) -> None:
    read = loaded(folder)
    wrong = []
    for model, why in REFUSED.items():
        with pytest.raises(rwn_intervals.Refused) as refused:
            read.interval(model)
        if why not in str(refused.value):
            wrong.append(model)
    assert wrong == []


def test_half_the_records_leave_ten_beyond_the_coefficients() -> None:
    rng = np.random.default_rng(1)
    read = in_one_slice({f"v{number}": list(rng.normal(size=60)) for number in range(21)})
    model = "v0 ~ " + " + ".join(f"v{number}" for number in range(1, 20))
    assert len(read.interval(model).rows) == 20
    with pytest.raises(rwn_intervals.Refused, match="too few records for so many coefficients"):
        read.interval(f"{model} + v20")


def test_conditions_of_the_file_are_read(folder: Path) -> None:
    read = loaded(folder)
    few = {name: cells[:59] for name, cells in read._columns.items()}
    changed = folder / "changed.csv"  # by hand, so that it is not the file of the notice
    changed.write_bytes((folder / "release.csv").read_bytes().replace(b"1", b"2"))
    none = {"refusal": "No interval from this file alone holds: few."}
    without = {name: each for name, each in read.notice.items() if name != "intervals"}
    for ask, why in (
        (lambda: rwn_intervals.Survey(few, read.notice).interval("mean(age)"), "Fewer than 60"),
        (lambda: rwn_intervals.load(changed, folder / "notice.json"), "another file"),
        (lambda: rwn_intervals.Survey(few, {**without, "intervals": none}).interval("mean(age)"),
         "alone holds: few"),
        (lambda: rwn_intervals.Survey(few, without).interval("mean(age)"), "nothing of intervals"),
    ):  # fmt: skip
        with pytest.raises(rwn_intervals.Refused, match=why):
            ask()


PRINTED = """
source("rwn_intervals.R")
print(load_released("release.csv", "notice.json"))
"""


def test_a_file_prints_itself_in_five_lines(folder: Path) -> None:
    """It was an address in memory, or the whole table."""
    survey = loaded(folder)
    records = len((folder / "release.csv").read_text("utf-8").splitlines()) - 1
    lines = repr(survey).splitlines()
    assert len(lines) == 5
    assert lines[0].endswith(f"a masked file of {records:,} records")
    assert lines[3].startswith("Intervals for variables of one slice: ")
    assert lines[4].startswith('Ask: survey.interval("mean(')
    asked = re.search(r'interval\("(.*)"\)', lines[4])
    assert asked is not None
    assert survey.interval(asked.group(1)).rows, "what it proposes can be asked"
    refused = rwn_intervals.Survey({"x": [1, 2]}, {"intervals": {"refusal": "Not here."}})
    assert repr(refused).splitlines()[3] == "Not here."
    if shutil.which("Rscript") is not None:
        said = subprocess.run(
            ["Rscript", "-e", PRINTED], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
        assert said.splitlines()[:4] == lines[:4]


GERMAN = FileLayout(encoding="cp1252", separator=";", decimal=",")
ASK = """
source("rwn_intervals.R")
s <- tryCatch(load_released("release.csv", "notice.json"), error = function(e) cat(e$message))
if (!is.null(s)) for (one in c("mean(wage)", "wage ~ age + factor(region)"))
  cat(format(released_interval(s, one)$estimate, digits = 12))
"""


@pytest.mark.parametrize("layout", [GERMAN, FileLayout(separator="\t")])
def test_the_readers_take_the_separator_and_the_decimal_mark_from_the_notice(
    folder: Path, tmp_path: Path, layout: FileLayout
) -> None:
    """The same release in another layout gives the same numbers; no notice states a usual mark."""
    other = released_into(tmp_path, layout, "csv")
    notice = json.loads((other / "notice.json").read_text("utf-8"))
    stated = {"separator": ";", "decimal": ","} if layout is GERMAN else {"separator": "\t"}
    assert notice["marks"] == stated
    assert "marks" not in json.loads((folder / "notice.json").read_text("utf-8"))
    assert (other / "release.csv").read_bytes().count(stated["separator"].encode()) > 420
    for one in ("wage ~ region + sex + age + sex:age", "median(wage)"):
        first, second = (str(loaded(each).interval(one)) for each in (folder, other))
        assert first == second
    if layout is GERMAN and shutil.which("Rscript") is not None:
        assert asked_in_r(other) == asked_in_r(folder) != ""
    del notice["marks"]  # of an earlier version
    (other / "notice.json").write_text(json.dumps(notice), encoding="utf-8")
    with pytest.raises(rwn_intervals.Refused, match="give that"):
        loaded(other)


def test_a_file_that_is_no_text_is_refused_in_one_sentence_and_its_table_is_taken(
    tmp_path: Path,
) -> None:
    sentence = "Read the file as a data frame and give that: it is no such text."
    folder = released_into(tmp_path, GERMAN, "excel")
    with pytest.raises(rwn_intervals.Refused) as refused:
        loaded(folder)
    assert str(refused.value) == sentence
    frame = pd.read_excel(folder / "release.csv", engine="openpyxl")
    read = rwn_intervals.load(frame, folder / "notice.json").interval("mean(wage)")
    assert read.records == frame["wage"].count()
    if shutil.which("Rscript") is not None:
        assert asked_in_r(folder) == sentence


def asked_in_r(folder: Path) -> str:
    done = subprocess.run(
        ["Rscript", "-e", ASK], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_reader_for_r_is_equal(folder: Path) -> None:
    read = loaded(folder)
    program = 'source("rwn_intervals.R"); s <- load_released("release.csv", "notice.json")\n'
    asked = [*MODELS.items(), *((one, "linear") for one in SINGLE)]
    for model, kind in asked:
        program += f"r <- released_interval(s, '{model}', '{kind}')\n"
        program += "cat(format(c(r$estimate, r$error, r$low, r$high), digits = 17), '\\n')\n"
    for model in REFUSED:
        program += f"cat(tryCatch({{released_interval(s, '{model}'); 'none'}}, "
        program += "rwn_refusal = function(e) 'refused'), '\\n')\n"
    program += "cat(released_interval(s, log(wage) ~ age)$term, '\\n')"
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
    x = rng.normal(size=(n, 1)) * 0.7 + rng.normal(size=(n, 3)) * 0.7
    frame = pd.DataFrame({"y": TRUTH[0] + x @ TRUTH[1:] + rng.normal(size=n)})
    return asked(described(frame.assign(**dict(zip("abc", x.T, strict=True)))), QUESTION)


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


def test_SE_1_the_bootstrap_finds_what_sampling_would():
    """Measured elsewhere, 600 replications: 1.01 at q = 0 and 0.76 at q = 1, k = 5."""
    data = sample(np.random.default_rng(77))
    unmasked, masked = (
        standard_error_validity(data, rwn.RWN(k=5, q=q), repeats=80, seed=1) for q in (0.0, 1.0)
    )
    assert unmasked.ratio.mean() == pytest.approx(1.01, abs=0.15)
    assert masked.ratio.mean() == pytest.approx(0.76, abs=0.15)
    assert masked.ratio.mean() < unmasked.ratio.mean()
    np.testing.assert_allclose(unmasked.inflation, 1.0, atol=1e-12)
    assert (masked.inflation > 1).all()
    added = (masked.inflation - 1) * masked.standard_error**2
    np.testing.assert_allclose(added, masked.between**2)
    assert (masked.inflation_with_bias >= masked.inflation).all()
    assert (masked.factor >= 1).all()


def test_a_sample_never_draws_from_its_own_copies():
    data = sample(np.random.default_rng(3), 60)
    points = coordinates(data)
    table = neighbor_table(coordinates(data), k=10, epsilon=None)
    rows = np.sort(np.random.default_rng(1).integers(0, 60, 60))
    rows[:2] = 0  # the first record is there, too
    other = table.without_copies(rows)
    neighborhoods = other.cut(k=4, epsilon=None)
    assert (neighborhoods.sizes >= 4).all()
    for record in range(60):  # every copy of every other original, once
        assert rows[record] not in rows[neighborhoods.members(record)]
        start, end = other.offsets[record : record + 2]
        others = np.flatnonzero(rows != rows[record])
        assert sorted(other.records[start:end]) == others.tolist()
        # the nearest member is the nearest other original that the sample holds
        distance = np.linalg.norm(points - points[rows[record]], axis=1)
        nearest = min(rows[others], key=lambda row: distance[row])
        assert rows[neighborhoods.members(record)[0]] == nearest


def test_refusals_name_the_columns():
    data = sample(np.random.default_rng(5), 50)
    params = rwn.RWN(k=5)
    doubled, exact = (
        described(data.frame.assign(d=values))
        for values in (2 * data.frame["a"], 3 * data.frame["y"])
    )
    for table, question, why in (
        (asked(data, None), None, "No regression"),
        (doubled, Question(response="y", predictors=("a", "d")), r"collinear.*: d"),
        (exact, Question(response="y", predictors=("d",)), "exactly"),
    ):
        with pytest.raises(NotApplicable, match=why):
            standard_error_validity(table, params, question=question)
    with pytest.raises(ParameterError, match="repeats"):
        standard_error_validity(data, params, repeats=3)


def plan(formula: str) -> AnalysisPlan:
    return AnalysisPlan(
        analyses=(Analysis(name="a", kind="linear", tolerance=2.0, formula=formula),)
    )


def test_biased_slopes_of_bodyfat_are_never_called_fine() -> None:
    """Finding N2: 95 % intervals hold the slope of abdomen in none of 60 releases."""
    asked = plan("siri ~ age + abdomen + weight + height")
    (found,) = slope_trust(
        rwn.load_demo("bodyfat"), rwn.RWN(epsilon=2.0, k=5), plan=asked, seed=100
    )
    by_name = dict(zip(found["names"], found["coverage"], strict=True))
    assert (found["drawn"], found["releases"]) == (60, 60)
    assert by_name["abdomen"] == by_name["weight"] == 0.0
    assert {"abdomen", "weight", "age", "height"} == set(misses(found))
    assert turns(found) == ["weight"]
    # one that 13 of 60 releases cannot fit is not to be trusted
    record = {"response": "y", "names": ["x"], "drawn": 60}
    record |= {"coverage": [1.0], "signs": [1.0], "shift": [0.0]}
    assert [misses({**record, "releases": each}) for each in (47, 48)] == [["x"], []]


def linear(n: int = 400, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    frame = pd.DataFrame({"x": x, "z": z, "g": rng.choice(list("ab"), n)})
    frame["y"] = x - 2 * z + (frame["g"] == "b") + rng.normal(size=n)
    return asked(described(frame), Question(response="y", predictors=("x", "z", "g")))


def test_an_unmasked_file_is_trusted_and_one_without_relations_is_not() -> None:
    data = linear()
    (same,) = slope_trust(data, rwn.RWN(k=1, q=0.0), repeats=5, seed=1)
    assert same["names"] == ("x", "z", "g")
    assert same["coverage"] == same["signs"] == (1.0, 1.0, 1.0)
    assert misses(same) == turns(same) == []
    (gone,) = slope_trust(data, rwn.RWN(epsilon=1e6, k=399), repeats=40, seed=1)
    assert set(misses(gone)) == {"x", "z", "g"}
    assert set(turns(gone)) >= {"x", "z"}
    # terms belong to variables, and levels are not named
    (found,) = slope_trust(data, rwn.RWN(k=3, q=0.1), plan=plan("y ~ x * z + g"), repeats=4, seed=1)
    assert (found["names"], found["response"]) == (("x", "z", "g"), "y")
    without = described(pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}))
    assert slope_trust(without, rwn.RWN(k=3)) == ()


def test_intervals_of_thirty_records_are_those_of_student() -> None:
    """The coverage is that of fits by statsmodels; with 1.96 it is another one, as planted."""
    import statsmodels.formula.api as smf

    data = linear(30)
    setting = rwn.RWN(k=3, q=0.3)
    (found,) = slope_trust(data, setting, repeats=60, seed=4)
    formula = "y ~ x + z + g"
    own = smf.ols(formula, data.frame).fit().params
    held = []
    by_normal = []
    for work in draws(data, setting, 60, 4):
        fit = smf.ols(formula, work.masked.frame).fit()
        ends = fit.conf_int()
        held.append((ends[0] <= own) & (own <= ends[1]))
        by_normal.append(np.abs(fit.params - own) <= 1.96 * fit.bse)
    coverage = pd.DataFrame(held).mean()[["x", "z", "g[T.b]"]]
    np.testing.assert_allclose(found["coverage"], coverage)
    assert np.abs(pd.DataFrame(by_normal).mean()[coverage.index] - coverage).max() > 0


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.normal(size=80), "g": rng.choice(list("uv"), 80), "c": 1.0})
    frame["y"] = frame["x"] + rng.normal(size=80)
    frame.loc[3, "y"] = np.nan
    data = described(frame)
    return compare(data, rwn.mask(data, rwn.RWN(k=4), seed=1))


def test_two_numbers_a_constant_and_one_variable(comparison):
    original = comparison.original
    found = two_way(comparison, "x", "y").detail
    known = original.frame[["x", "y"]].dropna()
    assert found.original.shape == (79, 2)
    assert found.correlation_original == pytest.approx(known.corr().iloc[0, 1])
    change = abs(found.correlation_released - found.correlation_original)
    assert two_way(comparison, "x", "y").value == pytest.approx(change)
    constant = two_way(comparison, "x", "c")
    assert (constant.detail.correlation_original, constant.value) == (None, 0.0)
    # a relation to what is constant now is lost
    flat = described(comparison.masked.frame.assign(y=1.0))
    lost = two_way(Comparison(original=original, masked=flat), "x", "y")
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


# by prediction, tied or drawn apart
N = 160
APART = SoftRWN(kernel="gaussian", width=1.0, balance=1.0, own=True, cap=0.5)
WAYS = {
    "apart": APART,
    "predicted": replace(APART, by_prediction=True, later=10),
    "tied": replace(APART, tie=True),
}


def two_pairs(seed: int = 0, n: int = N) -> pd.DataFrame:
    """Two pairs of related numbers that are related with each other, and a rare flag."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=n)
    frame = pd.DataFrame({"x": x, "w": x + 0.5 * draw.normal(size=n)})
    frame["y"] = x + 0.4 * draw.normal(size=n)
    frame["z"] = frame["y"] - 0.5 * draw.normal(size=n)
    frame["flag"] = np.where(draw.permutation(n) < 4, "yes", "no")
    return frame


PAIRS = described(two_pairs(), [["x", "w"], ["y", "z"]])


@cache
def usual(way: str, seed: int = 1) -> Comparison:
    return released(PAIRS, WAYS[way], seed)


def loss(compared: Comparison) -> float:
    return float(rwn.MEASURES["association_loss"].read(compared).value)


def reader(compared: Comparison, factor: float = FACTOR) -> rwn_intervals.Survey:
    """Return the reader that an analyst has."""
    judged = valid_intervals(compared.original, compared.law, compared.masked.n)
    assert judged["refusal"] == ""
    about = {"refusal": "", "slices": judged["slices"], "factor": factor}
    columns = {name: compared.masked.frame[name].tolist() for name in compared.masked.frame}
    return rwn_intervals.Survey(columns, {"variables": (), "intervals": about})


def test_the_unmasked_file_keeps_all_and_claims_nothing() -> None:
    assert loss(Comparison(original=PAIRS, masked=PAIRS)) == 0.0
    assert valid_intervals(PAIRS, None, N)["refusal"] == "drift"


@pytest.mark.parametrize("way", ["predicted", "tied"])
def test_slices_that_follow_each_other_keep_more(way: str) -> None:
    lost = [np.mean([loss(usual(each, seed)) for seed in (1, 2, 3)]) for each in ("apart", way)]
    assert lost[1] < lost[0] - 0.03
    # planted: a slice in another order
    shuffled = usual(way).masked.frame.copy()
    for name in ("y", "z"):
        shuffled[name] = shuffled[name].to_numpy()[::-1]
    masked = Microdata(shuffled, usual(way).masked.schema)
    assert loss(Comparison(original=PAIRS, masked=masked)) > lost[1] + 0.2


@pytest.mark.parametrize("way", WAYS)
def test_releases_differ_by_what_an_interval_allows(way: str) -> None:
    frames = [usual(way, seed).masked.frame for seed in range(1, 25)]
    # a rare level is counted as often on average
    counts = [(frame["flag"] == "yes").sum() for frame in frames]
    assert abs(np.mean(counts) - 4) < 4 * np.sqrt(4 / 24)
    (share,) = reader(usual(way)).interval("share(flag = yes)", "linear").rows
    low, high = share.interval
    assert 0 <= low < share.estimate <= high < 0.15  # never a width of 0 where few or none appear
    means = np.array([frame["z"].mean() for frame in frames])
    z = PAIRS.frame["z"]
    assert means.var(ddof=1) < 1.9 * z.var() / N  # masking adds at most as much as sampling did
    assert abs(means.mean() - z.mean()) < 4 * np.sqrt(z.var() / N / 24)
    (mean,) = reader(usual(way)).interval("mean(z)", "linear").rows
    assert mean.interval[1] - mean.interval[0] > 2 * 1.96 * np.sqrt(z.var() / N)
    # a drift is found: without balance means move to where records are dense
    drifting = rwn.mask(PAIRS, replace(WAYS[way], balance=0.0), seed=1).law
    assert valid_intervals(PAIRS, drifting, N)["refusal"] == "drift"
    # and units do not matter
    wide = PAIRS.frame.assign(x=2.0**20 * PAIRS.frame["x"], y=PAIRS.frame["y"] / 2.0**10)
    other = released(described(wide, [["x", "w"], ["y", "z"]]), WAYS[way])
    assert loss(other) == pytest.approx(loss(usual(way)), abs=1e-9)
    one, two = (reader(each).interval("mean(x)", "linear").rows[0] for each in (usual(way), other))
    np.testing.assert_allclose(np.array(two.interval) / 2.0**20, one.interval, rtol=1e-9)


@pytest.mark.parametrize("samples", lanes(40, 60))
def test_intervals_hold_inside_a_slice_of_a_balanced_prediction(samples: int) -> None:
    """Samples of one population; `python -m benchmarks intervals` has real tables."""
    population = two_pairs(seed=5, n=4000).drop(columns="flag")
    # little is predicted, so that the donors of a later slice are other people
    draw = np.random.default_rng(6)
    population["y"] = 0.3 * population["x"] + draw.normal(size=4000)
    population["z"] = population["y"] - 0.5 * draw.normal(size=4000)
    slope = np.polyfit(population["y"], population["z"], 1)[0]
    truth = {
        "mean(z)": population["z"].mean(),
        "z ~ y": slope,
        "median(y)": population["y"].median(),
    }
    predicted = replace(WAYS["predicted"], order=("x",), later=40)
    held: dict[float, list[list[bool]]] = {FACTOR: [], 1.0: []}
    for seed in range(samples):
        people = population.sample(N, random_state=seed).reset_index(drop=True)
        data = described(people, [["x", "w"], ["y", "z"]])
        made = released(data, predicted, seed)
        assert next(iter(made.law.later)) == "y"
        for factor, inside in held.items():
            read = reader(made, factor)
            ends = [read.interval(model, "linear").rows[-1].interval for model in truth]
            each = zip(ends, truth.values(), strict=True)
            inside.append([low <= true <= high for (low, high), true in each])
    coverage = {factor: np.mean(inside, axis=0) for factor, inside in held.items()}
    assert min(coverage[FACTOR]) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / samples)
    assert np.mean(coverage[FACTOR]) > 0.93
    # planted fault: printed intervals, without the factor
    assert np.mean(coverage[1.0]) < 0.91
    plain = rwn.mask(data, replace(predicted, later_balance=False), seed=1)
    assert valid_intervals(data, plain.law, N)["slices"] == [["x", "w"]]
