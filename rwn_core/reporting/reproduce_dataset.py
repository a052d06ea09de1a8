"""Draws the release of a dataset again from its record, its original and its key."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import mask_dataset
from rwn_core.datasets.prepare_run import RunOptions
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.reporting.dataset_record import check_described, hashed_files, recorded_schema
from rwn_core.reporting.reproduce import other_bytes
from rwn_core.tuning import Setting


def reproduce_dataset(
    record: Mapping[str, Any],
    original: str | Path,
    target: Path,
    key: SecretKey,
    *,
    schema: Schema | None = None,
    progress: Progress | None = None,
) -> Path:
    """Draw the release of a dataset again."""
    known = recorded_schema(record, Dataset.at(original))
    if schema is not None:
        removed = record["table"]["removed"]
        for name in removed:
            schema = schema.replace_variable(name, role=known.variable(name).role)
        check_described(record, schema)
        known = schema
    setting = Setting.from_dict(record["setting"])
    equal = {variable.name: 1.0 for variable in known.variables}
    known = known.with_weights(equal | dict(setting.weights)).with_slices(setting.slices or ())
    options = RunOptions(schema=known, progress=progress)
    made = mask_dataset(original, target, setting.params, seed=key, options=options)
    if hashed_files(made.folder)["sha256"] != record["file"]["sha256"]:
        shutil.rmtree(made.folder, ignore_errors=True)
        raise other_bytes(record)
    return made.folder
