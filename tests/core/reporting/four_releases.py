"""Records of four releases of different kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.datasets.mask_dataset import RunOptions, mask_dataset
from rwn_core.reporting import ReleasedFile, internal_record, read_record
from rwn_core.reporting.dataset_record import dataset_record, read_dataset_record

CONTEXT = {"purpose": "Teaching", "access": "on request", "contact": "Ada, data@x.org"}
LIMIT = rwn.Limit(measure="marginals", at_most=0.9, source="Handbook", set_by="Board")


def of_table(data: rwn.Microdata, params: Any, form: str) -> dict[str, Any]:
    release = rwn.mask(data, params)
    text = internal_record(
        data,
        release,
        ReleasedFile.of(release.to_bytes(form), form),
        measures=("marginals", "association_loss"),
        policy=rwn.Policy(limits=(LIMIT,)),
    )
    record = {**read_record(text), "context": CONTEXT}
    record["approval"] = {"by": "Ada Lovelace", "reason": "A lesson", "exception": False}
    return record


def of_dataset(folder: Path) -> dict[str, Any]:
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
    return dict(read_dataset_record(text, out))


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
