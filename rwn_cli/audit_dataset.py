"""The command `rwn audit-dataset`: the measures on a random sample of a dataset and its release."""

from __future__ import annotations

from typing import Annotated

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.terminal import Count, File, least, option, print_json, progress, readings_table, say
from rwn_core.errors import ParameterError


def audit_dataset(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="Folder, pattern or one file of Parquet.")
    ],
    masked: Annotated[str, typer.Argument(metavar="MASKED", help="Its release, in secret order.")],
    as_json: options.AsJson = False,
    measure: options.Measures = None,
    response: options.Response = None,
    predictor: options.Predictors = None,
    sample: Annotated[int, option("N", "Records that are drawn.", min=20)] = 5000,
    key_file: Annotated[
        File,
        option(
            "FILE", "The secret of the release: only it says which record a released row is of."
        ),
    ] = None,
    seed: Annotated[Count, least(0, "The same, for a release made with a seed.")] = None,
    schema: options.SchemaFile = None,
    drop: options.Dropped = None,
) -> None:
    """Read the measures on a random sample of a dataset's records and their released rows.

    Neither is read into memory. Only the key of the release says which record a row is of, so
    give --key-file (or --seed). The law of the method is not used: for the worst case mask a
    sample with `rwn mask` and audit it.
    """
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.io.reading import schema_from

    if seed is None and key_file is None:
        raise ParameterError(
            "Only the key of the release says which record a released row is of; give --key-file, "
            "or the --seed of a lesson."
        )
    if key_file is not None and not key_file.is_file():
        raise ParameterError(f"{key_file.name} does not exist; give the key file of the release.")
    given = schema_from(schema) or Dataset.at(original).guessed_schema()
    asked = rwn.AuditOptions(
        key=options.key_of(seed, key_file),
        schema=options.described_schema(given, identifiers=drop),
        question=options.stated_question(response, predictor),
        measures=measure,
        sample=sample,
    )
    with progress("auditing") as advance:
        found = rwn.audit_dataset(original, masked, asked, advance)
    rows = found.audit.records()
    if as_json:
        about = {"records": found.n, "judged": found.judged, "left_out": list(found.left_out)}
        print_json({**about, "measures": rows})
    else:
        typer.echo(f"{found.words}, drawn at random\n{readings_table(rows)}")
    if found.left_out:
        say(f"note: without a value in the sample: {', '.join(found.left_out)}")
    if found.apart:
        say(
            "WARNING: released rows are no nearer to their own records than to others; look "
            "whether this is the key of the release"
        )
