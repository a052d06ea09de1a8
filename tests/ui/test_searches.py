"""What a table begins with, advice, and what is said while something is searched or read."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.evaluation.audit import ReadSoFar
from rwn_core.measures import UTILITY
from rwn_core.parallel import kernel_cache
from rwn_core.tuning import FoundSetting, Point, SearchAnswer
from rwn_ui.features import advice, limit_queue
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import redescribe
from rwn_ui.state.results import current_release, memo, prepared, start_key
from rwn_ui.state.session import Session
from rwn_ui.tune import view
from rwn_ui.widgets import live_sliders
from tests.tables import frame

START = rwn.Setting(params=rwn.RWN(epsilon=1.5, k=9))
STRONG = rwn.Setting(params=rwn.RWN(epsilon=2.5, k=8), slices=(("x", "n"),))
LATER = rwn.Setting(params=rwn.RWN(epsilon=1.0, k=6))
OTHER = rwn.Setting(params=rwn.CorrelatedNoise(size=0.5))
ROLE = rwn.Role


@pytest.mark.parametrize(
    ("values", "running", "words"),
    [
        ({}, True, "Reading now: Attribute gain. No limit is read yet."),
        (
            {"bayes_linkage": (0.123, "at least"), "suda": (3.0, "")},
            True,
            "Reading now: Attribute gain. So far: Linkage, at least 12.3 % (limit 5 %). "
            "1 of 2 limits are open.",
        ),
        (
            {"bayes_linkage": (0.04, ""), "true_matches": (0.02, "")},
            False,
            "So far: Worst-case linkage 4 % (limit 5 %); True matches 2 % (limit 5 %).",
        ),
    ],
)
def test_a_release_that_is_judged_says_what_is_known(values, running, words, monkeypatch) -> None:
    limits = (rwn.Limit(measure=key, at_most=0.05) for key in ("bayes_linkage", "true_matches"))
    read = ReadSoFar(values=values, now="attribute_gain")
    policy, captions = rwn.Policy(limits=tuple(limits)), list[str]()
    assert limit_queue.read_words(policy, read, running=running) == words
    monkeypatch.setattr(limit_queue.st, "caption", captions.append)
    for so_far in (None, read):  # nothing is said before something is known
        limit_queue.draw_read(policy, SimpleNamespace(so_far=so_far, running=running))
    assert captions == [escaped(words)]


def found(setting: rwn.Setting, **more: Any) -> FoundSetting:
    return FoundSetting(point=Point(setting=setting, spreads={}), **more)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, at_once: Any) -> list[rwn.Setting]:
    """Which settings were asked about; the answers are planted."""
    asked: list[rwn.Setting] = []

    def find(*, microdata: rwn.Microdata, setting: rwn.Setting, **_: Any) -> Any:
        asked.append(setting)
        schema = microdata.schema
        fewer = tuple(
            replace(v, role=ROLE.IDENTIFIER) if v.name == "y" else v for v in schema.variables
        )
        steps = (
            found(OTHER, title="Try noise"),
            found(
                setting, title="Leave y out", schema=replace(schema, variables=fewer),
                interval=(1.2, 1.3), share=1.25, loss=0.4,
            ),
        )  # fmt: skip
        keyed = any(v.role is ROLE.KEY for v in schema.variables)
        recommended = SearchAnswer(
            goal=rwn.Policy(), settings=(found(LATER if keyed else START), found(OTHER)),
            reason="3 numbers.", unfit={"pram": "None."}, reached=microdata.n != 50,
        )  # fmt: skip
        verdict = SearchAnswer(
            goal=rwn.Policy(), refused=True, reason="No strength keeps this policy.",
            next_steps=steps, caution="None of these keeps the policy.",
        )  # fmt: skip
        return recommended, verdict, {"Strong": STRONG}

    monkeypatch.setattr(advice, "find_advice", find)
    monkeypatch.setattr(advice, "Job", at_once)
    return asked


def opened(open_page: Any, records: int = 60) -> Any:
    """A page with a table of one's own."""
    content = frame("cloud", records).drop(columns="g").to_csv(index=False).encode()
    screen = open_page("data").upload("own.csv", content).visit("tune")
    assert screen.session.demo is None
    assert screen.errors == []
    return screen


@pytest.fixture
def own(open_page: Any) -> Any:
    return opened(open_page)


def followed(screen: Any) -> dict[str, Any]:
    """The picture after the browser has waited."""
    session: Session = screen.session
    for _ in range(2):  # it is begun, and its result is taken
        advice.follow(session)
    view.render(session, current_release(session))
    screen.test.run()
    assert screen.errors == []
    shown: dict[str, Any] = screen.panel
    return shown


def captions(screen: Any) -> str:
    words = " ".join(each.value for each in screen.test.sidebar.caption)
    return words.replace("\N{NO-BREAK SPACE}", " ")


def describe(session: Session, **roles: rwn.Role) -> None:
    """Give other answers on the Data page."""
    schema = session.data.schema
    for name, role in roles.items():
        schema = schema.replace_variable(name, role=role)
    redescribe(session, session.data.with_schema(schema), by_grid=False)


# ---------------------------------------------------------------- advice


def test_a_demo_begins_as_in_its_lessons_and_is_advised_on_request(open_page, begun) -> None:
    screen = open_page("tune")
    assert screen.panel["verdict"]["quick"] is None
    advice.follow(screen.session)
    assert begun == []
    levers = dict(screen.session.levers)
    screen.test.button(key="tune.0.advice.ask").click().run()
    assert screen.panel["waiting"]
    shown = followed(screen)
    assert shown["verdict"]["quick"]["text"] == "No strength keeps this policy."
    assert screen.session.levers == levers, "it is offered, not taken"
    assert "Suggested" in captions(screen)


def test_a_table_of_ones_own_begins_at_the_recommendation_and_undo_goes_back(begun, own) -> None:
    before = dict(own.session.levers)
    assert own.panel["verdict"]["quick"]["text"].endswith("The answer follows.")
    assert "advice" in own.panel["waits"]
    shown = followed(own)
    assert own.session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}
    assert "Suggested**: ε" in captions(own)
    assert "advice" not in shown["waits"]
    # another answer gives another start, until something is moved
    describe(own.session, x=ROLE.KEY)
    followed(own)
    assert own.session.levers == {"epsilon": 1.0, "k": 6, "q": 1.0}
    own.edit({"undo": True})
    assert own.session.levers == before
    followed(own)
    assert own.session.levers == before, "taken once"


@pytest.mark.parametrize("missing", ["start", "presets"])
def test_a_verdict_is_shown_before_what_takes_longer(
    own: Any, begun, monkeypatch, finished, missing: str
) -> None:
    """A start is tried on all records, and the strengths of a suggestion come last."""
    whole = advice.find_advice(microdata=own.session.data, setting=START)
    part = (None, *whole[1:]) if missing == "start" else (*whole[:2], {})
    before = own.session.setting
    monkeypatch.setattr(
        advice, "Job",
        lambda *_, about, **__: finished(label="", about=about, running=True, so_far=part),
    )  # fmt: skip
    own.session.user.work.advice = None
    shown = followed(own)
    assert shown["verdict"]["quick"]["text"] == "No strength keeps this policy."
    assert (shown["waits"], shown["waiting"]) == ([missing], True)
    if missing == "start":
        assert "A suggestion is looked for on all" in captions(own)
        assert own.session.setting == before
    job = own.session.user.work.advice
    job.result, job.running = whole, False
    assert followed(own)["waits"] == []
    assert own.session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}
    own.edit({"preset": "Strong"})
    assert own.preset == "Strong"
    # a table of which no strength is known waits for none
    none = (*whole[:2], {})
    monkeypatch.setattr(
        advice, "Job", lambda *_, about, **__: finished(label="", about=about, result=none)
    )
    describe(own.session, x=ROLE.KEY)
    assert followed(own)["waits"] == []


def test_a_preset_is_a_distance_from_the_policy_where_one_is_known(begun, own) -> None:
    def helps() -> dict[str, str]:
        parts = live_sliders.controls(own.session, prepared(own.session))["levers"]["presets"]
        return {each["name"]: each["help"] for each in parts}

    assert all("fixed start" in text for text in helps().values())
    followed(own)
    assert [(name, "60 %" in text) for name, text in helps().items()] == [("Strong", True)]
    own.edit({"preset": "Strong"})
    assert own.session.setting == STRONG.resolved(own.session.data), "its slices, too"
    assert own.preset == "Strong"
    followed(own)
    assert own.preset == "Strong", "another kind of setting is suggested the same"
    own.move(k=9.0)
    assert own.preset is None


def test_a_start_that_keeps_no_policy_is_offered_only(open_page, begun) -> None:
    screen = opened(open_page, records=50)
    before = dict(screen.session.levers)
    followed(screen)
    assert screen.session.levers == before
    assert "Nearest, not all limits kept" in captions(screen)
    assert "Suggested" not in captions(screen)


def test_a_next_step_is_a_setting_or_another_description(begun, own) -> None:
    own.move(k=7.0)
    followed(own)
    assert own.session.levers["k"] == 7, "what was moved meanwhile stays"
    quick = own.panel["verdict"]["quick"]
    assert quick["caution"]
    assert [step["title"].replace("\N{NO-BREAK SPACE}", " ") for step in quick["steps"]] == [
        "Try noise",
        "Leave y out: 1.3 times a limit, 40 % of the relations lost",
    ]
    for nothing in ("advice:9", "advice:", "advice:x", "regression:{}"):
        advice.take(own.session, nothing)
    assert own.session.method == "rwn"
    own.move(k=12.0)
    followed(own)
    assert len(begun) == 1, "a strength is no other question"
    advice.take(own.session, "advice:0")
    followed(own)
    assert [each.method for each in begun] == ["rwn", "correlated_noise"]
    advice.take(own.session, "advice:1")
    assert [v.name for v in own.session.data.schema.released] == ["x", "n"]


# ---------------------------------------------------------------- starts


BETTER = rwn.Setting(params=rwn.RWN(epsilon=0.5, k=9), slices=())


def known(screen: Any, start: rwn.Setting = BETTER, **answer: Any) -> None:
    """Plant a recommendation, and draw the page with it."""
    made = SearchAnswer(goal=rwn.Policy(), settings=(found(start),), reason="Planted.", **answer)
    memo(screen.session, "starts", 4).keep(start_key(screen.session), made)
    screen.test.run()
    assert screen.errors == []


@pytest.mark.parametrize("demo", ["bodyfat", "bodyfat_raw", "pima"])
def test_a_demo_begins_at_its_recommended_setting_which_keeps_the_policy(
    open_page: Any, recommended_demo: None, demo: str
) -> None:
    screen = open_page("tune", demo=demo)
    start = rwn.Setting.from_dict(rwn.DEMOS[demo].start).resolved(screen.session.data)
    assert screen.session.setting == start
    readings = limit_queue.readings(screen.session, current_release(screen.session))
    assert screen.session.policy.judge(readings).kept
    assert screen.panel["verdict"]["state"] == "kept"
    screen.edit({"preset": "Strong"})
    screen.edit({"undo": True})
    assert screen.session.setting == start
    if demo == "bodyfat":  # a link has a setting of its own
        linked = open_page("tune", demo=demo, setting="epsilon*1.5*k*7*q*1").session
        assert (linked.method, linked.levers) == ("rwn", {"epsilon": 1.5, "k": 7, "q": 1.0})
        assert linked.setting.weights == linked.slices == ()


@pytest.mark.nightly  # minutes: each recommendation is looked for anew
@pytest.mark.parametrize("demo", ["bodyfat", "bodyfat_raw", "pima"])
def test_the_written_start_of_a_demo_is_what_is_recommended(demo: str) -> None:
    found = rwn.recommend(rwn.load_demo(demo), within=600.0).setting
    assert found == rwn.Setting.from_dict(rwn.DEMOS[demo].start)


def test_an_untouched_start_is_followed_by_the_next_and_its_method_by_no_other_table(own) -> None:
    session: Session = own.session
    assert session.is_untouched
    describe(session, n=ROLE.IDENTIFIER)  # a column turned out to be a number
    standard = prepared(session).prepared.presets["Standard"]
    assert session.levers == session.levers | dict(standard)
    own.test.run()
    known(own, reached=True)
    assert session.levers["epsilon"] == 0.5
    for width, role in ((1.5, ROLE.CONFIDENTIAL), (0.8, ROLE.KEY)):
        describe(session, y=role)
        own.test.run()
        assert session.is_untouched, "the start was taken by itself, and so is the next one"
        known(own, rwn.Setting(params=rwn.SoftRWN(width=width), slices=()), reached=True)
        assert (session.method, session.levers["width"]) == ("soft_rwn", width)
    content = frame("cloud", 70).to_csv(index=False).encode()
    own.visit("data").upload("next.csv", content).visit("tune")
    assert session.method == "rwn"


@pytest.mark.parametrize(("confirmed", "taken"), [(True, True), (False, False)])
def test_the_best_that_was_read_on_all_records_is_the_start_where_none_keeps_the_policy(
    own, confirmed: bool, taken: bool
) -> None:
    known(own, reached=False, confirmed=confirmed)
    assert (own.session.levers["epsilon"] == 0.5) is taken


def test_what_was_moved_stays_also_when_it_was_moved_back(own: Any) -> None:
    before = own.session.levers["k"]
    own.move(k=before + 1)
    own.move(k=before)
    known(own, reached=True)
    assert own.session.levers["k"] == before
    assert own.session.levers["epsilon"] != 0.5


def test_the_headline_has_its_price_and_says_a_wreck_in_the_same_line(session: Session) -> None:
    policy, read = session.policy, limit_queue.readings(session, current_release(session))

    def with_loss(loss: float, share: float = 0.5) -> dict[str, Any]:
        """The verdict of a release with a planted loss and planted shares of its limits."""
        planted = {limit.measure: share * (limit.at_most or 0.0) for limit in policy.limits}
        planted[UTILITY] = loss
        readings = read | {key: replace(read[key], value=x) for key, x in planted.items()}
        return limit_queue.draw_verdict(policy, readings, policy.judge(readings))

    fair, wreck = with_loss(0.16), with_loss(0.96)
    assert (fair["text"], fair["price"]) == ("Keeps all 4 limits", "84 % of the relations are left")
    assert wreck["text"] == "Keeps all 4 limits, but only 4 % of the relations are left"
    assert with_loss(0.96, share=2.0)["state"] == "over"


def test_the_page_says_what_is_made_before_there_is_a_picture(open_page, monkeypatch) -> None:
    said = list[tuple[float, str]]()
    drawn = DeltaGenerator.progress

    def progress(place: Any, share: float, text: str) -> Any:
        said.append((share, text))
        return drawn(place, share, text=text)

    monkeypatch.setattr(DeltaGenerator, "progress", progress)
    monkeypatch.setattr(kernel_cache, "is_ready", lambda *_: False)
    screen = open_page("tune")
    assert [share for share, _ in said] == [0.1, 0.4, 0.7]
    assert all("of 241 records of bodyfat" in text for _, text in said)
    assert said[0][1].endswith("The program is compiled for this machine, once")
    assert screen.test.get("progress") == [], "it goes when the picture stands"
    said.clear()
    screen.test.run()
    assert said == []
