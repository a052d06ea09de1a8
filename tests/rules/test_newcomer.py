"""Who has never seen this project finds a file by its name alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

import architecture_page
import import_law as law
import pytest

ROOT = law.ROOT

QUESTIONS = {
    "Where is the radius query?": "rwn_core/neighbors/kernels/radius_query.py",
    "Where would a JSON format go?": "rwn_core/io/*_format.py",
    "What decides the color of a tile?": "rwn_ui/tune/tiles.py",
    "Where is a distance computed?": "rwn_core/neighbors/distance.py",
    "How far do the sliders go?": "rwn_core/neighbors/slider_range.py",
    "Where do donors get drawn?": "rwn_core/mechanism/donors.py",
    "Where do random numbers come from?": "rwn_core/randomness.py",
    "Where would another masking method go?": "rwn_core/masking/*.py",
    "Which tables are refused?": "rwn_core/data/validation.py",
    "How large may a file be?": "rwn_core/io/limits.py",
    "Where would a measure of risk go?": "rwn_core/measures/risk/*.py",
    "Where is the worst-case intruder's linkage?": "rwn_core/measures/risk/bayes_linkage.py",
    "Where do intervals of 9 in 10 come from?": "rwn_core/measures/statistics/intervals.py",
    "What is expected without drawing?": "rwn_core/evaluation/forecast/forecast.py",
    "Which settings are on the frontier?": "rwn_core/tuning/frontier.py",
    "Where would a chart of a measure go?": "rwn_core/charts/measures/*.py",
    "What does a scenario file hold?": "rwn_core/reporting/scenario.py",
    "How are worker processes started and ended?": "rwn_core/parallel/processes.py",
    "How does undo work?": "rwn_ui/state/history.py",
    "Where would a page go?": "pages/*.py",
}
"""What a newcomer asks. A star stands for the name of what is new: such files are there already."""

SYNONYMS = {
    "undo": "history",
    "expected": "forecast",
    "refused": "validation",
    "large": "limits",
    "color": "style",
    "worst": "bayes",
    "command": "cli",
    "refusals": "messages",
    "start": "launch",
    "rounded": "rounding",
    "painted": "painter",
    "sampled": "sample",
    "guessed": "guess",
    "built": "build",
    "written": "write",
    "random": "randomness",
    "outside": "non",
    "unfinished": "folder",
    "forbid": "law",
    "prepares": "preparation",
    "many": "repeated",
    "drawn": "draws",
}
"""Words of questions beside the field's own words in file names."""

_COMMON = """
a an and are at be by do does for from get go goes has have how in is it its may must new not of on
or other same so that the this to used uses what when where which who whole would without you
"""
NEXT_BEST = 2
"""Files whose names answer better that a newcomer may open first."""


def index() -> dict[str, str]:
    """The file beside each question of ARCHITECTURE.md."""
    return {row[0]: row[1].strip("`") for row in architecture_page.rows("Where is it?")}


def words(text: str) -> set[str]:
    """The words of a text that say something, in the singular."""
    result = set(re.findall(r"[a-z]+", text.lower())) - set(_COMMON.split())
    return {word.removesuffix("s") for word in result}


def asked(question: str) -> set[str]:
    """The words of a question, and the field's words for them."""
    plain = set(re.findall(r"[a-z]+", question.lower()))
    return words(question) | words(" ".join(SYNONYMS.get(word, "") for word in plain))


def hits(question: str, path: str) -> int:
    """How many words of a question a path has."""
    return len(asked(question) & words(path.removesuffix(".py").removesuffix(".js")))


def missing(paths: Iterable[str]) -> list[str]:
    """The paths that no file has."""
    return [path for path in paths if not list(ROOT.glob(path))]


def unguessable(answers: dict[str, str]) -> list[str]:
    """The questions whose answer has a name that says nothing of them."""
    return [question for question, path in answers.items() if hits(question, path) == 0]


def test_twenty_questions_are_in_the_index() -> None:
    assert len(QUESTIONS) == 20
    assert {question: index().get(question) for question in QUESTIONS} == QUESTIONS


def test_every_answer_is_there() -> None:
    assert missing(index().values()) == []


def test_every_answer_has_a_name_that_says_so() -> None:
    assert unguessable(index()) == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_few_names_would_be_a_better_guess(question: str) -> None:
    paths = [path.relative_to(ROOT).as_posix() for path in law.sources()]
    answer = QUESTIONS[question]
    better = [path for path in paths if hits(question, path) > hits(question, answer)]
    assert len(better) <= NEXT_BEST, better


def test_private_names_and_files_that_moved_are_noticed() -> None:
    moved = {
        "Where is the radius query?": "rwn_core/neighborhoods/compiled/balls.py",
        "What does a scenario file hold?": "rwn_core/meeting.py",
    }
    assert unguessable(moved) == list(moved)
    assert missing(moved.values()) == list(moved.values())
    assert missing(["rwn_core/io/*_reader_of_minds.py"]) != []
