"""What a table leaves open is one form, and its neighbors are ranked once, after it was sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_ui.state import change_table
from rwn_ui.state.results import PreparedTable
from tests.ui.test_large_tables import Gate, gate

assert gate  # a fixture of both files

PEOPLE = 6_000


def official(n: int = PEOPLE) -> bytes:
    """A table under the names of EU-SILC, with people of households and their weights."""
    rng = np.random.default_rng(3)
    home = np.sort(rng.integers(1, n // 2, n))
    weight = rng.uniform(300, 900, n // 2)[home - 1].round(3)
    return (
        pd.DataFrame(
            {
                "DB030": home * 10 + 100_000,
                "PB030": np.arange(n) + 5_000_000,
                "PB040": weight,
                "DB040": rng.choice(["AT1", "AT2", "AT3"], n),
                "PB140": rng.integers(1940, 2005, n),
                "PB150": rng.integers(1, 3, n),
                "PY010G": rng.lognormal(10, 1, n).round(0),
                "PY050G": (rng.lognormal(8, 1, n) * (rng.random(n) < 0.2)).round(0),
                "HY010": rng.lognormal(10, 1, n).round(0),
                "opinion": np.where(rng.random(n) < 0.01, 99_999, rng.integers(0, 40, n)),
            }
        )
        .to_csv(index=False)
        .encode()
    )


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> list[rwn.Microdata]:
    """The tables whose ranking began."""
    begun: list[rwn.Microdata] = []
    start, prepare = change_table.Task, PreparedTable.prepare.__func__

    def counted(data: rwn.Microdata, *args: Any) -> Any:
        begun.append(data)
        return start(data, *args)

    def at_once(
        cls: Any, data: rwn.Microdata, progress: Any = None, *args: Any, **more: Any
    ) -> Any:
        if progress is None and data.n >= PEOPLE:  # in a run of the page
            begun.append(data)
        return prepare(cls, data, progress, *args, **more)

    monkeypatch.setattr(change_table, "Task", counted)
    monkeypatch.setattr(PreparedTable, "prepare", classmethod(at_once))
    return begun


def roles(data: rwn.Microdata) -> dict[str, str]:
    return {variable.name: str(variable.role) for variable in data.schema.variables}


def forms(screen: Any) -> int:
    return sum(each.label == "Use these answers" for each in screen.test.button)


def test_an_official_table_is_ranked_once_from_the_upload_to_the_first_picture(open_page, ranked):
    screen = open_page("data").upload("silc.csv", official(), asked=True)
    assert screen.errors == []
    assert (ranked, forms(screen)) == ([], 1)
    assert "This looks like EU-SILC: 9 of 10 names." in screen.words()
    assert "opinion has" in screen.words()
    assert not any(each.label.startswith("Leave it") for each in screen.test.button)
    screen.press("Use these answers")
    assert len(ranked) == 1
    screen.wait()
    assert forms(screen) == 0
    screen.visit("tune")
    assert screen.errors == []
    assert len(screen.panel["cards"]) == 9
    assert (screen.session.name, len(ranked)) == ("silc.csv", 1)
    data = screen.session.data
    assert roles(data) == {
        "DB030": "household",
        "PB030": "identifier",
        "PB040": "sampling weight",
        "DB040": "key",
        "PB140": "key",
        "PB150": "key",
        "PY010G": "confidential",
        "PY050G": "confidential",
        "HY010": "confidential",
        "opinion": "other",
    }
    assert not data.schema.variable("PB040").masked
    assert data.schema.variable("opinion").missing_codes == (99_999,)
    assert data.frame["opinion"].max() < 40


def test_opening_tune_begins_without_the_answers_and_an_answer_meanwhile_counts(
    open_page: Any, ranked: list[rwn.Microdata], gate: Gate
) -> None:
    screen = open_page("data").upload("silc.csv", official(), asked=True).visit("tune")
    first = screen.work.preparation
    assert len(ranked) == 1
    screen.visit("data")
    assert forms(screen) == 1
    screen.press("Use these answers")
    first.wait(10)
    assert gate.ended == ["cancelled"]
    gate.open.set()
    screen.wait()
    assert screen.errors == []
    assert (screen.session.name, len(ranked)) == ("silc.csv", 2)
    assert roles(screen.session.data)["PB040"] == "sampling weight"


def test_edits_of_the_grid_and_answers_during_a_ranking_are_all_applied(open_page, gate) -> None:
    gate.open.set()
    screen = open_page("data").upload("silc.csv", official()).wait()
    gate.open.clear()
    data = screen.session.data
    for name in ("PB150", "opinion"):  # as the grid gives them: each from the table on screen
        schema = data.schema.replace_variable(name, role=rwn.Role.KEY)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rwn_ui.data.describe.st.rerun", lambda: None)
            from rwn_ui.data.describe import describe_anew

            describe_anew(screen.session, data.with_schema(schema))
    change_table.answer(
        screen.session,
        screen.work.preparation.data.with_schema(
            screen.work.preparation.data.schema.replace_variable("PB140", role=rwn.Role.KEY)
        ),
    )
    gate.open.set()
    screen.wait()
    found = roles(screen.session.data)
    assert [found[name] for name in ("PB150", "opinion", "PB140")] == ["key"] * 3


def test_a_file_that_is_another_one_is_asked_by_variable(open_page, ranked) -> None:
    screen = open_page("data").upload("silc.csv", official(), asked=True)
    screen.find("radio", "This looks like").set_value("It is another file")
    screen.press("Use these answers")
    assert (ranked, forms(screen)) == ([], 1)
    assert "This looks like" not in screen.words("markdown")
    asked = screen.find("multiselect", "Who could be recognized?")
    assert "PB150" in asked.value
    screen.press("Use these answers")
    assert len(ranked) == 1
    screen.wait()
    assert roles(screen.session.data)["PB150"] == "key"


def test_two_answers_about_one_variable_are_refused_and_stay_on_screen(open_page: Any) -> None:
    screen = open_page("data").upload("silc.csv", official(), asked=True)
    for question in ("Who could be recognized?", "What is confidential?"):
        screen.find("multiselect", question).set_value(["opinion"])
    screen.press("Use these answers")
    assert "opinion has two answers; give it one." in screen.words("warning")
    assert screen.find("multiselect", "Who could").value == ["opinion"]
    assert screen.work.preparation is None


def test_the_file_that_the_app_was_started_with_is_asked_about_and_ranked_once(
    open_page: Any, ranked: list[rwn.Microdata], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "silc.csv"
    path.write_bytes(official())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune")  # which leads to the Data page
    assert screen.errors == []
    assert (ranked, forms(screen)) == ([], 1)
    screen.press("Use these answers")
    assert len(ranked) == 1
    screen.wait()
    screen.visit("tune")
    assert screen.errors == []
    assert (screen.session.name, screen.session.path, len(ranked)) == ("silc.csv", str(path), 1)
    assert roles(screen.session.data)["PB040"] == "sampling weight"


def test_a_described_file_of_the_command_line_is_ranked_at_once(
    open_page: Any, ranked: list[rwn.Microdata], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain.csv"
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame(rng.normal(size=(PEOPLE, 3)).round(2), columns=["a", "b", "c"])
    numbers.to_csv(path, index=False)
    data = rwn.read(path)
    for name, role in (("a", rwn.Role.KEY), ("b", rwn.Role.CONFIDENTIAL)):
        data = data.with_schema(data.schema.replace_variable(name, role=role))
    path.with_name("plain.csv.toml").write_text(data.schema.to_toml())
    monkeypatch.setenv("RWN_FILE", str(path))
    screen = open_page("tune")
    assert len(ranked) == 1
    screen.wait().visit("tune")
    assert (screen.session.name, len(ranked), screen.errors) == ("plain.csv", 1, [])


def test_rows_at_the_end_are_left_out_in_the_same_form_or_read_again(open_page: Any) -> None:
    lines = ["region,n,income", *(f"r{i % 5},{i + 3},{i * 100.5}" for i in range(1, 41))]
    lines += [f"Total,{sum(i + 3 for i in range(1, 41))},{sum(i * 100.5 for i in range(1, 41))}"]
    content = "\n".join([*lines, "Source: the office,,"]).encode()
    screen = open_page("data").upload("t.csv", content, asked=True)
    assert (screen.session.data.n, forms(screen)) == (40, 1)
    assert "The last 2 rows of the file are left out: they look like a total" in screen.words(
        "markdown"
    )
    screen.press("Use these answers")
    assert screen.session.data.n == 40
    assert "The last 2 rows of the file" not in screen.words("markdown")
    other = open_page("data").upload("t.csv", content, asked=True)
    other.find("radio", "The last 2 rows").set_value("No, read as records")
    other.press("Use these answers")
    while other.work.opening.reading is not None:
        other.test.run()
    assert (other.session.data.n, other.errors) == (42, [])
    assert "The last 2 rows of the file" not in other.words("markdown")
