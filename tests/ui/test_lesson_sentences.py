"""What a lesson says is what its own tiles show at the positions that the sentence names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from rwn_ui.learn import choose
from rwn_ui.learn import lesson as parts
from rwn_ui.learn.lessons import LESSONS
from rwn_ui.state.work import Memo

MEMORY: dict[str, Memo] = {}


def kept(name: str, size: int) -> Memo:
    """What the lessons of a user have computed."""
    return MEMORY.setdefault(name, Memo(size))


class At:
    """A lesson at positions of its controls: its numbers by name, and its tiles by place."""

    def __init__(self, key: str) -> None:
        self.lesson = LESSONS[key]

    def __call__(self, **moved: Any) -> Mapping[str, float]:
        return self.shown(**moved).numbers

    def shown(self, **moved: Any) -> parts.Shown:
        start = {control.name: control.start for control in self.lesson.controls}
        assert moved.keys() <= start.keys()
        return self.lesson.show(start | moved, kept)

    def tile(self, place: int, **moved: Any) -> float:
        """Return the number that a tile shows, a percentage as a share."""
        text = self.shown(**moved).tiles[place]["released"]
        number = float(re.search(r"[\d.]+", text.replace("−", "-"))[0])
        return number / 100 if "%" in text else number

    def text(self) -> str:
        told = " ".join((*self.lesson.sentences, self.lesson.question, self.lesson.answer))
        return told.replace("**", "").replace("*", "").replace("\n\n", " ")


@dataclass(frozen=True)
class Claim:
    """Words of a lesson, and what its tiles must show for them."""

    lesson: str
    words: str
    holds: Callable[[At], bool]


def between(low: float, value: float, high: float) -> bool:
    return low <= value <= high


def falling(*values: float) -> bool:
    return all(one > two for one, two in pairwise(values))


BARE = {"q": 1.0, "k": 1}
MANY = {"q": 1.0, "samples": 100}
SLICES = dict(zip(("apart", "alone", "whole"), choose.SLICES, strict=True))
TRAP = {"cut": choose.CUTS[1], "way": "chained", "width": 6.0}
BOTH = "linkage and true matches"
RADII = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

CLAIMS = [
    Claim("disclosure", "the policy, which allows 5 %", lambda at: (
        "allows 5.0 %: kept" not in at.shown(**BARE).tiles[1]["help"]
        and "allows 5.0 %: broken" in at.shown(**BARE).tiles[1]["help"])),
    Claim("disclosure", "About 1 person in 10 is linked", lambda at:
        between(0.08, at.tile(1, **BARE), 0.12)),
    Claim("disclosure", "shows more than half of the incomes", lambda at:
        at.tile(2, **BARE) > 0.5),
    Claim("disclosure", "A larger k lowers both on average", lambda at: all(
        falling(*(at(q=1.0, k=k)[each] for k in (1, 4, 8, 12))) for each in ("linked", "learned"))),
    Claim("disclosure", "At k = 8 about 7 % are linked, which still breaks the limit", lambda at:
        between(0.06, at.tile(1, q=1.0, k=8), 0.08)
        and "broken" in at.shown(q=1.0, k=8).tiles[1]["help"]),
    Claim("disclosure", "a little more often than from a random row (17 %)", lambda at:
        "so for 17.2 %" in at.shown(q=1.0, k=8).tiles[2]["help"]
        and between(0.17, at.tile(2, q=1.0, k=8), 0.27)),
    Claim("theorem", "their joint distribution comes near that of (X, Y)", lambda at:
        falling(*(at.tile(1, epsilon=radius, n=1000) for radius in (2.0, 0.8, 0.2)))),
    Claim("theorem", "At a large radius whole rows keep the correlation, and independent draws "
        "lose it", lambda at: all(
        at(epsilon=e, rows=True)["after"] > 0.9 * at()["before"] > 1.2 * at(epsilon=e)["after"]
        for e in (1.5, 2.0, 2.5, 3.0))),
    Claim("theorem", "every released row then is a real person’s row", lambda at:
        at.tile(2, rows=True) == 1.0),
    Claim("theorem", "varies more from release to release than with independent draws", lambda at:
        float(at.shown(rows=True).tables[0]["rows"][1][2])
        > float(at.shown().tables[0]["rows"][1][2])),
    Claim("theorem", "at ε = 0.05 about 95 % of the rows", lambda at:
        between(0.93, at.tile(2, epsilon=0.05), 0.97)),
    Claim("theorem", "at a small ε it can rise a little", lambda at:
        between(0.0, at(epsilon=0.3)["after"] - at()["before"], 0.05)),
    Claim("intruder", "One variable leaves a few dozen originals; three together leave a handful",
        lambda at: between(20, _typical(at, 1), 60) and between(2, _typical(at, 3), 8)),
    Claim("intruder", "all fifteen nearly always leave one", lambda at:
        sum(at(known=15, row=row)["candidates"] == 1 for row in range(1, 41)) >= 36),
    Claim("intruder", "even k = 20 hides next to nobody", lambda at:
        at(known=15, k=20)["success"] > 0.9),
    Claim("intruder", "so fewer links are right", lambda at: all(
        at(known=15, k=k, together=True)["success"] < at(known=15, k=k)["success"]
        for k in (5, 20))),
    Claim("neighborhood", "an outlier has k donors", lambda at: all(
        at(record="the outlier", k=k)["donors"] == k for k in (5, 9, 20))),
    Claim("neighborhood", "In a crowd ε decides, and more people give values", lambda at:
        at()["donors"] > 5 and at()["by_k"] < 1 and at(epsilon=1.2)["donors"] > at()["donors"]),
    Claim("neighborhood", "20. Another group is more than four", lambda at:
        abs(at(weight=1.0, k=19)["changed"]) < 1e-9 < 0.004 < at(weight=1.0, k=20)["changed"]),
    Claim("neighborhood", "the column of groups is released as it is, although q = 1", lambda at:
        all(abs(at(weight=1.0, k=k)["changed"]) < 1e-9 for k in (1, 5, 12))),
    Claim("standard_errors", "The file is unmasked at q = 0", lambda at:
        at.shown().tiles[0]["released"] == at.shown().tiles[0]["original"]),
    Claim("standard_errors", "the reported standard error is smaller than the real one", lambda at:
        all(at(**MANY, k=k)["ratio"] < 0.95 for k in (1, 5, 10))),
    Claim("standard_errors", "they are more than 5 of 100", lambda at:
        at(**MANY)["coverage"] < 0.95),
    Claim("standard_errors", "the reported error at q = 1 and k = 1 is still about a quarter too",
        lambda at: all(between(0.6, ratio, 0.9) for ratio in _ratios(at, k=1))),
    Claim("standard_errors", "the ratio is about 0.7 at k = 5", lambda at:
        all(between(0.55, ratio, 0.85) for ratio in _ratios(at, k=5, rows=True))),
    Claim("standard_errors", "their ratio lies up to 0.15 from that of many", lambda at: all(
        abs(ratio - many) < 0.15 for k, many in ((1, 0.75), (5, 0.70), (40, 0.93))
        for ratio in _ratios(at, k=k))),
    Claim("standard_errors", "A large k brings the ratio nearer to 1, but it moves the slope: to "
        "0.80 to 0.86 at k = 40", lambda at:
        at(**MANY, k=40)["ratio"] > at(**MANY, k=5)["ratio"]
        and all(between(0.80, at(q=1.0, k=40, samples=n)["mean"], 0.86) for n in (50, 100))),
    Claim("standard_errors", "at q = 0.1 nearly 95 of 100 intervals", lambda at:
        between(0.9, at(q=0.1, samples=100)["coverage"], 0.97)),
    Claim("standard_errors", "its factor is 1.2 at q = 0.1 and 1.5 from q = 0.5 on", lambda at: all(
        at(q=q, k=k, claims="of the model").get("factor") == factor
        for q, factor in ((0.1, 1.2), (0.5, 1.5), (1.0, 1.5)) for k in (1, 5, 20))),
    Claim("standard_errors", "With x1 measured twice the model gets no factor", lambda at: all(
        at.shown(q=q, claims="with x1 measured twice").tiles[2]["released"] == "do not use"
        for q in (0.5, 1.0))),
    Claim("choose", "A larger radius ε lowers the risk of linkage and mostly raises the loss",
        lambda at: at(epsilon=1.0, slices=SLICES["alone"])["share"]
        > at(epsilon=8.0, slices=SLICES["alone"])["share"]
        and at(epsilon=1.0, slices=SLICES["alone"])["loss"]
        < at(epsilon=8.0, slices=SLICES["alone"])["loss"]),
    Claim("choose", "Body fat apart from the rest keeps all limits at ε = 7, with a loss of about "
        "0.16", lambda at: at(epsilon=7.0, slices=SLICES["apart"])["broken"] == 0
        and between(0.145, at(epsilon=7.0, slices=SLICES["apart"])["loss"], 0.175)),
    Claim("choose", "although the loss is small at every radius", lambda at:
        max(at(epsilon=e, slices=SLICES["whole"])["loss"] for e in RADII) < 0.15),
    Claim("choose", "Two limits stay broken", lambda at: all(
        at(epsilon=e, slices=SLICES["whole"])["broken"] >= 2 for e in RADII)),
    Claim("choose", "the loss is above 0.8 before the risk comes near the limits", lambda at: all(
        at(epsilon=e, slices=SLICES["alone"])["share"] > 1.5
        or at(epsilon=e, slices=SLICES["alone"])["loss"] > 0.8 for e in RADII)),
    Claim("sampling", "drawing the key anew lowers the whole curve", lambda at:
        falling(*(at(change=each)["right"] for each in (0.0, 0.2, 0.6, 1.0)))),
    Claim("sampling", "Sampling alone promises none", lambda at: all(
        at.shown(change=0.0, fraction=each).tiles[2]["released"] == "none"
        for each in (0.01, 0.5))),
    Claim("edges", "Without balance, records far out give less often than others", lambda at:
        at(balance=0.0)["least"] < 0.9 < 1.1 < at(balance=0.0)["most"]),
    Claim("edges", "With balance 1 every record gives once on average", lambda at:
        between(1 - 1e-6, at(balance=1.0)["least"], at(balance=1.0)["most"])
        and at(balance=1.0)["most"] < 1 + 1e-6),
    Claim("edges", "extremes survive more often", lambda at:
        falling(at(balance=1.0)["extremes"], at(kernel="hard")["extremes"])
        and at(balance=1.0)["extremes"] > at(balance=0.0)["extremes"]),
    Claim("edges", "appears in about 64 % of the releases", lambda at:
        between(0.6, at.tile(0, balance=1.0), 0.68)),
    Claim("edges", "a look-up of x finds y more often than with the hard edge", lambda at:
        at(together=True)["paired"] > at(together=True, kernel="hard")["paired"]),
    Claim("edges", "A slope across slices is not helped", lambda at:
        abs(at(balance=1.0)["slope"] - _original(at)) > 0.1 * abs(_original(at))),
    Claim("ties", "what related the slices inside a neighborhood is lost: the wider the kernel, "
        "the more", lambda at:
        falling(*(at(width=width)["loss"] for width in (6.0, 5.0, 4.0, 3.0, 2.0, 1.0)))),
    Claim("ties", "at width 3: linkage stays, and less than half of the loss is left", lambda at:
        all(abs(at(way=way)["linked"] - at()["linked"]) < 0.01
            and at(way=way)["loss"] < 0.5 * at()["loss"] for way in ("chained", "tied"))),
    Claim("ties", "a chain at width 6 links about 1 % of the rows and loses less than a tenth",
        lambda at: between(0.008, at(**TRAP)["linked"], 0.014) and at(**TRAP)["loss"] < 0.1),
    Claim("ties", "The wider the kernel, the nearer linkage comes to chance, 0.4 %, while "
        "relations stay", lambda at:
        falling(*(at(**{**TRAP, "width": each})["linked"] for each in (1.0, 2.0, 3.0, 6.0)))
        and at(**TRAP)["loss"] <= at(**{**TRAP, "width": 1.0})["loss"]
        and "0.4 %" in at.shown(**TRAP).tiles[1]["help"]),
    Claim("ties", "a limit on linkage alone is met by nearly anything", lambda at: all(
        at(**{**TRAP, "way": way, "cut": cut})["linked"] < 0.05
        for way in ("apart", "chained", "tied") for cut in (TRAP["cut"], choose.CUTS[0]))),
    Claim("ties", "about 60 % of the men who are alone with some values have a row", lambda at:
        all(between(0.55, at(**{**TRAP, "way": way})["matched"], 0.65)
            for way in ("apart", "chained", "tied"))),
    Claim("ties", "they use 12 times their limit, and no width fits", lambda at:
        between(0.575, at(**TRAP)["matched"], 0.625)
        and at.shown(**TRAP, limits=BOTH, accepted=1.0).chart["note"].startswith("0 of 6")),
    Claim("ties", "tied slices have true matches of 4.8 %, where slices apart have none",
        lambda at: at.tile(2, way="tied") == 0.048 and at.tile(2) == 0.0),
    Claim("ties", "at width 1 all three link more than a fifth of the rows", lambda at: all(
        at(way=way, width=1.0)["linked"] > 0.2 for way in ("apart", "chained", "tied"))),
]  # fmt: skip


def _typical(at: At, known: int) -> float:
    return sorted(at(known=known, row=row)["candidates"] for row in range(1, 41))[20]


def _ratios(at: At, **moved: Any) -> list[float]:
    return [at(q=1.0, samples=count, **moved)["ratio"] for count in (50, 70, 100)]


def _original(at: At) -> float:
    return float(at.shown().tiles[2]["original"].replace("−", "-"))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda each: f"{each.lesson}: {each.words[:50]}")
def test_a_sentence_is_what_the_tiles_show(claim: Claim) -> None:
    at = At(claim.lesson)
    assert claim.words in at.text()
    assert claim.holds(at)


class Stuck(At):
    """A lesson whose sliders do nothing: a planted fault."""

    def shown(self, **moved: Any) -> parts.Shown:
        return super().shown()


def test_sliders_that_do_nothing_are_noticed_in_every_lesson() -> None:
    fooled: dict[str, list[bool]] = {}
    for claim in CLAIMS:
        try:
            held = claim.holds(Stuck(claim.lesson))
        except TypeError:  # a tile that has no number yet
            held = False
        fooled.setdefault(claim.lesson, []).append(held)
    assert fooled.keys() == LESSONS.keys()
    assert {key for key, held in fooled.items() if all(held)} == set()
    assert sum(map(sum, fooled.values())) <= len(CLAIMS) / 4
