"""`rwn report`, `rwn verify` and `rwn ledger`: what they refuse, find again and prove."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson
import pytest

import rwn_core as rwn
from rwn_core.io.write import table_bytes
from rwn_core.reporting import read_record, release_record
from rwn_core.reporting.scenario import Decision, Scenario, frozen_text
from rwn_core.tuning import Setting
from tests.cli.conftest import Run

MASK = ("mask", "people.csv", "out.csv", "--k", "5", "--record", "record.toml", "--drop", "siri")

SAME = "Every cell is the same in a second reading: release read by pandas, original by pandas."


@pytest.fixture
def masked(rwn_command: Run) -> Run:
    people = rwn.load_demo("bodyfat").frame[["siri", "age", "weight"]]
    Path("people.csv").write_bytes(table_bytes(people, "csv"))
    said = rwn_command.done(*MASK)
    assert SAME in said
    assert "out.csv, rows in secret order\n" in said
    return rwn_command


def test_the_original_is_found_again_and_no_other_is_taken_for_it(masked: Run) -> None:
    report = ("report", "record.toml", "--public", "-o", "notice.html")
    masked.done(*report)
    assert "siri" not in Path("notice.html").read_text("utf-8")  # nor is an identifier named
    masked.done("report", "record.toml", "-o", "internal.json")
    assert "siri" in Path("internal.json").read_text("utf-8")
    Path("people.csv").rename("moved.csv")
    assert "give --original IN" in masked.refused(5, *report, "--overwrite")
    given = ("--original", "moved.csv")
    masked.done(*report, *given, "--overwrite")
    Path("moved.csv").write_text("siri,age,weight\n1,2,3\n4,5,6\n", encoding="utf-8")
    said = masked.refused(3, "ledger", "add", "ledger.jsonl", "record.toml", *given)
    assert "not the table that the record was made of" in said
    assert not Path("ledger.jsonl").exists()


def test_a_public_file_of_a_policy_that_is_not_kept_says_so_on_the_terminal(masked: Run) -> None:
    """Finding: a notice was written for a broken policy without a word."""
    path = Path("record.toml")
    report = ("report", "record.toml", "--public", "-o", "notice.html", "--overwrite")
    document = read_record(path.read_text("utf-8"))
    for kept, state in ((True, "kept"), (False, "broken"), (False, "not judged")):
        document["verdict"] |= {"kept": kept, "state": state}
        path.write_text(frozen_text(document), encoding="utf-8")
        terminal = masked.done(*report)
        told = f"its policy is {state}, which the file does not say" in terminal
        assert told == (not kept)
        assert "policy" not in Path("notice.html").read_text("utf-8")


def test_a_contact_is_stated_and_checked(masked: Run) -> None:
    """Finding N2: users are told to ask, and whom."""
    report = ("report", "record.toml", "--public", "-o", "notice.html", "--overwrite")
    contact = "Data desk, https://x.org/ask, +43 1 4000-12"
    masked.done(*report, "--contact", contact)
    assert f"repeated on the original: {contact}." in Path("notice.html").read_text("utf-8")
    masked.done(*report)
    assert "no contact was stated" in Path("notice.html").read_text("utf-8")
    code, _, said = masked(*report, "--contact", "see ./keys")
    assert (code != 0, "a path" in said) == (True, True)


def test_the_answers_of_a_project_go_into_record_and_reports(masked: Run) -> None:
    Path("about.toml").write_text('[context]\npurpose = "Teaching"\nharms = "Shame"\n', "utf-8")
    masked.done(*MASK, "--project", "about.toml", "--overwrite")
    assert 'purpose = "Teaching"' in Path("record.toml").read_text("utf-8")
    report = ("report", "record.toml", "--overwrite", "-o")
    assert masked(*report, "in.html")[0] == masked(*report, "out.html", "--public")[0] == 0
    assert "Shame" in Path("in.html").read_text("utf-8")
    notice = Path("out.html").read_text("utf-8")
    assert "for this purpose: Teaching." in notice
    assert "Shame" not in notice
    Path("later.toml").write_text('[context]\npurpose = "Research"\n', "utf-8")
    masked.done(*report, "out.html", "--public", "--project", "later.toml")
    assert "for this purpose: Research." in Path("out.html").read_text("utf-8")
    Path("wrong.toml").write_text(f'table = "{"0" * 64}"\n[context]\n', "utf-8")
    for command in ((*report, "x.html"), (*MASK, "--overwrite")):
        code, _, said = masked(*command, "--project", "wrong.toml")
        assert (code != 0, "of another table" in said) == (True, True)


def test_the_page_for_auditors_is_a_form_of_its_own(masked: Run) -> None:
    report = ("report", "record.toml", "--auditors", "-o")
    said = masked.done(*report, "a.html")
    assert "no value of a record was found" in said
    assert "questions without an answer: " in said
    assert "For the data protection officer" in Path("a.html").read_text("utf-8")


def test_a_seeded_release_and_one_in_order_get_no_notice(masked: Run) -> None:
    for option, word in ((("--seed", "1"), "seed"), (("--order", "original"), "row order")):
        masked.done(*MASK, *option, "--overwrite")
        assert word in masked.refused(4, "report", "record.toml", "--public", "-o", "notice.html")
        assert not Path("notice.html").exists()


def test_evidence_and_file_are_those_of_the_record(masked: Run) -> None:
    masked.done("report", "record.toml", "--public", "-o", "card.toml")
    for name in ("record.toml", "card.toml"):
        assert SAME in Path(name).read_text("utf-8")
    assert "SHA-256" in masked.done("verify", "out.csv", "card.toml")
    content = bytearray(Path("out.csv").read_bytes())
    content[-2] ^= 1
    Path("out.csv").write_bytes(content)
    said = masked.refused(4, "verify", "out.csv", "card.toml")
    assert "out.csv is not the file of the card" in said
    content[-2] ^= 1
    Path("out.csv").write_bytes(content)
    evidence = Path("record.evidence.json")
    evidence.write_bytes(evidence.read_bytes() + b" ")
    said = masked.refused(3, "report", "record.toml", "-o", "internal.html")
    assert "not the evidence of this record" in said
    evidence.unlink()
    assert "has no charts" in masked.done("report", "record.toml", "-o", "internal.html")


def test_the_ledger_shows_what_it_has_and_sees_that_its_end_was_cut(masked: Run) -> None:
    said = masked.done("ledger", "add", "ledger.jsonl", "record.toml", "--by", "Ada")
    assert "nobody is named" not in said
    first = Path("ledger.jsonl").read_bytes()
    masked.done(*MASK, "--overwrite")
    said = masked.done("ledger", "add", "ledger.jsonl", "record.toml")
    assert "warning: Release" in said
    assert "is of the same table" in said
    assert "note: nobody is named (--by)." in said
    last = said.strip().rpartition(" ")[2]
    shown = masked("ledger", "show", "ledger.jsonl")[1].splitlines()
    assert len(shown) == 2
    assert "  RWN, the 2022 method; 241 records, " in shown[0]
    assert shown[0].endswith("signed by Ada")
    said = masked.done("ledger", "verify", "ledger.jsonl", "--last", last)
    assert "2 entries, each follows the one before it" in said
    Path("ledger.jsonl").write_bytes(first)
    masked.done("ledger", "verify", "ledger.jsonl")
    said = masked.refused(4, "ledger", "verify", "ledger.jsonl", "--last", last)
    assert "may have been cut off" in said


def test_without_its_record_no_release_stands_there(masked, monkeypatch) -> None:
    for path in ("out.csv", "record.toml", "record.evidence.json"):
        Path(path).unlink()

    def fails(*arguments: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_record, "evidence", fails)
    assert "No space left on device" in masked.refused(5, *MASK)
    assert sorted(path.name for path in Path().iterdir()) == ["people.csv"]


def test_texts_that_a_spreadsheet_would_run_are_announced(rwn_command: Run) -> None:
    lines = ["x,note", *(f"{i},{'=1+1' if i % 2 else 'b'}" for i in range(20))]
    Path("in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = rwn_command.done("mask", "in.csv", "out.csv", "--k", "3", "--q", "0")
    assert "note: 10 texts of note begin as a formula" in said
    assert Path("out.csv").read_text("utf-8").count("'=1+1") == 10
    said = rwn_command.done("mask", "in.csv", "out.parquet", "--k", "3", "--q", "0")
    assert "formula" not in said


@pytest.fixture
def sealed(masked: Run) -> Run:
    """A release with its card and its sealed entry, in the folder of work."""
    masked.done("report", "record.toml", "--public", "-o", "card.toml")
    add = ("ledger", "add", "l.jsonl", "record.toml", "--by", "Ada", "--card", "card.toml")
    masked.done(*add)
    return masked


def test_verify_says_what_it_proves(sealed: Run) -> None:
    words = sealed.done("ledger", "verify", "l.jsonl")
    assert "1 sealed under the key: nobody without it changed them or put them in." in words
    assert "shows only with --last" in words
    Path("l.jsonl.key").rename("elsewhere.key")
    words = sealed.done("ledger", "verify", "l.jsonl")
    assert "the key is missing: anybody who may write to it can change it" in words
    entry = orjson.loads(Path("l.jsonl").read_bytes())
    Path("l.jsonl").write_bytes(orjson.dumps({**entry, "by": "Eve"}) + b"\n")
    sealed.done("ledger", "verify", "l.jsonl")
    words = sealed.refused(3, "ledger", "verify", "l.jsonl", "--key", "elsewhere.key")
    assert "Line 1 of the ledger was changed" in words


def test_who_changes_file_and_card_is_found_with_the_ledger(sealed: Run) -> None:
    """Finding T7: a card and its file, both changed, pass without the ledger."""
    asked = ("verify", "out.csv", "card.toml")
    words = sealed.done(*asked, "--ledger", "l.jsonl")
    assert "file and card sealed in entry 1 of the ledger" in words
    card = Path("card.toml").read_text()
    Path("card.toml").write_text(card.replace("records = 241", "records = 242"))
    sealed.done(*asked)
    assert "card was changed after it was sealed" in sealed.refused(
        4, *asked, "--ledger", "l.jsonl"
    )
    content = Path("out.csv").read_bytes() + b"1,1\n"
    old = hashlib.sha256(Path("out.csv").read_bytes()).hexdigest()
    Path("out.csv").write_bytes(content)
    Path("card.toml").write_text(card.replace(old, hashlib.sha256(content).hexdigest()))
    sealed.done(*asked)
    assert "no entry of this release" in sealed.refused(4, *asked, "--ledger", "l.jsonl")
    Path("l.jsonl.key").unlink()
    assert "nothing is proved" in sealed.refused(4, *asked, "--ledger", "l.jsonl")


@pytest.mark.parametrize(("epsilon", "followed"), [(2, True), (3, False)])
def test_the_record_is_that_of_the_file_and_says_whether_it_was_decided(
    judged, rwn_command: Run, epsilon, followed
) -> None:
    setting = Setting(params=rwn.RWN(epsilon=2, k=5))
    one = Scenario(name="Careful", table=rwn.load_demo("bodyfat").fingerprint, setting=setting)
    made = Decision(scenarios=(one,), chosen="Careful", date="2026-03-31")
    Path("decision.toml").write_text(made.frozen(), encoding="utf-8")
    mask = ("mask", "demo:bodyfat", "o.csv", "--epsilon", epsilon, "--k", 5)
    said = rwn_command.done(*mask, "--record", "record.toml", "--meeting", "decision.toml")
    record = read_record(Path("record.toml").read_text("utf-8"))
    digest = hashlib.sha256(Path("o.csv").read_bytes()).hexdigest()
    assert record["file"]["sha256"] == digest
    assert digest in said
    assert ("does not follow the decision of --meeting" in said) is not followed
    assert record["decision"]["followed"] is followed
    assert record["decision"]["meeting"]["date"] == "2026-03-31"


def test_the_label_is_half_a_page_and_counts_the_ledger(masked: Run) -> None:
    said = masked.done("label", "record.toml", "-o", "label.svg")
    assert "nothing of the original was found" in said
    masked.done("ledger", "add", "book.jsonl", "record.toml")
    masked.done("label", "record.toml", "-o", "label.json", "--ledger", "book.jsonl")
