"""Where only a lower bound of the worst case is known, no screen calls it a worst case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.data.rounding import given_steps
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.disclosure import Disclosure, disclose
from rwn_core.measures.comparison import Comparison
from rwn_core.reporting import places_on_map
from rwn_core.tuning import Goal, GoalAnswer, Point, Setting
from rwn_core.tuning.point import Spread
from rwn_ui.features import limit_queue
from rwn_ui.risk import sentences, view
from rwn_ui.state.results import current_release
from rwn_ui.tune import tiles

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "round-values.md"
LINKAGES = ("bayes_linkage", "intruder_levels")


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every table counts as too large to be assigned at once."""
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 1)
    usual = {key: rwn.MEASURES[key].certain_up_to for key in LINKAGES}
    for key in LINKAGES:
        object.__setattr__(rwn.MEASURES[key], "certain_up_to", 1)
    yield
    for key, size in usual.items():
        object.__setattr__(rwn.MEASURES[key], "certain_up_to", size)


def claims(text: str) -> bool:
    return "worst case" in text.replace("-", " ").lower()


def judged(session):
    readings = limit_queue.readings(session, current_release(session))
    return tiles.verdict(session, readings, session.policy.judge_readings(readings))


@pytest.mark.parametrize(("large", "words"), [(True, "an estimate"), (False, "at once")])
def test_the_linkage_as_the_maps_axis(open_page, request, large: bool, words: str) -> None:
    if large:
        request.getfixturevalue("too_large")
    screen = open_page("tune")
    box = next(box for box in screen.test.selectbox if box.label == "Risk on the map")
    box.set_value("bayes_linkage").run()
    current = current_release(screen.session)
    readings = limit_queue.readings(screen.session, current)
    tile, *_ = tiles.draw(screen.session, current, readings, None)
    assert tile["label"] == ("Linkage, at least" if large else "Worst-case linkage")
    assert not (large and claims(tile["help"]))
    assert words in tile["help"]
    assert f"risk: {tile['label'].lower()}" in screen.panel["cards"][0]


@pytest.mark.parametrize("key", LINKAGES)
def test_a_lower_bound_below_the_limit_is_not_fine(session, too_large, key: str) -> None:
    reading = rwn.MEASURES[key].read(current_release(session).comparison)
    policy = rwn.Policy(limits=(rwn.Limit(measure=key, at_most=0.05),))

    def judged(
        value: float, estimate: float, standing: str = "at least", at_most: float | None = None
    ) -> Any:
        changed = {"estimate": estimate, "standing": standing, "at_most": at_most}
        detail = {**reading.detail, **changed}
        return policy.judge_readings({key: replace(reading, value=value, detail=detail)})

    assert not judged(0.02, 0.03).kept
    assert judged(0.02, 0.03).broken == ()
    assert "lower bound" in judged(0.02, 0.03).sentence
    assert judged(0.06, 0.03).broken == (key,)
    assert judged(0.02, 0.07).broken == (key,)
    assert judged(0.02, 0.07, "worst").kept
    assert judged(0.02, 0.03, at_most=0.04).kept
    assert not judged(0.02, 0.03, at_most=0.06).kept
    assert judged(0.02, 0.07, at_most=0.04).broken == (key,)


def test_the_tile_shows_the_number_that_was_judged(session, too_large) -> None:
    reading = rwn.MEASURES["bayes_linkage"].read(current_release(session).comparison)
    policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))

    def tile(value: float, **changed: Any) -> dict[str, Any]:
        detail = {**reading.detail, "estimate": None, **changed}
        planted = replace(reading, value=value, detail=detail)
        planted_only = {"bayes_linkage": planted}
        return limit_queue.draw_verdict(policy, planted_only, policy.judge_readings(planted_only))

    for changed, label, number, state in (
        ({"at_most": 0.04}, "Linkage, estimated at most", "4 %, limit 5 %", "kept"),
        ({"at_most": 0.04, "estimate": 0.07}, "Linkage, an estimate", "7 %, limit 5 %", "over"),
    ):
        shown = tile(0.006, **changed)
        words = shown["nearest"].replace("\N{NO-BREAK SPACE}", " ").partition(f"{label} ")[2]
        assert (shown["label"], words, shown["state"]) == (label, number, state)
        assert "Linkage, at least 0.6" in shown["help"].replace("\N{NO-BREAK SPACE}", " ")
        assert not claims(shown["help"])
    shown = tile(0.006, at_most=0.06)
    assert (shown["nearest"], shown["state"]) == ("", None)
    assert "at most 6 %" in shown["help"].replace("\N{NO-BREAK SPACE}", " ")


def disclosed(session, share: float = 0.0) -> Disclosure:
    data = session.data
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=1)
    base = Comparison(original=data, masked=data)
    return disclose(base, release.masked, release.law, precision=given_steps(data, share))


def test_the_risk_page(session, too_large) -> None:
    found = disclosed(session)
    shown = view._tiles(session, found)[:2]
    assert [tile["label"] for tile in shown] == ["At least, all", "At least, by keys"]
    assert not any(claims(tile["help"]) for tile in shown)
    rows = {row[0]: row[-1] for row in sentences.rows(found.readings, session.data.n)}
    for key in LINKAGES:
        words = rows[rwn.MEASURES[key].at_least]
        assert "at least" in words
        assert not claims(words)
    drawn = view.cards(found)
    for card in (card for card in drawn if card["key"] in ("linkage_attacks", "rounding_effect")):
        assert not claims(str(card))
        assert "at least" in str(card)


def test_what_is_sought_and_chosen(open_page, too_large) -> None:
    """Goal seek's sentences, and the boxes in which a measure is chosen."""
    spreads = {
        key: Spread(measure=key, values=(0.07, 0.08), is_bound=bound)
        for key, bound in (("bayes_linkage", True), ("correlation", False))
    }
    point = Point(setting=Setting(params=rwn.RWN(epsilon=2.0, k=5)), spreads=spreads)
    limit = rwn.Limit(measure="bayes_linkage", at_most=0.05)
    for goal in (
        Goal(keep=rwn.Policy(limits=(limit,)), best="correlation"),
        Goal(keep="bayes_linkage", limit=0.05, best="correlation"),
    ):
        for reached in (True, False):
            said = GoalAnswer(goal=goal, point=point, reached=reached, tried=1).sentence
            assert "Linkage, at least" in said
            assert not claims(said)
    test = open_page("sweep").test
    (measures,) = (box for box in test.multiselect if box.label == "Measures")
    assert "Linkage, at least" in measures.options
    assert places_on_map.title("bayes_linkage", 241) == "Linkage, at least"


def test_the_page_on_rounding_states_what_is_read() -> None:
    data = rwn.load_demo("bodyfat")
    rows = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines()
            if line.startswith(("| as", "| about"))]  # fmt: skip
    assert rows[0][0].strip() == "as they are"
    assert len(rows) == 5
    for share, row in ((0.0, rows[0]), (0.5, rows[3])):  # as they are, and as most round
        for place, k in ((1, 25), (3, 5)):
            params = rwn.RWN(epsilon=2.0, k=k)
            read = [_linked(data, params, seed, share) for seed in range(8)]
            stated = float(row[place].strip(" %")) / 100
            assert np.median([each[0] for each in read]) == pytest.approx(stated, abs=0.005001)
            stated = float(row[place + 1])
            assert np.median([each[1] for each in read]) == pytest.approx(stated, abs=0.0005001)


def _linked(data: rwn.Microdata, params: rwn.RWN, seed: int, share: float) -> tuple[float, float]:
    comparison = compare(
        data, rwn.mask(data, params, precision=given_steps(data, share), seed=seed)
    )
    return tuple(
        rwn.MEASURES[key].compute(comparison).value for key in ("bayes_linkage", "correlation")
    )
