"""What is written as TOML is read back as it was, and nothing else writes TOML."""

from __future__ import annotations

import datetime
import math
import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.data.plain import WIDTH, toml_document, toml_text
from rwn_core.errors import InputError, SchemaError

ROOT = Path(__file__).resolve().parents[3]

minutes = st.integers(-23 * 60, 23 * 60).map(
    lambda shift: datetime.timezone(datetime.timedelta(minutes=shift))
)
values = (
    st.text()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.dates()
    | st.times()
    | st.datetimes(timezones=st.none() | minutes)
)
plain = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=25,
)
documents = st.dictionaries(st.text(), plain, max_size=5)


def sorted_names(node: Any) -> Any:
    """The same data with the names of every mapping in another order."""
    if isinstance(node, dict):
        return {name: sorted_names(node[name]) for name in sorted(node, reverse=True)}
    return [sorted_names(each) for each in node] if isinstance(node, list) else node


@given(documents)
def test_any_plain_data_is_read_back(document: dict) -> None:
    for ordered in (False, True):
        text = toml_text(document, ordered=ordered)
        assert tomllib.loads(text) == document
        assert toml_text(tomllib.loads(text), ordered=ordered) == text


@given(documents)
def test_equal_documents_have_equal_texts_in_order(document: dict) -> None:
    text = toml_text(document, ordered=True)
    assert toml_text(sorted_names(document), ordered=True) == text


@given(st.lists(values, min_size=20, max_size=60))
def test_long_lists_go_over_several_lines(items: list) -> None:
    text = toml_text({"items": items})
    assert tomllib.loads(text) == {"items": items}
    longest = max(len(toml_text({"items": [item]})) for item in items)
    assert max(map(len, text.split("\n"))) <= max(WIDTH, longest)


TEXTS = (
    'a "b"',
    "back\\slash",
    "two\nlines\r\n",
    "\x00\x1b\x7f\x85",
    "Größe 体重 🙂",
    "\u2028",
    "",
)


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_texts_and_names_of_every_kind(text: str) -> None:
    document = {text: text, "table": {text: [text]}, "list": [{text: text}, {}], "n": [[text], []]}
    assert tomllib.loads(toml_text(document)) == document
    assert "\x7f" not in toml_text(document)


def test_numbers_without_an_end() -> None:
    text = toml_text({"a": math.inf, "b": -math.inf, "c": [math.nan], "d": -0.0, "e": 1e22})
    again = tomllib.loads(text)
    assert (again["a"], again["b"], again["e"]) == (math.inf, -math.inf, 1e22)
    assert math.isnan(again["c"][0])
    assert math.copysign(1, again["d"]) == -1


def test_a_file_reads_well() -> None:
    document = {
        "name": "Careful",
        "missing": None,
        "below": {"deeper": {"k": 5}, "each": [{"a": 1}, {"b": [0.5, True]}]},
        "day": datetime.date(2026, 3, 31),
        "empty": {},
        "two words": [],
        "mixed": [1, {"a": None, "b": 2}],
    }
    assert toml_text(document) == (
        'name = "Careful"\nday = 2026-03-31\n"two words" = []\nmixed = [1, { b = 2 }]\n\n'
        "[below.deeper]\nk = 5\n\n[[below.each]]\na = 1\n\n[[below.each]]\nb = [0.5, true]\n\n"
        "[empty]\n"
    )
    assert toml_text({}) == ""


def test_words_of_a_list_are_texts() -> None:
    class Word(StrEnum):
        ONE = "one"

    assert toml_text({"word": Word.ONE}) == 'word = "one"\n'


@pytest.mark.parametrize("value", [None, b"x", 1j, {1}], ids=repr)
def test_what_toml_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match=f"no value of the type {type(value).__name__}"):
        toml_text({"x": [value]})


def test_what_is_no_toml_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"^The analysis plan is not valid TOML \(at line 2, "):
        toml_document("a = 1\n= 2", "analysis plan")
    with pytest.raises(SchemaError, match="schema file is not valid"):
        toml_document("= 2", "schema file", SchemaError)


def test_no_other_file_writes_or_reads_toml() -> None:
    for folder in ("rwn_core", "rwn_ui", "pages"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "plain.py":
                text = path.read_text(encoding="utf-8")
                assert "tomllib" not in text, path
                # the escaped character that JSON leaves bare, and the line that starts a table
                assert "u007f" not in text, path
                assert not re.search(r"\[\[?\w+\]\]?\\n", text), path
