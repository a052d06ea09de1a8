"""Four releases of different kinds, each in a folder with its descriptions for machines."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.datasets.mask_dataset import mask_dataset
from rwn_core.datasets.prepare_run import RunOptions
from rwn_core.reporting import ReleasedFile, internal_record, read_record
from rwn_core.reporting.dataset_record import dataset_record, read_dataset_record
from rwn_core.reporting.dataset_reports import public_dataset_files
from rwn_core.reporting.described_files import CRATE, CROISSANT, HEALTHDCAT
from rwn_core.reporting.facts import Material
from rwn_core.reporting.public_notice import public_files

CONTEXT = {"purpose": "Teaching", "access": "on request", "contact": "Ada, data@x.org"}
VIEWS = (CROISSANT, HEALTHDCAT)
LIMIT = rwn.Limit(measure="marginals", at_most=0.9, source="Handbook", set_by="Board")


@dataclass(frozen=True, slots=True)
class Made:
    """A release in a folder with its descriptions.

    Attributes
    ----------
    folder : Path
    frame : DataFrame
        The released values.
    document : dict
        Its internal record.
    """

    folder: Path
    frame: pd.DataFrame
    document: dict[str, Any]

    def view(self, name: str) -> Any:
        """One of its descriptions, as plain data."""
        return json.loads((self.folder / name).read_bytes())


def of_table(data: rwn.Microdata, params: Any, form: str, folder: Path) -> Made:
    release = rwn.mask(data, params)
    content = release.to_bytes(form)
    text = internal_record(
        data,
        release,
        ReleasedFile.of(content, form),
        measures=("marginals", "association_loss"),
        policy=rwn.Policy(limits=(LIMIT,)),
    )
    record = {**read_record(text), "context": CONTEXT}
    record["approval"] = {"by": "Ada Lovelace", "reason": "A lesson", "exception": False}
    released = {f"masked.{form}": content}
    material = Material(record=record, title="Lesson of 2026", files=released)
    users = released | public_files(material, data, ("notice.html", "card.toml", *VIEWS))
    users |= public_files(replace(material, files=users), data, (CRATE,))
    for name, content in users.items():
        (folder / name).write_bytes(content)
    frame = {"csv": pd.read_csv, "tsv": lambda f: pd.read_csv(f, sep="\t")}.get(
        form, pd.read_parquet
    )(folder / f"masked.{form}")
    return Made(folder, frame, record)


def of_dataset(folder: Path) -> Made:
    """Released files of a dataset, of which each has a part of the records."""
    source = folder / "in"
    source.mkdir()
    number = np.arange(400)
    x = np.random.default_rng(3).normal(50, 9, 400)
    table = pd.DataFrame(
        {"x": x, "rooms": number % 6, "place name": np.where(number % 3, "E", "V")}
    )
    table.to_parquet(source / "a.parquet", index=False)
    schema = rwn.Microdata.from_frame(table).schema
    out = folder / "out"
    options = RunOptions(schema=schema, workers=1, file_rows=200)
    said = mask_dataset(source, out, rwn.RWN(k=5), options=options)
    text = dataset_record(said, rwn.RWN(k=5), schema, "a fresh 256-bit secret, forgotten", source)
    material = Material(record=read_dataset_record(text, out), title="Homes")
    for name, content in public_dataset_files(material, source, out, (*VIEWS, CRATE)).items():
        (out / name).write_bytes(content)
    frame = pd.concat([pd.read_parquet(path) for path in sorted(out.glob("*.parquet"))])
    return Made(out, frame, dict(material.record))


def categories() -> rwn.Microdata:
    number = np.arange(300)
    frame = pd.DataFrame(
        {
            "sex": np.where(number % 2, "f", "m"),
            "region of 2020": np.array(["north", "south", "east"])[number % 7 % 3],
            "group": np.array(["a", "b"])[number % 5 % 2],
        }
    )
    frame.loc[::11, "group"] = None
    return rwn.Microdata.from_frame(frame)


def assert_same(read: pd.DataFrame, frame: pd.DataFrame) -> None:
    """The same numbers and texts, in the same order."""
    for name in frame:
        one, two = read[name], frame[name].reset_index(drop=True)
        if pd.api.types.is_numeric_dtype(two):
            np.testing.assert_allclose(one.astype(float), two.astype(float))
        else:
            plain = [each.decode() if isinstance(each, bytes) else each for each in one]
            assert [None if e is None or e != e else str(e) for e in plain] == [
                None if e is None or e != e else str(e) for e in two
            ]
