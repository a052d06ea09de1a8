"""What leaves is what was judged: one file, its record, its reports, in one folder."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_core.errors import ReleaseError
from rwn_core.reporting import read_record, release_folder
from rwn_core.reporting.facts.outside import treatments
from rwn_core.reporting.judged_release import Approval, FurtherDraws, JudgedRelease, judge_release
from rwn_core.reporting.public_notice import public_file
from rwn_core.reporting.release_folder import (
    RECORD,
    for_users,
    release_files,
    write_folder,
    zipped,
)
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning import Setting
from tests.core.reporting.conftest import quickly_made_of

PARAMS = rwn.RWN(epsilon=2.0, k=5)
WIDE = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))
ADA = Approval(by="Ada Lovelace", reason="A lesson")


@pytest.fixture(scope="module")
def kept(bodyfat_table) -> JudgedRelease:
    """A release that keeps its policy."""
    return judge_release(bodyfat_table, PARAMS, "csv", WIDE, draws=FurtherDraws(further=2))


@pytest.fixture(scope="module")
def broken(bodyfat_table) -> JudgedRelease:
    return judge_release(bodyfat_table, PARAMS, "csv", rwn.Policy())


@pytest.fixture(scope="module")
def files(bodyfat_table, broken) -> dict[str, bytes]:
    return release_files(broken, bodyfat_table, ADA, title="Body measurements", number=2)


def decision(data, params) -> Decision:
    setting = Setting(params=params).resolved(data)
    scenario = Scenario(name="wide", table=data.fingerprint, setting=setting)
    return Decision(scenarios=(scenario,), chosen="wide", date="2026-03-31")


def test_the_readings_are_those_of_the_very_file(bodyfat_table, kept) -> None:
    """By numpy, from the file's own bytes; another draw has other correlations."""
    names = list(bodyfat_table.names)

    def mean_change(frame: pd.DataFrame) -> float:
        one, two = (np.corrcoef(f[names].to_numpy().T) for f in (bodyfat_table.frame, frame))
        upper = np.triu_indices(len(names), 1)
        return float(np.abs(one - two)[upper].mean())

    told = kept.document["readings"]["correlation"]["value"]
    assert mean_change(pd.read_csv(io.BytesIO(kept.content))) == pytest.approx(told, abs=1e-9)
    other = rwn.mask(bodyfat_table, PARAMS).to_bytes("csv")
    assert abs(mean_change(pd.read_csv(io.BytesIO(other))) - told) > 1e-6
    assert kept.sha256 == hashlib.sha256(kept.content).hexdigest()
    assert kept.further == (True, True)


def test_a_name_is_always_needed_and_a_reason_where_something_is_not_kept(
    bodyfat_table, kept, broken
) -> None:
    followed, another = (decision(bodyfat_table, p) for p in (PARAMS, rwn.RWN(epsilon=1.0, k=5)))
    wants = (
        (kept, "", followed, "Nobody answers"),
        (kept, "Ada", followed, ""),
        (kept, "Ada", another, "not what the meeting chose"),
        (kept, "Ada", None, "follows no decision"),
        (broken, "Ada", followed, "does not keep every limit"),
    )
    for judged, by, meeting, missing in wants:
        lacks = judged.lacks(Approval(by=by, decision=meeting), bodyfat_table)
        assert missing in lacks
        assert bool(missing) == bool(lacks)
        if by:
            given = Approval(by=by, reason="a reason", decision=meeting)
            assert judged.lacks(given, bodyfat_table) == ""
    with pytest.raises(ReleaseError, match="give the reason"):
        release_files(broken, bodyfat_table, Approval(by="Ada", decision=followed))


def test_the_record_says_who_answers_and_which_decision_is_followed(bodyfat_table, kept) -> None:
    meeting = decision(bodyfat_table, PARAMS)
    made = release_files(kept, bodyfat_table, Approval(by=" Ada ", decision=meeting), number=3)
    record = read_record(made[RECORD].decode("utf-8"))
    assert record["approval"] == {"by": "Ada", "reason": "", "exception": False}
    assert record["draws"] == {"number": 3, "further": 2, "further_kept": 2}
    assert record["decision"]["followed"] is True
    assert record["decision"]["hash"] == meeting.hash
    assert Decision.thaw(made["internal/decision.toml"].decode("utf-8")) == meeting
    report = made["internal/internal-report.html"].decode("utf-8")
    assert "EXCEPTION" not in report
    assert "3, of which this is the last" in report


def test_an_exception_is_said_in_the_house_and_never_in_public(files) -> None:
    assert b"EXCEPTION: the release does not keep" in files["internal/internal-report.html"]
    for name, content in for_users(files).items():
        for secret in (b"Ada", b"A lesson", b"xception", b"limit is"):
            assert secret not in content, name


def test_the_folder_is_what_the_command_line_reads(files, bodyfat_table, tmp_path: Path) -> None:
    left = tmp_path / ".part-rwn-left"  # by a program that was killed a long time ago
    left.mkdir()
    os.utime(left, (1, 1))
    folder = write_folder(files, tmp_path, "0123")
    assert not left.exists()
    (file,) = (folder / "for-users").glob("release-*.csv")
    assert main.run(["verify", str(file), str(folder / "for-users" / "card.toml")]) == 0
    record, out = str(folder / RECORD), str(tmp_path / "report.html")
    assert main.run(["report", record, "-o", out]) == 0
    assert Path(out).read_bytes() == files["internal/internal-report.html"].replace(
        b"Body measurements", b"Masked microdata"
    )
    assert folder.stat().st_mode & 0o077 == 0
    with pytest.raises(ReleaseError, match="is there already"):
        write_folder(files, tmp_path, "0123")
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files


def test_a_folder_is_written_whole_or_not_at_all(files, tmp_path: Path, monkeypatch) -> None:
    def full(contents) -> None:
        next(iter(contents)).write_bytes(b"a part of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_folder, "write_together", full)
    with pytest.raises(ReleaseError, match="No space left"):
        write_folder(files, tmp_path, "0123")
    assert list(tmp_path.iterdir()) == []
    for parent, why in ((Path("here"), "whole path"), (tmp_path / "none", "does not exist")):
        with pytest.raises(ReleaseError, match=why):
            write_folder(files, parent, "0123")


def test_a_release_of_hardly_anybody_keeps_nothing(bodyfat_table) -> None:
    few = rwn.NBRS2015(epsilon=1.0, q=1.0)
    judged = judge_release(bodyfat_table, few, "csv", WIDE, draws=FurtherDraws(further=1))
    assert (judged.verdict.broken, judged.verdict.unread) == ((), {})
    assert not judged.verdict.kept
    assert judged.further == (False,)
    assert "of the records are released" in judged.document["verdict"]["words"]


def rare_flag(positives: int = 9, n: int = 400) -> rwn.Microdata:
    """People who are alone with their keys, and a flag that few of them have."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "income": np.round(np.exp(rng.normal(10, 0.7, n))),
            "flag": np.where(np.arange(n) < positives, "yes", "no"),
        }
    )
    return rwn.Microdata.from_frame(frame)


def test_a_masked_variable_without_a_changed_cell_stops_the_release() -> None:
    """Finding A15: nobody may answer for it, and the notice does not say what this draw did."""
    data = rare_flag()
    judged = judge_release(data, rwn.RWN(k=3), "csv", WIDE)
    assert judged.untouched == ("flag",)
    refused = judged.lacks(Approval(by="Ada", reason="a reason"), data)
    assert refused.startswith("flag is masked at this setting, but no cell changed")
    with pytest.raises(ReleaseError, match="flag is masked"):
        judged.record(data, Approval(by="Ada", reason="a reason"))
    material = quickly_made_of(data, rwn.RWN(k=3), ["cells_changed"])
    assert material.record["table"]["untouched"] == ["flag"]
    assert treatments(material)["flag"] == "masked"

    for suffix in (".html", ".json", ".xml", ".toml"):
        with pytest.raises(ReleaseError, match="flag is masked"):
            public_file(material, data, suffix)


def test_what_the_schema_leaves_or_cannot_change_stops_nothing() -> None:
    data = rare_flag()
    left = data.with_schema(data.schema.replace_variable("flag", masked=False))
    constant = rwn.Microdata.from_frame(data.frame.assign(flag="no"))
    for each, k in ((left, 3), (constant, 3), (data, 200)):
        made = quickly_made_of(each, rwn.RWN(k=k), ["cells_changed"])
        assert made.record["table"]["untouched"] == []


def test_a_title_that_tells_a_value_of_the_original_makes_no_file(bodyfat_table, broken) -> None:
    rarest = f"Body fat up to {bodyfat_table.frame['siri'].max():g}"
    with pytest.raises(ReleaseError, match="public file would hold"):
        release_files(broken, bodyfat_table, ADA, title=rarest)
