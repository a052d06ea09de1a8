"""Every command and Python example of the pages runs, in the order of the page, in one folder.

A block of TOML that follows a sentence with the name of a file, such as "a file `plan.toml`:", is
written to that file. What a page cannot run here stands in NOT_HERE, with the reason.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import Run

DOCS = Path(__file__).resolve().parents[2] / "docs"
SHORT = (
    "how-to/publish-claims.md",
    *("how-to/analyze-a-masked-file.md", "how-to/compare-methods.md", "how-to/deploy.md"),
    *("how-to/describe-variables.md", "how-to/know-the-risk.md", "how-to/know-the-utility.md"),
    *("explanation/intruders.md", "how-to/give-each-record-a-radius.md"),
    "how-to/decide-in-a-meeting.md",
    *(
        "how-to/read-another-layout.md",
        "how-to/open-a-file.md",
        "how-to/teach-with-it.md",
        "tutorial/first-release.md",
    ),
    *("how-to/use-in-a-notebook.md", "index.md"),
)
LONG = (
    *("how-to/choose-slices.md", "how-to/find-a-setting.md", "how-to/mask-a-dataset.md"),
    *("how-to/sweep-a-grid.md", "how-to/report-a-dataset.md"),
    *("how-to/round-values.md", "explanation/kernels.md"),
)
"""Pages with searches, sweeps and plans: nightly."""
COMMAND_LINE = "how-to/use-the-command-line.md"
ELSEWHERE = {
    "tutorial/a-release-that-leaves.md": "test_a_release_that_leaves.py",
    COMMAND_LINE: "test_commands_of_pages.py",
    "how-to/use-from-r.md": "test_r_package.py",
    "explanation/journeys.md": "../journeys/test_shell.py",
    "tutorial/case-study.md": "../rules/test_drawn_pages.py",
}
"""Pages whose commands another test runs."""
NOT_HERE = {
    "rwn app": "starts a server (tests/ui/test_launch.py)",
    "python -m pip": "installs",
    "docker": "builds an image",
    "how-to/run-on-a-cluster.md": "needs a cluster",
    "rwn seek FILE": "names a file of the reader",
}
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", flags=re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"`([\w-]+\.toml)`:\s*$")


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """Each block of a page: its language, its text, and the text of the page before it."""
    for found in _BLOCK.finditer(text):
        yield found[2], textwrap.dedent(found[3]), text[: found.start()]


def commands(block: str) -> list[list[str]]:
    """The words of each command of a block, without comments."""
    lines = block.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def is_elsewhere(words: list[str]) -> bool:
    """Whether a command cannot run in a test."""
    return any(" ".join(words).startswith(start) for start in NOT_HERE)


def follow(page: str, run: Run) -> int:
    """Do all that a page says; how many commands and examples that was."""
    done, names = 0, {"__name__": page}
    for language, block, before in blocks((DOCS / page).read_text(encoding="utf-8")):
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
            code, _, said = run(*words[1:])
            assert code == 0, f"{shlex.join(words)}: {said}"
            done += 1
    return done


@pytest.fixture(autouse=True)
def _readers_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let Python import what a page has written into its folder."""
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("page", SHORT)
def test_a_page_can_be_followed(page: str, rwn_command: Run) -> None:
    assert follow(page, rwn_command) or page in {"how-to/deploy.md", "index.md"}


@pytest.mark.nightly
@pytest.mark.parametrize("page", LONG)
def test_a_long_page_can_be_followed(page: str, rwn_command: Run) -> None:
    assert follow(page, rwn_command)


def test_the_sweeps_of_the_page_on_the_command_line_read_everything(rwn_command: Run) -> None:
    follow(COMMAND_LINE, rwn_command)
    for name in ("sweep.csv", "methods.csv"):
        swept = pd.read_csv(name)
        refused = swept[swept["not_applicable"].notna()]
        assert refused.empty, refused[["method", "measure", "not_applicable"]].to_string()
        assert "attribute_gain" in set(swept["measure"])


def test_every_page_with_commands_is_followed() -> None:
    held = {*SHORT, *LONG, *ELSEWHERE, *NOT_HERE}
    lost = []
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        if page.startswith(("decisions/", "reference/", "methods/")) or page in held:
            continue
        found = list(blocks(path.read_text(encoding="utf-8")))
        ours = [
            words for language, block, _ in found if language == "sh" for words in commands(block)
        ]
        if any(not is_elsewhere(words) for words in ours) or any(b[0] == "python" for b in found):
            lost.append(page)
    assert lost == []
    assert [
        file for file in ELSEWHERE.values() if not (Path(__file__).parent / file).exists()
    ] == []


def test_a_command_that_fails_is_noticed(
    rwn_command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (
        "A plan `a.toml`:\n\n```toml\nx = 1\n```\n\n```sh\nrwn mask gone.csv out.csv --k 5\n```\n"
    )
    (tmp_path / "page.md").write_text(page)
    monkeypatch.setattr("tests.cli.test_commands_of_pages.DOCS", tmp_path)
    with pytest.raises(AssertionError, match=r"gone\.csv"):
        follow("page.md", rwn_command)
    assert Path("a.toml").read_text() == "x = 1\n"
