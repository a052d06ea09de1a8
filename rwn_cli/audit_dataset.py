"""The command `rwn audit-dataset`: a dataset and its release, compared batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.options import read_text
from rwn_cli.output import Overwrite, refuse_existing, require_folder, write
from rwn_cli.terminal import option, print_json, progress, say
from rwn_core.errors import ParameterError

if TYPE_CHECKING:
    from rwn_core.datasets.audit_dataset import DatasetAudit

_SHOWN = 5  # principal components


def audit_dataset(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="Folder, pattern or one file of Parquet.")
    ],
    masked: Annotated[
        str, typer.Argument(metavar="MASKED", help="Its release, in any order of rows.")
    ],
    as_json: options.AsJson = False,
    response: options.Response = None,
    predictor: options.Predictors = None,
    sample: Annotated[int, option("N", "Released rows to link; 0 for none.", min=0)] = 1000,
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
    """Compare a dataset and its release, file by file.

    Neither is read into memory. Statistics are of all records; linkage is of a random sample of
    the released rows, with all original records as candidates.
    """
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.io.read import schema_from
    from rwn_core.reporting.dataset_record import check_described
    from rwn_core.reporting.facts import Material
    from rwn_core.reporting.internal_report import internal_file

    refuse_existing(overwrite, report)
    known = _known(report, record, Path(masked))
    given = schema_from(schema) or Dataset.at(original).guessed_schema()
    asked = rwn.AuditOptions(
        schema=options.described_schema(given, identifiers=drop or ()),
        question=options.stated_question(response, predictor or ()),
        sample=sample,
        key=_key(seed, key_file),
    )
    if known is not None:
        check_described(known, asked.schema or given)
    with progress("auditing") as advance:
        found = rwn.audit_dataset(original, masked, asked, advance)
    if report is not None and known is not None:
        write(
            report,
            internal_file(Material(record=known, dataset=found), report.suffix),
            overwrite=overwrite,
        )
        say(f"internal report written to {report}; it stays in the house")
    if as_json:
        print_json(_document(found))
    else:
        typer.echo("\n".join(_lines(found)))
    if sample and asked.key is None:
        say("note: without --key-file nobody knows which record a released row is of.")


def _known(report: Path | None, record: Path | None, masked: Path) -> dict[str, Any] | None:
    """The record of the release that is reported, refused before the work."""
    from rwn_core.reporting.dataset_record import read_dataset_record
    from rwn_core.reporting.internal_report import FORMS

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
    if file is None:
        return None if seed is None else rwn.SecretKey.from_seed(seed)
    if not file.is_file():
        raise ParameterError(f"{file.name} does not exist; give the key file of the release.")
    return read_or_make_key(file)


def _lines(found: DatasetAudit) -> list[str]:
    """Return the text output."""
    lines = [f"{found.original.n:,} records, {found.released.n:,} released rows"]
    width = max([8, *(len(name) for name in found.distances)])
    lines.append(f"{'variable':{width}}  {'mean':>12} {'released':>12} {'moved':>7}")
    for name, moved in found.distances.items():
        before, after = (side.columns.get(name) for side in (found.original, found.released))
        means = [f"{each.mean:>12.5g}" if each else f"{'':>12}" for each in (before, after)]
        lines.append(f"{name:{width}}  {' '.join(means)} {moved:>7.2%}")
    lines.append("moved: share of records whose value would have to change (total variation)")
    same = [name for name, moved in found.distances.items() if moved == 0]
    if same:
        lines.append(f"WARNING: {', '.join(same)} did not move at all: look whether it was masked")
    if found.correlation_change is not None:
        lines.append(f"correlations changed by {found.correlation_change:.4f} on average")
        sides = (found.original, found.released)
        one, two = (_shares(side.shares_of_components) for side in sides)
        lines.append(f"principal components hold {one} of the variance, released {two}")
    if found.regression is not None:
        for name, value in found.regression[0].items():
            lines.append(
                f"regression, {name}: {value:.6g}, released {found.regression[1][name]:.6g}"
            )
    return lines + _linkage_lines(found)


def _linkage_lines(found: DatasetAudit) -> list[str]:
    linkage = found.linkage
    if linkage is None:
        return []
    lines = [
        f"of {linkage.sampled:,} random released rows {linkage.identical:.2%} equal an original "
        f"record; the median distance to the nearest one is {linkage.nearest:.3g}"
    ]
    if linkage.linked is not None:
        lines.append(
            f"the nearest original record is the true one for {linkage.linked:.2%} of them; a "
            f"guess finds {linkage.baseline:.2g}"
        )
        lines.append("an intruder who knows the method finds more: see rwn audit on a sample")
    return lines


def _shares(values: Any) -> str:
    return ", ".join(f"{value:.1%}" for value in values[:_SHOWN])


def _document(found: DatasetAudit) -> dict[str, Any]:
    """Return the JSON output; an undefined correlation is null."""
    from dataclasses import asdict

    def side(statistics: Any) -> dict[str, Any]:
        return {
            "records": statistics.n,
            "columns": {name: asdict(each) for name, each in statistics.columns.items()},
            "levels": {
                name: {str(level): count for level, count in each.items()}
                for name, each in statistics.levels.items()
            },
            "numeric": list(statistics.numeric),
            "correlation": statistics.correlation.tolist(),
            "components": statistics.shares_of_components.tolist(),
        }

    return {
        "original": side(found.original),
        "released": side(found.released),
        "moved": found.distances,
        "correlation_change": found.correlation_change,
        "regression": found.regression,
        "linkage": None if found.linkage is None else asdict(found.linkage),
    }
