"""No value, donor or key leaves in a report."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Microdata, ReleaseError
from rwn_core.reporting import facts as listed
from rwn_core.reporting import public_notice
from rwn_core.reporting.auditors_page import auditors_file
from rwn_core.reporting.facts import FACTS, Audience, Material
from rwn_core.reporting.leak_check import (
    ALLOWED,
    check_file,
    counted,
    file_texts,
    rare_values,
    refuse_identifiers,
    said_values,
)
from rwn_core.reporting.public_notice import public_file, unchecked_file
from rwn_core.reporting.public_words import vocabulary
from tests.core.reporting.conftest import plant, quickly_made_of, touched
from tests.core.reporting.records_by_hand import RECORD, by_hand
from tests.tables import described, frame

PUBLIC = [each for each in FACTS if each.audience in (Audience.PUBLIC, Audience.BOTH)]
INTERNAL = [each for each in FACTS if each.audience is Audience.INTERNAL]


def test_an_internal_fact_that_is_made_public_by_mistake_is_refused(
    kept_material, bodyfat_table, monkeypatch
):
    """Even if nobody looked at audiences, the words of some would give them away in the file."""
    assert {each.key for each in PUBLIC} == ALLOWED
    wrong = {each.key: replace(each, audience=Audience.PUBLIC) for each in INTERNAL}
    assert len(wrong) >= 15
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


def test_a_leak_is_refused_by_its_kind(material, bodyfat_table, monkeypatch):
    for line, kind in LEAKS:
        plant(monkeypatch, line)
        for suffix in (".html", ".json", ".xml"):
            with pytest.raises(ReleaseError, match=kind) as refused:
                public_file(material, bodyfat_table, suffix)
            assert "363" not in str(refused.value)
            assert "Zaphod" not in str(refused.value)


def test_a_title_may_have_a_year_and_no_value_of_few_records(material, bodyfat_table):
    """Of the other words of a steward other tests tell."""
    titled = replace(material, title="Body measurements of 2026, 241 men")
    assert b"2026, 241 men" in public_file(titled, bodyfat_table, ".html")
    with pytest.raises(ReleaseError, match="fewer than 10 records"):
        public_file(replace(material, title="The man of 363.15 pounds"), bodyfat_table, ".json")


def test_texts_dates_and_identifiers_of_few_records_are_refused(monkeypatch):
    number = np.arange(40)
    people = pd.DataFrame({"person": [f"Zaphod {i}" for i in number], "x": 0.5 + number})
    people["place"] = ["Magrathea"] * 3 + ["Earth"] * 37
    people["day"] = pd.Timestamp("1978-03-08") + pd.to_timedelta(number, unit="D")
    data = described(people.assign(other=["little", "much"] * 20), person="identifier")
    made = touched(quickly_made_of(data, rwn.RWN(k=3), ["cells_changed"]))
    assert public_file(made, data, ".html")
    for line in ("Somebody from magrathea.", "Ask Zaphod 7 of it", "It began on 1978-03-10."):
        plant(monkeypatch, line)
        with pytest.raises(ReleaseError, match="fewer than 10 records"):
            public_file(made, data, ".html")
    plant(monkeypatch, "Most are from Earth.")  # a value of 37 records is an aggregate
    assert public_file(made, data, ".html")


def test_no_sentence_of_a_notice_has_a_number_of_its_own():
    text = re.sub(r"{\w+}", "", " ".join(vocabulary())).replace("SHA-256", "")
    assert not any(letter.isdigit() for letter in text)


def test_hidden_places_of_a_file_are_read_too():
    html = b"<p class='one' title='two'>three<!--four--></p><style>p{}</style>"
    assert set(file_texts(html, ".html")) == {"one", "two", "three", "four"}
    assert file_texts(b"<p>one</p>a torn &end", ".html") == ["one", "a torn &end"]
    assert set(file_texts(b"<a b='c'>d<!--e--></a>", ".xml")) >= {"c", "d", "e"}
    assert set(file_texts(b'a = "b"\n# c\n', ".toml")) == {"a", "b", "# c"}
    assert file_texts(b'{"a": [1, {"b": "c"}]}', ".json") == ["a", "1", "b", "c"]


def with_texts(texts: list[str | None], **roles: str) -> Microdata:
    return described(frame("skewed", len(texts)).assign(who=texts), **roles)


def test_an_ordinary_table_passes_and_so_does_an_identifier_which_no_release_has():
    refuse_identifiers(with_texts(["x", "y"] * 5))
    refuse_identifiers(with_texts([f"place {i // 2}" for i in range(40)]))
    refuse_identifiers(with_texts([f"Zaphod {i}" for i in range(40)], who="identifier"))
    with pytest.raises(ReleaseError, match="fewer than 10 records, so that each of them shows"):
        refuse_identifiers(with_texts(["x"] * 9))


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ([f"ada{i}@example.org" for i in range(40)], "e-mail addresses"),
        ([f"Zaphod {i}" for i in range(40)], "the name or number of a record"),
        ([f"Zaphod {min(i, 35)}" for i in range(40)], "the name or number of a record"),
        ([None] * 20 + [f"Zaphod {i}" for i in range(20)], "the name or number of a record"),
    ],
)
def test_texts_that_name_people_are_refused_without_being_said(texts, what):
    with pytest.raises(ReleaseError, match=f"variable who looks like {what}") as refusal:
        refuse_identifiers(with_texts(texts))
    assert "make it an identifier, which no release holds, and mask again" in str(refusal.value)
    assert "Zaphod" not in str(refusal.value)
    assert "example.org" not in str(refusal.value)


SOURCE = {"file": "C:\\data\\my-survey.csv"}
KNOWN = by_hand(source=SOURCE, context={"review": "2029-02-28"})
RARE_WORDS = "The public file would hold a value that fewer than 10 records of the original have"
PARTS = [{"name": "part-000000.parquet", "sha256": "ef" * 32}, {"name": "b.parquet", "sha256": "e"}]


def refusal(text: str, rare: set[Any] | None = None, material: Material = KNOWN) -> str:
    """Why a file with this text is refused; empty where it is not."""
    try:
        check_file(orjson.dumps([text]), ".json", material, rare or set())
    except ReleaseError as refused:
        return str(refused).removeprefix("The public file would hold ").partition(";")[0]
    return ""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("rwn notice 1", ""),
        (f"2028-02-29 and 2029-02-28, {'0f' * 16}, {'cd' * 32}, SHA-256, 1,100 or 1100", ""),
        ("2030-02-28", "a number that no notice may say"),  # a day that nobody stated
        ("about 1,101", "a number that no notice may say"),
        ("0.25", "the value of a risk measure"),
        ("25", "the value of a risk measure"),
        ("25.0", "the value of a risk measure"),
        ("12.5", "the value of a risk measure"),
        ("0.125", "the value of a risk measure"),
        ("0.02", "a number that no notice may say"),
        ("person no. 7", "the number of a record"),
        ("Look at record 37.", "the number of a record"),
        ("Look at row #37", "the number of a record"),
        ("The heaviest man weighs 363,15.", "a number that no notice may say"),
        ("It lies in C:\\Users\\Zaphod.", "a path of a file or folder"),
        ("Key: " + "0f" * 32, "something that looks like a key"),
        ("see ./here", "a path of a file or folder"),
        ("see ~/here", "a path of a file or folder"),
        ("from MY-SURVEY.CSV", "the name of the original's file"),
        ("0f" * 15, "a number that no notice may say"),
        ("ab" * 16, "something that looks like a key"),
        ("age and income of sex", ""),
    ],
)
def test_each_text_is_refused_for_its_own_reason(text, kind):
    assert refusal(text) == kind


def test_runs_of_twelve_words_are_compared_and_what_all_notices_say_is_none():
    twelve = " ".join("abcdefghijkl")
    rare = {twelve, "zaphod", 7.5, "most"}
    kind = RARE_WORDS.removeprefix("The public file would hold ")
    assert refusal(f"so {twelve.upper()} it is", rare) == kind
    assert refusal("Zaphod", rare) == kind
    assert refusal("7.5", rare) == kind
    assert refusal("−7.5", {-7.5}) == kind
    assert refusal("1,234.5", {1234.5}) == kind
    assert refusal("most", rare) == ""
    titled = replace(KNOWN, title="Homes of 1978 and 7.5")
    assert refusal("1978", {7.5}, titled) == ""
    assert refusal("7.5", {7.5}, titled) == kind
    for text in ("7.5", "−7.5", "-7.5"):  # a minus may stand before it
        cold = replace(KNOWN, title=f"A winter of {text} degrees")
        assert refusal(f"{text} degrees", {-7.5}, cold) == kind
    said = said_values(orjson.dumps([f"{twelve} m 1,5 x"]), ".json", replace(KNOWN, title="Homes"))
    assert {twelve, "b c d e f g h i j k l m", "homes", 15.0, -15.0} <= said
    assert f"{twelve} m" not in said
    assert None not in said


def numbered(n: int) -> Microdata:
    """A table of n people, numbered by texts."""
    people = pd.DataFrame({"case": [f"{i + 1}" for i in range(n)], "x": 0.5})
    return described(
        people.assign(place=["Magrathea"] * 3 + ["Earth"] * (n - 3)), case="identifier"
    )


def test_the_day_and_the_count_of_a_file_are_no_numbers_of_people():
    """The hand-made file has 1,100 records and was made on 2028-02-29; 1, 2, 29, 100 are people."""
    rare = rare_values(numbered(1_100))
    assert {"1", "29", "100", "1100"} <= rare
    assert refusal("The file was made on 2028-02-29 and has 1,100 records.", rare) == ""
    for role in ("identifier", "household"):
        people = numbered(40).frame.assign(x=0.5 + np.arange(40), place=["a", "b"] * 20)
        data = described(people, case=role)
        made = touched(quickly_made_of(data, rwn.RWN(k=3), ["cells_changed"]))
        assert b"has 40 records" in public_file(made, data, ".html")
        assert b"40 records" in auditors_file(made, data)


def test_a_value_beside_the_count_is_found_still_and_its_variable_is_named():
    rare = rare_values(numbered(1_100))
    found = "a value of {} that fewer than 10 records of the original have"
    assert refusal("Of 1,100 most come from Magrathea", rare) == found.format("place")
    assert refusal("Made on 2028-02-29: person 100.", rare) == "the number of a record"
    assert refusal("Of 1,100 it is 100", rare) == found.format("case")
    titled = replace(KNOWN, title="Homes of 1,100 people and 77")
    assert refusal(titled.title, rare, titled) == found.format("case")
    # a text that begins as the count does is a value
    assert refusal("Zaphod 1,100", {"zaphod 1"}) == found.format("x").replace(" of x", "")
    day = replace(KNOWN, title="Born on 1978-03-08")
    assert refusal(day.title, {"1978 03 08"}, day) == found.format("x").replace(" of x", "")
    # the numbers of a telephone are none of people, a name is
    call = "ask +43 1 43"
    assert refusal(f"Contact: {call}", rare, by_hand(context={"contact": call})) == ""
    asked = by_hand(context={"contact": "ask Magrathea"})
    assert refusal("Contact", rare, asked) == found.format("place")


def test_the_files_of_a_dataset_may_be_named_and_counted():
    known = by_hand(file={**RECORD["file"], "parts": PARTS})
    assert refusal(f"part-000000.parquet {'ef' * 32} 2", material=known) == ""
    assert refusal("3", material=known) == "a number that no notice may say"
    assert refusal("0", material=KNOWN) == "the value of a risk measure"


def test_a_value_is_rare_below_ten_records_in_the_form_in_which_it_is_said():
    few = np.repeat([True, False], [9, 11])
    told = pd.DataFrame({"n": [1.5] * 9 + [2.5] * 10 + [np.nan], "b": few})
    told["t"] = ["New York!"] * 9 + ["Ulm"] * 10 + [None]
    told["d"] = pd.to_datetime(np.where(few, "1978-03-08", "1979-03-08"))
    told["c"] = pd.Categorical(["x"] * 20, categories=["x", "y"])
    told["s"] = np.where(few, "?", "of")
    assert rare_values(described(told)) == {1.5, "new york", "true", "1978 03 08"}
    assert sorted(counted(told["n"])) == [(1.5, 1.5, 9), (2.5, 2.5, 10)]
    assert counted(told["c"]) == [("x", "x", 20)]


def test_a_contact_is_the_stewards_word_and_no_way_out_for_a_value():
    for contact, kind in (
        ("Data desk, +43 1 43, https://x.org/ask", ""),
        ("ask Betelgeuse", RARE_WORDS.removeprefix("The public file would hold ")),
        ("see /home/me/keys", "a path of a file or folder"),
        ("ab" * 16, "something that looks like a key"),
    ):
        material = by_hand(context={"contact": contact}, source=SOURCE)
        assert refusal(f"Ask {contact}.", {"betelgeuse", 43.0}, material) == kind
    assert refusal("43", {43.0}, by_hand(context={"contact": "desk 43"}, source=SOURCE)) != ""
