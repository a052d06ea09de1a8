"""The command `rwn mask-dataset`: tables larger than memory, with the bytes of those that fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rwn_cli.options import (
    Dropped,
    LeastSize,
    Modified,
    Radius,
    Retained,
    SchemaFile,
    Sliced,
    TeachingSeed,
    Weighted,
    described_schema,
    parameters,
    settings,
)
from rwn_cli.output import write
from rwn_cli.terminal import progress, say
from rwn_core.errors import ParameterError, ReleaseError

if TYPE_CHECKING:
    from rwn_core.data.schema import Schema
    from rwn_core.datasets.mask_dataset import DatasetRelease
    from rwn_core.randomness import SecretKey

HARDLY = 0.02  # share of the cells, below which a variable is named


def mask_dataset(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Folder, pattern or one file of Parquet.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.")],
    epsilon: Radius = None,
    k: LeastSize = None,
    q: Modified = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            help="Values come from M random records (Method 1); from everybody if left out.",
        ),
    ] = None,
    weight: Weighted = None,
    slice_: Sliced = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any parameter of the method rwn, such as scale=range; repeatable.",
        ),
    ] = None,
    seed: TeachingSeed = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keeps the secret, so that a stopped run can go on; made if it is not there. "
            "Whoever has it can undo the release: delete it when the run has ended.",
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="KEY", help="Who runs the tasks: local, dask or spark.")
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler (tcp://...) or a Spark master (spark://...); this machine if "
            "left out.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="RWN_THREADS or all processors by default."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(metavar="N", help="Records of a task, a multiple of 1,024."),
    ] = None,
    stage: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="For unfinished work, which holds original values; next to OUT by default.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Writes the internal record (TOML), for `rwn report` and `rwn audit-dataset`.",
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it would take, and write nothing.")
    ] = False,
    schema: SchemaFile = None,
    drop: Dropped = None,
    keep: Retained = None,
) -> None:
    """Mask a dataset of Parquet files into a folder of Parquet files.

    Rows come out in secret order. The same command goes on with a run that was stopped, if it has
    its key: give --key-file (or --seed).
    """
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.datasets.dataset_plan import plan_dataset, plan_lines
    from rwn_core.datasets.mask_dataset import mask_dataset as mask_files
    from rwn_core.datasets.prepare_run import RunOptions
    from rwn_core.io.read import schema_from
    from rwn_core.masking.rwn import imbalance_words
    from rwn_core.reporting.dataset_record import dataset_record

    params = _parameters({"epsilon": epsilon, "k": k, "q": q}, sample, settings(set_ or ()))
    described = described_schema(
        _schema(Dataset.at(source), schema_from(schema)),
        weights=weight or (),
        identifiers=drop or (),
        retained=keep or (),
        slices=slice_ or (),
    )
    common: dict[str, Any] = {
        "schema": described,
        "workers": workers,
        "rows": rows,
        "stage": stage,
        "address": address,
    }
    if plan:
        for line in plan_lines(plan_dataset(source, target, params, RunOptions(**common))):
            say(line)
        return
    key = _key(seed, key_file)
    if record is not None:
        _require_new(record)
    with progress("masking") as report:
        options = RunOptions(**common, progress=report)
        made = mask_files(source, target, params, engine=engine, seed=key, options=options)
    files = "one file" if made.files == 1 else f"{made.files:,} files"
    say(f"rwn: {made.n:,} records, written to {target} as {files} in secret order")
    say(made.second_reading["words"])
    if record is not None:
        text = dataset_record(made, params, described, _words(seed, key_file), source)
        write(record, text.encode("utf-8"), overwrite=False)
        say(f"internal record written to {record}; it stays in the house")
    if params.k is not None and params.epsilon is not None:
        say(f"{made.governed / made.n:.1%} of records have fewer than k candidates within epsilon")
    cells = sum(made.changed.values()) / (made.n * len(made.changed))
    say(f"{cells:.1%} of values are others than the record's own")
    for line in (*imbalance_words(made.imbalance), *_hardly(made, described)):
        say(line)
    for line in _last_notes(seed, key_file):
        say(line)


def _last_notes(seed: int | None, key_file: Path | None) -> list[str]:
    """Return notes about the seed and the key file of a release."""
    notes = []
    if key_file is not None:
        notes.append(f"note: {key_file.name} holds the secret of this release; delete it.")
    if seed is not None:
        notes.append("note: a seed is for teaching: it is no secret.")
    return notes


def _hardly(made: DatasetRelease, described: Schema) -> list[str]:
    """Return a warning for each variable that should be masked but changed in few cells."""
    return [
        f"WARNING: {name} changed in {count / made.n:.1%} of cells: it is almost unmasked."
        for name, count in made.changed.items()
        if count < HARDLY * made.n and described.variable(name).masked
    ]


def _schema(dataset: Any, given: Schema | None) -> Schema:
    schema: Schema = given or dataset.guessed_schema()
    return schema


def _parameters(named: dict[str, Any], sample: int | None, others: dict[str, Any]) -> Any:
    """The parameters of the method rwn."""
    given = {name: value for name, value in named.items() if value is not None}
    if sample is not None:
        given |= {"neighbors": "sample", "m": sample}
    twice = given.keys() & others.keys()
    if twice:
        raise ParameterError(f"--set {min(twice)} is given by another option, too; give one.")
    return parameters("rwn", **given, **others)


def _key(seed: int | None, file: Path | None) -> int | SecretKey | None:
    """The secret of the run: a seed, that of a file, or none of these."""
    from rwn_core.datasets.key_file import read_or_make_key

    if file is None:
        return seed
    if seed is not None:
        raise ParameterError("--seed and --key-file both give the key; give one of them.")
    return read_or_make_key(file)


def _require_new(record: Path) -> None:
    """Refuse before the work what could not be written after it."""
    if record.exists():  # no --overwrite, as for the dataset itself
        raise ReleaseError(f"{record.name} exists; choose a new file for the record.")
    if not record.parent.is_dir():
        raise ReleaseError(f"The folder {record.parent} does not exist; create it first.")


def _words(seed: int | None, file: Path | None) -> str:
    """Return the source of the release's randomness."""
    from rwn_core.reporting.record_parts import FORGOTTEN, KEPT, SEEDED

    if seed is not None:
        return SEEDED
    return FORGOTTEN if file is None else KEPT
