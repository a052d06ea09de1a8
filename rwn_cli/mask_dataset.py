"""The command `rwn mask-dataset`: tables larger than memory, with the bytes of those that fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.datasets.mask_dataset import DatasetRelease
    from rwn_core.masking import Method

WARNING = "WARNING: "


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
    confidential: options.Confidential = None,
    key: options.Key = None,
    as_is: options.AsIs = None,
    rows_are: options.WhatRows = None,
) -> None:
    """Mask a dataset of Parquet files into a folder of Parquet files.

    Rows come out in secret order. The same command goes on with a run that was stopped, if it has
    its key: give --key-file (or --seed). What `rwn mask` refuses is refused here, and of up to
    20,000 records it says the same of the limits.
    """
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.datasets.mask_dataset import plan_lines
    from rwn_core.io.reading import schema_from
    from rwn_core.reporting.dataset_record import RECORDED, dataset_record

    params = _parameters({"epsilon": epsilon, "k": k, "q": q}, sample, options.settings(set_))
    dataset = Dataset.at(source)
    answered = options.described_schema(
        schema_from(schema) or dataset.guessed_schema(), identifiers=drop, retained=keep
    )
    answered.require_names([name for name, _ in dataset.columns])
    table = options.under_roles(_checked(dataset, answered), confidential, key, as_is)
    described = options.described_schema(table.schema, weights=weight, slices=slice_)
    described = options.schema_of_rows(described, rows_are)
    common: dict[str, Any] = {"schema": described, "workers": workers, "rows": rows}
    common |= {"stage": stage, "address": address}
    if plan:
        say("\n".join(plan_lines(source, target, params, rwn.RunOptions(**common))))
        return
    new_key = key_file if key_file is not None and not key_file.exists() else None
    secret = options.key_of(seed, key_file)
    if record is not None:
        if record.exists():  # no --overwrite, as for the dataset itself
            raise ReleaseError(f"{record.name} exists; choose a new file for the record.")
        require_folder(record)
    with progress("masking") as report:
        run = rwn.RunOptions(**common, progress=report)
        drawn = secret if seed is None else seed
        with _in_shell(new_key):
            made = rwn.mask_dataset(source, target, params, engine=engine, seed=drawn, options=run)
    files = "one file" if made.files == 1 else f"{made.files:,} files"
    say(f"rwn: {made.n:,} records, written to {target} as {files} in secret order")
    if record is not None:
        asked = rwn.AuditOptions(key=secret, schema=described, measures=RECORDED)
        with progress("judging") as report:
            found = rwn.audit_dataset(source, target, asked, report)
        text = dataset_record(made, params, described, _randomness(seed, key_file), source, found)
        say(f"{found.words}, drawn at random")
        write(record, text.encode("utf-8"), overwrite=False)
        say(f"internal record written to {record}; it stays in the house")
    if params.ball.k is not None and params.ball.epsilon is not None:
        say(f"{made.governed / made.n:.1%} of records have fewer than k candidates within epsilon")
    _say_of_cells(made, described)
    say(_verdict_words(table.with_schema(described), params, secret, made.n))
    options.say_of_key(seed, key_file, "delete it")


@contextmanager
def _in_shell(new_key: Path | None) -> Iterator[None]:
    """Refuse a release with the option that does what is asked; a new key goes with it."""
    try:
        yield
    except ReleaseError as refusal:
        if new_key is not None:
            new_key.unlink()
        words = str(refusal)
        again = ReleaseError(words.replace(" not masked.", " not masked (--as-is NAME)."))
        for note in getattr(refusal, "__notes__", ()):
            again.add_note(note)
        raise again from None


def _say_of_cells(made: DatasetRelease, schema: rwn.Schema) -> None:
    """Say how many cells changed, and which variables least, in the words of `rwn mask`."""
    from rwn_core.evaluation.audit import untouched_words
    from rwn_core.masking.sliced_method import imbalance_words

    cells = sum(made.changed.values()) / (made.n * len(made.changed))
    say(f"{cells:.1%} of values are others than the record's own")
    for line in imbalance_words(made.imbalance, made.kept):
        say(line)
    if made.untouched:
        say(f"{WARNING}{untouched_words(made.untouched)}.")
    for name in made.almost_unmasked:
        share = made.changed[name] / made.n
        say(f"{WARNING}{name} changed in {share:.1%} of cells: it is almost unmasked.")
    unmasked = [variable.name for variable in schema.released if not variable.masked]
    if unmasked:
        say(f"not masked, as stated: {', '.join(unmasked)}")


def _checked(dataset: Dataset, schema: rwn.Schema) -> rwn.Microdata:
    """Return the table that is judged: a small dataset as `rwn mask` takes it, or its profile."""
    from rwn_core.data.identity.profile import PROFILE_ROWS
    from rwn_core.datasets.mask_dataset import profile_of

    if dataset.n > PROFILE_ROWS:
        return rwn.Microdata(profile_of(dataset), schema)
    return rwn.Microdata.from_frame(profile_of(dataset), schema)


def _verdict_words(
    table: rwn.Microdata, params: Method, secret: rwn.SecretKey, records: int
) -> str:
    """Say the verdict of `rwn mask` on the same table: its release has the same rows."""
    from rwn_cli import mask

    if table.n < records:  # a profile of it
        return mask.UNREAD
    words = mask.said_of_limits(table, rwn.mask(table, params, seed=secret))
    return words.replace(" --record FILE.toml reads", " rwn mask --record FILE.toml reads")


def _randomness(seed: int | None, key_file: Path | None) -> str:
    """Say where the key of a release came from, for its record."""
    from rwn_core.reporting.release_record import FORGOTTEN, KEPT, SEEDED

    if seed is not None:
        return SEEDED
    return FORGOTTEN if key_file is None else KEPT


def _parameters(named: dict[str, Any], sample: int | None, others: dict[str, Any]) -> Any:
    """The parameters of the method rwn."""
    given = {name: value for name, value in named.items() if value is not None}
    if sample is not None:
        given |= {"neighbors": "sample", "m": sample}
    if twice := given.keys() & others.keys():
        raise ParameterError(f"--set {min(twice)} is given by another option, too; give one.")
    return options.parameters("rwn", **given, **others)
