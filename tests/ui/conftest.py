"""The app's pages without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.state import session_state_proxy
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

import rwn_core as rwn
from rwn_core.compile_ahead import warm_for_limits
from rwn_ui.features import scenario_trial
from rwn_ui.server import messages
from rwn_ui.server.endpoint import Endpoint
from rwn_ui.server.sweeper import VISIT
from rwn_ui.state import change_table, project_folder, shared_originals, startup, visit
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session
from rwn_ui.state.work import Results, User, Work
from rwn_ui.tune import view
from tests import tables
from tests.waiting import HANG_S, until

OPEN_COMPARE = scenario_trial.open_compare
ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., "Screen"]


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Limits follow the picture until their kernels are compiled."""
    warm_for_limits()


class Screen:
    def __init__(self, page: str, **link: str) -> None:
        self.test = AppTest.from_file(ROOT / "app.py", default_timeout=HANG_S)
        for name, value in link.items():
            self.test.query_params[name] = value
        if page != "tune":
            self.test.switch_page(f"pages/{page}.py")
        for box in ("tune.more.box", "tune.view.box"):  # what the drawer of Tune holds
            self.test.session_state[box] = True
        self.test.run()

    def visit(self, page: str) -> Screen:
        self.test.switch_page(f"pages/{page}.py").run()
        return self

    def upload(self, name: str, content: bytes, *, asked: bool = False) -> Screen:
        """Give a file to the Data page; what it asks before it ranks is left open, or not."""
        self.test.file_uploader(key="data.upload").set_value((name, content, "text/csv")).run()
        until(self._has_read)
        if not asked and self.work.opening is not None and self.work.opening.asked is not None:
            self.press("Leave them open")
        return self

    def wait(self) -> Screen:
        until(self._has_prepared)
        return self

    def _has_read(self) -> bool:
        """Whether no file is read any more; else the page is run once again."""
        if self.work.opening is None or self.work.opening.reading is None:
            return True
        self.test.run()
        return False

    def _has_prepared(self) -> bool:
        """Whether the search of a large table is ready; else it is waited for."""
        if self.work.preparation is None:
            return True
        self.work.preparation.wait(HANG_S)  # it may have to be compiled, beside other work
        self.test.run()
        return False

    @property
    def user(self) -> User:
        return self.session.user

    @property
    def session(self) -> Session:
        session: Session = self.test.session_state[VISIT].session
        return session

    @property
    def work(self) -> Work:
        return self.user.work

    @property
    def results(self) -> Results:
        return self.user.results

    def find(self, kind: str, label: str) -> Any:
        """The first widget of a kind whose label begins so."""
        return next(each for each in getattr(self.test, kind) if each.label.startswith(label))

    def option(self, kind: str, name: str) -> Any:
        """The widget of an option of the method on screen, whose box is opened first."""
        key = f"tune.0.option.{self.session.method}"
        if not self.test.session_state[f"{key}.options.box"]:
            self.test.session_state[f"{key}.options.box"] = True
            self.test.run()
        return getattr(self.test, kind)(key=f"{key}.{name}")

    def press(self, label: str) -> Screen:
        self.find("button", label).click().run()
        return self

    def words(self, *kinds: str) -> str:
        every = ("caption", "info", "success", "warning", "error", "markdown")
        return " ".join(each.value for kind in kinds or every for each in getattr(self.test, kind))

    def job(self, feature: str) -> Any:
        return self.work.jobs.get(feature)

    @property
    def panel(self) -> Any:
        """What the Tune page gave its panel last; None before it did."""
        return self.results.tune.picture

    @property
    def errors(self) -> list[str]:
        assert not self.test.exception
        return [error.value for error in self.test.error]

    @property
    def refusals(self) -> list[str]:
        """Errors in their places, and those that a page has said again after it drew itself."""
        return [*self.errors, *(toast.value for toast in self.test.toast)]

    @property
    def warnings(self) -> list[str]:
        return [warning.value for warning in self.test.warning]

    def _told(self) -> dict[str, Any]:
        """The sliders of the levers, as the server has described them to the browser."""
        key = f"-tune.{self.session.table_version}.levers"
        drawn = [e.proto for e in self.test.get("bidi_component") if e.proto.id.endswith(key)]
        return orjson.loads(drawn[0].bytes) if drawn else {}

    @property
    def sliders(self) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in self._told().get("sliders", [])}

    @property
    def preset(self) -> str | None:
        marked = (each["name"] for each in self._told()["presets"] if each["chosen"])
        return next(marked, None)

    def move(self, **levers: float) -> Screen:
        return self.edit({"levers": levers})

    def weigh(self, **weights: float) -> Screen:
        return self.edit({"weights": weights})

    def edit(self, *edits: dict[str, Any]) -> Screen:
        """Send edits by a run of the page, as where posts are blocked."""
        view.take(self.session, edits)
        self.test.run()
        return self

    @property
    def endpoint(self) -> Endpoint:
        return self.user.endpoint

    def everything(self) -> str:
        return str(self.test.main) + str(self.test.sidebar) + str(self.panel)


@dataclass(kw_only=True)
class Finished:
    """What a page sees of a job that has ended."""

    label: str
    result: Any = None
    refusal: str = ""
    about: Any = None
    running: bool = False
    so_far: Any = None

    def cancel(self) -> None:
        """Nothing is left to stop."""


@pytest.fixture
def finished() -> type[Finished]:
    return Finished


@pytest.fixture
def at_once(finished: type[Finished]) -> Callable[..., Finished]:
    """A job that is done as soon as it is begun, in this process."""

    def job(
        label: str, work: Callable[..., Any], *, words: str, about: Any = None, **arguments: Any
    ) -> Finished:
        assert words
        result = work(**arguments, progress=lambda share: None)
        return finished(label=label, result=result, about=about)

    return job


@pytest.fixture(scope="session", autouse=True)
def installed_packages_read_once() -> Iterator[None]:
    """Streamlit reads what every installed package says of itself, for each app under test."""
    with pytest.MonkeyPatch.context() as patch:
        read = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", read)
        yield


@pytest.fixture(scope="session", autouse=True)
def pages_end_without_being_asked() -> Iterator[None]:
    """Streamlit asks a thousand times a second whether a page has run, which it says by itself."""
    looked = local_script_runner.require_widgets_deltas

    def joined(runner: LocalScriptRunner, timeout: float = HANG_S) -> None:
        runner._script_thread.join(timeout)
        looked(runner, timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", joined)
        yield


@pytest.fixture(autouse=True)
def _nobody_else_has_the_table() -> None:
    """What other tests found of a demo is not found for this one."""
    shared_originals._HELD.clear()


@pytest.fixture(autouse=True)
def _demos(demos_read_once: None) -> None:
    """Share what is known of a demo table."""


@pytest.fixture
def whole_demos() -> None:
    """Whoever asks for this has all records of a demo table, also beside `few_people`."""


@pytest.fixture
def few_people(
    request: pytest.FixtureRequest, _demos: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Demo tables have 80 records: what a page does is asked, and not how large its table is."""
    if "whole_demos" not in request.fixturenames:
        monkeypatch.setattr(rwn, "load_demo", partial(tables.table, n=80))


@pytest.fixture(scope="session", autouse=True)
def nothing_to_send() -> Iterator[None]:
    """A page under test has no browser that it could be too fast for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "SENT", 0.0)
        yield


@pytest.fixture(autouse=True)
def tab_of_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tab that was not reloaded, and says so at once."""

    def answered(names: dict[str, str], **given: Any) -> None:
        if given["waits"]:
            given["on_answer"]("", "browser")

    monkeypatch.setattr(visit, "tab", answered)


@pytest.fixture(autouse=True)
def projects_of_the_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tables that a test opens are not offered in the next one."""
    monkeypatch.setenv(project_folder.FOLDER_VARIABLE, str(tmp_path / "projects"))


@pytest.fixture(autouse=True)
def demo_as_published(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A demo begins with RWN as published, whose levers tests move; `recommended_demo` differs."""
    if "recommended_demo" not in request.fixturenames:
        for module in (change_table, startup):
            monkeypatch.setattr(module, "recommended", lambda demo: None)


@pytest.fixture
def recommended_demo() -> None:
    """A demo begins with its recommended setting, as for a user."""


@pytest.fixture(autouse=True)
def state_of_no_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is called outside of a page begins with an empty state of its own."""
    monkeypatch.setattr(session_state_proxy, "_mock_session_state", None)


@pytest.fixture(autouse=True)
def _no_process_reads(read_here: None) -> None:
    """Read files in this process."""


@pytest.fixture(autouse=True)
def _small(small_forests: None) -> None:
    """Grow small forests in this process."""


@pytest.fixture
def compare_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare begins to measure as soon as it is opened, as it does for a user."""
    monkeypatch.setattr(scenario_trial, "open_compare", OPEN_COMPARE)


@pytest.fixture(autouse=True)
def _scenarios_at_once(at_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure scenarios in this process, and none before it is asked for."""
    monkeypatch.setattr(scenario_trial, "Job", at_once)
    monkeypatch.setattr(scenario_trial, "open_compare", lambda session: None)


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """A function that opens a page for a new user, whose state then is that of the test."""

    def opened(page: str, **link: str) -> Screen:
        screen = Screen(page, **link)
        monkeypatch.setattr(session_state_proxy, "_mock_session_state", screen.test._session_state)
        return screen

    return opened


@pytest.fixture
def session() -> Session:
    made = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    made.clamp(prepared(made).prepared)
    return made
