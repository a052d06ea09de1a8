"""What `rwn ledger` and `rwn verify` prove, with the key of the ledger and without it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def made(rwn_command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A release with its card and its sealed entry, in the folder of work."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a,b\n" + "".join(f"{i * i % 97},{i % 7}\n" for i in range(60)))
    for command in (
        ("mask", "in.csv", "out.csv", "--k", "5", "--record", "record.toml"),
        ("report", "record.toml", "--public", "-o", "card.toml"),
        ("ledger", "add", "l.jsonl", "record.toml", "--by", "Ada", "--card", "card.toml"),
    ):
        code, _, words = rwn_command(*command)
        assert code == 0, words
    return rwn_command


def test_verify_says_what_it_proves(made: Run) -> None:
    code, _, words = made("ledger", "verify", "l.jsonl")
    assert code == 0
    assert "1 sealed under the key: nobody without it changed them or put them in." in words
    assert "shows only with --last" in words
    Path("l.jsonl.key").rename("elsewhere.key")
    code, _, words = made("ledger", "verify", "l.jsonl")
    assert code == 0
    assert "the key is missing: anybody who may write to it can change it" in words
    entry = orjson.loads(Path("l.jsonl").read_bytes())
    Path("l.jsonl").write_bytes(orjson.dumps({**entry, "by": "Eve"}) + b"\n")
    assert made("ledger", "verify", "l.jsonl")[0] == 0  # as it says
    code, _, words = made("ledger", "verify", "l.jsonl", "--key", "elsewhere.key")
    assert code == 3
    assert "Line 1 of the ledger was changed" in words


def test_who_changes_file_and_card_is_found_with_the_ledger(made: Run) -> None:
    """Finding T7: a card and its file, both changed, pass without the ledger."""
    asked = ("verify", "out.csv", "card.toml")
    code, _, words = made(*asked, "--ledger", "l.jsonl")
    assert code == 0, words
    assert "file and card sealed in entry 1 of the ledger" in words
    card = Path("card.toml").read_text()
    Path("card.toml").write_text(card.replace("records = 60", "records = 61"))
    assert made(*asked)[0] == 0
    code, _, words = made(*asked, "--ledger", "l.jsonl")
    assert code == 4
    assert "card was changed after it was sealed" in words
    content = Path("out.csv").read_bytes() + b"1,1\n"
    old = hashlib.sha256(Path("out.csv").read_bytes()).hexdigest()
    Path("out.csv").write_bytes(content)
    Path("card.toml").write_text(card.replace(old, hashlib.sha256(content).hexdigest()))
    assert made(*asked)[0] == 0
    code, _, words = made(*asked, "--ledger", "l.jsonl")
    assert code == 4
    assert "no entry of this release" in words
    Path("l.jsonl.key").unlink()
    code, _, words = made(*asked, "--ledger", "l.jsonl")
    assert code == 4
    assert "nothing is proved" in words


def test_another_card_and_a_missing_file_are_refused(made: Run) -> None:
    assert made("mask", "in.csv", "two.csv", "--k", "5", "--record", "two.toml")[0] == 0
    adding = ("ledger", "add", "l.jsonl", "two.toml")
    code, _, words = made(*adding, "--card", "card.toml")
    assert code == 4
    assert "card of another release" in words
    code, _, words = made(*adding, "--released", "none.csv")
    assert code == 5
    assert "none.csv does not exist" in words
    code, _, words = made(*adding)
    assert code == 0
    assert "Merges of this release with release " in words
