"""What a search for a start publishes on its way: each part as soon as it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import rwn_core as rwn
from rwn_core.tuning import Point, SearchAnswer, Setting
from rwn_core.tuning.answer import FoundSetting
from rwn_core.tuning.verdict import Verdict
from rwn_ui.background import advising
from tests.tables import table

SHOWN = Setting(params=rwn.RWN(epsilon=0.1, k=3), slices=())
BETTER = Setting(params=rwn.SoftRWN(balance=1.0), slices=())
POLICY = rwn.Policy()
NO = SearchAnswer(goal=POLICY, refused=True, reason="No strength keeps this policy.")


class Published:
    """The answers in their order, as a page receives them."""

    def __init__(self) -> None:
        self.answers: list[advising.Advice] = []

    def __call__(self, share: float) -> None:
        """The share done, which this does not need."""

    def found(self, answer: advising.Advice) -> None:
        self.answers.append(answer)


def keeping(setting: Setting) -> SearchAnswer:
    """An answer whose setting was read to keep the policy."""
    verdict = Verdict(shares={"bayes_linkage": 0.5}, unread={}, draws=19)
    point = Point(setting=setting, spreads={})
    found = FoundSetting(point=point, verdict=verdict, loss=0.1, attacked=True, confirmed=True)
    return SearchAnswer(goal=POLICY, settings=(found,), reached=True, confirmed=True)


def always(answer: SearchAnswer) -> Callable[..., SearchAnswer]:
    return lambda *_, **__: answer


@pytest.mark.parametrize("known", [None, keeping(BETTER)], ids=["looked for", "known"])
def test_a_no_has_its_first_step_before_others_are_tried(monkeypatch, known) -> None:
    last = replace(NO, caution="Nothing that was tried helps.")
    monkeypatch.setattr(advising, "warm_for_limits", lambda: None)
    monkeypatch.setattr(advising, "quick_verdict", always(NO))
    monkeypatch.setattr(advising, "recommend", always(keeping(BETTER)))
    monkeypatch.setattr(advising, "suggest", always(keeping(BETTER)))
    monkeypatch.setattr(advising, "with_remedies", always(last))
    monkeypatch.setattr(advising, "policy_presets", lambda *_: {})
    page = Published()
    given = {"microdata": table("cloud", 60), "policy": POLICY, "setting": SHOWN}
    _, verdict, _ = advising.find_advice(**given, known=known, presets={}, progress=page)
    steps = [len(said.remedies) for _, said, _ in page.answers]
    assert steps[0] == 0
    assert set(steps[1:]) == {1}, "with the start, and from then on"
    assert verdict == last
