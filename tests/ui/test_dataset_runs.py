"""A dataset's masking that is cancelled, fails or is killed: what it leaves, and how it goes on."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.variable import Role
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.key_file import read_key
from rwn_core.errors import ParameterError
from rwn_ui.background import dataset_job
from rwn_ui.background.dataset_job import mask_and_record
from rwn_ui.background.job import Job
from rwn_ui.server.dataset_folders import BegunRun, begun_now, run_lock, stopped_runs


def begun(folders: tuple[Path, Path], name: str, params: rwn.RWN | None = None) -> BegunRun:
    schema = Dataset.at(folders[0] / "survey").guessed_schema()
    schema = schema.replace_variable("name", role=Role.IDENTIFIER)
    return begun_now("survey", folders[1] / name, schema, params or rwn.RWN(k=5))


def test_an_erased_masking_leaves_nothing_of_the_original(folders: tuple[Path, Path]) -> None:
    run, stage = begun(folders, "late"), folders[1] / ".late.stage"
    job = Job(
        "mask",
        wait_in_stage,
        words="Masking",
        about=(run, True),
        on_cancel=dataset_job.delete_if_forgotten,
        run=run,
    )
    opened = dataset_job.OpenDataset.at("survey", folders[0] / "survey", None)
    opened.jobs["mask"] = job
    end = time.monotonic() + 60
    while not (stage / "x").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert job.words.startswith("Masking")
    assert stopped_runs() == []  # somebody works on it
    assert (stage / "x").exists()
    opened.erase()
    assert not job.running
    end = time.monotonic() + 5
    while list(folders[1].iterdir()):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_masking_that_fails_leaves_nothing_of_the_original(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RWN_THREADS", "1")
    shares = list[float]()
    for keep in (False, True):
        run = begun(folders, "out", rwn.RWN(epsilon=1e-9))
        with pytest.raises(ParameterError, match="no other record within epsilon"):
            mask_and_record(run, folders[0] / "survey", keep, shares.append)
        assert max(shares) > 0
        assert not list(folders[1].iterdir())


@pytest.mark.usefixtures("here")
def test_a_masking_that_was_killed_goes_on_or_is_swept(
    open_page, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, source = folders[1], folders[0] / "survey"

    def killed(share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt  # no code of ours catches it, as none sees a kill

    for name, keep in (("kept", True), ("forgotten", False)):
        with pytest.raises(KeyboardInterrupt):
            mask_and_record(begun(folders, name), source, keep, killed)
        assert (out / f".{name}.stage" / "run.json").exists()
    key = read_key(out / "kept.key")
    assert (out / "kept.key").read_text().strip() not in (out / ".kept.run").read_text()
    with run_lock(begun(folders, "busy")):
        assert [run.target.name for run in stopped_runs()] == ["kept"]
        assert (out / ".busy.run").exists()
    assert sorted(each.name for each in out.iterdir()) == [
        ".kept.run",
        ".kept.stage",
        ".kept.unfinished",
        "kept.key",
    ]
    test = open_page("data").test
    assert any("kept: a release of survey, begun" in each.value for each in test.markdown)
    test.button(key="data.dataset.go_on.0").click().run()
    assert not test.error
    names = ["kept", "kept.key", "kept.record.toml", "kept.schema.toml"]
    assert sorted(each.name for each in out.iterdir()) == names
    data = rwn.Microdata.from_frame(pd.read_parquet(source)[["x", "y"]])
    wanted = pd.read_parquet(
        rwn.mask(data, rwn.RWN(k=5), seed=key).publish(out.parent / "memory.parquet")
    )
    pd.testing.assert_frame_equal(pd.read_parquet(out / "kept"), wanted)

    with pytest.raises(KeyboardInterrupt):
        mask_and_record(begun(folders, "again"), source, True, killed)
    test.run()
    test.button(key="data.dataset.delete.0").click().run()
    assert not [each for each in out.iterdir() if "again" in each.name]


def wait_in_stage(run: BegunRun, progress) -> None:
    """Work of a process that is ended from outside."""
    stage = run.target.with_name(f".{run.target.name}.stage")
    with run_lock(run):
        stage.mkdir()
        progress(0.5)
        (stage / "x").write_text("original")
        time.sleep(60)
