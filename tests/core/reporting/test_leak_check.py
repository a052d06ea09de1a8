"""The leak check: a planted leak of every kind is refused, by its kind and never by its value."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ReleaseError
from rwn_core.reporting import facts as listed
from rwn_core.reporting import public_notice
from rwn_core.reporting.facts import FACTS, Audience, Content, Entry, Material
from rwn_core.reporting.facts.public_words import vocabulary
from rwn_core.reporting.leak_check import ALLOWED
from rwn_core.reporting.public_notice import PUBLIC_FORMS, public_file, unchecked_file
from tests.core.reporting.conftest import made_of, touched

PUBLIC = [each for each in FACTS if each.audience in (Audience.PUBLIC, Audience.BOTH)]
INTERNAL = [each for each in FACTS if each.audience is Audience.INTERNAL]


def plant(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let a public fact say something more."""
    entry = Entry(
        key="use", title="Use", audience=Audience.BOTH, make=lambda _: Content(lines=lines)
    )
    others = [each for each in FACTS if each.key != "use"]
    monkeypatch.setattr(listed, "FACTS", (*others, entry))


def test_the_public_facts_are_stated_twice() -> None:
    assert {each.key for each in PUBLIC} == ALLOWED
    assert len(INTERNAL) >= 15


@pytest.mark.parametrize("entry", INTERNAL, ids=lambda each: each.key)
def test_an_internal_fact_that_is_made_public_by_mistake_is_refused(
    entry: Entry, kept_material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(entry, audience=Audience.PUBLIC)
    monkeypatch.setattr(listed, "FACTS", (*PUBLIC, wrong))
    with pytest.raises(ReleaseError, match="for the house alone; nothing public was written"):
        unchecked_file(kept_material, ".html")


@pytest.mark.parametrize(
    "key", ["limits", "parameters", "scenarios", "worst", "anonymity", "riskiest", "hashes"]
)
def test_it_is_seen_in_the_file_alone(
    key: str, material: Material, bodyfat_table: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if nobody looked at audiences, the words of the fact would give it away."""
    entry = next(each for each in INTERNAL if each.key == key)
    monkeypatch.setattr(listed, "FACTS", (*PUBLIC, replace(entry, audience=Audience.PUBLIC)))
    monkeypatch.setattr(public_notice, "check_facts", lambda facts: None)
    with pytest.raises(ReleaseError, match="would hold"):
        public_file(material, bodyfat_table, ".html")


LEAKS = [
    ("The heaviest man weighs 363.15.", "fewer than 10 records"),
    ("Ages begin at 22.", "fewer than 10 records"),
    ("It lies in /home/Zaphod/data.", "a path of a file or folder"),
    ("Made from survey.csv.", "the name of the original's file"),
    ("Linked with probability 0.9931.", "a number that no notice may say"),
]
"""The other kinds of leaks are refused in `test_leaks_by_hand`, without a release."""


@pytest.mark.parametrize(("line", "kind"), LEAKS)
def test_a_leak_is_refused_by_its_kind(
    line: str,
    kind: str,
    material: Material,
    bodyfat_table: Microdata,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch, line)
    for suffix in (".html", ".json", ".xml"):
        with pytest.raises(ReleaseError, match=kind) as refused:
            public_file(material, bodyfat_table, suffix)
        assert "363" not in str(refused.value)
        assert "Zaphod" not in str(refused.value)


def test_the_value_of_a_risk_measure_is_refused(
    material: Material, bodyfat_table: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = material.record["readings"]["membership"]["value"]
    for text in (f"{value:.3f}", f"{100 * value:.1f} %"):
        plant(monkeypatch, f"Of all, {text} are members.")
        with pytest.raises(ReleaseError, match=r"risk measure|fewer than 10|no notice may say"):
            public_file(material, bodyfat_table, ".html")
    plant(monkeypatch, f"{value:.4g}")
    with pytest.raises(ReleaseError, match="the value of a risk measure"):
        public_file(material, bodyfat_table, ".html")


def test_a_title_may_have_a_year_and_no_value_of_few_records(
    material: Material, bodyfat_table: Microdata
) -> None:
    for suffix in PUBLIC_FORMS:
        titled = replace(material, title="Body measurements of 2026, 241 men")
        assert b"2026, 241 men" in public_file(titled, bodyfat_table, suffix)
        for title in ("The man of 363.15 pounds", "Made of ~/private/survey"):
            with pytest.raises(ReleaseError, match=r"fewer than 10 records|a path"):
                public_file(replace(material, title=title), bodyfat_table, suffix)


def names() -> Microdata:
    number = np.arange(40)
    frame = pd.DataFrame(
        {
            "person": [f"Zaphod {i}" for i in number],
            "x": 0.5 + number,
            "place": ["Magrathea"] * 3 + ["Earth"] * 37,
            "other": ["little", "much"] * 20,
            "day": pd.Timestamp("1978-03-08") + pd.to_timedelta(number, unit="D"),
        }
    )
    data = Microdata.from_frame(frame)
    return data.with_schema(data.schema.replace_variable("person", role=Role.IDENTIFIER))


@pytest.mark.parametrize(
    "line", ["Somebody from magrathea.", "Ask Zaphod 7 of it", "It began on 1978-03-10."]
)
def test_texts_dates_and_identifiers_of_few_records_are_refused(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = names()
    made = touched(made_of(data, rwn.RWN(k=3)))
    assert public_file(made, data, ".html")
    plant(monkeypatch, line)
    with pytest.raises(ReleaseError, match="fewer than 10 records"):
        public_file(made, data, ".html")
    plant(monkeypatch, "Most are from Earth.")  # a value of 37 records is an aggregate
    assert public_file(made, data, ".html")


def test_a_word_that_every_notice_says_is_no_leak() -> None:
    frame = pd.DataFrame({"x": np.arange(20.0), "t": ["most", "hardly any", "masked", "b"] * 5})
    data = Microdata.from_frame(frame)
    made = touched(made_of(data, rwn.RWN(k=3)))
    for suffix in PUBLIC_FORMS:
        assert public_file(made, data, suffix)


def test_no_sentence_of_a_notice_has_a_number_of_its_own() -> None:
    text = re.sub(r"{\w+}", "", " ".join(vocabulary())).replace("SHA-256", "")
    assert not any(letter.isdigit() for letter in text)


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [("order", "original", "row order"), ("key", "a seed, which is no secret", "seed")],
)
def test_a_file_that_must_stay_inside_gets_no_notice(
    field: str, value: str, word: str, material: Material, bodyfat_table: Microdata
) -> None:
    record: dict[str, Any] = copy.deepcopy(dict(material.record))
    record["file"][field] = value
    with pytest.raises(ReleaseError, match=word):
        public_file(replace(material, record=record), bodyfat_table, ".html")


def test_hidden_places_of_a_file_are_read_too() -> None:
    from rwn_core.reporting.file_text import file_texts

    html = b"<p class='one' title='two'>three<!--four--></p><style>p{}</style>"
    assert set(file_texts(html, ".html")) == {"one", "two", "three", "four"}
    assert set(file_texts(b"<a b='c'>d<!--e--></a>", ".xml")) >= {"c", "d", "e"}
    assert set(file_texts(b'a = "b"\n# c\n', ".toml")) == {"a", "b", "# c"}
    assert file_texts(b'{"a": [1, {"b": "c"}]}', ".json") == ["a", "1", "b", "c"]
