"""Commands of the documentation run, also those for datasets and R."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from tests.cli.conftest import Run

DOCS = Path(__file__).resolve().parents[2] / "docs"

SHORT = """
how-to/deploy how-to/describe-variables how-to/know-the-risk
how-to/know-the-utility how-to/decide-in-a-meeting
how-to/give-each-record-a-radius how-to/read-another-layout how-to/open-a-file
how-to/teach-with-it how-to/use-in-a-notebook tutorial/first-release
tutorial/a-release-that-leaves index
"""
LONG = """
how-to/choose-slices how-to/compare-methods how-to/find-a-setting how-to/mask-a-dataset
how-to/sweep-a-grid how-to/report-a-dataset how-to/round-values
explanation/kernels how-to/analyze-a-masked-file explanation/intruders
"""
"""Pages with searches, sweeps and plans: nightly; rules/test_docs reads their options."""

COMMAND_LINE = "how-to/use-the-command-line.md"

ELSEWHERE = {
    COMMAND_LINE: "test_commands_of_pages.py",
    "how-to/use-from-r.md": "test_r_package.py",
    "explanation/journeys.md": "../journeys/test_shell.py",
    "tutorial/case-study.md": "../rules/test_written_pages.py",
}
"""Pages whose commands another test runs."""

NOT_HERE = {
    "rwn app": "starts a server (tests/ui/test_launch.py)",
    "python -m pip": "installs",
    "docker": "builds an image",
    "(umask 077;": "writes a secret into the reader's home",
    "how-to/run-on-a-cluster.md": "needs a cluster",
    "rwn sweep FILE": "names a file of the reader",
}

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", flags=re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"`([\w-]+\.toml)`:\s*$")


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """Each block of a page: its language, its text, and the text of the page before it."""
    for found in _BLOCK.finditer(text):
        yield found[2], textwrap.dedent(found[3]), text[: found.start()]


def commands(block: str) -> list[list[str]]:
    """The words of each command, without the environment variables that it is given."""
    lines = block.replace("\\\n", " ").splitlines()
    lines = [re.sub(r"^([A-Z_]+=\S* +)+", "", line) for line in lines]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def is_elsewhere(words: list[str]) -> bool:
    return any(" ".join(words).startswith(start) for start in NOT_HERE)


def follow(page: str, run: Run) -> int:
    """Do all that a page says; how many commands and examples that was."""
    done = 0
    names = {"__name__": page}
    for language, block, before in blocks((DOCS / page).read_text("utf-8")):
        named = _FILE.search(before)
        if language == "toml" and named:
            Path(named[1]).write_text(block, encoding="utf-8")
        if language == "python":
            exec(compile(block, page, "exec"), names)
            done += 1
        for words in commands(block) if language == "sh" else []:
            if is_elsewhere(words):
                continue
            assert words[0] == "rwn", words
            run.done(*words[1:])
            done += 1
    return done


@pytest.fixture(autouse=True)
def _readers_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("page", SHORT.split())
def test_a_page_can_be_followed(page: str, rwn_command: Run) -> None:
    assert follow(f"{page}.md", rwn_command) or page in {"how-to/deploy", "index"}
    if page == "tutorial/a-release-that-leaves":
        named = set(re.findall(r"`([\w.-]+\.\w+)`", (DOCS / f"{page}.md").read_text("utf-8")))
        assert {path.name for path in Path().iterdir()} ^ named == {"ledger.jsonl.key", "trial.sav"}


@pytest.mark.nightly  # rules/test_docs reads the options of its commands
@pytest.mark.parametrize("page", LONG.split())
def test_a_long_page_can_be_followed(page: str, rwn_command: Run) -> None:
    assert follow(f"{page}.md", rwn_command)


@pytest.mark.nightly  # test_searches_and_reports sweeps, too
def test_the_sweeps_of_the_page_on_the_command_line_read_everything(rwn_command: Run) -> None:
    follow(COMMAND_LINE, rwn_command)
    for name in ("sweep.csv", "methods.csv"):
        swept = pd.read_csv(name)
        refused = swept[swept["not_applicable"].notna()]
        assert refused.empty, refused[["method", "measure", "not_applicable"]].to_string()
        assert "attribute_gain" in set(swept["measure"])


def test_every_page_with_commands_is_followed() -> None:
    held = {*(f"{page}.md" for page in (SHORT + LONG).split()), *ELSEWHERE, *NOT_HERE}
    lost = []
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        if page.startswith(("decisions/", "reference/", "methods/")) or page in held:
            continue
        for language, block, _ in blocks(path.read_text("utf-8")):
            ours = commands(block) if language == "sh" else []
            if language == "python" or not all(map(is_elsewhere, ours)):
                lost.append(page)
    assert lost == []
    assert all((Path(__file__).parent / file).exists() for file in ELSEWHERE.values())


COMMAND = ("mask-dataset", "in", "out", "--k", 4, "--epsilon", 0.1, "--sample", 100)
COMMAND += ("--workers", 1, "--weight", "g=0.1", "--key-file", "key")


def test_mask_dataset_plans_first_and_then_writes_what_python_does(rwn_command: Run) -> None:
    numbers = np.random.default_rng(4)
    table = pd.DataFrame({"x": numbers.normal(size=2500), "g": numbers.choice(["a", "b"], 2500)})
    source = Path("in")
    source.mkdir()
    table[:1000].to_parquet("in/1.parquet")
    table[1000:].to_parquet("in/2.parquet")
    said = rwn_command.done(*COMMAND, "--plan")
    assert re.search(r"2,500 records in 2 files, 0\.1 MB\n", said)
    assert re.search(r"about \d{3} MB of memory for each worker", said)
    assert "only 100 people give values" in said
    assert [*Path().iterdir()] == [source], "a plan writes nothing"
    code, output, said = rwn_command(*COMMAND)
    assert (code, output) == (0, "")
    assert "2,500 records" in said
    assert "fewer than k candidates" in said
    assert "note: key holds the secret of this release; delete it." in said
    assert "a seed is for teaching" not in said
    secret = Path("key").read_text()
    assert secret not in said
    assert Path("key").stat().st_mode & 0o077 == 0
    data = rwn.Microdata.from_frame(pd.read_parquet(source)).with_weights({"g": 0.1})
    params = rwn.RWN(k=4, epsilon=0.1, neighbors="sample", m=100)
    release = rwn.mask(data, params, seed=rwn.SecretKey(bytes.fromhex(secret)))
    wanted = pd.read_parquet(release.publish("memory.parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet("out"), wanted)


def test_mask_dataset_takes_a_soft_kernel(rwn_command: Run) -> None:
    rwn.load_demo("bodyfat").frame[["siri", "age", "weight"]].to_parquet("in.parquet")
    given = ("--workers", 1, "--set", "kernel=gaussian", "--set", "width=0.7", "--set", "balance=1")
    more = ("--record", "record.toml", "--seed", 3)
    rwn_command.done("mask-dataset", "in.parquet", "out", *given, *more)
    data = rwn.Microdata.from_frame(pd.read_parquet("in.parquet"))
    params = rwn.SoftRWN(kernel="gaussian", width=0.7, balance=1.0)
    wanted = pd.read_parquet(rwn.mask(data, params, seed=3).publish("memory.parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet("out"), wanted)
    kernel = tomllib.loads(Path("record.toml").read_text("utf-8"))["kernel"]
    assert kernel == {"bandwidth_k": 10, "cap": 0.1, "listed": 240}


def test_a_release_is_judged_on_a_sample(rwn_command: Run) -> None:
    numbers = np.random.default_rng(4)
    x = numbers.normal(size=2500)
    y = x + numbers.normal(size=2500)
    g = np.where(x > 1, "a", "b")
    pd.DataFrame({"x": x, "y": y, "g": g}).to_parquet("in.parquet")
    masking = ("mask-dataset", "in.parquet", "out", "--k", 4, "--q", 0.5, "--workers", 1)
    rwn_command.done(*masking, "--key-file", "key", "--weight", "g=0")
    command = ("audit-dataset", "in.parquet", "out", "--sample", 200, "--measure", "regression")
    command += ("--measure", "distance_linkage", "--response", "y", "--predictor", "x")
    code, output, said = rwn_command(*command, "--key-file", "key")
    assert code == 0, said
    assert output.startswith("judged on 200 of 2,500 records, drawn at random\n")
    assert "WARNING" not in said
    document = json.loads(rwn_command.shown(*command, "--json", "--key-file", "key"))
    assert (document["records"], document["judged"]) == (2500, 200)
    values = {row["measure"]: row["value"] for row in document["measures"]}
    assert values["distance_linkage"] > 0.5
    assert values["regression"] is not None
    said = rwn_command.done(*command, "--json", "--seed", 1)
    assert "look whether this is the key of the release" in said
    assert "give --key-file" in rwn_command.refused(2, *command)
    rwn_command.refused(2, *command, "--key-file", "none")
    assert not Path("none").exists()


N = 600
KEY = "5c" * 32


def _table() -> pd.DataFrame:
    numbers = np.random.default_rng(8)
    x = numbers.normal(50, 9, N)
    place = numbers.choice(["north", "south"], N).astype(object)
    place[7], place[11] = "hermitage", "lighthouse"
    sparse = np.full(N, np.nan)
    sparse[:4] = 777_123.25
    person = [f"name-{number:05d}" for number in range(N)]
    columns = {"x": x, "y": x + numbers.normal(0, 3, N), "place": place, "sparse": sparse}
    return pd.DataFrame({**columns, "person": person})


@pytest.fixture
def released(rwn_command: Run) -> Run:
    Path("cellar-seven").mkdir()
    table = _table()
    table[:250].to_parquet("cellar-seven/a.parquet", index=False)
    table[250:].to_parquet("cellar-seven/b.parquet", index=False)
    masking = ("mask-dataset", "cellar-seven", "out", "--k", 4, "--drop", "person", "--workers", 1)
    masking += ("--key-file", "key", "--weight", "x=0.5", "--slice", "x,y", "--q", 0.9)
    # a key of its own: under three of ten the four values of "sparse" all stay, which is refused
    Path("key").write_text(f"{KEY}\n")
    Path("key").chmod(0o600)
    rwn_command.done(*masking, "--record", "record.toml")
    return rwn_command


def _shown_of_the_original(text: str) -> list[str]:
    """What nobody but the keeper of the original may read, and a text holds."""
    table = _table()
    secret = Path("key").read_text().strip().splitlines()[-1]
    rare = ["hermitage", "lighthouse", "777123", "777,1", secret]
    return [each for each in (*table["person"], *map(str, table["x"]), *rare) if each in text]


@pytest.fixture
def audited(released: Run) -> Run:
    auditing = ("audit-dataset", "cellar-seven", "out", "--drop", "person", "--sample", 50)
    released.done(*auditing, "--response", "y", "--predictor", "x", "--key-file", "key")
    return released


def test_the_internal_report_of_a_dataset_has_its_facts_and_nothing_of_the_original(
    audited,
) -> None:
    for file in ("report.html", "report.json"):
        audited.done("report", "record.toml", "-o", file)
    text = Path("report.html").read_text("utf-8")
    record = Path("record.toml").read_text()
    facts = {
        fact["key"]: fact["content"]
        for fact in json.loads(Path("report.json").read_text())["facts"]
    }
    changed = {row[0]: row[1] for row in facts["changed"]["table"]["rows"]}
    assert changed.keys() == {"x", "y", "place", "sparse"}
    assert "judged on 600 of 600 records" in facts["judged"]["lines"][0]
    assert ["parameter k", "4"] in facts["parameters"]["table"]["rows"]
    assert any("linkage" in row[0].lower() for row in facts["risks"]["table"]["rows"])
    assert "person" in facts["data"]["lines"][1]
    assert "What changed" in text
    assert "judged on 600 of 600 records" in text
    for said in (text, json.dumps(facts, ensure_ascii=False), record):
        assert not _shown_of_the_original(said)
        assert ("cellar-seven" in said) == (said == record)  # so that it is found again


AGAIN = ("report", "record.toml", "--public", "-o", "notice.html")


def test_the_notice_of_a_dataset_knows_its_files_and_nothing_of_the_original(audited) -> None:
    for file in ("notice.html", "notice.json"):
        audited.done("report", "record.toml", "--public", "-o", file)
        assert not _shown_of_the_original(Path(file).read_text())
    part = next(Path("out").iterdir())
    for released_file in ("out", part):
        audited.done("verify", released_file, "notice.json")
    Path("notice.html").unlink()
    audited.refused(4, *AGAIN, "--title", "The hermitage")
    assert not Path("notice.html").exists()
    moved = Path("out").rename("moved")
    audited.refused(3, *AGAIN)
    audited.done(*AGAIN, "--released", "moved", "--original", "cellar-seven")
    (moved / part.name).write_bytes(b"changed")
    for changed in (moved, moved / part.name):
        audited.refused(4, "verify", changed, "notice.json")


def test_a_report_refuses_a_dataset_that_has_changed(audited) -> None:
    audited.done("report", "record.toml", "-o", "report.html")
    next(Path("out").iterdir()).write_bytes(b"changed")
    said = audited.refused(3, "report", "record.toml", "-o", "report.html", "--overwrite")
    assert "not the one that the record was made of" in said


def test_the_record_of_a_dataset_is_for_no_ledger_and_no_command_of_tables(released) -> None:
    said = released.refused(2, "ledger", "add", "ledger.jsonl", "record.toml", "--by", "Ada")
    assert "The ledger is of tables" in said
    assert not Path("ledger.jsonl").exists()
    said = released.refused(2, "reproduce", "record.toml", "--key", "key")
    assert "rwn mask-dataset with the same key" in said
