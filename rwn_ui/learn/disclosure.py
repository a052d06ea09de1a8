"""Lesson 0: what disclosure is, played on a table that can be attacked."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.lessons import disclosure as numbers
from rwn_core.measures.sentence import tenths
from rwn_ui.learn.lesson import (
    WORDS,
    Choice,
    Kept,
    Lesson,
    Shown,
    Slider,
    Switch,
    Values,
    prepared,
    tile,
)


def _params(values: Values) -> rwn.RWN:
    return rwn.RWN(epsilon=0.0, k=values["k"], q=values["q"])


def _show(values: Values, kept: Kept) -> Shown:
    data = numbers.table()
    ready = prepared(kept, ("disclosure",), lambda: _params(values).preview(data))
    moved = ready.with_levers(k=values["k"], q=values["q"])
    lesson = numbers.disclosure(moved, data, person=values["person"])
    guess = values["guess"] - 1
    met = lesson.linked <= numbers.LIMIT
    return Shown(
        words=f"q = {values['q']:g} · k = {values['k']} · guess: row {values['guess']}",
        chart=CHARTS["lesson_disclosure"](lesson, guess, values["answer"]),
        tiles=[
            tile(
                "Your guess",
                _verdict(lesson, guess) if values["answer"] else "not shown yet",
                "Whether the row is made from the person’s record, and whether its income is "
                "within 10 % of the person’s: switch on the answer.",
            ),
            tile(
                "Linked to their own row",
                tenths(lesson.linked),
                "Identity disclosure: share of all 24 people whose own row is the nearest in age "
                f"and height, in the mean of {numbers.DRAWS} releases. The policy of this lesson "
                f"allows {tenths(numbers.LIMIT)}: " + ("kept." if met else "broken."),
            ),
            tile(
                "Incomes learned",
                tenths(lesson.learned),
                "Attribute disclosure: share of all people whose nearest row shows an income "
                "within 10 % of theirs, in the mean of the same releases. A random row of the "
                f"original does so for {tenths(lesson.by_chance)}.",
            ),
        ],
        numbers={"linked": lesson.linked, "learned": lesson.learned},
        tables=(_words(values, lesson, met),),
    )


def _verdict(lesson: numbers.DisclosedPerson, guess: int) -> str:
    row = "right row" if guess == lesson.own else "wrong row"
    return f"{row}, income {'learned' if lesson.close(guess) else 'not learned'}"


def _words(values: Values, lesson: numbers.DisclosedPerson, met: bool) -> dict[str, Any]:
    """The vocabulary, each word with what it is on this screen."""
    person = lesson.person
    rows = [
        ("direct identifier", "the name; it is never released"),
        ("key variables", f"age and height: the intruder knows them of {person}"),
        ("confidential variable", f"income: the intruder wants to learn it of {person}"),
        ("intruder", "you"),
        ("linkage", f"joining a released row to {person} by the key variables"),
        ("masking", f"each cell changes with probability q = {values['q']:g}"),
        ("neighborhood", f"the k = {values['k']} records most like a record"),
        ("donor", "the neighbor from which a cell takes its value"),
        ("identity disclosure", f"{tenths(lesson.linked)} of the people are linked to their row"),
        ("attribute disclosure", f"{tenths(lesson.learned)} of the incomes are learned"),
        ("policy", f"at most {tenths(numbers.LIMIT)} linked: {'kept' if met else 'broken'}"),
    ]
    return {
        "title": "The words, in this table",
        "columns": ["word", "here"],
        "rows": [list(row) for row in rows],
        "caption": "The 24 people are made up.",
    }


def _code(values: Values) -> str:
    setting = f"epsilon=0, k={values['k']}, q={values['q']:g}"
    return f"""\
import rwn_core as rwn
from rwn_core.evaluation.lessons.disclosure import disclosure, table

data = table()
ready = rwn.RWN({setting}).prepare(data)
lesson = disclosure(ready, data, person="{values["person"]}")
linked, learned = lesson.linked, lesson.learned"""


LESSON = Lesson(
    key="disclosure",
    **WORDS["disclosure"],
    controls={
        Slider(
            "guess", "Your guess: row", (1, numbers.N), start=1
        ): "The rows are in random order, which says nothing about the persons.",
        Slider(
            "q", "Modification probability q", (0.0, 1.0), start=0.0, step=0.1
        ): "The chance that a cell takes the value of a donor; 0 is the original file.",
        Slider(
            "k", "Neighbors k", (1, 12), start=1
        ): "The donors are the k nearest records in age, height and income.",
        Choice("person", "Person", tuple(numbers.PERSONS)): "Of whom you know age and height.",
        Switch("answer", "Show the answer"): "Marks the person’s own row.",
    },
    show=_show,
    code=_code,
    on_tune=lambda values: rwn.Setting(params=_params(values)),
)
