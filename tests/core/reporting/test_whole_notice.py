"""The forms of a public notice, whole: the same facts as JSON, as DDI-Codebook and as a card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from rwn_core.errors import InputError, ParameterError, ReleaseError
from rwn_core.masking import METHODS
from rwn_core.masking.option import method_words
from rwn_core.reporting import public_notice
from rwn_core.reporting.facts import Audience, Material
from rwn_core.reporting.facts import public_words as words
from rwn_core.reporting.facts.fact import Content, Fact
from rwn_core.reporting.facts.outside import OUTSIDE, treatments
from rwn_core.reporting.facts.public_words import vocabulary
from rwn_core.reporting.public_notice import (
    read_card,
    require_form,
    unchecked_file,
)
from tests.core.reporting.records_by_hand import RECORD, by_hand, said

NAME, DOES, _, SOURCE = method_words(by_hand().method).values()
TITLED = replace(by_hand(context={"review": "2030-01-31"}), title="Homes")
TREATED = [
    ["age", "masked"],
    ["income", "released as in the original; rounded"],
    ["sex", "released as in the original"],
]
PARTS = [{"name": "part-000000.parquet", "sha256": "ef" * 32}]


def test_each_form_is_every_public_fact_in_its_place(sentences: Callable[..., None]) -> None:
    said = {"review": "2030-01-31", "contact": " data@x.org ", "purpose": "Teaching."}
    record = {**TITLED.record, "context": {**said, "access": "on request", "harms": "Betelgeuse"}}
    asked = replace(TITLED, record=record)
    file = {**RECORD["file"], "parts": PARTS}
    many = replace(TITLED, record={**TITLED.record, "file": file})
    found = {}
    for name, material in (("", TITLED), (", asked", asked), (", many files", many)):
        for form in (".json", ".xml", ".toml"):
            text = unchecked_file(material, form).decode()
            if form == ".json":
                text = orjson.dumps(orjson.loads(text), option=orjson.OPT_INDENT_2).decode()
            found[f"{form}{name}"] = text.splitlines()
    sentences("notice", found)
    assert read_card("\n".join(found[".toml, many files"]))["files"] == PARTS
    assert f"{NAME} (RWN, the 2022 method)" in "".join(found[".toml"])
    assert [entry.title for entry in OUTSIDE] == list(words.TITLES[:10])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("sha256 = 3", "no SHA-256 of a file"),
        (f'sha256 = "{"c" * 63}"', "no SHA-256 of a file"),
        (f'sha256 = "{"c" * 65}"', "no SHA-256 of a file"),
        (f'sha256 = "{"c" * 64}"\nfiles = [3]', "list of files is damaged"),
        (f'sha256 = "{"c" * 64}"\nfiles = [{{name = "a"}}]', "list of files is damaged"),
        (f'sha256 = "{"c" * 64}"\nfiles = {{}}', "list of files is damaged"),
    ],
)
def test_a_damaged_card_is_refused(wrong: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_card(f'format = "rwn card 1"\n{wrong}\n')


def test_what_is_no_public_form_or_no_public_fact_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ParameterError) as refused:
        require_form(".HTML")
    assert str(refused.value) == (
        "A public file must end in one of: .html, .json, .xml, .toml; choose one."
    )
    assert require_form("notice.json") == ".json"
    for key, audience in (("use", Audience.INTERNAL), ("limits", Audience.BOTH)):
        fact = Fact(key=key, title="Some fact", audience=audience, content=Content())
        monkeypatch.setattr(public_notice, "facts_for", lambda *_, fact=fact: (fact,))
        with pytest.raises(ReleaseError, match='The fact "Some fact" is for the house alone'):
            unchecked_file(by_hand(), ".html")
    with pytest.raises(ReleaseError, match="mask again with --order shuffled"):
        unchecked_file(by_hand(file={**RECORD["file"], "order": "original"}), ".html")
    with pytest.raises(ReleaseError, match="drawn with a seed that anybody can try"):
        unchecked_file(by_hand(file={**RECORD["file"], "key": "a seed"}), ".html")


def test_only_what_the_method_may_not_change_is_as_in_the_original() -> None:
    """Finding A15: what this draw happened to leave would tell that each value is true."""
    assert list(map(list, treatments(by_hand()).items())) == TREATED
    table = {**RECORD["table"], "left_alone": []}
    for share in ([1.0, 0.5, 1.0], [0.0, 0.0, 0.0]):
        read = {"cells_changed": {**RECORD["readings"]["cells_changed"], "share": share}}
        assert treatments(by_hand(readings=read, table=table)) == {
            "age": "masked", "income": "masked; rounded", "sex": "released as in the original"
        }  # fmt: skip
    del table["left_alone"]  # an earlier version did not say it
    assert treatments(by_hand(table=table))["income"] == "masked; rounded"
    plain = {"method": "microaggregation", "parameters": {"k": 3}}
    unread: Material = by_hand(readings={}, setting=plain)
    assert set(treatments(unread).values()) == {"masked", "released as in the original"}
    loss = next(entry for entry in OUTSIDE if entry.key == "loss")
    assert said(loss.make(unread)) == [
        *words.LOSS,
        f"What the method destroys on any data: {method_words(unread.method)['destroys']}",
    ]
    everything = " ".join(vocabulary())
    for lines in (words.USE, words.FILE, words.FILES, words.LOSS, words.ERRORS, words.TREATED):
        assert all(line in everything for line in lines)


def test_that_missing_values_move_is_said_where_they_do() -> None:
    treated = next(entry for entry in OUTSIDE if entry.key == "treated")

    def is_said(missing: list[str] | None, method: str = "rwn", **parts: Any) -> bool:
        table = {**RECORD["table"], "missing": missing}
        if missing is None:  # a record of before this was kept
            del table["missing"]
        setting = {"method": method, "parameters": {}}
        lines = said(treated.make(by_hand(table=table, setting=setting, **parts)))
        assert lines[-1] == words.TREATED[4]
        return words.MISSING in lines

    assert words.MISSING in vocabulary()
    assert is_said(["age"])
    assert is_said(None)
    # nobody lacks a value; only a variable without masking, or that the method leaves, has such
    assert not any(map(is_said, ([], ["sex"], ["income"], ["income", "sex"])))
    assert not is_said(["income"], readings={})
    for method in METHODS:
        assert is_said(["age"], method) == METHODS[method].moves_missing
