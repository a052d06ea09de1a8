"""The command of a page repeats in a shell what the page shows."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_ui.features import scenario_trial
from rwn_ui.find import view as find_view
from rwn_ui.state.change_table import redescribe, set_setting
from rwn_ui.state.session import Session
from rwn_ui.widgets import command
from tests.ui.large_table import csv

SETTINGS = {
    "published": rwn.Setting(params=rwn.RWN(epsilon=1.5, k=7, q=0.9)),
    "soft": rwn.Setting(
        params=rwn.SoftRWN(width=1.05, balance=1.0, own=True),
        weights=(("age", 0.5), ("siri", 0.0)),
        slices=(("chest", "hip"), ("age", "height", "knee")),
        precision=(("age", 5.0),),
    ),
    "another method": rwn.Setting(params=rwn.RankSwapping(p=0.05), precision=(("bmi", 0.5),)),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_command_of_a_trial_writes_its_bytes(open_page: Any, tmp_path: Path, name: str) -> None:
    screen = open_page("tune")
    session: Session = screen.session
    set_setting(session, SETTINGS[name].resolved(session.data))
    session.seed = 7
    (line,) = command.commands(session, "tune")
    line[3] = str(tmp_path / "masked.csv")
    assert main.run(line[1:]) == 0
    wanted = rwn.mask(session.data, session.masking, seed=7).to_bytes("csv")
    assert (tmp_path / "masked.csv").read_bytes() == wanted


SPACES = {"published": ["k"], "soft": ["kernels", "q"], "another method": []}
LOOSE = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.3),))


@pytest.mark.parametrize("name", SPACES)
def test_the_command_of_find_looks_for_the_same_setting(open_page, tmp_path, monkeypatch, name):
    screen = open_page("find")
    session: Session = screen.session
    set_setting(session, SETTINGS[name].resolved(session.data))
    session.policy = LOOSE
    space = find_view.space_of(session, SPACES[name], 0.3 if name == "soft" else None)
    (line,) = command.commands(session, "find", space)
    (tmp_path / "setting.toml").write_text(command.start_file(session), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked = []
    monkeypatch.setattr(rwn, "search", lambda *given, **_: asked.append(given) or (1 / 0))
    with pytest.raises(ZeroDivisionError):
        main.app(line[1:], standalone_mode=False)
    ((data, policy, wanted),) = asked
    assert (policy, wanted) == (LOOSE, space)
    assert wanted.setting.applied_to(data).schema == session.data.schema


def test_the_command_of_find_ends_with_the_answer_of_the_page(open_page, tmp_path, monkeypatch):
    screen = open_page("find")
    session: Session = screen.session
    set_setting(session, SETTINGS["published"].resolved(session.data))
    session.policy = LOOSE
    space = find_view.space_of(session, [], None)
    answer = rwn.search(session.data, session.policy, space, seconds=60)
    (line,) = command.commands(session, "find", space)
    (tmp_path / "setting.toml").write_text(command.start_file(session), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main.run([*line[1:], "--out", "found.toml"]) == 0
    found = rwn.Scenario.from_toml((tmp_path / "found.toml").read_text("utf-8"))
    found, best = found.setting, answer.settings[0].setting
    assert found.resolved(session.data).key == best.resolved(session.data).key


def test_the_commands_of_compare_read_what_it_shows(open_page, tmp_path, monkeypatch) -> None:
    screen = open_page("compare")
    session: Session = screen.session
    for name in ("published", "soft"):
        set_setting(session, SETTINGS[name].resolved(session.data))
        scenario_trial.keep(session, scenario_trial.save(session, name, ""))
    monkeypatch.chdir(tmp_path)
    for line, scenario in zip(
        command.commands(session, "compare"), session.scenarios.values(), strict=True
    ):
        assert main.run(line[1:]) == 0
        written = pd.read_csv(line[4]).set_index("measure")["median"]
        shown = {key: each["median"] for key, each in scenario.readings.items()}
        assert dict(written[list(shown)]) == pytest.approx(shown)


@pytest.mark.parametrize("page", ["tune", "utility", "risk", "find", "release"])
def test_every_page_prints_its_command_once_it_is_asked_for(open_page: Any, page: str) -> None:
    screen = open_page(page)
    screen.test.session_state[f"{page}.0.command.box"] = True
    screen.test.run()
    assert screen.errors == []
    (shown,) = [each.value for each in screen.test.code if each.value.startswith("rwn ")]
    for line in shown.splitlines():
        assert shlex.split(line)[:1] == ["rwn"]
        assert "demo:bodyfat" in line
        assert "--schema" not in line


def test_a_described_table_comes_with_its_schema_and_limits(open_page: Any) -> None:
    screen = open_page("data").upload("own table.csv", csv(200)).visit("tune")
    session: Session = screen.session
    limit = rwn.Limit(measure="distance_linkage", at_most=0.2)
    session.policy = rwn.Policy(limits=(limit,))
    (line,) = command.commands(session, "find")
    assert line[2:] == [
        *("own table.csv", "--schema", "schema.toml", "--limit", "distance_linkage=0.2")
    ]
    demo = open_page("tune")
    schema = demo.session.data.schema.replace_variable("age", role=rwn.Role.CONFIDENTIAL)
    redescribe(demo.session, demo.session.data.with_schema(schema), by_grid=False)
    assert command.commands(demo.session, "find")[0][2:5] == [
        *("demo:bodyfat", "--schema", "schema.toml")
    ]
