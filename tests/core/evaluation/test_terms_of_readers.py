"""Terms of formulas in both readers: intervals hold, or the term is refused by name.

A term may read its own record alone. What reads the whole sample, such as a mean, a range or a
knot, moves with the sample, and half of the width that is needed would be given for it.
"""

import hashlib
import json
import math
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.valid_intervals import FACTOR
from rwn_core.reporting.readers import READERS, rwn_intervals
from tests.tables import described

# nearly everybody is a donor of everybody: the masking adds as much as it can
EVEN = rwn.SoftRWN(kernel="gaussian", balance=1.0, width=5.0)
KINDS = {
    "plain": "y ~ x",
    "interaction": "y ~ x * z",
    "square": "y ~ x + square(x)",
    "log": "y ~ log(w)",
    "categories": "y ~ x + factor(g)",
    "fixed cut": "y ~ factor(x > 1)",
}
# the term that is named, and its formula
WHOLE_SAMPLE = {
    "center(x)": "y ~ center(x)",
    "scale(x)": "y ~ scale(x)",
    "standardize(x)": "y ~ z + standardize(x):z",
    "bs(x, df=4)": "y ~ bs(x, df=4)",
    "I(x - x.mean())": "y ~ I(x - x.mean())",
    "factor(x > x.mean())": "y ~ factor(x > x.mean())",
    "scale(y)": "scale(y) ~ x",
    "factor(c, [[x.mean()], [1.0], [2.0]])": "y ~ factor(c, [[x.mean()], [1.0], [2.0]])",
    "I(x - x[0])": "y ~ I(x - x[0])",
}
IN_R = {
    "scale(x)": "y ~ scale(x)",
    "poly(x, 2)": "y ~ poly(x, 2)",
    "cut(x, 3)": "y ~ cut(x, 3)",
    "ns(x, df = 3)": "y ~ z + ns(x, df = 3)",
    "bs(x, df = 4)": "y ~ bs(x, df = 4)",
    "I(x - mean(x))": "y ~ I(x - mean(x))",
    "scale(y)": "scale(y) ~ x",
    "rank(x)": "y ~ rank(x):z",
}
ALSO_IN_R = ("y ~ poly(x, 2, raw = TRUE)", "y ~ cut(x, c(-9, 0.5, 1.5, 9))", "y ~ I((x - 1) / 2)")
REFUSAL = (
    "No interval: {} changes when half of the records are left out, so it is no function of one "
    "record; state its numbers yourself, as in I(age - 40)."
)


def population() -> pd.DataFrame:
    """Four thousand people with curved relations and a spread that grows."""
    rng = np.random.default_rng(11)
    n = 4_000
    frame = pd.DataFrame({"x": rng.normal(1.0, 1.0, n), "z": rng.normal(size=n)})
    frame["w"] = np.exp(0.5 * rng.normal(size=n))
    frame["g"] = rng.choice(list("abc"), n, p=[0.4, 0.3, 0.3])
    frame["c"] = rng.integers(0, 3, n)
    spread = 0.7 + 0.2 * frame["x"].abs()
    curve = 0.2 * frame["x"] ** 2 + 0.5 * frame["x"] * frame["z"] + np.log(frame["w"])
    frame["y"] = 1.0 + frame["x"] + curve + (frame["g"] == "b") + spread * rng.normal(size=n)
    frame["v"] = 2 * frame["x"] + 0.5 * rng.normal(size=n)
    return frame


PEOPLE = population()


@cache
def samples(count: int, n: int = 300) -> list[pd.DataFrame]:
    """Masked samples of the population, each drawn independently."""
    masked = []
    for seed in range(count):
        sample = PEOPLE.sample(n, replace=True, random_state=seed).reset_index(drop=True)
        data = described(sample, [list(sample)])
        masked.append(rwn.mask(data, EVEN, seed=seed).masked.frame)
    return masked


def notice(frame: pd.DataFrame) -> dict:
    about = {"refusal": "", "factor": FACTOR, "slices": [list(frame)]}
    return {"format": "rwn notice 1", "variables": [], "intervals": about}


def reader(frame: pd.DataFrame) -> rwn_intervals.Survey:
    return rwn_intervals.Survey({name: frame[name].tolist() for name in frame}, notice(frame))


def held(formula: str, files: list[pd.DataFrame]) -> np.ndarray:
    """Return the share of files whose interval has each coefficient of the population."""
    truth = [row.estimate for row in reader(PEOPLE).interval(formula).rows]
    inside = []
    for frame in files:
        rows = reader(frame).interval(formula).rows
        ends = zip((row.interval for row in rows), truth, strict=True)
        inside.append([low <= true <= high for (low, high), true in ends])
    return np.mean(inside, axis=0)


def least(count: int, asked: float = 0.93) -> float:
    """Return the coverage that luck alone goes below in one of 44 runs."""
    return asked - 2 * math.sqrt(asked * (1 - asked) / count)


def uncovered(files: list[pd.DataFrame]) -> dict[str, list[float]]:
    shares = {kind: held(formula, files) for kind, formula in KINDS.items()}
    return {kind: each.tolist() for kind, each in shares.items() if each.min() < least(len(files))}


def test_intervals_of_terms_of_one_record_hold() -> None:
    assert uncovered(samples(60)) == {}


@pytest.mark.nightly  # test_intervals_of_terms_of_one_record_hold has 60 samples
def test_intervals_of_terms_of_one_record_hold_in_many_samples() -> None:
    assert uncovered(samples(1_000, 500)) == {}


@pytest.mark.parametrize("named", WHOLE_SAMPLE)
def test_a_term_of_the_whole_sample_is_refused_by_name(named: str) -> None:
    with pytest.raises(rwn_intervals.Refused) as refused:
        reader(samples(1)[0]).interval(WHOLE_SAMPLE[named])
    assert str(refused.value) == REFUSAL.format(named)


def test_without_that_refusal_the_intervals_would_be_too_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A planted fault: the intercept beside center(x) moves with the mean of the sample."""
    monkeypatch.setattr(rwn_intervals, "_of_one_record", lambda *_: None)
    assert held("v ~ center(x)", samples(60))[0] < least(60)


def test_a_sample_with_missing_values_or_in_order_is_read_alike() -> None:
    frame = samples(1)[0].copy()
    frame.loc[[3, 8], "x"] = np.nan
    frame.loc[[4], "g"] = None
    ordered = frame.sort_values(["g", "x"])
    for formula in ("y ~ x * factor(g)", "y ~ factor(g) + log(w)"):
        rows = (np.array([r.interval for r in reader(f).interval(formula).rows]) for f in
                (frame, ordered))  # fmt: skip
        np.testing.assert_allclose(*rows, rtol=1e-9)


@pytest.mark.parametrize("text", [" + ".join(["x"] * 2_000), f"I({'+'.join(['x'] * 3_000)})"])
def test_a_formula_of_thousands_of_terms_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(rwn_intervals.Refused, match="too many terms or brackets; take some out"):
        reader(samples(1)[0]).interval(f"y ~ {text}")


@pytest.mark.parametrize("term", ["center(x)", "scale(x)", "bs(x, df=4)", "x - x.mean()"])
def test_registered_analyses_have_no_term_of_the_whole_sample(term: str) -> None:
    with pytest.raises(rwn.ParameterError, match="cannot be read"):
        rwn.Analysis(name="a", kind="linear", tolerance=1.0, formula=f"y ~ {term}")


needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")


def in_r(folder: Path, files: list[pd.DataFrame], formulas: list[str]) -> list[list[list[str]]]:
    """Return what the reader for R says of each formula, in words, for each file."""
    for number, frame in enumerate(files):
        content = frame.to_csv(index=False).encode()
        document = notice(frame) | {"sha256": hashlib.sha256(content).hexdigest()}
        (folder / f"{number}.csv").write_bytes(content)
        (folder / f"{number}.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "rwn_intervals.R").write_bytes(READERS["rwn_intervals.R"])
    asked = ", ".join(json.dumps(each) for each in formulas)
    program = f"""source("rwn_intervals.R")
    for (each in seq_len({len(files)}) - 1) {{
      s <- load_released(paste0(each, ".csv"), paste0(each, ".json"))
      for (one in c({asked})) cat(tryCatch({{
        r <- released_interval(s, one)
        format(c(rbind(r$low, r$high)), digits = 17, trim = TRUE)
      }}, rwn_refusal = conditionMessage), sep = "\\t", fill = 1e6)
    }}"""
    done = subprocess.run(
        ["Rscript", "-e", program], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return [lines[at : at + len(formulas)] for at in range(0, len(lines), len(formulas))]


@needs_r
def test_r_refuses_by_name_what_reads_the_whole_sample(tmp_path: Path) -> None:
    (said,) = in_r(tmp_path, samples(1), [*IN_R.values(), *ALSO_IN_R])
    assert said[: len(IN_R)] == [[REFUSAL.format(named)] for named in IN_R]
    assert [len(line) for line in said[len(IN_R) :]] == [6, 6, 4]  # ends of intervals


@needs_r
def test_r_gives_the_intervals_of_python(tmp_path: Path) -> None:
    """So that they hold as those of Python do; `nightly` counts them by themselves."""
    files = samples(2)
    for frame, said in zip(files, in_r(tmp_path, files, [*KINDS.values()]), strict=True):
        for formula, line in zip(KINDS.values(), said, strict=True):
            rows = reader(frame).interval(formula).rows
            # terms stand in another order where categories are written after numbers
            theirs = sorted(float(word) for word in line)
            ours = sorted(np.concatenate([row.interval for row in rows]))
            np.testing.assert_allclose(theirs, ours, rtol=1e-8, err_msg=formula)


@needs_r
@pytest.mark.nightly  # test_r_gives_the_intervals_of_python holds the same of two samples
def test_intervals_in_r_hold_in_many_samples(tmp_path: Path) -> None:
    files = samples(600, 500)
    formulas = [*KINDS.values(), *ALSO_IN_R]
    truth = in_r(tmp_path, [PEOPLE], formulas)[0]
    low = dict.fromkeys(formulas, 1.0)
    answers = in_r(tmp_path, files, formulas)
    for at, formula in enumerate(formulas):
        own = np.array(truth[at], float).reshape(-1, 2).mean(axis=1)
        ends = np.array([each[at] for each in answers], float).reshape(len(files), -1, 2)
        low[formula] = ((ends[..., 0] <= own) & (own <= ends[..., 1])).mean(axis=0).min()
    assert {formula: share for formula, share in low.items() if share < least(600)} == {}
