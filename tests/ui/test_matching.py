"""Match on the Compare page: several methods tuned alike, and who wins where in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.tuning import Point, Setting, Spread
from rwn_core.tuning.match import Loss, Matched, Refused
from rwn_ui.compare import match_sentences, matching

NEAR, FAR, BETWEEN = (0.10, 0.11, 0.12), (0.60, 0.61, 0.62), (0.11, 0.12, 0.13)
LOSS = Loss(measure="correlation", value=0.115)


def matched(params: Any, *, reached: bool = True, **values: tuple[float, ...]) -> Matched:
    spreads = {key: Spread(measure=key, values=each) for key, each in values.items()}
    return Matched(point=Point(setting=Setting(params=params), spreads=spreads), reached=reached)


RWN = matched(rwn.RWN(k=5), correlation=NEAR, bayes_linkage=FAR, distance_linkage=NEAR)
NOISE = matched(
    rwn.AdditiveNoise(size=0.4), correlation=BETWEEN, bayes_linkage=NEAR, distance_linkage=FAR
)
WEAK = matched(rwn.PRAM(change=1.0), reached=False, correlation=(0.01, 0.02, 0.03))
SPACE = "\N{NO-BREAK SPACE}"


def test_where_rwn_wins_and_where_it_loses_is_said() -> None:
    (told,) = match_sentences.pairs([RWN, NOISE], LOSS, 100)
    assert told == (
        f"RWN, the 2022 method against Additive noise: better on Distance linkage (11.0{SPACE}% "
        f"against 61.0{SPACE}%); worse on Worst-case linkage (61.0{SPACE}% against 11.0{SPACE}%)."
    )


def test_an_outright_winner_is_named_and_the_loss_itself_is_not_compared() -> None:
    third = matched(rwn.RowCopy(k=5), correlation=FAR, bayes_linkage=FAR, distance_linkage=FAR)
    told = match_sentences.sentences([RWN, NOISE, third], LOSS, 100)
    assert told[0] == (
        "RWN, the 2022 method is better than every other compared method on Distance linkage."
    )
    assert "Correlations" not in " ".join(told)


def test_a_method_without_an_answer_is_not_ranked_there() -> None:
    dumb = Spread(measure="bayes_linkage", reason="It has no law.")
    swap = matched(rwn.RankSwapping(), correlation=NEAR, distance_linkage=BETWEEN)
    swap = replace(swap, point=replace(swap.point, spreads={**swap.point.spreads,
                                                            "bayes_linkage": dumb}))  # fmt: skip
    third = matched(rwn.KNoise(k=2), correlation=NEAR, bayes_linkage=FAR, distance_linkage=NEAR)
    told = match_sentences.sentences([RWN, NOISE, swap, third], LOSS, 100)
    # of three with a worst case
    assert told == ["Additive noise is better than every other compared method on Worst-case "
                    "linkage."]  # fmt: skip
    assert match_sentences.unread([swap], 100) == [
        "Rank swapping is not ranked on Worst-case linkage: It has no law."
    ]


def test_who_is_left_out_is_said_with_the_reason() -> None:
    lossy = matched(rwn.KNoise(k=2), reached=False, correlation=FAR)
    refused = Refused(method="additive_noise", reason="The method masks numbers only.")
    told = match_sentences.sentences([RWN, WEAK, lossy, refused], LOSS, 100)
    assert told[0].startswith("Post-randomization (PRAM) never loses so much: at its strongest,")
    assert "it reads 0.02 and not 0.115" in told[0]
    assert told[1].startswith(f"k-noise loses more at every strength that was tried: at k{SPACE}2")
    assert told[2] == "Additive noise is not compared: The method masks numbers only."
    policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
    (kept,) = match_sentences.sentences([matched(rwn.RWN(k=5), reached=False, bayes_linkage=FAR)],
                                    policy, 100)  # fmt: skip
    assert kept.startswith("RWN, the 2022 method keeps the policy at no strength that was tried")
    (reached,) = match_sentences.sentences([RWN], rwn.Policy(), 100)
    assert reached.startswith(
        f"RWN, the 2022 method keeps all limits at k{SPACE}5 · q{SPACE}1; nothing"
    )


@pytest.fixture
def screen(open_page, at_once, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The Compare page, where work is done at once."""
    monkeypatch.setattr(matching, "Job", at_once)
    return open_page("compare")


def press(screen: Any, label: str, nth: int = 0) -> None:
    buttons = [each for each in screen.test.button if each.label == label]
    buttons[nth].click().run()
    assert screen.errors == []


def shown(screen: Any) -> str:
    return "\n".join(each.value for each in (*screen.test.markdown, *screen.test.caption))


def match(screen: Any, methods: list[str]) -> None:
    box = next(each for each in screen.test.multiselect if each.label == "Methods")
    box.set_value(methods)
    for label, value in (("Releases", 2), ("At worst, %", 20.0)):
        field = next(each for each in screen.test.number_input if each.label == label)
        field.set_value(value)
    press(screen, "Match")


def test_methods_are_matched_opened_on_tune_and_kept(screen) -> None:
    match(screen, ["rwn", "additive_noise", "rank_swapping"])
    job = screen.job(matching.JOB)
    assert [each.method for each in job.result] == ["rwn", "additive_noise", "rank_swapping"]
    few = "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"
    (table,) = matching.match_table(screen.session, job.result, job.about[0].to)["tables"]
    assert few in table["caption"]
    (lost,) = (row for row in table["rows"] if row[0].startswith("Relations lost"))
    assert not any("★" in cell for cell in lost)  # it is the same for all
    (linkage,) = (row for row in table["rows"] if row[0].startswith("Distance linkage"))
    assert sum("★" in cell for cell in linkage) == 1
    assert ["records released", "100.0 %", "100.0 %", "100.0 %"] in table["rows"]
    text = shown(screen)
    assert "Tuned to Relations lost: at most 20" in text
    assert "RWN, the 2022 method against Additive noise:" in text
    assert "Rank swapping is not ranked on Worst-case linkage" in text.replace("\\", "")
    press(screen, "Keep as scenario", 1)
    (kept,) = screen.session.scenarios.values()
    assert kept.name == "Additive noise, matched"
    assert kept.setting == job.result[1].point.setting
    assert kept.readings == job.result[1].point.stated()
    press(screen, "Open on Tune", 1)
    assert screen.session.method == "additive_noise"
    assert screen.session.setting == job.result[1].point.setting
    for what in ("Coefficients", "Distributions"):
        key = f"compare.{screen.session.table_version}.matched.picture"
        screen.test.session_state[key] = what
        screen.test.run()
        assert screen.errors == []
    assert sum(each.label == "Variable" for each in screen.test.selectbox) == 1


def test_the_axes_of_the_map_run_towards_risk_and_away_from_loss() -> None:
    axes = [matching._axis("bayes_linkage", 241, risk=True)]
    axes += [matching._axis(key, 241, risk=False) for key in ("correlation", "ci_overlap")]
    assert [axis["falls"] for axis in axes] == [False, True, False]


def test_a_match_of_another_table_is_not_shown(screen) -> None:
    match(screen, ["rwn"])
    assert "Tuned to" in shown(screen)
    screen.work.jobs[matching.JOB].about = (
        matching.Asked(fingerprint="another", to=LOSS, across="correlation"),
    )
    screen.test.run()
    assert "Tuned to" not in shown(screen)
