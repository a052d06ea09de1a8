"""The app's pages without a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.state import session_state_proxy
from streamlit.testing.v1 import AppTest

from rwn_ui.state.results import Results
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work
from rwn_ui.sweep import run as sweep_run

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., "Screen"]


class Screen:
    """One user's app, and shorthand for what is on its screen."""

    def __init__(self, page: str, **link: str) -> None:
        self.test = AppTest.from_file(ROOT / "app.py", default_timeout=120)
        for name, value in link.items():
            self.test.query_params[name] = value
        if page != "tune":
            self.test.switch_page(f"pages/{page}.py")
        self.test.run()

    def visit(self, page: str) -> Screen:
        """Go to another page."""
        self.test.switch_page(f"pages/{page}.py").run()
        return self

    def upload(self, name: str, content: bytes) -> Screen:
        """Give a file to the Data page."""
        self.test.file_uploader(key="data.upload").set_value((name, content, "text/csv")).run()
        end = time.monotonic() + 120
        while self.work.opening is not None and self.work.opening.reading is not None:
            assert time.monotonic() < end
            self.test.run()
        return self

    def wait(self) -> Screen:
        """Let the table that is being prepared arrive, and draw the page with it."""
        end = time.monotonic() + 180  # the search may have to be compiled, beside other work
        while self.work.preparation is not None:
            assert time.monotonic() < end
            time.sleep(0.05)
            self.test.run()
        return self

    @property
    def session(self) -> Session:
        """What the user has chosen."""
        session: Session = self.test.session_state["rwn.session"]
        return session

    @property
    def work(self) -> Work:
        """What goes on beside the user's pages."""
        work: Work = self.test.session_state["rwn.work"]
        return work

    @property
    def results(self) -> Results:
        """What was computed for the user."""
        results: Results = self.test.session_state["rwn.results"]
        return results

    def job(self, feature: str) -> Any:
        """The job of a feature; None where there is none."""
        return self.work.jobs.get(feature)

    @property
    def panel(self) -> Any:
        """What the Tune page gave its panel last; None before it did."""
        return self.results.last.get("tune")

    @property
    def errors(self) -> list[str]:
        """The sentences in red."""
        assert not self.test.exception
        return [error.value for error in self.test.error]

    def slider(self, what: str) -> object:
        """The slider of epsilon, k or q."""
        return self.test.slider(key=f"tune.{self.session.generation}.{what}")

    def everything(self) -> str:
        """All that the last run sent to the browser, as text."""
        return str(self.test.main) + str(self.test.sidebar) + str(self.panel)


@dataclass(kw_only=True)
class Finished:
    """What a page sees of a job that has ended."""

    label: str
    result: Any = None
    refusal: str = ""
    about: Any = None
    running: bool = False

    def cancel(self) -> None:
        """Nothing is left to stop."""


@pytest.fixture
def finished() -> type[Finished]:
    """What makes a job that has ended."""
    return Finished


@pytest.fixture
def at_once(finished: type[Finished]) -> Callable[..., Finished]:
    """A job that is done as soon as it is begun, in this process."""

    def job(
        label: str,
        work: Callable[..., Any],
        *,
        words: str,
        about: Any = None,
        **arguments: Any,
    ) -> Finished:
        assert words
        result = work(**arguments, progress=lambda share: None)
        return finished(label=label, result=result, about=about)

    return job


@pytest.fixture(autouse=True)
def state_of_no_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is called outside of a page begins with an empty state of its own."""
    monkeypatch.setattr(session_state_proxy, "_mock_session_state", None)


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """A function that opens a page for a new user, whose state then is that of the test."""

    def opened(page: str, **link: str) -> Screen:
        screen = Screen(page, **link)
        monkeypatch.setattr(session_state_proxy, "_mock_session_state", screen.test._session_state)
        return screen

    return opened


@pytest.fixture
def edit_weights(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Weights that somebody types into the table; empty at first."""
    typed: dict[str, float] = {}
    editor = st.data_editor

    def edited(frame, **options):
        shown = editor(frame, **options)
        if "weight" in shown:
            return shown.assign(
                weight=[
                    typed.get(name, weight)
                    for name, weight in zip(shown["variable"], shown["weight"], strict=True)
                ]
            )
        return shown

    monkeypatch.setattr(st, "data_editor", edited)
    return typed


@pytest.fixture
def sweeps_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sweeps of a test are kept in a folder of its own."""
    monkeypatch.setenv(sweep_run.FOLDER_VARIABLE, str(tmp_path / "sweeps"))
    monkeypatch.setattr(sweep_run, "POLITE", False)
    return tmp_path / "sweeps"
