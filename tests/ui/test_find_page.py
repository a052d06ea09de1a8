"""The Find page: what may change is what the search gets, and what it found goes to Tune.

And the command of a page, which repeats in a shell what the page shows.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.tuning import FoundSetting, Point, SearchAnswer, Setting, Spread
from rwn_ui.features import scenario_trial
from rwn_ui.find import view
from rwn_ui.state.change_table import redescribe, set_setting
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session, first_setting
from rwn_ui.state.work import FIND
from rwn_ui.tune import view as tune_view
from rwn_ui.widgets import command
from tests.tables import table


def setting(k: int) -> Setting:
    return Setting(params=rwn.RWN(epsilon=4.0, k=k), slices=(("age", "weight"),))


def answer(policy: rwn.Policy, **more: Any) -> SearchAnswer:
    """One setting that keeps all limits and two that do not."""
    found = []
    for k, loss, value in ((5, 0.2, 0.0), (6, 0.1, 0.9), (7, 0.05, 0.95)):
        read = {each.measure: Spread(measure=each.measure, values=(value,) * 2)
                for each in policy.limits}  # fmt: skip
        point = Point(setting=setting(k), spreads=read)
        found.append(FoundSetting(point=point, verdict=policy.judge(point), loss=loss))
    about = {"reached": True, "confirmed": True, "tried": 3, "records": 241, "of": 241}
    return SearchAnswer(goal=policy, settings=tuple(found), **(about | more))


@pytest.fixture
def asked(open_page, finished, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Any]]:
    """The page, and the jobs that it begins; they run until the test ends them."""
    begun: list[Any] = []

    def job(label: str, work: Any, *, words: str, about: Any = None, **arguments: Any) -> Any:
        assert words
        made = finished(label=label, about=about, running=True)
        made.asked, made.share, made.words = arguments, 0.3, words
        begun.append(made)
        return made

    monkeypatch.setattr(view, "Job", job)
    screen = open_page("find")
    assert screen.errors == []
    return screen, begun


def ends(screen: Any, job: Any, result: SearchAnswer) -> None:
    job.result, job.running = result, False
    screen.test.run()
    assert screen.errors == []


def chosen(screen: Any) -> str:
    """The setting that is chosen in the list."""
    return str(screen.find("radio", "Settings found").value)


def test_the_answer_so_far_is_listed_and_goes_to_tune(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    (job,) = begun
    policy = screen.session.policy
    assert screen.find("button", "Find").disabled, "one search at a time"
    assert job.asked["seconds"] == 60
    assert job.asked["space"] == rwn.Space(slices=True, kernels=True), "everything of RWN"
    whole = answer(policy)
    job.so_far = replace(whole, settings=whole.settings[1:], reached=False)
    screen.test.run()
    assert chosen(screen) == setting(6).key, "without a choice the best so far"
    assert "none is known to keep all limits" in screen.words("warning")
    job.so_far = answer(policy, so_far=True)
    screen.test.run()
    assert "Of 3 settings tried, the best that keeps all limits leaves 80 % of the relations." in (
        screen.words("success")
    )
    assert "Best so far" in screen.words("caption")
    listed = screen.find("radio", "Settings found")
    assert [each[0] for each in listed.options] == ["✓", "▲", "▲"]
    assert listed.value == setting(5).key
    listed.set_value(setting(7).key).run()
    ends(screen, job, answer(policy))
    assert chosen(screen) == setting(7).key, "a choice stays"
    before, wanted = screen.session.setting, setting(7).resolved(screen.session.data)
    screen.press("Save as scenario")
    kept = screen.session.scenarios["A"]
    assert kept.setting == wanted
    assert {*policy.measures} <= kept.readings.keys() | kept.unread.keys()
    assert screen.session.setting == before
    screen.press("Use on Tune")
    assert screen.errors == []
    assert screen.session.setting == wanted
    # Tune's map has what was found, and nothing else where the axis is one measure
    shown = tune_view.small_map(screen.session, POLICY)
    assert [each["risk"] for each in shown] == [each.used for each in job.result.settings]
    assert tune_view.small_map(screen.session, "bayes_linkage") == []
    # another search, within what may change
    screen.visit("find")
    screen.find("radio", "Target").set_value(view.LOSE).run()
    screen.find("number_input", "Relations lost at most, %").set_value(10.0).run()
    screen.find("button_group", "What may change").set_value(["k", "methods"]).run()
    screen.press("Find")
    assert begun[1].asked["space"] == rwn.Space(
        setting=screen.session.setting, levers=("k",), methods=True, lose_at_most=0.1
    )


def test_it_goes_on_only_if_asked_and_from_where_it_ended(asked) -> None:
    screen, begun = asked
    policy = screen.session.policy
    screen.press("Find")
    ends(screen, begun[0], answer(policy, unfit={"pram": "It masks no number."}))
    assert "Post-randomization (PRAM): It masks no number." in screen.words("caption")
    assert not any(each.label.startswith("Go on") for each in screen.test.button), "all was tried"
    screen.press("Find")
    late = answer(policy, late=True)
    ends(screen, begun[1], late)
    screen.press("Go on for 5 minutes")
    assert begun[2].asked["seconds"] == 300
    assert begun[2].asked["space"] == replace(begun[1].asked["space"], known=late)
    begun[2].running, begun[2].refusal, begun[2].so_far = False, "Cancelled.", late
    screen.test.run()
    assert "Search: Cancelled." in screen.words("info")
    assert screen.find("button", "Go on").label == "Go on for 5 minutes"
    assert chosen(screen) == setting(5).key
    # other limits, and another table
    screen.session.policy = rwn.Policy(limits=policy.limits[:1])
    screen.test.run()
    assert "The limits have changed since" in screen.words("caption")
    screen.visit("data").test.selectbox(key="data.demo").set_value("pima").run()
    assert screen.job(FIND) is None
    screen.visit("find")
    assert "siri" not in screen.words()
    assert "Which setting keeps the policy" in screen.words("markdown")


def test_what_was_not_found_or_not_read_is_said_so(asked) -> None:
    screen, begun = asked
    about = {"goal": screen.session.policy}
    screen.press("Find")
    ends(screen, begun[0], SearchAnswer(**about, reason="Nothing in time."))
    assert screen.words("warning") == "Nothing in time."
    assert not screen.test.radio[1:], "no map"
    screen.press("Find")
    unread = FoundSetting(point=Point(setting=setting(5), spreads={}))
    why = "None was tried in time."
    ends(screen, begun[1], SearchAnswer(**about, settings=(unread,), reason=why, late=True))
    assert screen.find("radio", "Settings found").options == ["? not read"]
    assert screen.words("warning") == "No setting was read in time."
    assert why in screen.words("caption")


def test_what_is_not_chosen_stays_as_on_tune_and_only_what_a_method_has_is_offered(
    session: Session,
) -> None:
    everything = ("slices", "kernels")
    assert view.space_of(session, everything, None).setting is None
    assert view.space_of(session, everything, 0.1).setting == session.setting
    session.set(replace(session.setting, precision=(("age", 5.0),)), prepared(session).prepared)
    assert view.space_of(session, everything, None).setting == session.setting
    soft = ["q", "slices", "kernels", "chain", "tie", "methods"]
    for method, offered in (
        ("rwn", ["k", *soft]), ("soft_rwn", soft), ("rank_swapping", ["methods"])
    ):  # fmt: skip
        session.set(Setting(params=first_setting(method)))
        assert list(view.may_change(session)) == offered


# ---------------------------------------------------------------- the command of a page

SETTINGS = {
    "published": Setting(params=rwn.RWN(epsilon=1.5, k=7, q=0.9)),
    "soft": Setting(
        params=rwn.SoftRWN(width=1.05, balance=1.0, own=True),
        weights=(("age", 0.5), ("siri", 0.0)),
        slices=(("chest", "hip"), ("age", "height", "knee")),
        precision=(("age", 5.0),),
    ),
    "another method": Setting(params=rwn.RankSwapping(p=0.05), precision=(("bmi", 0.5),)),
}
LOOSE = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.3),))
SPACES = {"published": ["k"], "soft": ["kernels", "q"], "another method": []}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_commands_of_a_trial_and_of_find_are_what_the_pages_do(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    set_setting(session, SETTINGS[name].resolved(session.data))
    session.seed, session.policy = 7, LOOSE
    (line,) = command.commands(session, "tune")
    line[3] = "masked.csv"
    assert main.run(line[1:]) == 0
    wanted = rwn.mask(session.data, session.masking, seed=7).to_bytes("csv")
    assert Path("masked.csv").read_bytes() == wanted
    space = view.space_of(session, SPACES[name], 0.3 if name == "soft" else None)
    (line,) = command.commands(session, "find", space)
    Path("setting.toml").write_text(command.start_file(session), encoding="utf-8")
    asked: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(rwn, "search", lambda *given, **_: asked.append(given) or (1 / 0))
        with pytest.raises(ZeroDivisionError):
            main.app(line[1:], standalone_mode=False)
    ((data, policy, found),) = asked
    assert (policy, found) == (LOOSE, space)
    assert found.setting.applied_to(data).schema == session.data.schema


def test_the_command_of_find_ends_with_the_answer_of_the_page(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    set_setting(session, SETTINGS["published"].resolved(session.data))
    session.policy = LOOSE
    space = view.space_of(session, [], None)
    best = rwn.search(session.data, session.policy, space, seconds=60).settings[0].setting
    (line,) = command.commands(session, "find", space)
    Path("setting.toml").write_text(command.start_file(session), encoding="utf-8")
    assert main.run([*line[1:], "--out", "found.toml"]) == 0
    found = rwn.Scenario.from_toml(Path("found.toml").read_text("utf-8")).setting
    assert found.resolved(session.data).key == best.resolved(session.data).key


def test_the_commands_of_compare_read_what_it_shows(session, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("published", "soft"):
        set_setting(session, SETTINGS[name].resolved(session.data))
        scenario_trial.keep(session, scenario_trial.save(session, name, ""))
    lines = command.commands(session, "compare")
    for line, scenario in zip(lines, session.scenarios.values(), strict=True):
        assert main.run(line[1:]) == 0
        written = pd.read_csv(line[4]).set_index("measure")["median"]
        shown = {key: each["median"] for key, each in scenario.readings.items()}
        assert dict(written[list(shown)]) == pytest.approx(shown)


def test_every_page_prints_its_command_once_it_is_asked_for(open_page: Any) -> None:
    screen = open_page("tune")
    for page in ("tune", "utility", "risk", "find", "release"):
        screen.test.session_state[f"{page}.0.command.box"] = True
        screen.visit(page)
        assert screen.errors == []
        (shown,) = [each.value for each in screen.test.code if each.value.startswith("rwn ")]
        for line in shown.splitlines():
            assert shlex.split(line)[:1] == ["rwn"]
            assert "demo:bodyfat" in line
            assert "--schema" not in line


def test_a_described_table_comes_with_its_schema_and_limits(session: Session) -> None:
    own = Session(name="own table.csv", demo=None, data=table("cloud"), policy=LOOSE)
    described = ("--schema", "schema.toml")
    (line,) = command.commands(own, "find")
    assert line[2:] == ["own table.csv", *described, "--limit", "distance_linkage=0.3"]
    schema = session.data.schema.replace_variable("age", role=rwn.Role.CONFIDENTIAL)
    redescribe(session, session.data.with_schema(schema), by_grid=False)
    assert command.commands(session, "find")[0][2:5] == ["demo:bodyfat", *described]
