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
from rwn_core.reporting.judged_release import Approval, Draws, judge_release
from rwn_core.reporting.release_folder import release_files, write_folder

pytestmark = pytest.mark.usefixtures("read_here")
WIDE = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))


@pytest.fixture(scope="module")
def released(bodyfat_table, tmp_path_factory) -> tuple[Path, Path, Path]:
    """The folder of a release with weights, slices and rounding, its key and its original."""
    place = tmp_path_factory.mktemp("release")
    data = bodyfat_table.with_weights({"age": 2.0}).with_slices([["siri", "neck"]])
    params = rwn.Rounded(params=rwn.RWN(epsilon=2.0, k=5), precision={"age": 5.0})
    draws = Draws(key_file=place / "sealed.key")
    judged = judge_release(data, params, "csv", WIDE, draws=draws)
    files = release_files(judged, data, Approval(by="Ada", reason="A lesson"))
    secret = (place / "sealed.key").read_bytes()
    assert not any(secret in content for content in files.values())
    data.frame.to_parquet(place / "original.parquet")
    return write_folder(files, place, "1"), place / "sealed.key", place / "original.parquet"


def test_the_command_gives_the_same_bytes(released, capsys, tmp_path) -> None:
    folder, key, original = released
    (file,) = (folder / "for-users").glob("release-*.csv")
    out = tmp_path / "again.csv"
    asked = ["reproduce", str(folder), "--key", str(key), "--original", str(original)]
    assert main.run([*asked, "-o", str(out)]) == 0
    assert out.read_bytes() == file.read_bytes()
    assert hashlib.sha256(file.read_bytes()).hexdigest() in capsys.readouterr().err


def test_the_script_of_the_folder_says_the_same_hash(released, monkeypatch, capsys) -> None:
    folder, key, original = released
    (file,) = (folder / "for-users").glob("release-*.csv")
    script = folder / "internal" / "reproduce.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(original), str(key)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.split() == [hashlib.sha256(file.read_bytes()).hexdigest()]


def test_another_key_or_table_is_refused(released, capsys, tmp_path, bodyfat_table) -> None:
    folder, key, original = released
    other = tmp_path / "other.key"
    other.write_text("0" * 64)
    asked = ["reproduce", str(folder), "--original"]
    assert main.run([*asked, str(original), "--key", str(other)]) == 4
    assert "the key, the schema or a version is another" in capsys.readouterr().err
    bodyfat_table.frame.iloc[::-1].to_parquet(tmp_path / "turned.parquet")
    assert main.run([*asked, str(tmp_path / "turned.parquet"), "--key", str(key)]) == 3
    with pytest.raises(rwn.ParameterError, match="one key draws one release"):
        judge_release(bodyfat_table, rwn.RWN(k=5), "csv", WIDE, draws=Draws(key_file=key))


def test_a_record_of_the_command_line_is_enough(tmp_path, capsys) -> None:
    out, record, key = (str(tmp_path / name) for name in ("out.csv", "record.toml", "sealed.key"))
    source = str(tmp_path / "in.csv")
    Path(source).write_text("a,b\n" + "".join(f"{i * i % 31},{i % 7}\n" for i in range(40)))
    made = ["mask", source, out, "--k", "5", "--record", record, "--key-file", key]
    assert main.run(made) == 0
    assert os.stat(key).st_mode & 0o077 == 0
    capsys.readouterr()
    assert main.run(["reproduce", record, "--key", key]) == 0
    assert hashlib.sha256(Path(out).read_bytes()).hexdigest() in capsys.readouterr().err
    assert main.run([*made[:-2], "--seed", "1", "--key-file", key]) == 2
