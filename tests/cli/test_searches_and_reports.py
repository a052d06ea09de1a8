"""The commands find, seek, sweep, recommend; report, verify and ledger."""

from __future__ import annotations

import hashlib
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli import recommend
from rwn_cli.find import SO_FAR
from rwn_cli.options import settings
from rwn_core.data.variable import Role
from rwn_core.io.write import table_bytes
from rwn_core.reporting import read_record, release_record
from rwn_core.reporting.scenario import Decision, SavedSearch, Scenario, frozen_text
from rwn_core.tuning import Grid, Plan, Point, Setting, Spread, remedies, sweep
from rwn_core.tuning.answer import FoundSetting, Remedy, SearchAnswer
from tests.cli.conftest import Run
from tests.waiting import HANG_S, until

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


def test_a_release_beyond_a_limit_that_its_search_found_kept_is_not_written(
    rwn_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = rwn.load_demo("bodyfat")
    Path("people.csv").write_bytes(table_bytes(people.frame, "csv"))
    # the answer of a search that says that it keeps the policy, and does not
    weak = FoundSetting(point=Point(setting=Setting(params=rwn.RWN(epsilon=0.0, k=2)), spreads={}))
    answer = SearchAnswer(settings=(weak,), goal=rwn.Policy(), reached=True)
    monkeypatch.setattr(rwn, "recommend", lambda _: answer)
    said = rwn_command.refused(4, "mask", "people.csv", "out.csv", "--confidential", "siri")
    assert "Nothing was written: this release is beyond a limit" in said
    assert "rwn recommend" in said
    assert not Path("out.csv").exists()


def test_a_setting_that_breaks_a_limit_is_refused_with_what_helps(
    rwn_command: Run, judged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = rwn.load_demo("bodyfat").frame.loc[:59, ["siri", "age", "weight"]]
    Path("people.csv").write_bytes(table_bytes(people, "csv"))
    weak = FoundSetting(point=Point(setting=Setting(params=rwn.RWN(epsilon=0.0, k=2)), spreads={}))
    answer = SearchAnswer(settings=(weak,), goal=rwn.Policy(), reached=True)
    monkeypatch.setattr(rwn, "recommend", lambda _: answer)
    monkeypatch.setattr(remedies, "with_remedies", with_a_remedy)
    said = rwn_command.refused(4, "mask", "people.csv", "out.csv", "--confidential", "siri")
    assert "Nothing was written: this release is beyond a limit" in said
    assert "\ntry: Slices tied: uses 1.3 times a limit. Left: 60 % of the use\n" in said
    assert not Path("out.csv").exists()


def test_answers_go_into_reports_and_the_original_is_found_again(masked) -> None:
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
    masked.done(*MASK, "--overwrite")
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


def test_each_report_of_a_record_says_what_it_has_to(masked) -> None:
    said = masked.done("report", "record.toml", "--auditors", "-o", "a.html")
    assert "no value of a record was found" in said
    assert "questions without an answer: " in said
    assert "For the data protection officer" in Path("a.html").read_text("utf-8")
    # users of the file are told whom to ask
    report = ("report", "record.toml", "--public", "-o", "notice.html", "--overwrite")
    contact = "Data desk, https://x.org/ask, +43 1 4000-12"
    masked.done(*report, "--contact", contact)
    assert f"repeated on the original: {contact}." in Path("notice.html").read_text("utf-8")
    masked.done(*report)
    assert "no contact was stated" in Path("notice.html").read_text("utf-8")
    code, _, said = masked(*report, "--contact", "see ./keys")
    assert (code != 0, "a path" in said) == (True, True)
    assert "no ledger was read" in Path("notice.html").read_text("utf-8")
    masked.done("ledger", "add", "book.jsonl", "record.toml")
    masked.done(*report, "--ledger", "book.jsonl")
    assert "institution's ledger: none" in Path("notice.html").read_text("utf-8")
    # finding: a notice was written for a broken policy without a word
    path = Path("record.toml")
    document = read_record(path.read_text("utf-8"))
    for kept, state in ((True, "kept"), (False, "broken"), (False, "not judged")):
        document["verdict"] |= {"kept": kept, "state": state}
        path.write_text(frozen_text(document), encoding="utf-8")
        terminal = masked.done(*report)
        assert (f"its policy is {state}, " in terminal) == (not kept)
        assert "policy" not in Path("notice.html").read_text("utf-8")


def test_what_a_command_says_of_a_broken_policy_is_what_its_file_tells(masked: Run) -> None:
    """Finding V6: the notice lists what is not bounded where the command said it tells nothing."""
    masked.done(*MASK, "--epsilon", 0.1, "--k", 2, "--overwrite")  # every limit is broken
    forms = {"n.html": True, "n.json": True, "n.xml": False}
    for name, lists in forms.items():
        said = masked.done("report", "record.toml", "--public", "-o", name)
        assert ("linked to their records" in Path(name).read_text("utf-8")) == lists, name
        told = "which the file does not tell"
        if lists:
            told = "and the file lists its limits that are not kept under “What is not bounded”"
        assert f"its policy is broken, {told}. " in said, name


def test_a_seeded_release_and_one_in_order_get_no_notice(masked: Run) -> None:
    for option, word in ((("--seed", "1"), "seed"), (("--order", "original"), "row order")):
        masked.done(*MASK, *option, "--overwrite")
        assert word in masked.refused(4, "report", "record.toml", "--public", "-o", "notice.html")
        assert not Path("notice.html").exists()


@pytest.fixture
def signed(masked) -> str:
    """Sign a second release after a first; what is said of it, and the first entry beside it."""
    said = masked.done("ledger", "add", "ledger.jsonl", "record.toml", "--by", "Ada")
    assert "nobody is named" not in said
    Path("first.jsonl").write_bytes(Path("ledger.jsonl").read_bytes())
    masked.done(*MASK, "--overwrite")
    return str(masked.done("ledger", "add", "ledger.jsonl", "record.toml"))


def test_the_ledger_shows_who_signed_and_warns_of_the_same_table(masked, signed) -> None:
    assert "warning: Release" in signed
    assert "is of the same table" in signed
    assert "note: nobody is named (--by)." in signed
    shown = masked("ledger", "show", "ledger.jsonl")[1].splitlines()
    assert len(shown) == 2
    assert "  RWN, the 2022 method; 241 records, " in shown[0]
    assert shown[0].endswith("signed by Ada")


def test_the_ledger_sees_that_its_end_was_cut(masked, signed) -> None:
    last = signed.strip().rpartition(" ")[2]
    said = masked.done("ledger", "verify", "ledger.jsonl", "--last", last)
    assert "2 entries, each follows the one before it" in said
    Path("ledger.jsonl").write_bytes(Path("first.jsonl").read_bytes())
    masked.done("ledger", "verify", "ledger.jsonl")
    said = masked.refused(4, "ledger", "verify", "ledger.jsonl", "--last", last)
    assert "may have been cut off" in said


def test_a_notice_is_of_its_file_and_of_no_changed_one(masked) -> None:
    masked.done("report", "record.toml", "--public", "-o", "notice.json")
    for name in ("record.toml", "notice.json"):
        assert SAME in Path(name).read_text("utf-8")
    assert "SHA-256" in masked.done("verify", "out.csv", "notice.json")
    content = bytearray(Path("out.csv").read_bytes())
    content[-2] ^= 1
    Path("out.csv").write_bytes(content)
    said = masked.refused(4, "verify", "out.csv", "notice.json")
    assert "out.csv is not the file of the notice" in said


def test_a_report_is_of_its_evidence_and_has_no_charts_without(masked) -> None:
    evidence = Path("record.evidence.json")
    evidence.write_bytes(evidence.read_bytes() + b" ")
    said = masked.refused(3, "report", "record.toml", "-o", "internal.html")
    assert "not the evidence of this record" in said
    evidence.unlink()
    assert "has no charts" in masked.done("report", "record.toml", "-o", "internal.html")


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
    masked.done("report", "record.toml", "--public", "-o", "notice.json")
    add = ("ledger", "add", "l.jsonl", "record.toml", "--by", "Ada", "--notice", "notice.json")
    masked.done(*add)
    return masked


def test_verify_says_what_it_proves(sealed: Run) -> None:
    words = sealed.done("ledger", "verify", "l.jsonl")
    assert "1 sealed under the key: nobody without it changed them or put them in." in words
    assert "shows only with --last" in words
    Path("l.jsonl.key").rename("elsewhere.key")
    words = sealed.done("ledger", "verify", "l.jsonl")
    assert "the key is missing: anyone with write access can change it" in words
    entry = orjson.loads(Path("l.jsonl").read_bytes())
    Path("l.jsonl").write_bytes(orjson.dumps({**entry, "by": "Eve"}) + b"\n")
    sealed.done("ledger", "verify", "l.jsonl")
    words = sealed.refused(3, "ledger", "verify", "l.jsonl", "--key", "elsewhere.key")
    assert "Line 1 of the ledger was changed" in words


def test_who_changes_file_and_notice_is_found_with_the_ledger(sealed: Run) -> None:
    """Finding T7: a notice and its file, both changed, pass without the ledger."""
    asked = ("verify", "out.csv", "notice.json")
    words = sealed.done(*asked, "--ledger", "l.jsonl")
    assert "file and notice sealed in entry 1 of the ledger" in words
    notice = Path("notice.json").read_text()
    Path("notice.json").write_text(notice.replace('"made": "2', '"made": "3'))
    sealed.done(*asked)
    words = sealed.refused(4, *asked, "--ledger", "l.jsonl")
    assert "notice was changed after it was sealed" in words
    content = Path("out.csv").read_bytes() + b"1,1\n"
    old = hashlib.sha256(Path("out.csv").read_bytes()).hexdigest()
    Path("out.csv").write_bytes(content)
    Path("notice.json").write_text(notice.replace(old, hashlib.sha256(content).hexdigest()))
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


def test_a_sweep_gives_the_numbers_of_python_and_says_which_settings_keep_all_limits(rwn_command):
    measures = ("correlation", "distance_linkage")
    grid = Grid(axes={"epsilon": (0, 1.5), "k": (3, 5), "q": (0.5,)})
    plan = Plan(measures=measures, releases=2, seed=3)
    data = rwn.load_demo("bodyfat").with_weights({"age": 2.0})
    expected = sweep(data, grid, plan=plan, workers=1).frame()
    expected = expected.to_csv(index=False, lineterminator="\n").encode()
    options = "sweep demo:bodyfat --epsilon 0,1.5 --k 3,5 --q 0.5 --releases 2 --seed 3"
    options += " --measure correlation --measure distance_linkage --weight age=2 --workers 1"
    code, output, said = rwn_command(*options.split(), "-o", "out.csv")
    assert (code, output) == (0, "")
    assert "4 settings, 2 releases each" in said
    assert Path("out.csv").read_bytes() == expected
    assert [path.name for path in Path().iterdir() if path.suffix == ".sweep"] == []
    setting = Setting.of("rwn", {"k": 5}, {"age": 2.0})
    scenario = Scenario(setting=setting, search=SavedSearch(grid=grid, plan=plan))
    Path("s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    again = ("sweep", "demo:bodyfat", "--scenario", "s.toml", "--workers", 1)
    rwn_command.done(*again, "-o", "again.csv")
    assert Path("again.csv").read_bytes() == expected
    said = rwn_command.done(*again, "--k", "5", "--releases", 1, "-o", "out.parquet")
    assert "2 settings, 1 release each" in said
    assert len(pd.read_parquet("out.parquet")) == 4
    asked = ("sweep", "demo:bodyfat", "--k", "3,60", "--q", "1", "--releases", 3, "--workers", 1)
    said = rwn_command.done(
        *asked, "--measure", "correlation", "--limit", "distance_linkage=0.12", "-o", "l.csv"
    )
    assert "1 of 2 settings keep all limits" in said
    table = pd.read_csv("l.csv")
    linked = table[table["measure"] == "distance_linkage"]
    assert linked["keeps_all_limits"].tolist() == [False, True]
    assert (linked["share_of_limit"] * 0.12).tolist() == pytest.approx(linked["high"].tolist())


@pytest.mark.parametrize("command", ["recommend", "seek", "seek-slices"])
def test_an_alias_names_find_in_one_line_apart_from_its_answer(rwn_command: Run, command) -> None:
    _, output, said = rwn_command(command, "absent.csv")
    notes = [line for line in said.splitlines() if line.startswith("note: rwn find ")]
    assert len(notes) == 1
    assert f"rwn {command} stays" in notes[0]
    assert "rwn find" not in output
    for other in ("find", "sweep", "mask"):
        assert "note: rwn find" not in rwn_command(other, "absent.csv")[2]


def interrupted(value: float | None) -> Any:
    """A search that finds an answer, or none, and is interrupted."""

    def search(data: rwn.Microdata, *_: object, progress: Any, **__: object) -> None:
        setting = rwn.Setting.of("rwn", {"epsilon": 6.0, "k": 7}, slices=[["age", "weight"]])
        if value is None:
            progress.found(None)
            raise KeyboardInterrupt
        read = {"distance_linkage": Spread(measure="distance_linkage", values=(value,))}
        limits = (rwn.Limit(measure="distance_linkage", at_most=0.05),)
        policy = rwn.Policy(limits=limits)
        point = Point(setting=setting.resolved(data), spreads=read)
        progress.found(rwn.SearchAnswer.of_point(policy, point, so_far=True))
        raise KeyboardInterrupt

    return search


@pytest.mark.parametrize("command", ["find", "seek-slices"])
def test_an_answer_so_far_is_written_only_if_it_keeps_the_limits(rwn_command, monkeypatch, command):
    find = (command, "demo:bodyfat", "--limit", "distance_linkage=0.05", "-o", "s.toml")
    monkeypatch.setattr(rwn, "search", interrupted(None))
    rwn_command.refused(130, *find)  # an interruption as any other
    monkeypatch.setattr(rwn, "search", interrupted(0.2))
    code, output, said = rwn_command(*find)
    assert code == SO_FAR == 6
    assert "Nearest so far" in output
    assert "Best" not in output
    assert "s.toml was not written: the setting does not keep all limits." in said
    assert not Path("s.toml").exists()
    monkeypatch.setattr(rwn, "search", interrupted(0.04))
    code, output, said = rwn_command(*find)
    assert code == SO_FAR, said
    assert output.startswith("Interrupted. Best so far: ε\N{NO-BREAK SPACE}6 · k")
    assert "keeps the limit" in output
    assert "Fresh releases have not confirmed it yet." in output
    assert output.count("\n") == 1
    assert "age + weight travel together" in said  # the setting whole
    scenario = Scenario.from_toml(Path("s.toml").read_text("utf-8"))
    assert scenario.setting.slices == (("age", "weight"),)
    assert scenario.note.startswith("Interrupted. Best so far")
    rwn_command.done("mask", "demo:bodyfat", "out.csv", "--scenario", "s.toml")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_sees_the_time_left_and_ctrl_c_ends_it_with_the_best_so_far(
    small: str,
) -> None:
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "from rwn_cli.main import main; main()"
    find = (
        "find",
        small,
        "--confidential",
        "siri",
        "--key",
        "age",
        "--slices",
        "--kernel",
        "--method",
        "--seconds",
        "120",
    )  # too much to try for an end by itself
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *find],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    os.close(theirs)
    seen = bytearray()

    def time_left() -> bool:
        while select.select([ours], [], [], 0)[0]:
            seen.extend(os.read(ours, 4096))
        return b" left" in seen

    with process:
        try:
            until(time_left)
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=HANG_S)[0]
        finally:
            process.kill()  # what fails leaves no search behind
            os.close(ours)
    assert process.returncode == SO_FAR
    assert " so far: " in output


def with_a_remedy(answer: rwn.SearchAnswer, *_: object, **__: object) -> rwn.SearchAnswer:
    """As if a remedy had been tried that comes nearer to the limits."""
    near = replace(answer.settings[0], interval=(1.2, 1.3), share=1.25, loss=0.4, left=None)
    tried = Remedy.of(near, title="Slices tied")
    caution = f"None does; best attainable is {tried.words}."
    return replace(answer, remedies=(tried,), caution=caution)


def test_find_passes_what_may_change_and_writes_a_scenario(rwn_command: Run, monkeypatch) -> None:
    asked: dict[str, Any] = {}
    reached = [True, True, False]

    def search(data: rwn.Microdata, policy: Any, space: Any, **more: Any) -> rwn.SearchAnswer:
        asked.update(policy=policy, space=space, **more)
        setting = rwn.Setting.of("rwn", {"epsilon": 6.0, "k": 7}).resolved(data)
        point = Point(setting=setting, spreads={})
        return rwn.SearchAnswer.of_point(policy, point, reached=reached.pop(0), tried=2)

    monkeypatch.setattr(rwn, "search", search)
    find = ("find", "demo:bodyfat", "--limit", "distance_linkage=0.05", "-o", "s.toml")
    code, output, said = rwn_command(*find, "--slices", "--seconds", 9)
    assert (code, asked["seconds"], asked["space"]) == (0, 9.0, rwn.Space(slices=True)), said
    assert output.startswith("ε = 6")
    rwn_command.done("mask", "demo:bodyfat", "out.csv", "--scenario", "s.toml")
    again = ("--scenario", "s.toml", "--strength", "--lose-at-most", 0.1, "-o", "t.toml")
    rwn_command.done(*find, *again)
    assert (asked["space"].slices, asked["space"].lose_at_most) == (False, 0.1)
    assert asked["space"].setting.params.k == 7
    monkeypatch.setattr(remedies, "remedied", with_a_remedy)
    said = rwn_command.refused(4, *find, "-o", "none.toml")
    assert "try: Slices tied: uses 1.3 times a limit. Left: 60 % of the use\n" in said
    assert "None does; best attainable is Slices tied" in said
    assert asked["space"] == rwn.Space(slices=True, kernels=True)
    assert "None of 2 keeps all limits; nearest is" in said
    assert "the nearest: rwn mask demo:bodyfat OUT.csv --epsilon 6.0 --k 7" in said
    assert not Path("none.toml").exists()


@pytest.fixture
def small(rwn_command: Run) -> str:
    names = ["siri", "age", "weight", "height", "abdomen", "neck"]
    rwn.load_demo("bodyfat").frame[names].to_csv("small.csv", index=False)
    return "small.csv"


@pytest.fixture(params=["planted", pytest.param("searched", marks=pytest.mark.nightly)])
def recommended(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recommendation is planted by day; `core/tuning/test_recommend` searches for others."""

    def planted(data: rwn.Microdata) -> rwn.SearchAnswer:
        others = [each.name for each in data.schema.released if each.role is Role.OTHER]
        slices = [others[-2:]] if len(others) > 2 else []
        setting = Setting.of("rwn", {"epsilon": 9.0, "k": 60}, slices=slices).resolved(data)
        point = Point(setting=setting, spreads={})
        return rwn.SearchAnswer.of_point(rwn.Policy(), point, reached=True, tried=9)

    if request.param == "planted":
        monkeypatch.setattr(rwn, "recommend", planted)


def test_without_parameters_the_recommended_setting_is_used_and_said(
    rwn_command: Run, small: str, recommended: None
) -> None:
    roles = ("--key", "age", "--confidential", "siri")
    said = rwn_command.done("mask", small, "a.csv", "--seed", 3, *roles)
    assert "recommended: the best of " in said
    assert said.count("limit") <= 3, "one sentence says which limits are kept, of this release"
    assert "the same as: rwn mask small.csv a.csv --key age --confidential siri " in said
    assert "WARNING" not in said
    # a method alone takes its own start
    said = rwn_command.done("mask", small, "b.csv", "--method", "microaggregation", "--seed", 3)
    (line,) = [line for line in said.splitlines() if line.startswith("its own start: ")]
    assert "releases of all 241 records" in line


def test_the_line_alone_gives_the_bytes_and_the_verdict(
    judged: None, rwn_command: Run, recommended: None
) -> None:
    """Schema, options, guessed roles and weights that the setting does not have are in the line."""
    rng = np.random.default_rng(3)
    size = rng.normal(170, 9, 260).round()
    frame = pd.DataFrame({"name": [f"N{i}" for i in range(260)], "height": size})
    frame["weight"] = (size - 100 + rng.normal(0, 6, 260)).round()
    frame["age"] = rng.integers(18, 90, 260)
    frame["sex"] = rng.choice(["f", "m"], 260)
    frame["income"] = (size * 20 + rng.normal(0, 90, 260)).round()
    frame.to_csv("people.csv", index=False)
    rwn_command.done("describe", "people.csv", "--drop", "name", "-o", "people.toml")
    schema = rwn.Schema.from_toml(Path("people.toml").read_text("utf-8"))
    schema = schema.with_weights({"height": 3.0})
    for name in ("age", "sex", "income"):  # a secret that only its name tells
        schema = schema.replace_variable(name, role=Role.OTHER)
    Path("people.toml").write_text(schema.to_toml(), "utf-8")
    command = ("mask", "people.csv", "a.csv", "--schema", "people.toml", "--order", "original")
    command += ("--only", "height,weight,sex,income", "--as-is", "sex", "--key", "weight")
    said = rwn_command.done(*command, "--seed", 3)
    (line,) = [line for line in said.splitlines() if line.startswith("the same as: ")]
    assert "--confidential income" in line
    words = shlex.split(line.removeprefix("the same as: rwn "))
    words[words.index("a.csv")] = "b.csv"
    again = rwn_command.done(*words, "--seed", 3)
    assert "roles guessed" not in again
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    verdicts = [[each for each in text.splitlines() if "limit" in each] for text in (said, again)]
    assert verdicts[0][-1] == verdicts[1][-1]


def test_a_large_table_is_told_which_limits_are_not_judged(judged, rwn_command) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.normal(size=2_100).round(3) for name in ("u", "v", "w")})
    frame.to_csv("large.csv", index=False)
    mask = ("mask", "large.csv", "o.csv", "--k", 5, "--seed", 1)
    said = rwn_command.done(*mask)
    assert (
        "No limit was read: on a table of this size it takes long. Attribute gain not judged: no "
        "variable is confidential. Say which is (--confidential NAME). --record FILE.toml reads 3 "
        "limits." in said
    )
    # the planted other case: with a confidential variable all of them can be read
    said = rwn_command.done(*mask, "--overwrite", "--confidential", "u")
    assert "takes long. --record FILE.toml reads 4 limits." in said


def test_the_command_of_a_setting_of_rwn_masks_as_the_setting_does(rwn_command: Run) -> None:
    slices = [["age", "weight"], ["hip", "knee"]]
    data = rwn.load_demo("bodyfat")
    options = {"kernel": "gaussian", "width": 1.5, "scale": "range"}
    setting = Setting.of("rwn", options, slices=slices)
    words = shlex.split(recommend.command(setting, "demo:bodyfat", Path("out.csv")))
    rwn_command.done(*words[1:], "--seed", 3)
    release = rwn.mask(setting.applied_to(data), setting.params, seed=3)
    assert Path("out.csv").read_bytes() == release.to_bytes("csv")


@pytest.mark.parametrize(
    ("method", "own"), [("rwn", {"k": 7}), ("soft_rwn", {"kernel": "gaussian", "width": 0.7})]
)
@pytest.mark.parametrize(
    "options",
    [
        {"tie": True},
        {"by_prediction": True, "later_balance": False, "order": ("hip", "age")},
        {"by_prediction": True, "terms": "age:weight + square(age)", "mixed": True},
    ],
    ids=["tie", "plain prediction", "prediction"],
)
def test_the_command_of_slices_says_what_the_setting_is(method, own, options) -> None:
    setting = Setting.of(method, own | options, slices=[["age", "weight"], ["hip", "knee"]])
    words = shlex.split(recommend.command(setting, "demo:bodyfat", Path("out.csv")))
    given = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    said = Setting.of(method, own | settings(given)).params
    assert said == setting.params
    assert "True" not in " ".join(given)


def test_a_table_without_a_setting_that_keeps_the_policy_is_warned_of(
    judged, rwn_command: Run
) -> None:
    frame = pd.DataFrame({f"v{i}": [(7.0 * i + 3) * n % 31 for n in range(15)] for i in range(3)})
    frame.to_csv("t.csv", index=False)
    said = rwn_command.done("mask", "t.csv", "o.csv", "--seed", 1)
    assert "WARNING: " in said


# it searches; by day the line of a setting is run by the test of a setting of RWN above, and
# core/tuning/test_recommend has the reasons
@pytest.mark.nightly
def test_the_recommendation_is_printed_as_a_command(rwn_command: Run, small: str) -> None:
    """The line masks as it stands, with what the table was told; unfit methods have a reason."""
    roles = ("--key", "age", "--confidential", "siri")
    out = rwn_command.shown("recommend", small, "--drop", "neck", *roles)
    first, why, *_ = out.splitlines()
    assert first.startswith("recommended: rwn mask small.csv OUT.csv --drop neck ")
    assert why.startswith("why: 5 numbers, 1 key")
    assert " on all 241 records, 19 releases" in why
    words = shlex.split(first.removeprefix("recommended: rwn "))
    rwn_command.done(*words, "--seed", 1)
    assert "neck" not in pd.read_csv("OUT.csv")
    assert "not rank_swapping: It has no exact law, so that worst-case linkage" in out


# it searches; by day a table of 15 records is warned of above
@pytest.mark.nightly
def test_where_no_setting_keeps_the_policy_the_nearest_one_and_what_helps_are_printed(
    rwn_command: Run, small: str
) -> None:
    """Two guessed keys of five tell nearly every person apart: too many true matches."""
    out = rwn_command.shown("recommend", small, "--drop", "neck")
    first, why, *others = out.splitlines()
    assert why.startswith("why: None is known to keep all limits: ")
    assert "times the limit on True matches" in why
    assert "Attribute gain not judged: no variable is confidential" in why
    rwn_command.done(*shlex.split(first.removeprefix("recommended: rwn ")), "--seed", 1)
    helps = [line for line in others if line.startswith("try: ")]
    assert any("age" in line for line in helps), "one of the two keys is left out"
