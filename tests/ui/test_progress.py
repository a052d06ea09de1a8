"""What a page shows of work under way, and how it hears that the work has ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from rwn_ui.background import progress

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Work:
    """Work that does nothing."""

    words: str = "Counting"
    share: float = 0.25
    running: bool = True
    cancelled: int = 0

    def cancel(self) -> None:
        self.running = False
        self.cancelled += 1


def page() -> None:
    import streamlit as st

    from rwn_ui.background.progress import bar, wait_for

    work = st.session_state["work"]
    if not work.running:
        st.info("It has ended.")
    elif st.session_state.get("wide"):
        bar(work, "stop", wide=True, cancel=lambda: st.session_state.update(wide=False))
    else:
        wait_for(work, "stop")


def opened(work: Work, **state: object) -> AppTest:
    test = AppTest.from_function(page)
    for name, value in {"work": work, **state}.items():
        test.session_state[name] = value
    test.run()
    assert not test.exception
    return test


def shown(test: AppTest) -> tuple[int, str]:
    (result,) = test.get("progress")
    return result.proto.value, result.proto.text


def test_how_far_it_is_and_what_it_does_are_shown() -> None:
    assert shown(opened(Work())) == (25, "Counting")
    assert shown(opened(Work(share=1.2)))[0] == 100  # a share may be off by what it was rounded


def test_words_show_what_was_typed_and_do_nothing() -> None:
    assert shown(opened(Work(words="k = 3 of **my** [table](http://x.y)")))[1] == (
        "k = 3 of \\*\\*my\\*\\* \\[table\\](http:\u2060//x.y)"
    )


def test_cancel_is_heard_before_anything_is_drawn() -> None:
    work = Work()
    test = opened(work)
    test.button(key="stop").click().run()
    assert work.cancelled == 1
    assert [info.value for info in test.info] == ["It has ended."]
    assert not test.get("progress")


def test_cancel_may_mean_something_else() -> None:
    work = Work()
    test = opened(work, wide=True)
    test.button(key="stop").click().run()
    assert (work.cancelled, test.session_state["wide"]) == (0, False)


def test_the_page_is_drawn_anew_when_the_work_ends() -> None:
    class Ending(Work):
        looks = 0

        @property
        def running(self) -> bool:
            self.looks += 1
            return self.looks < 2

        @running.setter
        def running(self, value: bool) -> None:
            pass

    assert [info.value for info in opened(Ending()).info] == ["It has ended."]


def test_a_search_is_told_of_once_it_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slot:
        shares: list[object]

        def __init__(self) -> None:
            self.shares = []

        def progress(self, share: float, text: str) -> None:
            self.shares.append(share)

        def empty(self) -> None:
            self.shares.append("empty")

    slot = Slot()
    with progress.searching(slot) as report:
        report(0.5)
    assert slot.shares == []
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.searching(slot) as report:
        report(0.5)
        report(1.5)
    assert slot.shares == [0.5, 1.0, "empty"]
    with progress.searching(None) as report:
        assert report is None


def test_only_one_place_looks_again_and_again() -> None:
    places = [*ROOT.glob("rwn_ui/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
    assert [path.name for path in places if "run_every" in path.read_text("utf-8")] == [
        "progress.py"
    ]
