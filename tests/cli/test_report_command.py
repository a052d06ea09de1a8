"""`rwn report`, `rwn verify` and `rwn ledger`: what they refuse, find again and prove."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson
import pytest

import rwn_core as rwn
from rwn_core.io.write import table_bytes
from rwn_core.reporting import read_record
from rwn_core.reporting.scenario import Decision, Scenario, frozen_text
from rwn_core.tuning import Setting
from tests.cli.conftest import Run

MASK = ("mask", "people.csv", "out.csv", "--k", "5", "--record", "record.toml", "--drop", "siri")


@pytest.fixture
def masked(rwn_command: Run) -> Run:
    people = rwn.load_demo("bodyfat").frame[["siri", "age", "weight"]]
    Path("people.csv").write_bytes(table_bytes(people, "csv"))
    code, _, said = rwn_command(*MASK)
    assert code == 0, said
    return rwn_command


def test_the_original_is_found_again_as_it_was_described(masked: Run) -> None:
    code, _, said = masked("report", "record.toml", "--public", "-o", "notice.html")
    assert code == 0, said
    text = Path("notice.html").read_text(encoding="utf-8")
    assert "siri" not in text  # an identifier is not even named
    code, _, said = masked("report", "record.toml", "-o", "internal.json")
    assert code == 0, said
    assert "siri" in Path("internal.json").read_text(encoding="utf-8")


def test_another_or_a_lost_original_is_refused(masked: Run) -> None:
    Path("people.csv").rename("moved.csv")
    code, _, said = masked("report", "record.toml", "--public", "-o", "notice.html")
    assert (code, "give --original IN" in said) == (5, True)
    given = ("--original", "moved.csv")
    assert masked("report", "record.toml", "--public", "-o", "notice.html", *given)[0] == 0
    Path("moved.csv").write_text("siri,age,weight\n1,2,3\n4,5,6\n", encoding="utf-8")
    code, _, said = masked("ledger", "add", "ledger.jsonl", "record.toml", *given)
    assert (code, "not the table that the record was made of" in said) == (3, True)
    assert not Path("ledger.jsonl").exists()


def test_a_public_file_of_a_policy_that_is_not_kept_says_so_on_the_terminal(masked: Run) -> None:
    """Finding: a notice was written for a broken policy without a word."""
    path = Path("record.toml")
    report = ("report", "record.toml", "--public", "-o", "notice.html", "--overwrite")
    document = read_record(path.read_text(encoding="utf-8"))
    for kept, state in ((True, "kept"), (False, "broken"), (False, "not judged")):
        document["verdict"] |= {"kept": kept, "state": state}
        path.write_text(frozen_text(document), encoding="utf-8")
        code, _, terminal = masked(*report)
        assert code == 0, terminal
        told = f"its policy is {state}, which the file does not say" in terminal
        assert told == (not kept)
        assert "policy" not in Path("notice.html").read_text(encoding="utf-8")


def test_a_contact_is_stated_and_checked(masked: Run) -> None:
    """Finding N2: users are told to ask, and whom."""
    report = ("report", "record.toml", "--public", "-o", "notice.html", "--overwrite")
    for contact in ("data@institute.org", "Data desk, https://x.org/ask, +43 1 4000-12"):
        assert masked(*report, "--overwrite", "--contact", contact)[0] == 0
        assert f"repeated on the original: {contact}." in Path("notice.html").read_text("utf-8")
    assert masked(*report, "--overwrite")[0] == 0
    assert "no contact was stated" in Path("notice.html").read_text("utf-8")
    for contact, why in (("a\nb", "one line"), ("x" * 201, "one line"), ("see ./keys", "a path")):
        code, _, said = masked(*report, "--contact", contact)
        assert (code != 0, why in said) == (True, True)


def test_the_answers_of_a_project_go_into_record_and_reports(masked: Run) -> None:
    Path("about.toml").write_text('[context]\npurpose = "Teaching"\nharms = "Shame"\n', "utf-8")
    assert masked(*MASK, "--project", "about.toml", "--overwrite")[0] == 0
    assert 'purpose = "Teaching"' in Path("record.toml").read_text("utf-8")
    report = ("report", "record.toml", "--overwrite", "-o")
    assert masked(*report, "in.html")[0] == masked(*report, "out.html", "--public")[0] == 0
    assert "Shame" in Path("in.html").read_text("utf-8")
    notice = Path("out.html").read_text("utf-8")
    assert "for this purpose: Teaching." in notice
    assert "Shame" not in notice
    Path("later.toml").write_text('[context]\npurpose = "Research"\n', "utf-8")
    assert masked(*report, "out.html", "--public", "--project", "later.toml")[0] == 0
    assert "for this purpose: Research." in Path("out.html").read_text("utf-8")
    for text, why in (("[contxt]\n", "no context"), ("[context]\nwhy = 1\n", "unknown field why"),
                      (f'table = "{"0" * 64}"\n[context]\n', "of another table")):  # fmt: skip
        Path("wrong.toml").write_text(text, "utf-8")
        for command in ((*report, "x.html"), (*MASK, "--overwrite")):
            code, _, said = masked(*command, "--project", "wrong.toml")
            assert (code != 0, why in said) == (True, True)
    code, _, said = masked("mask", "people.csv", "o.csv", "--project", "about.toml")
    assert (code != 0, "give --record FILE" in said) == (True, True)


def test_the_page_for_auditors_is_a_form_of_its_own(masked: Run) -> None:
    report = ("report", "record.toml", "--auditors", "-o")
    code, _, said = masked(*report, "a.html")
    assert (code, "no value of a record was found" in said) == (0, True), said
    assert "questions without an answer: " in said
    assert "For the data protection officer" in Path("a.html").read_text("utf-8")
    for wrong, why in (("a.txt", "must end in .html"), ("b.html", "two files")):
        more = ("--public",) if wrong == "b.html" else ()
        code, _, said = masked(*report, wrong, *more)
        assert (code != 0, why in said) == (True, True)


def test_a_seeded_release_and_one_in_order_get_no_notice(masked: Run) -> None:
    for option, word in ((("--seed", "1"), "seed"), (("--order", "original"), "row order")):
        assert masked(*MASK, *option, "--overwrite")[0] == 0
        code, _, said = masked("report", "record.toml", "--public", "-o", "notice.html")
        assert (code, word in said) == (4, True)
        assert not Path("notice.html").exists()


def test_evidence_of_another_release_is_refused(masked: Run) -> None:
    evidence = Path("record.evidence.json")
    evidence.write_bytes(evidence.read_bytes() + b" ")
    code, _, said = masked("report", "record.toml", "-o", "internal.html")
    assert (code, "not the evidence of this record" in said) == (3, True)
    evidence.unlink()
    code, _, said = masked("report", "record.toml", "-o", "internal.html")
    assert (code, "has no charts" in said) == (0, True)


def test_a_file_is_told_from_every_other(masked: Run) -> None:
    assert masked("report", "record.toml", "--public", "-o", "card.toml")[0] == 0
    code, _, said = masked("verify", "out.csv", "card.toml")
    assert (code, "SHA-256" in said) == (0, True)
    content = bytearray(Path("out.csv").read_bytes())
    content[-2] ^= 1
    Path("out.csv").write_bytes(content)
    code, _, said = masked("verify", "out.csv", "card.toml")
    assert (code, "out.csv is not the file of the card" in said) == (4, True)


def test_the_ledger_shows_what_it_has_and_sees_that_its_end_was_cut(masked: Run) -> None:
    assert masked("ledger", "add", "ledger.jsonl", "record.toml", "--by", "Ada")[0] == 0
    first = Path("ledger.jsonl").read_bytes()
    assert masked(*MASK, "--overwrite")[0] == 0
    code, _, said = masked("ledger", "add", "ledger.jsonl", "record.toml")
    assert code == 0
    assert "warning: Release" in said
    assert "is of the same table" in said
    last = said.strip().rpartition(" ")[2]
    shown = masked("ledger", "show", "ledger.jsonl")[1].splitlines()
    assert len(shown) == 2
    assert "  RWN, the 2022 method; 241 records, " in shown[0]
    assert shown[0].endswith("signed by Ada")
    assert masked("ledger", "verify", "ledger.jsonl", "--last", last)[0] == 0
    Path("ledger.jsonl").write_bytes(first)
    assert masked("ledger", "verify", "ledger.jsonl")[0] == 0  # nobody could tell
    code, _, said = masked("ledger", "verify", "ledger.jsonl", "--last", last)
    assert (code, "may have been cut off" in said) == (4, True)


def test_without_its_record_no_release_stands_there(
    masked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("out.csv", "record.toml", "record.evidence.json"):
        Path(path).unlink()
    import rwn_core.reporting.release_record as at

    def fails(*arguments: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(at, "evidence", fails)
    code, _, said = masked(*MASK)
    assert (code, "No space left on device" in said) == (5, True)
    assert sorted(path.name for path in Path().iterdir()) == ["people.csv"]


def test_texts_that_a_spreadsheet_would_run_are_announced(rwn_command: Run) -> None:
    lines = ["x,note", *(f"{i},{'=1+1' if i % 2 else 'b'}" for i in range(20))]
    Path("in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, _, said = rwn_command("mask", "in.csv", "out.csv", "--k", "3", "--q", "0")
    assert code == 0, said
    assert "note: 10 texts of note begin as a formula" in said
    assert Path("out.csv").read_text(encoding="utf-8").count("'=1+1") == 10
    code, _, said = rwn_command("mask", "in.csv", "out.parquet", "--k", "3", "--q", "0")
    assert (code, "formula" in said) == (0, False)


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


@pytest.fixture
def decided(rwn_command: Run) -> Run:
    """The decision of a meeting lies in the folder."""
    one = Scenario(
        name="Careful",
        table=rwn.load_demo("bodyfat").fingerprint,
        setting=Setting(params=rwn.RWN(epsilon=2, k=5)),
    )
    made = Decision(scenarios=(one,), chosen="Careful", date="2026-03-31")
    Path("decision.toml").write_text(made.frozen(), encoding="utf-8")
    return rwn_command


@pytest.mark.parametrize(("epsilon", "followed"), [(2, True), (3, False)])
def test_the_record_is_that_of_the_file_and_says_whether_it_was_decided(
    decided: Run, epsilon: int, followed: bool
) -> None:
    options = ("--record", "record.toml", "--meeting", "decision.toml")
    code, _, said = decided(
        "mask", "demo:bodyfat", "o.csv", "--epsilon", epsilon, "--k", 5, *options
    )
    assert code == 0, said
    record = read_record(Path("record.toml").read_text(encoding="utf-8"))
    digest = hashlib.sha256(Path("o.csv").read_bytes()).hexdigest()
    assert record["file"]["sha256"] == digest
    assert digest in said
    assert ("does not follow the decision of --meeting" in said) is not followed
    assert record["decision"]["followed"] is followed
    assert record["decision"]["meeting"]["date"] == "2026-03-31"


def test_the_label_is_half_a_page_and_counts_the_ledger(masked: Run) -> None:
    code, _, said = masked("label", "record.toml", "-o", "label.svg")
    assert (code, "nothing of the original was found" in said) == (0, True), said
    code, _, said = masked("label", "record.toml", "-o", "l.json", "--ledger", "none.jsonl")
    assert code != 0
    assert "none.jsonl" in said
    assert masked("ledger", "add", "book.jsonl", "record.toml")[0] == 0
    assert masked("label", "record.toml", "-o", "label.json", "--ledger", "book.jsonl")[0] == 0
    code, _, said = masked("label", "record.toml", "-o", "label.html")
    assert (code, "must end in .svg or .json" in said) == (2, True)
