"""A dataset on disk: which may be opened, what is seen of it, its masking, also one that stops."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data import sizes
from rwn_core.data.variable import Role
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.key_file import read_key
from rwn_core.errors import InputError, ParameterError, ReleaseError
from rwn_ui.background import dataset_job
from rwn_ui.background.dataset_job import mask_and_record, write_reports
from rwn_ui.background.job import Job
from rwn_ui.data import dataset as dataset_page
from rwn_ui.data import dataset_setting
from rwn_ui.data.variables import described_row
from rwn_ui.server import dataset_folders, environment
from rwn_ui.server.dataset_folders import BegunRun, begun_now, run_lock, stopped_runs
from rwn_ui.state.change_table import reslice
from tests.ui.following import until


def test_only_what_lies_in_the_offered_folder_is_opened(folders, tmp_path) -> None:
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


@pytest.mark.parametrize(
    "name", ["x.key", "X.KEY", "x.record.toml", "con", "CON", "con.parquet", "Lpt1", "n" * 5000]
)
def test_names_that_no_release_can_have_are_refused_without_a_path(folders, name) -> None:
    """Finding T11: a name of 5,000 letters was an OSError with the path of the folder."""
    for asked in (dataset_folders.target_at, dataset_folders.source_at):
        with pytest.raises(InputError) as refused:
            asked(name)
        assert str(folders[0].parent) not in str(refused.value)
        assert len(str(refused.value).split()) <= 25
    assert dataset_folders.target_at("console") == folders[1] / "console"


def test_folders_are_offered_side_by_side(folders: tuple[Path, Path], monkeypatch) -> None:
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
    monkeypatch.setenv(environment.CLASSROOM_VARIABLE, "1")
    assert dataset_folders.datasets_folder() is None


def opened_page(open_page):
    """The Data page with the dataset open and its names left out."""
    screen = open_page("data")
    test = screen.test
    test.text_input(key="data.dataset.path").set_value("survey").run()
    test.button(key="data.dataset.open").click().run()
    assert any("600 records, 3 columns, 2 files" in each.value for each in test.markdown)
    opened = screen.work.dataset
    opened.schema = opened.schema.replace_variable("name", role=Role.IDENTIFIER)
    opened.version += 1
    test.run()
    return screen


@pytest.mark.usefixtures("here")
def test_a_dataset_is_looked_at_masked_and_reported(open_page, folders: tuple[Path, Path]) -> None:
    test = open_page("data").test
    test.text_input(key="data.dataset.path").set_value("../secret").run()
    test.button(key="data.dataset.open").click().run()
    assert "must lie in the folder" in test.error[0].value
    test = opened_page(open_page).test
    test.number_input(key="data.dataset.1.epsilon").set_value(0.5).run()
    test.button(key="data.dataset.look").click().run()
    assert not test.error
    words = " ".join(each.value for each in test.markdown)
    assert "500 random records, with neighborhoods in the full table of 600" in words
    assert "person-" not in str(test.main)
    test.selectbox(key="data.dataset.1.neighbors").set_value("sample").run()
    test.number_input(key="data.dataset.1.sample.m").set_value(50).run()
    assert any("earlier choice" in each.value for each in test.caption)
    test.button(key="data.dataset.plan").click().run()
    assert any("600 records in 2 files" in each.value for each in test.markdown)

    test.text_input(key="data.dataset.1.target").set_value("first").run()
    test.toggle(key="data.dataset.1.keep").set_value(True).run()
    test.button(key="data.dataset.mask").click().run()
    assert not test.error
    assert "600 records were released as 1 file" in test.success[0].value
    assert "Its secret is stored in first.key" in test.success[0].value
    out = folders[1]
    names = ["first", "first.key", "first.record.toml", "first.schema.toml"]
    assert sorted(each.name for each in out.iterdir()) == names
    # the release that the command and Python give for the same key
    data = rwn.Microdata.from_frame(pd.read_parquet(folders[0] / "survey")[["x", "y"]])
    params = rwn.RWN(k=5, epsilon=0.5, neighbors="sample", m=50)
    release = rwn.mask(data, params, seed=read_key(out / "first.key"))
    wanted = pd.read_parquet(release.publish(out.parent / "memory.parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet(out / "first"), wanted)

    test.text_input(key="data.dataset.1.title").set_value("Ask person-17 of it").run()
    with pytest.raises(ReleaseError, match="fewer than 10 records"):
        write_reports(out / "first", folders[0] / "survey", "Ask person-17", "", lambda _: None)
    test.text_input(key="data.dataset.1.title").set_value("Homes").run()
    test.button(key="data.dataset.report").click().run()
    assert not test.error
    assert "first.internal-report.html" in test.success[1].value
    users = out / "first.for-users"
    names = {"notice.html", "card.toml", "codebook.xml", "croissant.json", "healthdcat-ap.jsonld"}
    assert {each.name for each in users.iterdir()} == names
    assert "<title>Homes</title>" in (users / "notice.html").read_text()
    assert "not known without the key" not in (out / "first.internal-report.html").read_text()


@pytest.mark.usefixtures("here")
def test_random_records_go_to_tune_and_a_setting_comes_back(open_page, monkeypatch) -> None:
    screen = opened_page(open_page)
    test, opened = screen.test, screen.work.dataset
    monkeypatch.setattr(dataset_page, "LIVE_RECORDS", 500)
    monkeypatch.setattr(sizes, "LIVE_RECORDS", 500)
    test.run()
    test.button(key="data.dataset.draw").click().run()
    assert not test.error
    session = screen.session
    assert session.name == "survey, 500 random records"
    assert session.data.names == ("x", "y")
    assert "person-" not in str(test.main)
    difference = "not those of the full table: of 600 records about 1 times as many"
    assert any(difference in each.value for each in test.caption)
    screen.visit("tune").wait().weigh(y=3.0)
    screen.wait().move("levers", {"k": 9, "q": 0.7})
    reslice(session, [["x", "y"]])
    screen.visit("data")
    test.button(key="data.dataset.take").click().run()
    assert not test.error
    assert session.params.k == 9  # coming back changes nothing
    assert (opened.params.k, opened.params.q) == (9, 0.7)
    assert opened.params.epsilon == session.params.epsilon
    assert opened.schema.variable("y").weight == 3.0
    assert opened.schema.slices == (("x", "y"),)
    assert opened.schema.variable("name").role is Role.IDENTIFIER
    assert test.number_input(key=f"data.dataset.{opened.version}.k").value == 9
    session.precision = (("x", 0.5),)
    test.button(key="data.dataset.take").click().run()
    assert "released without rounding" in test.error[0].value
    assert opened.params.k == 9


@pytest.mark.usefixtures("here")
def test_columns_are_described_by_a_file_or_in_place(open_page) -> None:
    screen = opened_page(open_page)
    opened = screen.work.dataset
    kinds = [("x", "continuous"), ("y", "count"), ("name", "categorical")]
    text = "".join(f'[[variable]]\nname = "{name}"\nkind = "{kind}"\n' for name, kind in kinds)
    for content in (text, text.replace('"x"', '"z"')):
        upload = screen.test.file_uploader(key="data.dataset.schema")
        upload.set_value(("kinds.toml", content.encode(), "application/toml")).run()
        assert opened.schema == rwn.Schema.from_toml(text)
    assert "lacks column x" in screen.errors[0]
    rows = pd.DataFrame(
        [{**described_row(each), "weight": each.weight} for each in opened.schema.variables]
    )
    rows["role"] = ["key", "other", "identifier"]
    rows.loc[1, ["weight", "group", "masked"]] = [0.5, "pair", False]
    schema = dataset_setting._described(opened.schema, rows)
    assert [each.role for each in schema.variables] == [Role.KEY, Role.OTHER, Role.IDENTIFIER]
    y = schema.variable("y")
    assert (y.weight, y.group, y.masked) == (0.5, "pair", False)


def test_without_the_option_there_is_no_control(open_page) -> None:
    test = open_page("data").test
    assert not [each for each in test.text_input if each.key == "data.dataset.path"]


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
    until((stage / "x").exists)
    assert job.words.startswith("Masking")
    assert stopped_runs() == []  # somebody works on it
    assert (stage / "x").exists()
    opened.erase()
    assert not job.running
    until(lambda: not list(folders[1].iterdir()), 5)


def test_a_masking_that_fails_leaves_nothing_of_the_original(folders, monkeypatch) -> None:
    monkeypatch.setenv("RWN_THREADS", "1")
    shares = list[float]()
    for keep in (False, True):
        run = begun(folders, "out", rwn.RWN(epsilon=1e-9))
        with pytest.raises(ParameterError, match="no other record within epsilon"):
            mask_and_record(run, folders[0] / "survey", keep, shares.append)
        assert max(shares) > 0
        assert not list(folders[1].iterdir())


@pytest.mark.usefixtures("here")
def test_a_masking_that_was_killed_goes_on_or_is_swept(open_page, folders, monkeypatch) -> None:
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
