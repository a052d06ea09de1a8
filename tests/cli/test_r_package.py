"""The package for R: its own checks, and the same bytes as the shell and Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rwn_core as rwn
from tests import steward_notebook

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed"),
]
ROOT = Path(__file__).parents[2]


def test_the_package_holds_and_gives_the_bytes_of_shell_and_python(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "R_LIBS": str(library), "PATH": beside}

    def run(*words: str) -> str:
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("R", "CMD", "INSTALL", f"--library={library}", "--no-test-load", str(ROOT / "r"))
    said = run("Rscript", str(ROOT / "r" / "tests" / "package.R"), str(tmp_path))
    assert "all of the package holds" in said
    files = [str(tmp_path / name) for name in ("table.rds", "shell.csv", "schema.toml")]
    options = ["--epsilon", "2", "--k", "15", "--seed", "1", "--weight", "age=2"]
    run("rwn", "mask", *files[:2], "--schema", files[2], *options, "--slice", "age,sex")
    data = rwn.read(files[0], files[2])
    data = data.with_schema(data.schema.replace_variable("age", weight=2.0))
    data = data.with_schema(data.schema.with_slices([["age", "sex"]]))
    masked = rwn.mask(data, rwn.RWN(epsilon=2, k=15), seed=1).to_bytes("csv")
    assert (tmp_path / "r.csv").read_bytes() == (tmp_path / "shell.csv").read_bytes() == masked
    drawn = steward_notebook.draw()  # the release of the steward's notebook
    table, named = drawn.write_inputs(tmp_path)
    out = tmp_path / "steward.csv"
    words = "".join(f", {name} = {value!r}" for name, value in named.items())
    run("Rscript", "-e", f"library(rwn); rwn_mask({table!r}, {str(out)!r}{words})")
    assert out.read_bytes() == drawn.content


def test_the_check_of_r_finds_no_error_and_no_warning(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "r", tmp_path / "rwn")  # with the reader of claims, which is a link
    env = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin", "_R_CHECK_CRAN_INCOMING_": "false"}
    for words in (["build", "rwn"], ["check", "--no-manual", f"rwn_{rwn.__version__}.tar.gz"]):
        done = subprocess.run(
            ["R", "CMD", *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    log = (tmp_path / "rwn.Rcheck" / "00check.log").read_text("utf-8")
    assert "ERROR" not in log
    assert "WARNING" not in log
