"""The command `rwn audit-dataset`: the measures on a random sample of a dataset and its release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.options import read_text
from rwn_cli.terminal import (
    Overwrite,
    option,
    print_json,
    progress,
    readings_table,
    refuse_existing,
    require_folder,
    say,
    write,
)
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
        Path | None,
        option(
            "FILE", "The secret of the release: only it says which record a released row is of."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same, for a release made with a seed.")
    ] = None,
    report: Annotated[
        Path | None,
        option("FILE", "Writes the internal report, too: .html or .json. Needs --record."),
    ] = None,
    record: Annotated[
        Path | None, option("FILE", "The record that `rwn mask-dataset --record` wrote.")
    ] = None,
    schema: options.SchemaFile = None,
    drop: options.Dropped = None,
    overwrite: Overwrite = False,
) -> None:
    """Read the measures on a random sample of a dataset's records and their released rows.

    Neither is read into memory. Only the key of the release says which record a row is of, so
    give --key-file (or --seed). The law of the method is not used: for the worst case mask a
    sample with `rwn mask` and audit it.
    """
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.io.reading import schema_from
    from rwn_core.reporting.dataset_record import check_described, with_audit
    from rwn_core.reporting.facts import Material
    from rwn_core.reporting.page import internal_file

    refuse_existing(overwrite, report)
    known = _known(report, record, Path(masked))
    given = schema_from(schema) or Dataset.at(original).guessed_schema()
    asked = rwn.AuditOptions(
        key=_key(seed, key_file),
        schema=options.described_schema(given, identifiers=drop or ()),
        question=options.stated_question(response, predictor or ()),
        measures=measure,
        sample=sample,
    )
    if known is not None:
        check_described(known, asked.schema or given)
    with progress("auditing") as advance:
        found = rwn.audit_dataset(original, masked, asked, advance)
    if report is not None and known is not None:
        page = internal_file(Material(record=with_audit(known, found)), report.suffix)
        write(report, page, overwrite=overwrite)
        say(f"internal report written to {report}; it stays in the house")
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


def _known(report: Path | None, record: Path | None, masked: Path) -> dict[str, Any] | None:
    """The record of the release that is reported, refused before the work."""
    from rwn_core.reporting.dataset_record import read_dataset_record
    from rwn_core.reporting.page import FORMS

    if (report is None) != (record is None):
        raise ParameterError("Give --report and --record together.")
    if report is None or record is None:
        return None
    if report.suffix.lower() not in FORMS:
        raise ParameterError(f"An internal report must end in one of: {', '.join(FORMS)}.")
    require_folder(report)
    return read_dataset_record(read_text(record, "record"), masked)


def _key(seed: int | None, file: Path | None) -> Any:
    from rwn_core.datasets.key_file import read_or_make_key

    options.require_one_key(seed, file)
    if seed is not None:
        return rwn.SecretKey.from_seed(seed)
    if file is None:
        raise ParameterError(
            "Only the key of the release says which record a released row is of; give --key-file, "
            "or the --seed of a lesson."
        )
    if not file.is_file():
        raise ParameterError(f"{file.name} does not exist; give the key file of the release.")
    return read_or_make_key(file)
