"""No pattern takes four times as long for twice the text: a hostile file must not hold a processor.

Each compiled pattern is tried on texts built from its own parts: what begins a match, over and over
again, and a match that fails only at its end.
"""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain, combinations
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from rwn_core.io.excel_container import check_workbook
from tests.waiting import BETWEEN, growth, processor_seconds

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("rwn_core/io", "rwn_core/data", "rwn_ui/server")
LETTERS = 24_000
NOTICED = 0.03  # seconds at most for a text of this length, whatever the ratio
INNER: dict[Any, Callable[[Any], Any]] = {
    codes.BRANCH: lambda value: value[1][0],
    codes.SUBPATTERN: lambda value: value[3],
    codes.ATOMIC_GROUP: lambda value: value,
}
ANYWHERE = ("search", "finditer", "findall", "sub", "subn", "split")


def _letter(items: Any) -> str:
    """A letter of a class; of a negated one, one that is not in it."""
    if items and items[0][0] is codes.NEGATE:
        out = {chr(value) for kind, value in items if kind is codes.LITERAL}
        return next(each for each in " a1-\x01" if each not in out)
    for kind, value in items:
        if kind is codes.LITERAL:
            return chr(value)
        if kind is codes.RANGE:
            return chr(value[0])
        if kind is codes.CATEGORY:
            return {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " "}.get(value, "a")
    return "a"


def sample(nodes: Any) -> str:
    """A short text that a part of a pattern accepts, as far as its letters say."""
    return "".join(_accepted(kind, value) for kind, value in nodes)


def _accepted(kind: Any, value: Any) -> str:
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return sample(value[2]) * (max(value[0], 1) if value[1] is codes.MAXREPEAT else value[0])
    if kind in INNER:
        return sample(INNER[kind](value))
    plain = {codes.LITERAL: chr, codes.IN: _letter}
    letter = plain.get(kind, lambda _: "a" if kind in (codes.NOT_LITERAL, codes.ANY) else "")
    return letter(value)


def flat(nodes: Any) -> list[Any]:
    """The parts of a pattern, those of its groups and looks ahead one after another."""
    parts: list[Any] = []
    for kind, value in nodes:
        if kind is codes.SUBPATTERN:
            parts += flat(value[3])
        elif kind is codes.ASSERT:
            parts += flat(value[1])
        elif kind in (codes.MAX_REPEAT, codes.MIN_REPEAT) and len(value[2]) > 1:
            parts += flat(value[2])
        elif kind is codes.BRANCH:
            parts += flat(value[1][0])
        else:
            parts.append((kind, value))
    return parts


def attacks(pattern: re.Pattern[Any]) -> Iterator[str]:
    """Texts of which a careless pattern reads each letter again and again."""
    parts: list[list[Any]] = []
    for one in flat(parser.parse(pattern.pattern, pattern.flags)):
        letters = parts and one[0] is codes.LITERAL and parts[-1][-1][0] is codes.LITERAL
        parts = [*parts[:-1], [*parts[-1], one]] if letters else [*parts, [one]]
    for i, j in combinations(range(min(len(parts), 18) + 1), 2):
        again = sample(chain(*parts[i:j]))
        if again:
            begin = sample(chain(*parts[:i]))
            yield begin + again * (LETTERS // len(again)) + "\x01"


def seconds(call: Callable[[Any], object], text: Any) -> float:
    begun = time.process_time()
    for _ in call(text) if isinstance(text, str | bytes) else ():
        pass
    return time.process_time() - begun


def slow(pattern: re.Pattern[Any], *, anywhere: bool) -> bool:
    """True if a pattern takes more than twice as long for twice the text."""

    def call(text: Any) -> list[Any]:
        return list(pattern.finditer(text)) if anywhere else [pattern.fullmatch(text)]

    for text in attacks(pattern):
        given: Any = (
            text.encode("latin-1", "ignore") if isinstance(pattern.pattern, bytes) else text
        )
        half = given[: len(given) // 2]
        taken = seconds(call, given)
        if taken < NOTICED:
            continue
        taken = min(taken, seconds(call, given))
        if taken >= NOTICED and taken > 3 * min(seconds(call, half) for _ in range(3)):
            return True
    return False


def patterns(room: str) -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    """The patterns that the modules of a room name: where, and whether they match anywhere."""
    for path in sorted((ROOT / room).rglob("*.py")):
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        text = path.read_text("utf-8")
        for name, value in vars(module).items():
            several = value.values() if isinstance(value, dict) else value
            several = several if isinstance(value, dict | tuple | list) else [value]
            anywhere = re.search(rf"\b{name}\.({'|'.join(ANYWHERE)})\(", text) is not None
            for each in several:
                if isinstance(each, re.Pattern):
                    yield f"{path.relative_to(ROOT)}: {name}", each, anywhere


@pytest.mark.parametrize("room", ROOMS)
def test_no_pattern_is_quadratic(room: str) -> None:
    known = list(patterns(room))
    assert known or room != "rwn_core/io"
    assert [name for name, each, anywhere in known if slow(each, anywhere=anywhere)] == []


def test_planted_ones_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert slow(re.compile(rb"""<c\s[^<>]*?\bt=["']e["'][^<>]*>"""), anywhere=True)
    monkeypatch.setitem(globals(), "LETTERS", 21)  # it would not end for longer texts
    assert slow(re.compile(r"(a+)+x"), anywhere=True)


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "errors in a tag without an end": lambda n: b"<c " + b' t="e"' * n,
    "hidden columns of one tag": lambda n: b"<col " + b' hidden="1" min="1" max="2"' * n + b"/>",
    "formulas without an end": lambda n: b'<c r="A1"><f>' * n,
    "a long prefix": lambda n: b"<" + b"a" * 6 * n,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_workbook_takes_no_longer_than_it_is_large(what: str) -> None:
    def taken(n: int) -> float:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            sheet = b"<sheetData>" + HOSTILE[what](n) + b"<c><v>1</v></c></sheetData>"
            archive.writestr("xl/worksheets/sheet1.xml", sheet)
        return processor_seconds(lambda: check_workbook("any.xlsx", file.getvalue()))

    assert growth(taken, 30_000) < BETWEEN
