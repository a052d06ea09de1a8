"""The notebooks of docs run in a kernel, and draw the bytes of the shell and of the app."""

from __future__ import annotations

import hashlib
import random
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

import rwn_core as rwn
from rwn_cli import main
from rwn_core.reporting import read_record
from rwn_core.tuning import Point
from rwn_ui.state import change_table
from rwn_ui.state.results import full_release
from rwn_ui.state.session import Session
from tests import steward_notebook as steward
from tests.journeys.files import ward

TEN_LINES = """\
import pandas as pd
import rwn_core as rwn
table = rwn.Microdata.from_frame(pd.read_csv("ward.csv"))
roles = table.schema.replace_variable("days", role="confidential")
table = table.with_schema(roles.replace_variable("age", role="key"))
setting = rwn.search(table).settings[0].setting
release = rwn.mask(setting.applied_to(table), setting.params)
audit = rwn.audit(table, release)
verdict = rwn.Policy().judge(audit.readings)
release.publish("masked.csv")
"""
BOOKS = ("steward", "analyst", "teacher")  # the analyst's reads what the steward's writes


def code_cells(path: Path) -> dict[str, nbformat.NotebookNode]:
    cells = nbformat.read(path, 4)["cells"]
    return {cell["id"]: cell for cell in cells if cell["cell_type"] == "code"}


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all notebooks after they were run, each by a kernel of its own."""
    folder = tmp_path_factory.mktemp("notebooks")
    for name in BOOKS:
        book = nbformat.read(steward.FOLDER / f"{name}.ipynb", 4)
        if name == "steward":  # of a fresh secret one release in ten may break a limit
            source = f"random.Random({steward.SEED}).randbytes"
            code = f"import random, secrets\nsecrets.token_bytes = {source}"
            book["cells"].insert(0, nbformat.v4.new_code_cell(code))
        NotebookClient(book, resources={"metadata": {"path": str(folder)}}).execute()
        nbformat.write(book, folder / f"{name}.ipynb")
    return folder


def test_the_notebooks_are_listed_and_hold_no_output() -> None:
    assert sorted(path.stem for path in steward.FOLDER.glob("*.ipynb")) == sorted(BOOKS)
    for name in BOOKS:
        for cell in code_cells(steward.FOLDER / f"{name}.ipynb").values():
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def found_before(data: rwn.Microdata) -> rwn.SearchAnswer:
    """An answer of a search of the ward, which is not made here."""
    setting = rwn.Setting(params=rwn.RWN(epsilon=3.3, k=45)).resolved(data)
    point = Point(setting=setting, spreads={})
    return rwn.SearchAnswer.of_point(rwn.Policy(), point, reached=True, tried=1)


@pytest.mark.parametrize(
    "search", [found_before, pytest.param(rwn.search, marks=pytest.mark.nightly)]
)
def test_ten_lines_lead_from_a_file_of_ones_own_to_a_release_that_keeps_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, search: Callable[..., rwn.SearchAnswer]
) -> None:
    monkeypatch.setattr(rwn, "search", search)
    ward(tmp_path / "ward.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(secrets, "token_bytes", random.Random(steward.SEED).randbytes)
    assert len(TEN_LINES.splitlines()) == 10
    names: dict[str, Any] = {}
    exec(TEN_LINES, names)
    assert names["verdict"].kept, names["verdict"]
    original, masked = (pd.read_csv(name) for name in ("ward.csv", "masked.csv"))
    assert masked.shape == original.shape
    assert (masked["days"].sort_values().to_numpy() != original["days"].sort_values()).any()
    assert names["audit"]["association_loss"].value < 0.9


@pytest.mark.nightly  # three kernels; the tests beside it draw the same releases in this process
def test_results_are_shown_and_files_are_written(executed: Path) -> None:
    cells = code_cells(executed / "steward.ipynb")
    shown = {
        cell: "".join(str(output.get("data", "")) for output in cells[cell]["outputs"])
        for cell in cells
    }
    for cell in ("table", "policy", "setting", "sweep", "release", "audit", "verdict", "notice"):
        assert "text/html" in shown[cell], cell
    assert "keeps all 4 limits" in shown["verdict"]
    assert "plotly" in shown["sweep-map"]
    content = (executed / "release.csv").read_bytes()
    record = read_record((executed / "record.toml").read_text(encoding="utf-8"))
    assert record["file"]["sha256"] == hashlib.sha256(content).hexdigest()
    analyst = code_cells(executed / "analyst.ipynb")
    fit = analyst["fit"]["outputs"][0]["text"]
    assert re.search(r"^abdomen: .*95 % interval", fit, re.M)
    refused, _, fitted = analyst["across"]["outputs"][0]["text"].partition("\n")
    assert refused.startswith("No interval: neck lies outside of the slice")
    assert fitted == fit
    found = code_cells(executed / "teacher.ipynb")["seed"]["outputs"][0]["data"]
    assert found["text/plain"] == "7"


# by day ui/test_searches::test_the_commands_of_a_trial_and_of_find_are_what_the_pages_do has the
# bytes of page, shell and Python, without the search of the notebook
@pytest.mark.nightly
def test_notebook_shell_and_app_draw_the_same_bytes(tmp_path: Path) -> None:
    drawn = steward.draw()
    out = tmp_path / "shell.csv"
    table, options = drawn.write_inputs(tmp_path)
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    assert main.run(["mask", table, str(out), *words]) == 0
    shell = out.read_bytes()
    session = Session(name="bodyfat", demo="bodyfat", data=drawn.table, seed=steward.SEED)
    session.move(**{"epsilon": 0.0, "k": 5, "q": 1.0})
    change_table.set_setting(session, drawn.setting, undo=True)
    app = rwn.mask(session.data, session.masking, seed=session.seed).to_bytes("csv")
    sums = {hashlib.sha256(each).hexdigest() for each in (drawn.content, shell, app)}
    assert len(sums) == 1
    pd.testing.assert_frame_equal(  # the picture's release has the same rows
        full_release(session).masked.masked.frame, drawn.release.masked.frame
    )
    session.seed += 1
    other = rwn.mask(session.data, session.masking, seed=session.seed).to_bytes("csv")
    assert other != drawn.content
