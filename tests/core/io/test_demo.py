"""The demo tables: what they hold, and the published values that they give."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Role
from rwn_core.errors import InputError, ParameterError
from rwn_core.io import demo
from rwn_core.io.demo import DEMOS, demo_path, load_demo

MEASUREMENTS = (
    "siri age weight height neck chest abdomen hip thigh knee ankle biceps forearm wrist bmi"
)


def ols(microdata: Microdata) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, standard errors and R squared of the question."""
    question = microdata.schema.question
    assert question is not None
    y = microdata.values(question.response)
    x = np.column_stack([np.ones(microdata.n), microdata.matrix(question.predictors)])
    coefficients = np.linalg.lstsq(x, y)[0]
    residuals = y - x @ coefficients
    variance = residuals @ residuals / (microdata.n - x.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    return coefficients, errors, 1 - residuals @ residuals / ((y - y.mean()) ** 2).sum()


def test_each_demo_is_as_described() -> None:
    for name, about in DEMOS.items():
        microdata = load_demo(name)
        assert (microdata.n, microdata.p) == (about.records, about.variables)
        assert f"{microdata.n:,}" in about.size
        roles = {variable.role for variable in microdata.schema.variables}
        assert {Role.KEY, Role.CONFIDENTIAL} <= roles
        assert microdata.notices == ()
        question = microdata.schema.question
        assert question is not None
        assert microdata.schema.variable(question.response).kind in (Kind.CONTINUOUS, Kind.COUNT)
    pima = load_demo("pima")  # its zeros stay
    assert [int((pima.values(name) == 0).sum()) for name in ("insulin", "triceps")] == [374, 227]
    assert pima.schema.variable("test").kind is Kind.CATEGORICAL
    grouped = [v.name for v in load_demo("randhie").schema.variables if v.group == "health"]
    assert grouped == ["hlthg", "hlthf", "hlthp"]
    with pytest.raises(ParameterError, match="must be one of: bodyfat,"):
        load_demo("../secret")


def test_bodyfat_gives_the_published_regression() -> None:
    # check value BF-1, to its six printed digits
    microdata = load_demo("bodyfat")
    assert microdata.names == tuple(MEASUREMENTS.split())
    coefficients, errors, r2 = ols(microdata)
    expected = [8.450951, 0.593879, -0.737784, -0.175618, 0.929864, -0.445964]
    np.testing.assert_allclose(coefficients, expected, atol=1e-6)
    expected = [7.115275, 0.243746, 0.195986, 0.096137, 0.080435, 0.090796]
    np.testing.assert_allclose(errors, expected, atol=1e-6)
    assert r2 == pytest.approx(0.7069453265510273, abs=1e-12)


def test_the_files_are_found_inside_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = demo_path("pima").parent
    package = tmp_path / "site-packages" / "rwn_core"
    package.mkdir(parents=True)
    monkeypatch.setattr(demo, "__file__", str(package / "io" / "demo.py"))
    with pytest.raises(InputError, match="not installed"):
        demo_path("pima")
    shutil.copytree(checkout, package / "demo_data")
    assert demo_path("pima") == package / "demo_data" / "pima.csv"
    assert load_demo("pima").n == 768


def test_the_sources_name_every_file() -> None:
    folder = demo_path("pima").parent
    sources = (folder / "SOURCES.md").read_text("utf-8")
    for path in folder.glob("*.csv"):
        assert f"## {path.stem}:" in sources
        assert path.stem in DEMOS
        assert tomllib.loads(path.with_suffix(".toml").read_text("utf-8"))["question"]
