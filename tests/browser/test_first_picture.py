"""From a file of one's own to the first picture: one form, one ranking, few clicks; all counted."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xlsxwriter

from rwn_ui.server import launch
from tests.browser import counted_server
from tests.browser.app_tab import App
from tests.browser.steward import Steward
from tests.journeys.files import survey

PEOPLE = 5_000
MOST = 3  # clicks after the file is chosen
CHOOSING = 2  # clicks: the button of the dialog, and the file in it


def silc(path: Path) -> Path:
    """People of households under the names of EU-SILC, as a file of Stata."""
    rng = np.random.default_rng(3)
    home = np.sort(rng.integers(1, PEOPLE // 2, PEOPLE))
    weight = rng.uniform(300, 900, PEOPLE // 2)[home - 1].round(3)
    columns = {
        "RB030": np.arange(PEOPLE) + 5_000_000,
        "RX030": home * 10 + 100_000,
        "RB050": weight,
        "DB040": rng.choice(["AT1", "AT2", "AT3"], PEOPLE),
        "RB080": rng.integers(1940, 2005, PEOPLE),
        "RB090": rng.integers(1, 3, PEOPLE),
        "PY010G": rng.lognormal(10, 1, PEOPLE).round(0),
        "PY050G": (rng.lognormal(8, 1, PEOPLE) * (rng.random(PEOPLE) < 0.2)).round(0),
        "HY020": rng.lognormal(10, 1, PEOPLE // 2).round(0)[home - 1],
    }
    pd.DataFrame(columns).to_stata(path, write_index=False, version=118)
    return path


def prose(path: Path) -> Path:
    """A workbook: prose on sheet 1; on sheet 2 a title, names in two rows, a total and a source."""
    rng = np.random.default_rng(4)
    with xlsxwriter.Workbook(path) as book:
        words, page = book.add_worksheet("Read me"), book.add_worksheet("Data")
        for row in range(8):
            words.write(row, 0, f"Paragraph {row} on what these figures mean and who made them")
        page.write(0, 0, "Table 7: wages of a region")
        page.merge_range(2, 0, 3, 0, "district")
        page.merge_range(2, 1, 2, 2, "person")
        page.merge_range(2, 3, 2, 4, "income")
        page.write_row(3, 1, ["age", "sex", "wage", "rent"])
        ages, wages, rents = (rng.integers(*each, PEOPLE) for each in ((18, 80), (9, 99), (0, 50)))
        for row in range(PEOPLE):
            figures = [int(wages[row]) * 100, int(rents[row]) * 10]
            who = [f"{1 + row % 7:02d} north", int(ages[row]), "mf"[row % 2]]
            page.write_row(row + 4, 0, [*who, *figures])
        sums = [int(wages.sum()) * 100, int(rents.sum()) * 10]
        page.write_row(PEOPLE + 4, 0, ["Total", "", "", *sums])
        page.write(PEOPLE + 6, 0, "Source: the office")
    return path


def answered(path: Path) -> Path:
    """People of a survey, as SPSS has them."""
    return survey(path, PEOPLE)


FILES = {
    "official": (silc, "silc.dta"),
    "workbook": (prose, "wages.xlsx"),
    "survey": (answered, "survey.sav"),
}


@pytest.fixture
def serve(
    tmp_path: Path, free_port: Callable[[], int], visit: Callable[..., App]
) -> Iterator[Callable[..., App]]:
    """A function that serves the app, with a file or without one, and opens it."""
    held = pytest.MonkeyPatch()
    held.setenv(counted_server.COUNTED, str(tmp_path / "rankings"))
    held.setattr(launch, "START", "from tests.browser.counted_server import run; run()")
    servers = []

    def opened(file: Path | None = None) -> App:
        port = free_port()
        serving = launch.serving(port, file)
        process: subprocess.Popen[bytes] = serving.__enter__()
        servers.append(serving)
        return visit(process, port, wait=file is None)

    yield opened
    for serving in servers:
        serving.__exit__(None, None, None)
    held.undo()


def rankings(folder: Path) -> list[int]:
    file = folder / "rankings"
    return [*map(int, file.read_text().split())] if file.exists() else []


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("official", "command line"),
        ("workbook", "upload"),
        pytest.param("survey", "upload", marks=pytest.mark.nightly),
    ],
)
def test_a_file_is_one_form_one_ranking_and_few_clicks_from_its_picture(serve, tmp_path, kind, way):
    make, name = FILES[kind]
    file = make(tmp_path / name)
    app = serve(file if way == "command line" else None)
    steward, page = Steward(app), app.page
    if way == "upload":
        steward.visit("Data")
        steward.clicks = 0
        steward.upload(file)
        steward.clicks -= CHOOSING
    answers, layout = (
        page.get_by_role("button", name=words) for words in ("Use these answers", "Open it so")
    )
    steward.wait_for(answers.or_(layout))
    if layout.is_visible():
        steward.click(layout)
        steward.wait_for(answers)
    assert answers.count() == 1
    assert rankings(tmp_path) == []
    steward.click(answers)
    steward.visit("Tune")
    steward.wait_for(page.get_by_text(name).first)
    app.until("name => document.body.innerText.includes(name) && "
              "!document.body.innerText.includes('Ranking')", name, timeout=300_000)  # fmt: skip
    app.wait_for_cards()
    assert rankings(tmp_path) == [PEOPLE]
    assert steward.clicks <= MOST
