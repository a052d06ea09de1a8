"""A release whose secret is kept comes out again, byte for byte, and nothing else does."""

from __future__ import annotations

import hashlib
import os
import runpy
import sys
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_core.reporting.judged_release import Approval, judge_release
from rwn_core.reporting.release_folder import release_files, write_folder

WIDE = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))
SQUARES = "a,b\n" + "".join(f"{i * i % 31},{i % 7}\n" for i in range(40))


@pytest.fixture(scope="module")
def released(bodyfat_table, tmp_path_factory) -> tuple[Path, Path, Path]:
    """The folder of a soft kernel's release, with weights, slices and rounding; key, original."""
    place = tmp_path_factory.mktemp("release")
    data = bodyfat_table.with_weights({"age": 2.0}).with_slices([["siri", "neck"]])
    soft = rwn.SoftRWN(kernel="gaussian", balance=1.0, cap=0.2)
    params = rwn.Rounded(params=soft, precision={"age": 5.0})
    judged = judge_release(data, params, "csv", WIDE, key_file=place / "sealed.key")
    files = release_files(judged, data, Approval(by="Ada", reason="A lesson"))
    secret = (place / "sealed.key").read_bytes()
    assert not any(secret in content for content in files.values())
    data.frame.to_parquet(place / "original.parquet")
    return write_folder(files, place, "1"), place / "sealed.key", place / "original.parquet"


def test_the_command_gives_the_same_bytes_and_so_does_the_script_of_the_folder(
    released, capsys, monkeypatch, tmp_path
):
    folder, key, original = released
    (file,) = (folder / "for-users").glob("release-*.csv")
    digest, out = hashlib.sha256(file.read_bytes()).hexdigest(), tmp_path / "again.csv"
    asked = ["reproduce", str(folder), "--key", str(key), "--original", str(original)]
    assert main.run([*asked, "-o", str(out)]) == 0
    assert out.read_bytes() == file.read_bytes()
    assert digest in capsys.readouterr().err
    script = folder / "internal" / "reproduce.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(original), str(key)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.split() == [digest]


def test_another_key_or_table_is_refused(released, capsys, tmp_path, bodyfat_table):
    folder, key, original = released
    other = tmp_path / "other.key"
    other.write_text("0" * 64)
    asked = ["reproduce", str(folder), "--original"]
    assert main.run([*asked, str(original), "--key", str(other)]) == 4
    assert "the key, the schema or a version is another" in capsys.readouterr().err
    bodyfat_table.frame.iloc[::-1].to_parquet(tmp_path / "turned.parquet")
    assert main.run([*asked, str(tmp_path / "turned.parquet"), "--key", str(key)]) == 3
    with pytest.raises(rwn.ParameterError, match="one key draws one release"):
        judge_release(bodyfat_table, rwn.RWN(k=5), "csv", WIDE, key_file=key)


def test_a_record_of_the_command_line_is_enough(tmp_path, capsys):
    out, record, key = (str(tmp_path / name) for name in ("out.csv", "record.toml", "sealed.key"))
    source = tmp_path / "in.csv"
    source.write_text(SQUARES)
    made = ["mask", str(source), out, "--k", "5", "--record", record, "--key-file", key]
    assert main.run(made) == 0
    capsys.readouterr()
    assert main.run(["reproduce", record, "--key", key]) == 0
    assert hashlib.sha256(Path(out).read_bytes()).hexdigest() in capsys.readouterr().err
    assert main.run([*made[:-2], "--seed", "1", "--key-file", key]) == 2


def test_a_masking_that_was_stopped_leaves_no_key(tmp_path, monkeypatch, capsys):
    """Finding T11: the key of a run that was stopped before masking blocked the next one."""
    source, out, key = (tmp_path / name for name in ("in.csv", "out.csv", "sealed.key"))
    source.write_text(SQUARES)
    command = ["mask", str(source), str(out), "--k", "5", "--key-file", str(key)]

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("rwn_core.mask", stopped)
        assert main.run(command) in (1, 130)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]
    assert main.run(command) == 0
    assert len(key.read_text()) == 64
    assert key.stat().st_mode & 0o077 == 0
    out.unlink()
    assert main.run(command) == 2
    assert "one key draws one release" in capsys.readouterr().err
    assert main.run([*command[:-1], str(out)]) == 2


def test_a_release_that_was_not_judged_leaves_no_key(bodyfat_table, tmp_path, monkeypatch):
    key = tmp_path / "sealed.key"
    monkeypatch.setattr("rwn_core.reporting.judged_release.record_and_evidence", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        judge_release(bodyfat_table, rwn.RWN(k=5), "csv", WIDE, key_file=key)
    assert not key.exists()


def test_a_full_disk_is_no_policy(tmp_path, monkeypatch, capsys):
    """Finding T11: a sweep on a full disk left with 4, which is the code of a policy."""

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(SQUARES)
    monkeypatch.setattr(os, "fsync", full)
    assert main.run(["mask", str(source), str(out), "--k", "5"]) == 5
    sweeping = ["sweep", str(source), "--k", "3", "--releases", "2"]
    assert main.run([*sweeping, "-o", str(out)]) == 5
    assert "No space left on device" in capsys.readouterr().err
    assert not out.exists()
