"""A dataset on the server's disk: which may be opened, what is seen of it, and its masking."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import InputError, ParameterError
from rwn_core.scale import dataset_preview
from rwn_core.scale.dataset import Dataset
from rwn_ui.background import dataset_job
from rwn_ui.data import dataset as dataset_page
from rwn_ui.server import dataset_folders, launch

N = 600


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An offered dataset of two files, and where releases go."""
    datasets, releases = tmp_path / "datasets", tmp_path / "releases"
    (datasets / "survey").mkdir(parents=True)
    releases.mkdir()
    numbers = np.random.default_rng(2)
    x = numbers.normal(size=N)
    name = [f"person-{number}" for number in range(N)]
    table = pd.DataFrame({"x": x, "y": x + numbers.normal(size=N), "name": name})
    table[:200].to_parquet(datasets / "survey" / "a.parquet", index=False)
    table[200:].to_parquet(datasets / "survey" / "b.parquet", index=False)
    monkeypatch.setenv(dataset_folders.DATASETS_VARIABLE, str(datasets))
    monkeypatch.setenv(dataset_folders.RELEASES_VARIABLE, str(releases))
    return datasets, releases


def test_only_what_lies_in_the_offered_folder_is_opened(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    datasets, releases = folders
    outside = tmp_path / "outside.parquet"
    outside.write_bytes((datasets / "survey" / "a.parquet").read_bytes())
    (datasets / "link.parquet").symlink_to(outside)
    (datasets / "linked").mkdir()
    (datasets / "linked" / "a.parquet").symlink_to(outside)
    (datasets / "folder").symlink_to(tmp_path / "releases")
    assert dataset_folders.source_at("survey") == datasets / "survey"
    assert dataset_folders.source_at(str(datasets / "survey")) == datasets / "survey"
    (datasets / "survey" / "inner").symlink_to(datasets / "survey" / "a.parquet")  # stays inside
    dataset_folders.source_at("survey")
    elsewhere = (str(outside), "../outside.parquet", "survey/../survey", "link.parquet", "linked")
    for text in (*elsewhere, "folder", "/", "a\0b", "none", "sur*"):
        with pytest.raises(InputError):
            dataset_folders.source_at(text)
    assert dataset_folders.target_at("first try") == releases / "first try"
    (releases / "there").mkdir()
    (releases / ".begun.stage").mkdir()
    for text in ("there", "begun", "../x", "a/b", ".hidden", "/tmp/x", ""):
        with pytest.raises(InputError):
            dataset_folders.target_at(text)


def test_folders_are_offered_side_by_side(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets, releases = folders
    monkeypatch.setenv(dataset_folders.DATASETS_VARIABLE, "")
    for wrong in (
        (None, releases),
        (datasets, datasets),
        (datasets, datasets / "survey"),
        (datasets.parent, releases),
        (datasets / "none", None),
    ):
        with pytest.raises(ParameterError):
            dataset_folders.offer(*wrong)
    assert dataset_folders.datasets_folder() is None
    dataset_folders.offer(datasets, releases)
    assert os.environ[dataset_folders.DATASETS_VARIABLE] == str(datasets)
    monkeypatch.setenv(launch.CLASSROOM_VARIABLE, "1")
    assert dataset_folders.datasets_folder() is None


def test_a_dataset_is_looked_at_and_masked(
    open_page, at_once, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TimedJob", "MaskingJob"):
        monkeypatch.setattr(dataset_page, name, at_once)
    monkeypatch.setattr(dataset_job, "be_polite", lambda: None)
    monkeypatch.setenv("RWN_THREADS", "1")
    test = open_page("data").test
    test.text_input(key="data.dataset.path").set_value("../secret").run()
    screen = test.button(key="data.dataset.open").click().run()
    assert "must lie in the folder" in screen.error[0].value
    test.text_input(key="data.dataset.path").set_value("survey").run()
    test.button(key="data.dataset.open").click().run()
    assert any("600 records, 3 columns, 2 files" in each.value for each in test.markdown)
    test.multiselect(key="data.dataset.removed").set_value(["name"]).run()
    test.number_input(key="data.dataset.epsilon").set_value(0.5).run()
    test.button(key="data.dataset.look").click().run()
    assert not test.error
    words = " ".join(each.value for each in test.markdown)
    assert "500 random records, with neighborhoods in the full table of 600" in words
    assert "person-" not in str(test.main)
    test.number_input(key="data.dataset.k").set_value(7).run()
    assert any("earlier choice" in each.value for each in test.caption)

    test.text_input(key="data.dataset.target").set_value("first").run()
    test.button(key="data.dataset.mask").click().run()
    assert not test.error
    assert "600 records were released as 1 file" in test.success[0].value
    out = folders[1]
    released = pd.read_parquet(out / "first")
    original = pd.read_parquet(folders[0] / "survey")
    assert sorted(released.columns) == ["x", "y"]
    assert set(released["x"]) <= set(original["x"])
    assert sorted(each.name for each in out.iterdir()) == ["first", "first.record.toml"]
    assert str(folders[0]) not in (out / "first.record.toml").read_text()


def test_a_page_says_whose_neighborhoods_it_shows(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_preview, "DONORS", 50)
    source = Dataset.at(folders[0] / "survey")
    schema, params = source.guessed_schema(), rwn.RWN(k=5)
    found = dataset_preview.preview_dataset(source, schema, params, largest_exact=100)
    words = dataset_page._words(found, params)
    assert "neighborhoods among 50 random ones of 600 (Method 1)" in words
    assert "neighborhoods in the full table" not in words


def test_without_the_option_there_is_no_control(open_page) -> None:
    test = open_page("data").test
    assert not [each for each in test.text_input if each.key == "data.dataset.path"]


def test_a_cancelled_masking_leaves_nothing_of_the_original(folders: tuple[Path, Path]) -> None:
    target = folders[1] / "late"
    stage = folders[1] / ".late.stage"
    job = dataset_job.MaskingJob(
        "mask", wait_in_stage, words="Masking", about=(target,), stage=str(stage)
    )
    end = time.monotonic() + 60
    while not (stage / "x").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    assert job.words.startswith("Masking")
    job.cancel()
    assert not job.running
    end = time.monotonic() + 5
    while stage.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_masking_that_fails_leaves_nothing_of_the_original(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_job, "be_polite", lambda: None)
    monkeypatch.setenv("RWN_THREADS", "1")
    source = folders[0] / "survey"
    schema, shares = Dataset.at(source).guessed_schema(), list[float]()
    with pytest.raises(ParameterError, match="no other record within epsilon"):
        dataset_job.mask_and_record(
            source, folders[1] / "out", schema, rwn.RWN(epsilon=1e-9), shares.append
        )
    assert max(shares) > 0
    assert not list(folders[1].iterdir())


def wait_in_stage(stage: str, progress) -> None:
    """Work of a process that is ended from outside."""
    Path(stage).mkdir()
    progress(0.5)
    (Path(stage) / "x").write_text("original")
    time.sleep(60)


def test_the_time_left_is_said_in_words() -> None:
    assert dataset_job.time_left(0.0, 5) == ""
    assert dataset_job.time_left(0.5, 30) == "about 30 seconds left"
    assert dataset_job.time_left(0.1, 60) == "about 9 minutes left"
    assert dataset_job.time_left(0.1, 3600) == "about 9 hours left"
