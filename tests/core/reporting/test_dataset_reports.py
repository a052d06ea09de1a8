"""The public files of a dataset's release, and the leak check of its files and of the original."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rwn_core as rwn
from rwn_core.data.schema import Question
from rwn_core.data.variable import Role
from rwn_core.datasets.audit_dataset import AuditOptions, audit_dataset
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import DatasetRelease, RunOptions, mask_dataset
from rwn_core.errors import InputError, ReleaseError
from rwn_core.reporting import facts as listed
from rwn_core.reporting import public_notice
from rwn_core.reporting.dataset_record import (
    RECORDED,
    dataset_record,
    public_dataset_files,
    rare_in_dataset,
    read_dataset_record,
)
from rwn_core.reporting.facts import DATASET, Audience, Content, Entry, Material
from rwn_core.reporting.leak_check import ALLOWED, rare_values
from rwn_core.reporting.public_notice import PUBLIC_FORMS, unchecked_file

N = 600
SECRET = rwn.SecretKey.from_seed(5)
KEY = "a fresh 256-bit secret, forgotten"
Made = tuple[Path, Path, rwn.Schema, rwn.Microdata]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A dataset of two files, its release, its schema, and the same table in memory."""
    base = tmp_path_factory.mktemp("notice")
    numbers = np.random.default_rng(8)
    x = numbers.normal(50, 9, N)
    place = np.where(np.arange(N) < 3, "Magrathea", np.where(np.arange(N) < 40, "Vogsphere", "E"))
    table = pd.DataFrame(
        {
            "x": x,
            "y": x + numbers.normal(0, 9, N),
            "rooms": numbers.integers(1, 6, N),
            "place": place,
            "day": pd.Timestamp("1978-03-08") + pd.to_timedelta(np.arange(N), unit="D"),
            "person": [f"Zaphod {number:05d}" for number in range(N)],
        }
    )
    (base / "in").mkdir()
    table[:250].to_parquet(base / "in" / "a.parquet", index=False)
    table[250:].to_parquet(base / "in" / "b.parquet", index=False)
    schema = Dataset.at(base / "in").guessed_schema()
    schema = schema.replace_variable("person", role=Role.IDENTIFIER)
    schema = replace(schema, question=Question(response="y", predictors=("x", "rooms")))
    options = RunOptions(schema=schema, workers=1, file_rows=300)
    mask_dataset(base / "in", base / "out", rwn.RWN(k=5), seed=SECRET, options=options)
    return base / "in", base / "out", schema, rwn.Microdata.from_frame(table).with_schema(schema)


def material(made: Made, out: Path | None = None, **about: Any) -> Material:
    """The record of a release, of these files or of others in their place."""
    folder = out or made[1]
    changed = dict.fromkeys([variable.name for variable in made[2].released], N // 2)
    files = len(list(folder.iterdir()))
    said = DatasetRelease(folder=folder, n=N, files=files, governed=0, changed=changed)
    asked = AuditOptions(key=SECRET, schema=made[2], measures=RECORDED)
    found = audit_dataset(made[0], made[1], asked)
    text = dataset_record(said, rwn.RWN(k=5), made[2], KEY, made[0], found)
    return Material(record=read_dataset_record(text, folder), **about)


def nothing(records: float) -> None:
    """No progress is shown."""


def public(made: Made, out: Path | None = None, **about: Any) -> dict[str, bytes]:
    return public_dataset_files(
        material(made, out, **about), made[0], out or made[1], tuple(PUBLIC_FORMS)
    )


def plant(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Let a public fact say something more."""
    entry = Entry(
        key="use", title="Use", audience=Audience.BOTH, make=lambda _: Content(lines=(line,))
    )
    monkeypatch.setattr(
        listed, "DATASET", (*(each for each in DATASET if each.key != "use"), entry)
    )


def test_every_public_form_speaks_of_all_files(made: Made) -> None:
    shares: list[float] = []
    known = material(made, title="Homes of 1978")
    files = public_dataset_files(known, made[0], made[1], tuple(PUBLIC_FORMS), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    file = known.record["file"]
    assert len(file["parts"]) == 2
    for content in files.values():
        each = [part["sha256"].encode() in content for part in file["parts"]]
        assert file["sha256"].encode() in content or all(each)
        assert b"Zaphod" not in content
    card = public_notice.read_card(files[".toml"].decode())
    assert card["files"] == file["parts"]
    assert b"Number of its files: 2." in files[".html"]
    assert b"It was measured on a random sample of the records." in files[".html"]
    assert b"relations between variables" in files[".html"]
    assert b'<var name="rooms"' in files[".xml"]
    assert b"person" not in files[".xml"].split(b"<dataDscr>")[1]


def test_an_internal_fact_of_a_dataset_is_not_made_public(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ = {each.key for each in DATASET if each.audience is not Audience.INTERNAL}
    assert open_ == ALLOWED - {"intervals"}  # of a dataset no balance is judged
    known = material(made)
    inside = [each for each in DATASET if each.audience is Audience.INTERNAL]
    assert len(inside) >= 8
    for entry in inside:
        wrong = replace(entry, audience=Audience.PUBLIC)
        monkeypatch.setattr(listed, "DATASET", (wrong,))
        with pytest.raises(ReleaseError, match="for the house alone; nothing public was written"):
            unchecked_file(known, ".html")
    levels = next(each for each in inside if each.key == "changed")
    plain = tuple(each for each in DATASET if each.key in ALLOWED)
    monkeypatch.setattr(listed, "DATASET", (*plain, replace(levels, audience=Audience.PUBLIC)))
    monkeypatch.setattr(public_notice, "check_facts", lambda facts: None)
    with pytest.raises(ReleaseError, match="the value of a risk measure"):
        public(made)


def test_a_planted_value_is_refused(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "Many are from Vogsphere.")  # a value of 37 records is an aggregate
    assert b"Many are from Vogsphere." in public(made)[".html"]
    plant(monkeypatch, "Somebody from magrathea.")
    with pytest.raises(ReleaseError, match="fewer than 10 records"):
        public(made)


def test_rare_values_are_those_of_the_table_in_memory(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, _, schema, data = made
    monkeypatch.setattr("rwn_core.reporting.dataset_record.BATCH", 128)
    rare = rare_values(data)
    said = {*rare, "vogsphere", "e", 3.0, "nobody", 1e9}
    assert len(rare) > 3 * N
    assert rare_in_dataset(Dataset.at(source), schema, said, nothing) == rare
    some = {"zaphod 00599", "magrathea", "vogsphere"}
    found = rare_in_dataset(Dataset.at(source), schema, some, nothing)
    assert found == {"zaphod 00599", "magrathea"}


def _and_a_copy(path: Path) -> None:
    path.with_name(".part-000000.parquet.bak").write_bytes(b"PAR1")


def _under_another_name(path: Path) -> None:
    path.rename(path.with_name("zaphods-ward.parquet"))


def _other_values(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "x", pa.array([1e6] * len(table))), path)


@pytest.mark.parametrize("damage", [_and_a_copy, _under_another_name, _other_values])
def test_other_files_than_those_of_the_record_are_refused(
    damage: Callable[[Path], None], made: Made, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(made[1], out)
    known = material(made, out)
    damage(out / "part-000000.parquet")
    with pytest.raises(ReleaseError, match="holds other files than those of the record") as refused:
        public_dataset_files(known, made[0], out, [".html"])
    assert "nothing public was written" in str(refused.value)


def test_released_texts_that_identify_people_are_refused_as_of_a_table(
    made: Made, tmp_path: Path
) -> None:
    frame = pd.read_parquet(made[0]).assign(place=[f"z{i}@vogsphere.org" for i in range(N)])
    frame.to_parquet(tmp_path / "in.parquet", index=False)
    schema = made[2].replace_variable("place", confirmed=True)
    options = RunOptions(schema=schema, workers=1)
    out = tmp_path / "out"
    done = mask_dataset(tmp_path / "in.parquet", out, rwn.RWN(k=5), seed=SECRET, options=options)
    text = dataset_record(done, rwn.RWN(k=5), schema, KEY, tmp_path / "in.parquet")
    known = Material(record=read_dataset_record(text, out))
    with pytest.raises(ReleaseError, match="released variable place looks like e-mail addresses"):
        public_dataset_files(known, tmp_path / "in.parquet", out, [".html"])


def test_a_release_of_another_dataset_or_seed_gets_no_notice(made: Made) -> None:
    known = material(made)
    source = {**known.record["source"], "size": 1}
    other = replace(known, record={**known.record, "source": source})
    with pytest.raises(InputError, match="not the dataset that the record was made of"):
        public_dataset_files(other, made[0], made[1], [".html"])
    file = {**known.record["file"], "key": "a seed, which is no secret"}
    seeded = replace(known, record={**known.record, "file": file})
    with pytest.raises(ReleaseError, match="drawn with a seed"):
        public_dataset_files(seeded, made[0], made[1], [".html"])
