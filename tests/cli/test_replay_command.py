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
    assert names == [f"rwn2022-figure-1.{end}" for end in ("csv", "html", "svg", "txt")]
    assert "note" not in said


def test_a_figure_whose_number_is_not_settled_brings_all_of_section_8(rwn_command: Run) -> None:
    code, _, said = rwn_command("replay", "rwn2022-figure-5", "--short", "-o", "out")
    assert code == 0
    assert "not known which" in said
    assert Path("out/rwn2022-cooks-distance.svg").exists()
    assert len(list(Path("out").glob("*.html"))) == 6
