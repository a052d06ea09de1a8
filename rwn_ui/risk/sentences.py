"""The Risk page's own tables: each number in a plain sentence, limits, repeated releases."""

from __future__ import annotations

from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.evaluation.attack_list import Answers
from rwn_core.evaluation.disclosure import Disclosure
from rwn_core.measures.measure import UNMASKED, UNRELATED, Reading
from rwn_core.measures.sentence import percent
from rwn_core.tuning.verdict import ONE_MORE
from rwn_ui.panel.parts import Table
from rwn_ui.state.results import Snapshot

_COLUMNS = ["measure", "value", "read against", "in plain words"]


def tables(readings: Answers, n: int) -> list[dict[str, Any]]:
    """Statement of each number, in three tables by question."""
    about = {key: rwn.MEASURES[key].about for key in readings}
    groups = (
        (
            "Whose row is it?",
            "row",
            "Read against: a guess among all records, or the same attack on people who are not in "
            "the file, as the words say.",
        ),
        (
            "What is learned about a person?",
            "value",
            "Read against: a guess, the original, or the same attack on people who are not in the "
            "file, as the words say. Guessing and inference are tried on a release of four fifths "
            "of the records, so that the others can be those people.",
        ),
        (
            "Who stands out, and what has masking changed?",
            "",
            "Read against: the original table. By themselves these numbers say nothing of a link; "
            "they show where to look.",
        ),
    )
    return [
        {
            "title": title,
            "columns": _COLUMNS,
            "rows": rows({key: each for key, each in readings.items() if about[key] == what}, n),
            "caption": caption,
        }
        for title, what, caption in groups
    ]


def rows(readings: Answers, n: int) -> list[list[str]]:
    """Measure, number, baseline and sentence of every measure that is read."""
    found = []
    for key, reading in readings.items():
        measure = rwn.MEASURES[key]
        if isinstance(reading, rwn.Reading):
            share = measure.bounds == (0.0, 1.0) and "distance" not in measure.unit
            against = "–" if reading.baseline is None else _short(reading.baseline, share=share)
            value = _short(reading.value, share=share)
            # a number and its percent sign stay on one line
            words = said(key, reading, n).replace(" %", "\N{NO-BREAK SPACE}%")
            found.append([measure.reading_title(reading), value, against, words])
        else:
            found.append([measure.title, "n/a", "–", str(reading)])
    return found


def said(key: str, reading: rwn.Reading[Any], n: int) -> str:
    """The measure's own sentence, and between which shares it lies where rows were sampled."""
    sentence = rwn.MEASURES[key].sentence
    assert sentence is not None  # a measure of risk has one
    words = sentence(reading, n)
    if reading.interval is None or not getattr(reading.detail, "sampled", False):
        return words
    low, high = (f"{100 * end:.1f}" for end in reading.interval)
    rows = len(reading.detail.records)
    return f"{words} From a random sample of {rows:,} rows: {low} to {high} %."


def _short(number: float, *, share: bool) -> str:
    if not share:
        return f"{number:.3g}"
    digits = f"{100 * number:.2g}" if number < 0.1 else f"{100 * number:.1f}"
    return f"{digits}\N{NO-BREAK SPACE}%"


def limits(now: Snapshot) -> Table:
    """Each limit between both ends of the table: what the unmasked file reads, and what chance."""
    verdict = now.verdict
    rows = []
    for limit in now.policy.limits:
        key = limit.measure
        reading = now.readings.get(key)
        ends = verdict.bounds[key].ends
        values = (
            reading.value if isinstance(reading, Reading) else None,
            verdict.values.get(key) if verdict.draws > 1 else None,
            limit.at_most,
            ends.get(UNMASKED),
            ends.get(UNRELATED),
        )
        words = ["–" if value is None else rwn.MEASURES[key].words(value) for value in values]
        state = "broken" if key in verdict.broken else verdict.unread.get(key, "kept")
        rows.append([verdict.title(key), *words, state])
    return {
        "title": "Limits of the policy",
        "columns": [
            "measure",
            "reads",
            ONE_MORE,
            "at most",
            "unmasked file",
            "no relation left",
            "verdict",
        ],
        "rows": rows,
        "caption": "A limit that the unmasked file keeps cannot be broken: it is not judged. No "
        "relation left: each variable shuffled by itself.",
    }


def repetition(found: Disclosure) -> Table | None:
    """Averaging attack on several releases."""
    repeated = found.repetition
    if repeated is None or repeated["q"] == 0:
        return None
    retained = repeated["q"] < 1
    columns = ["releases", "different donors seen"]
    rows = [
        [str(times), f"{distinct:.1f} of {repeated['donors']:,}"]
        for times, distinct in zip(repeated["releases"], repeated["distinct"], strict=True)
    ]
    if retained:
        columns.insert(1, "most frequent value is the true one")
        for row, mode in zip(rows, repeated["mode"], strict=True):
            row.insert(1, percent(mode))
    if repeated["even"]:
        said = repeated_words(repeated["q"], repeated["donors"])
    else:
        said = weighted_words(repeated["q"], repeated["own"], repeated["largest"])
    caption = (
        "What somebody sees who has nothing else: a cell of a typical record, with "
        f"{repeated['donors']:,} donors of different values, in releases whose rows keep their "
        f"places. {said}"
    )
    return {
        "title": "Repeated releases by themselves",
        "columns": columns,
        "rows": rows,
        "caption": caption,
    }


def weighted_words(q: float, own: float, largest: float) -> str:
    """Say the same of donors that are not equally likely."""
    often = "the value of the most probable donor" if own < largest else "the person's own"
    return (
        f"At q = {q:g} the own value has probability {own:.2g}; the value of the most probable "
        f"donor has {largest:.2g}. In the long run {often} becomes the most frequent one. The "
        "donors are laid open. Their number is that of equally likely donors that hide as much."
    )


def repeated_words(q: float, donors: int) -> str:
    """Say where a cell's mean and its most frequent value tend to, release after release."""
    if q == 1:
        return (
            "The mean of a person's released values tends to the mean of the neighborhood. At q = "
            "1 the own value comes only where a donor has it, too, but the donors are laid open."
        )
    each = f"the own value comes with probability {1 - q:.2g}, each donor's with {q / donors:.2g}"
    often = "the value that comes most often becomes the person's own"
    if np.isclose(q * (donors + 1), donors):
        often = "none comes more often than another"
    elif q * (donors + 1) > donors:
        often = "the person's own becomes the rarest one, which also reveals it"
    return (
        f"At q = {q:g} {each}: in the long run {often}. The mean of a person's released values "
        "tends to "
        f"{1 - q:.2g} of the own value and {q:.2g} of the neighborhood's mean. Donors are counted "
        "where every value is modified."
    )
