"""Terms that are nearly collinear in the original are refused where masking has hidden it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import warnings
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import patsy
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.evaluation.claims import ClaimTable
from rwn_core.evaluation.tied_terms import (
    MOST_CONDITION,
    TiedTerms,
    _correlations,
    condition_number,
    term_text,
    tied_terms,
)
from rwn_core.reporting.claims_file import claims_file
from rwn_core.reporting.readers import READERS, rwn_claims

TIED = {
    "three variables": "y ~ a + b + c",
    "three of four": "y ~ b + z + c + a",
    "a square": "y ~ x + square(x)",
    "a square and a cube": "y ~ x * square(x)",
    "a root": "y ~ sqrt(x) + log(x) + z",
    "a product": "y ~ b + x + b:x",
    "a product that is a variable": "y ~ area + z:w",
    "a product with a rare cell": "y ~ sex:job",
}
UNKNOWN = {
    "products of three": "y ~ a:b:z",
    "products of transforms": "y ~ log(a):sex",
    "two products": "y ~ a:sex + b:sex",
    "many terms with two transforms": "y ~ log(a) + square(b) + z + w",
}
FINE = ("y ~ a + b + z + w + sex", "y ~ log(a) + b + z + w", "y ~ z + square(z)", "y ~ z:w")


@cache
def table(n: int = 400) -> Microdata:
    """C is nearly a + b, x has a narrow range, area is nearly z times w."""
    rng = np.random.default_rng(8)
    a, b, z, w = rng.normal(20, 4, n), rng.normal(30, 4, n), *rng.normal(0, 1, (2, n))
    frame = pd.DataFrame({"a": a, "b": b, "c": a + b + rng.normal(0, 0.1, n), "z": z, "w": w})
    frame["x"], frame["area"] = rng.normal(50, 4, n), z * w + rng.normal(0, 0.01, n)
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["job"] = np.where(rng.uniform(size=n) < 0.06, "rare", "usual")
    frame.loc[(frame["sex"] == "m") & (frame["job"] == "rare"), "job"] = "usual"
    frame["y"] = a + z + rng.normal(0, 2, n)
    frame.loc[[3, 8], "b"] = np.nan
    data = Microdata.from_frame(frame.round(3))
    return data.with_schema(data.schema.replace_variable("y", role=Role.CONFIDENTIAL))


@cache
def tied() -> TiedTerms:
    return tied_terms(table())


def design(frame: pd.DataFrame, formula: str) -> np.ndarray:
    """The predictors by another program."""
    formula = re.sub(r"square\((\w+)\)", r"I(\1**2)", formula)
    with np.errstate(all="ignore"):
        made = patsy.dmatrix(re.sub(r"(log|sqrt)\(", r"np.\1(", formula.split("~")[1]), frame)
    return np.asarray(made)[:, 1:]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, rwn.Release]:
    data = table()
    release = rwn.mask(data, rwn.RWN(epsilon=3.0, k=20), seed=1)
    content, folder = release.to_bytes("csv"), tmp_path_factory.mktemp("tied")
    record = {
        "release": {"id": "1f" * 16},
        "file": {"sha256": hashlib.sha256(content).hexdigest(), "order": "shuffled", "key": {}},
        "table": {"fingerprint": data.fingerprint},
    }
    claims = ClaimTable(analyses=(), pairs=(), draws=36, tied=tied())
    (folder / "release.csv").write_bytes(content)
    (folder / "claims.json").write_bytes(claims_file(record, data, claims))
    (folder / "rwn_claims.R").write_bytes(READERS["rwn_claims.R"])
    return folder, release


@pytest.mark.parametrize("formula", TIED.values(), ids=TIED)
def test_what_masking_repaired_is_refused(files: tuple[Path, rwn.Release], formula: str) -> None:
    folder, release = files
    if formula != "y ~ sex:job":
        assert condition_number(design(table().frame, formula)) > MOST_CONDITION
        if "x" not in formula:  # no donor leaves a narrow range
            assert condition_number(design(release.masked.frame.dropna(), formula)) < MOST_CONDITION
    with pytest.raises(rwn_claims.Refused, match="collinear in the original"):
        rwn_claims.load(folder / "release.csv", folder / "claims.json").fit(formula)


def test_a_model_that_was_not_looked_at_is_refused_and_others_are_fitted(
    files: tuple[Path, rwn.Release],
) -> None:
    folder, _ = files
    read = rwn_claims.load(folder / "release.csv", folder / "claims.json")
    for formula in UNKNOWN.values():
        with pytest.raises(rwn_claims.Refused, match="do not say"):
            read.fit(formula)
    for formula in FINE:
        with pytest.warns(UserWarning, match="No claim covers"):
            read.fit(formula)


def test_every_set_is_tied_and_none_can_lose_a_term() -> None:
    frame = table().frame.dropna()
    for some in tied().sets:
        texts = [term_text(term).replace("`", "") for term in some]
        if texts == ["job:sex"]:
            continue  # refused for its rare cell
        whole = condition_number(design(frame, f"~ {' + '.join(texts)}"))
        assert whole > MOST_CONDITION * 0.98  # two records have a missing value
        for part in combinations(texts, len(texts) - 1):
            if part:
                assert (
                    condition_number(design(frame, f"~ {' + '.join(part)}")) < MOST_CONDITION * 1.02
                )


def test_plain_models_with_no_set_are_well_conditioned() -> None:
    names = ["siri", "age", "weight", "height", "neck", "abdomen", "hip", "thigh", "bmi"]
    data = Microdata.from_frame(rwn.load_demo("bodyfat").frame[names])
    sets = [{term_text(term) for term in some} for some in tied_terms(data).sets]
    rng = np.random.default_rng(2)
    for _ in range(300):
        some = rng.permutation(names)[: rng.integers(2, len(names) + 1)]
        tied = condition_number(np.column_stack([data.values(n) for n in some])) > MOST_CONDITION
        assert tied == any(each <= {f"`{name}`" for name in some} for each in sets)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_readers_refuse_the_same(files: tuple[Path, rwn.Release]) -> None:
    folder, _ = files
    read = rwn_claims.load(folder / "release.csv", folder / "claims.json")
    formulas = [*TIED.values(), *UNKNOWN.values(), *FINE]
    program = 'source("rwn_claims.R"); s <- load_claims("release.csv", "claims.json")\n'
    for formula in formulas:
        program += (
            f'r <- tryCatch(suppressWarnings(fit_claimed(s, "{formula}")), '
            "rwn_refusal = conditionMessage)\n"
            'cat(if (is.character(r)) r else format(r$estimate, digits = 17), "\\n")\n'
        )
    done = subprocess.run(
        ["Rscript", "-e", program], cwd=folder, capture_output=True, text=True, check=True
    )
    for line, formula in zip(done.stdout.splitlines(), formulas, strict=True):
        said, estimates = "", list[float]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                estimates = [row.estimate for row in read.fit(formula).rows]
            except rwn_claims.Refused as refusal:
                said = str(refusal)
        if said:
            assert line.strip() == said
        else:
            theirs = [float(word) for word in line.split()]
            np.testing.assert_allclose(theirs, estimates, rtol=1e-8)


def test_a_cell_with_a_line_break_stays_one_cell(tmp_path: Path) -> None:
    content = 'name,x\r\n"a\nb",1\r\n"c\u2028d",2\r\n'.encode()
    variables = [{"name": "name", "kind": "category", "levels": None}]
    claims = {"format": "rwn claims 1", "sha256": hashlib.sha256(content).hexdigest()}
    (tmp_path / "r.csv").write_bytes(content)
    (tmp_path / "c.json").write_text(json.dumps({**claims, "variables": variables}))
    survey = rwn_claims.load(tmp_path / "r.csv", tmp_path / "c.json")
    assert survey._columns["name"] == ["a\nb", "c\u2028d"]


def test_correlations_are_those_of_numpy_and_none_of_a_constant() -> None:
    columns = np.random.default_rng(2).normal(size=(9, 3))
    np.testing.assert_allclose(_correlations(columns), np.corrcoef(columns, rowvar=False))
    columns[:, 1] = 5.0
    found = _correlations(columns)
    assert np.isnan(found[1]).all()
    assert np.isnan(found[:, 1]).all()
    assert found[0, 2] == pytest.approx(np.corrcoef(columns[:, 0], columns[:, 2])[0, 1])
