"""The leak check: a planted leak of every kind is refused, by its kind and never by its value."""

from __future__ import annotations

import re
from dataclasses import replace

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
from rwn_core.reporting.leak_check import ALLOWED, refuse_identifiers
from rwn_core.reporting.public_notice import public_file, unchecked_file
from tests.core.reporting.conftest import quickly_made_of, touched

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


def test_an_internal_fact_that_is_made_public_by_mistake_is_refused(
    kept_material: Material, bodyfat_table: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if nobody looked at audiences, the words of some would give them away in the file."""
    wrong = {each.key: replace(each, audience=Audience.PUBLIC) for each in INTERNAL}
    for entry in wrong.values():
        monkeypatch.setattr(listed, "FACTS", (*PUBLIC, entry))
        with pytest.raises(ReleaseError, match="for the house alone; nothing public was written"):
            unchecked_file(kept_material, ".html")
    monkeypatch.setattr(public_notice, "check_facts", lambda facts: None)
    for key in ("limits", "parameters", "scenarios", "worst", "anonymity", "hashes"):
        monkeypatch.setattr(listed, "FACTS", (*PUBLIC, wrong[key]))
        with pytest.raises(ReleaseError, match="would hold"):
            public_file(kept_material, bodyfat_table, ".html")


LEAKS = [
    ("The heaviest man weighs 363.15.", "fewer than 10 records"),
    ("Ages begin at 22.", "fewer than 10 records"),
    ("It lies in /home/Zaphod/data.", "a path of a file or folder"),
    ("Made from survey.csv.", "the name of the original's file"),
    ("Linked with probability 0.9931.", "a number that no notice may say"),
]
"""The other kinds of leaks are refused in `test_leaks_by_hand`, without a release."""


def test_a_leak_is_refused_by_its_kind(
    material: Material, bodyfat_table: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line, kind in LEAKS:
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
    """Of the other forms `test_context` tells."""
    titled = replace(material, title="Body measurements of 2026, 241 men")
    assert b"2026, 241 men" in public_file(titled, bodyfat_table, ".html")
    with pytest.raises(ReleaseError, match="fewer than 10 records"):
        public_file(replace(material, title="The man of 363.15 pounds"), bodyfat_table, ".json")


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


def test_texts_dates_and_identifiers_of_few_records_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = names()
    made = touched(quickly_made_of(data, rwn.RWN(k=3), ["cells_changed"]))
    assert public_file(made, data, ".html")
    for line in ("Somebody from magrathea.", "Ask Zaphod 7 of it", "It began on 1978-03-10."):
        plant(monkeypatch, line)
        with pytest.raises(ReleaseError, match="fewer than 10 records"):
            public_file(made, data, ".html")
    plant(monkeypatch, "Most are from Earth.")  # a value of 37 records is an aggregate
    assert public_file(made, data, ".html")


def test_no_sentence_of_a_notice_has_a_number_of_its_own() -> None:
    text = re.sub(r"{\w+}", "", " ".join(vocabulary())).replace("SHA-256", "")
    assert not any(letter.isdigit() for letter in text)


def test_hidden_places_of_a_file_are_read_too() -> None:
    from rwn_core.reporting.leak_check import file_texts

    html = b"<p class='one' title='two'>three<!--four--></p><style>p{}</style>"
    assert set(file_texts(html, ".html")) == {"one", "two", "three", "four"}
    assert set(file_texts(b"<a b='c'>d<!--e--></a>", ".xml")) >= {"c", "d", "e"}
    assert set(file_texts(b'a = "b"\n# c\n', ".toml")) == {"a", "b", "# c"}
    assert file_texts(b'{"a": [1, {"b": "c"}]}', ".json") == ["a", "1", "b", "c"]


def table(n: int = 40, **columns: object) -> Microdata:
    numbers = np.random.default_rng(3)
    frame = pd.DataFrame({"x": numbers.normal(size=n), "g": numbers.choice(["a", "b"], n)})
    return Microdata.from_frame(frame.assign(**columns))


def test_an_ordinary_table_passes_and_so_does_an_identifier_which_no_release_has() -> None:
    refuse_identifiers(table(10))
    refuse_identifiers(table(place=[f"place {i // 2}" for i in range(40)]))
    data = table(who=[f"Zaphod {i}" for i in range(40)])
    refuse_identifiers(data.with_schema(data.schema.replace_variable("who", role="identifier")))
    with pytest.raises(ReleaseError, match="fewer than 10 records, so that each of them shows"):
        refuse_identifiers(table(9))


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ([f"ada{i}@example.org" for i in range(40)], "e-mail addresses"),
        ([f"Zaphod {i}" for i in range(40)], "the name or number of a record"),
        ([f"Zaphod {min(i, 35)}" for i in range(40)], "the name or number of a record"),
        ([None] * 20 + [f"Zaphod {i}" for i in range(20)], "the name or number of a record"),
    ],
)
def test_texts_that_name_people_are_refused_without_being_said(
    texts: list[str | None], what: str
) -> None:
    with pytest.raises(ReleaseError, match=f"variable who looks like {what}") as refusal:
        refuse_identifiers(table(who=texts))
    assert "make it an identifier, which no release holds, and mask again" in str(refusal.value)
    assert "Zaphod" not in str(refusal.value)
    assert "example.org" not in str(refusal.value)
