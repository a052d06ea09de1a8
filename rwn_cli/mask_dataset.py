"""The command `rwn mask-dataset`: tables larger than memory, with the bytes of those that fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.terminal import (
    Count,
    File,
    Text,
    flag,
    least,
    option,
    progress,
    require_folder,
    say,
    write,
)
from rwn_core.errors import ParameterError, ReleaseError

HARDLY = 0.02  # share of the cells, below which a variable is named


def mask_dataset(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Folder, pattern or one file of Parquet.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.")],
    epsilon: options.Radius = None,
    k: options.LeastSize = None,
    q: options.Modified = None,
    sample: Annotated[
        Count,
        option("M", "Values come from M random records (Method 1); from everybody if left out."),
    ] = None,
    weight: options.Weighted = None,
    slice_: options.Sliced = None,
    set_: options.Parameters = None,
    seed: options.TeachingSeed = None,
    key_file: Annotated[
        File,
        option(
            "FILE",
            "Keeps the secret, so that a stopped run can go on; made if it is not there. "
            "Whoever has it can undo the release: delete it when the run has ended.",
        ),
    ] = None,
    engine: Annotated[str, option("KEY", "Who runs the tasks: local, dask or spark.")] = "local",
    address: Annotated[
        Text,
        option(
            "ADDRESS",
            "A Dask scheduler (tcp://...) or a Spark master (spark://...); this machine if "
            "left out.",
        ),
    ] = None,
    workers: Annotated[Count, least(1, "RWN_THREADS or all processors by default.")] = None,
    rows: Annotated[Count, option("N", "Records of a task, a multiple of 1,024.")] = None,
    stage: Annotated[
        File,
        option(
            "FOLDER", "For unfinished work, which holds original values; next to OUT by default."
        ),
    ] = None,
    record: Annotated[
        File,
        option(
            "FILE", "Writes the internal record (TOML), for `rwn report` and `rwn audit-dataset`."
        ),
    ] = None,
    plan: Annotated[bool, flag("--plan", "Say what it would take, and write nothing.")] = False,
    schema: options.SchemaFile = None,
    drop: options.Dropped = None,
    keep: options.Retained = None,
    rows_are: options.WhatRows = None,
) -> None:
    """Mask a dataset of Parquet files into a folder of Parquet files.

    Rows come out in secret order. The same command goes on with a run that was stopped, if it has
    its key: give --key-file (or --seed).
    """
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.datasets.mask_dataset import plan_lines
    from rwn_core.io.reading import schema_from
    from rwn_core.masking.sliced_method import imbalance_words
    from rwn_core.reporting.dataset_record import RECORDED, dataset_record
    from rwn_core.reporting.release_record import FORGOTTEN, KEPT, SEEDED

    params = _parameters({"epsilon": epsilon, "k": k, "q": q}, sample, options.settings(set_))
    described = options.described_schema(
        schema_from(schema) or Dataset.at(source).guessed_schema(),
        weights=weight,
        identifiers=drop,
        retained=keep,
        slices=slice_,
    )
    described = options.schema_of_rows(described, rows_are)
    common: dict[str, Any] = {"schema": described, "workers": workers, "rows": rows}
    common |= {"stage": stage, "address": address}
    if plan:
        say("\n".join(plan_lines(source, target, params, rwn.RunOptions(**common))))
        return
    key = options.key_of(seed, key_file)
    if record is not None:
        if record.exists():  # no --overwrite, as for the dataset itself
            raise ReleaseError(f"{record.name} exists; choose a new file for the record.")
        require_folder(record)
    with progress("masking") as report:
        run = rwn.RunOptions(**common, progress=report)
        made = rwn.mask_dataset(source, target, params, engine=engine, seed=key, options=run)
    files = "one file" if made.files == 1 else f"{made.files:,} files"
    say(f"rwn: {made.n:,} records, written to {target} as {files} in secret order")
    if record is not None:
        asked = rwn.AuditOptions(key=key, schema=described, measures=RECORDED)
        with progress("judging") as report:
            found = rwn.audit_dataset(source, target, asked, report)
        drawn = SEEDED if seed is not None else FORGOTTEN if key_file is None else KEPT
        text = dataset_record(made, params, described, drawn, source, found)
        say(f"{found.words}, drawn at random")
        write(record, text.encode("utf-8"), overwrite=False)
        say(f"internal record written to {record}; it stays in the house")
    if params.ball.k is not None and params.ball.epsilon is not None:
        say(f"{made.governed / made.n:.1%} of records have fewer than k candidates within epsilon")
    cells = sum(made.changed.values()) / (made.n * len(made.changed))
    say(f"{cells:.1%} of values are others than the record's own")
    for line in imbalance_words(made.imbalance, made.kept):
        say(line)
    for name, count in made.changed.items():
        if count < HARDLY * made.n and described.variable(name).masked:
            share = f"{count / made.n:.1%} of cells"
            say(f"WARNING: {name} changed in {share}: it is almost unmasked.")
    options.say_of_key(seed, key_file, "delete it")


def _parameters(named: dict[str, Any], sample: int | None, others: dict[str, Any]) -> Any:
    """The parameters of the method rwn."""
    given = {name: value for name, value in named.items() if value is not None}
    if sample is not None:
        given |= {"neighbors": "sample", "m": sample}
    if twice := given.keys() & others.keys():
        raise ParameterError(f"--set {min(twice)} is given by another option, too; give one.")
    return options.parameters("rwn", **given, **others)
