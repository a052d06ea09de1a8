"""The answers that are proposed about a table harm nobody: nothing unmasked, no value lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import rwn_core as rwn
from rwn_core import Microdata, Role
from rwn_core.data.open_questions import OpenQuestion, open_questions
from rwn_core.data.role_guesses import guessed_roles, with_roles
from rwn_core.data.rounding import rounded_values, step_of_weight
from rwn_core.io.parse import without_missing_codes
from tests.labelled_files import PEOPLE, WEIGHTS, survey, write_spss, write_stata

pytestmark = pytest.mark.usefixtures("read_here")


def described(data: Microdata) -> tuple[Microdata, list[OpenQuestion]]:
    """Accept a form untouched: the guessed roles, and of each question what is proposed."""
    schema = with_roles(data.schema, guessed_roles(data.frame, data.schema))
    questions = open_questions(data.frame, schema)
    for question in questions:
        if question.proposed is not None:
            schema = schema.replace_variable(question.variable, **question.proposed.changes)
    return without_missing_codes(data.with_schema(schema), schema), questions


def known(frame: pd.DataFrame) -> dict[str, int]:
    return {str(name): int(count) for name, count in frame.notna().sum().items()}


TABLES = [
    pytest.param(write, end, kind, weight, id=f"{end}, {kind}, {weight}")
    for write, end in ((write_spss, "sav"), (write_stata, "dta"))
    for kind in ("plain", "numbers", "words", "dates")
    for weight in WEIGHTS
]


@pytest.mark.parametrize(("write", "end", "kind", "weight"), TABLES)
def test_an_official_file_accepted_untouched_loses_no_value_and_no_masking(
    tmp_path: Path, write: Callable[..., None], end: str, kind: str, weight: str
) -> None:
    frame, labels = survey(kind, weight, seed=len(kind) + len(weight))
    path = tmp_path / f"survey.{end}"
    write(frame, labels, path)
    data, questions = described(rwn.read(path))
    assert all(variable.masked for variable in data.schema.released)
    assert known(data.frame) == known(frame), "no value is lost"
    # what a person has to choose is the weight alone, the safest first
    (open_one,) = (question for question in questions if question.proposed is None)
    words = [answer.words.partition(" to ")[0] for answer in open_one.answers]
    assert (open_one.variable, words) == (weight, ["Mask it", "Round it", "Release it unmasked"])
    assert "missing" not in {question.kind for question in questions}
    rwn.mask(data, rwn.RWN(k=3), seed=1)  # nothing stops it


def test_what_a_file_declares_as_missing_is_missing_and_its_other_labels_stay(
    tmp_path: Path,
) -> None:
    frame, labels = survey("plain", "gewichtung", seed=3)
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        frame,
        path,
        variable_value_labels=labels,
        missing_ranges={"votes": [9], "income": [{"lo": -9, "hi": -8}]},
    )
    data, _ = described(rwn.read(path))
    gone = int((frame["votes"] == 9).sum())
    expected = known(frame) | {"votes": PEOPLE - gone, "income": PEOPLE - 9}
    assert known(data.frame) == expected
    assert "refused" in set(data.frame["votes"].dropna())
    assert data.frame["income"].max() == 99999


def test_codes_without_a_label_are_asked_about_and_stay_values_until_a_person_says_so() -> None:
    frame = pd.DataFrame(
        {
            "income": [*np.arange(200) * 7.5, *[99999.0] * 4],
            "job": [*["cook", "none", "smith", "nurse"] * 51],
        }
    )
    data, questions = described(Microdata.from_frame(frame))
    about = {question.variable: question for question in questions}
    assert {about["income"].kind, about["job"].kind} == {"missing"}
    assert [answer.words for answer in about["job"].answers] == [
        "They are values",
        "They are missing",
    ]
    assert known(data.frame) == known(frame)
    # the planted other case: the answer of a person takes them out
    changes = about["job"].answers[1].changes
    schema = data.schema.replace_variable("job", **changes)
    assert without_missing_codes(data.with_schema(schema), schema).frame["job"].isna().sum() == 51


@pytest.fixture(scope="module")
def of_all_kinds() -> list[OpenQuestion]:
    """Questions of all kinds, before and after the guessed roles are accepted."""
    frame, _ = survey("numbers", "dweight", seed=2)
    frame["town"] = [f"T{place % 60}" for place in range(PEOPLE)]
    frame["deaf"] = ["no"] * (PEOPLE - 1) + ["yes"]
    frame["remark"] = [f"the house is number {place} of a long row" for place in range(PEOPLE)]
    frame["wage"] = [*np.arange(PEOPLE - 3) % 60, 999, 999, 999]
    data = Microdata.from_frame(frame)
    schema = with_roles(data.schema, guessed_roles(data.frame, data.schema))
    return [
        *open_questions(data.frame, data.schema),
        *open_questions(data.frame, schema),
    ]


def test_questions_of_all_kinds_are_looked_at(of_all_kinds: list[OpenQuestion]) -> None:
    kinds = {question.kind for question in of_all_kinds}
    assert kinds >= {"identifier", "free text", "levels", "constant", "missing", "masked weight"}


def test_no_proposed_answer_releases_unmasked_or_drops_a_value(
    of_all_kinds: list[OpenQuestion],
) -> None:
    proposed = [question.proposed for question in of_all_kinds if question.proposed is not None]
    changed = set().union(*(answer.changes for answer in proposed))
    assert changed <= {"role", "confirmed"}


def test_only_what_stops_every_release_is_proposed_to_be_left_out(
    of_all_kinds: list[OpenQuestion],
) -> None:
    left_out = {
        question.kind: question.stops
        for question in of_all_kinds
        if question.proposed is not None
        and question.proposed.changes.get("role") is Role.IDENTIFIER
    }
    assert left_out
    assert all(left_out.values())


def test_a_weight_is_rounded_to_a_step_that_makes_no_weight_zero() -> None:
    rng = np.random.default_rng(5)
    for values in (rng.gamma(0.3, 3, 400) + 0.002, rng.gamma(4, 250, 400), rng.uniform(1, 2, 400)):
        step = step_of_weight(values)
        assert step is not None
        rounded = rounded_values(values, step)
        assert rounded.min() > 0
    # by hand: a deviation of .5 asks for .2 or .5, and .1 is the most that keeps .12 above 0
    assert step_of_weight(np.array([0.12, 1.12, 0.62, 1.12])) == 0.1
    assert step_of_weight(np.array([2.0])) is None
    assert step_of_weight(np.array([0.0, 1.0, 2.0])) is None
