"""The command's options for large tables: who may be a neighbor, threads, and what it cost."""

from __future__ import annotations

import pytest

from rwn_cli.main import run

MASK = ["mask", "demo:bodyfat", "--k", "5", "--epsilon", "2", "--seed", "7"]


def masked(tmp_path, *options: str) -> tuple[int, bytes]:
    target = tmp_path / "out.csv"
    code = run([*MASK[:2], str(target), *MASK[2:], "--overwrite", *options])
    return code, target.read_bytes() if target.exists() else b""


@pytest.mark.parametrize(
    "options",
    [
        ["--set", "neighbors=sample", "--set", "m=50"],
        ["--set", "neighbors=sample", "--set", "m=50", "--set", "fresh=true"],
        ["--set", "neighbors=pairs", "--set", "m=20"],
        ["--set", "neighbors=partition", "--set", "u=3"],
        ["--set", "neighbors=partition", "--set", "u=3", "--set", "m=10"],
    ],
)
def test_random_candidates_say_what_they_cost(tmp_path, capsys, options):
    code, content = masked(tmp_path, *options)
    assert code == 0
    assert content
    said = capsys.readouterr().err
    for words in ("median radius", "fall back to k", "exact members kept"):
        assert words in said


def test_weights_by_size_tell_each_share(tmp_path, capsys):
    assert masked(tmp_path, "--set", "weights=discrete")[0] == 0
    assert "shares of the squared distance: " in capsys.readouterr().err


def test_threads_change_nothing_wherever_they_are_set(tmp_path, monkeypatch):
    one = masked(tmp_path, "--threads", "1")
    assert one == masked(tmp_path, "--threads", "2")
    monkeypatch.setenv("RWN_THREADS", "3")
    assert one == masked(tmp_path)
    monkeypatch.setenv("RWN_THREADS", "none")
    assert masked(tmp_path)[0] == 2
