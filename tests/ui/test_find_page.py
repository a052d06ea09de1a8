"""The Find page: what may change is what the search gets, and what it found goes to Tune."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.tuning import FoundSetting, Point, SearchAnswer, Setting, Spread
from rwn_ui.find import view
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session
from rwn_ui.state.work import FIND
from rwn_ui.tune import view as tune_view


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


def test_the_answer_so_far_is_listed_and_goes_to_tune(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    (job,) = begun
    policy = screen.session.policy
    assert screen.find("button", "Find").disabled, "one search at a time"
    assert job.asked["seconds"] == 60
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
    assert screen.find("radio", "Settings found").value == setting(7).key, "a choice stays"
    before = screen.session.setting
    screen.press("Save as scenario")
    kept = screen.session.scenarios["A"]
    assert kept.setting == setting(7).resolved(screen.session.data)
    assert {*policy.measures} <= kept.readings.keys() | kept.unread.keys()
    assert screen.session.setting == before
    screen.press("Use on Tune")
    assert screen.errors == []
    assert screen.session.setting == setting(7).resolved(screen.session.data)
    # Tune's map has what was found, and nothing else where the axis is one measure
    shown = tune_view.small_map(screen.session, POLICY)
    assert [each["risk"] for each in shown] == [each.used for each in job.result.settings]
    assert tune_view.small_map(screen.session, "bayes_linkage") == []


def test_without_a_choice_the_best_so_far_is_chosen(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    policy = screen.session.policy
    whole = answer(policy)
    begun[0].so_far = replace(whole, settings=whole.settings[1:], reached=False)
    screen.test.run()
    assert screen.find("radio", "Settings found").value == setting(6).key
    assert "none is known to keep all limits" in screen.words("warning")
    ends(screen, begun[0], whole)
    assert screen.find("radio", "Settings found").value == setting(5).key


def test_it_goes_on_only_if_asked_and_from_where_it_ended(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    ends(screen, begun[0], answer(screen.session.policy))
    assert not any(each.label.startswith("Go on") for each in screen.test.button), "all was tried"
    screen.press("Find")
    late = answer(screen.session.policy, late=True)
    ends(screen, begun[1], late)
    screen.press("Go on for 5 minutes")
    assert begun[2].asked["seconds"] == 300
    assert begun[2].asked["space"] == replace(begun[1].asked["space"], known=late)
    begun[2].running, begun[2].refusal, begun[2].so_far = False, "Cancelled.", late
    screen.test.run()
    assert "Search: Cancelled." in screen.words("info")
    assert screen.find("button", "Go on").label == "Go on for 5 minutes"
    assert screen.find("radio", "Settings found").value == setting(5).key


def test_what_may_change_is_what_the_search_gets(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    ends(screen, begun[0], answer(screen.session.policy))
    assert begun[0].asked["space"] == rwn.Space(slices=True, kernels=True), "everything of RWN"
    screen.find("radio", "Target").set_value(view.LOSE).run()
    screen.find("number_input", "Relations lost at most, %").set_value(10.0).run()
    screen.find("button_group", "What may change").set_value(["k", "methods"]).run()
    screen.press("Find")
    assert begun[1].asked["space"] == rwn.Space(
        setting=screen.session.setting, levers=("k",), methods=True, lose_at_most=0.1
    )


def test_what_is_not_chosen_stays_as_on_tune(session: Session) -> None:
    everything = ("slices", "kernels")
    assert view.space_of(session, everything, None).setting is None
    assert view.space_of(session, everything, 0.1).setting == session.setting
    session.set(replace(session.setting, precision=(("age", 5.0),)), prepared(session).prepared)
    assert view.space_of(session, everything, None).setting == session.setting


@pytest.mark.parametrize(
    ("method", "offered"),
    [
        ("rwn", ["k", "q", "slices", "kernels", "chain", "tie", "methods"]),
        ("soft_rwn", ["q", "slices", "kernels", "chain", "tie", "methods"]),
        ("rank_swapping", ["methods"]),
    ],
)
def test_only_what_a_method_has_is_offered(open_page, method, offered) -> None:
    screen = open_page("tune", method=method)
    assert list(view.may_change(screen.session)) == offered


def test_a_search_of_another_table_or_other_limits_says_so(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    job = begun[0]
    ends(screen, job, answer(screen.session.policy))
    screen.session.policy = rwn.Policy(limits=screen.session.policy.limits[:1])
    screen.test.run()
    assert "The limits have changed since" in screen.words("caption")
    screen.visit("data").test.selectbox(key="data.demo").set_value("pima").run()
    assert screen.job(FIND) is None
    screen.visit("find")
    assert "siri" not in screen.words()
    assert "Which setting keeps the policy" in screen.words("markdown")


def test_why_a_method_is_not_in_the_list_is_said(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    ends(screen, begun[0], answer(screen.session.policy, unfit={"pram": "It masks no number."}))
    assert "Post-randomization (PRAM): It masks no number." in screen.words("caption")


def test_nothing_found_is_a_sentence_and_no_map(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    ends(screen, begun[0], SearchAnswer(goal=screen.session.policy, reason="Nothing in time."))
    assert screen.words("warning") == "Nothing in time."
    assert not screen.test.radio[1:]


def test_a_setting_that_was_not_read_is_not_said_to_lose_or_keep_anything(asked) -> None:
    screen, begun = asked
    screen.press("Find")
    unread = FoundSetting(point=Point(setting=setting(5), spreads={}))
    late = SearchAnswer(
        goal=screen.session.policy, settings=(unread,), reason="None was tried in time.", late=True
    )
    ends(screen, begun[0], late)
    assert screen.find("radio", "Settings found").options == ["? not read"]
    assert screen.words("warning") == "No setting was read in time."
    assert "None was tried in time." in screen.words("caption")
