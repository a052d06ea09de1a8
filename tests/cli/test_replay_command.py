"""`rwn replay`: the list, the files of a replay, and what it refuses."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_the_list_names_every_replay(rwn_command: Run) -> None:
    from rwn_core.evaluation.published_results import REPLAYS

    code, output, _ = rwn_command("replay", "--list")
    assert code == 0
    assert [line.split()[0] for line in output.splitlines()] == list(REPLAYS)
    assert "needs --file" in output


def test_a_figure_is_written(rwn_command: Run) -> None:
    code, output, said = rwn_command("replay", "rwn2022-figure-1", "-o", "out")
    assert (code, output) == (0, "")
    assert "rwn2022-figure-1: paper: 2 of 2 agree" in said
    names = sorted(path.name for path in Path("out").iterdir())
    assert names[4:] == [f"rwn2022-figure-1.{end}" for end in ("html", "svg", "txt")]
    assert "note" not in said


def test_each_figure_is_found_by_its_number_and_says_what_it_cannot_tell(rwn_command: Run) -> None:
    code, _, said = rwn_command("replay", "rwn2022-figure-4", "--short", "-o", "out")
    assert code == 0
    assert "cannot tell" in said
    names = {path.name for path in Path("out").iterdir()}
    assert "rwn2022-figure-4-2.svg" in names
    assert all(name.startswith("rwn2022-figure-4") for name in names)
