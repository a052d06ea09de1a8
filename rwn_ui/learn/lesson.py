"""A lesson: one idea, one picture that moves, a question, and the code behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rwn_core.charts import Chart
from rwn_core.data.plain import toml_document
from rwn_core.masking import Prepared
from rwn_core.tuning import Setting
from rwn_ui.panel.parts import blank
from rwn_ui.state.work import Memo

Values = Mapping[str, Any]
"""The positions of a lesson's controls, by name."""
Kept = Callable[[str, int], Memo]
"""Returns what a user's lessons have computed, by what it is and how much of it is kept."""
WORDS = toml_document(Path(__file__).with_name("lessons.toml").read_text("utf-8"), "lessons")
"""Title, sentences, question and answer of each lesson, by its key."""
KEPT = 3  # prepared tables; the largest takes 12 MB


@dataclass(frozen=True, slots=True)
class Slider:
    """A number to move."""

    name: str
    label: str
    ends: tuple[float, float]  # all of one type
    start: float
    step: float = 1


@dataclass(frozen=True, slots=True)
class Choice:
    """A few things to choose from, the first one at the start."""

    name: str
    label: str
    options: tuple[str, ...]

    @property
    def start(self) -> str:
        """The first option."""
        return self.options[0]


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch that is off at the start."""

    name: str
    label: str
    start: bool = False


Control = Slider | Choice | Switch


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The contents of a lesson at one position of its controls."""

    words: str  # the position, in words
    chart: Chart
    tiles: list[dict[str, Any]]  # at most three numbers, see `tile`
    # the numbers on screen, by the names that the lesson's code gives them
    numbers: Mapping[str, float]
    tables: tuple[dict[str, Any], ...] = ()  # shown under the picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One idea with its picture."""

    key: str
    title: str
    sentences: Sequence[str]  # three, as Markdown
    controls: Mapping[Control, str]  # each with its help
    show: Callable[[Values, Kept], Shown]  # what is seen at a position of the controls
    question: str  # as Markdown; the answer is folded
    answer: str
    code: Callable[[Values], str]  # five lines of Python that give the numbers of `Shown`
    on_tune: Callable[[Values], Setting]  # with it the Tune page goes on
    demo: str = "bodyfat"  # its table there


def prepared(kept: Kept, key: tuple[Any, ...], make: Callable[[], Prepared]) -> Prepared:
    """A table that is prepared once and moved by the sliders."""
    found: Prepared = kept("lessons", KEPT).get_or_make(key, make)
    return found


def tile(label: str, released: str, help: str, original: str | None = None) -> dict[str, Any]:
    """One number; with the original's, as original → released."""
    made = blank(label, released=released, help=help)
    return made if original is None else {**made, "original": original}
