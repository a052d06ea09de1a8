"""Intervals of one balanced release hold inside a slice, and planted faults do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.evaluation.valid_intervals import FACTOR, valid_intervals
from rwn_core.masking import SoftRWN
from tests.check_values import check_values

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
    for column, said, share, factor in zip(
        values.T,
        expected["columns"],
        expected["share_kept_each"],
        expected["factor_each"],
        strict=True,
    ):
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


def sliced(frame: pd.DataFrame) -> Microdata:
    return Microdata.from_frame(frame).with_slices([["x", "y"], ["z", "w"]])


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
    rows["z"] += np.tile(np.arange(5), 30) / 10
    return rows.assign(
        person_id=np.repeat(np.arange(1000, 1030), 5), wave=np.tile(np.arange(5), 30)
    )


def with_role(role: Role) -> Callable[[pd.DataFrame], Microdata]:
    def made(frame: pd.DataFrame) -> Microdata:
        data = sliced(frame.assign(number=np.arange(len(frame)) // 3))
        return data.with_schema(data.schema.replace_variable("number", role=role))

    return made


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


def slope(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The slope of two columns and HC3, by the definition."""
    design = np.column_stack([np.ones(len(one)), one])
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ design.T @ other
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    scores = design * ((other - design @ found) / (1 - leverage))[:, None]
    return float(found[1]), float(np.sqrt((inverse @ scores.T @ scores @ inverse)[1, 1]))


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
            value, error = slope(file["x"], file["y"])
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
                value, error = slope(file["x"], file["z"])
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
