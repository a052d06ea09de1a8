"""The command `rwn audit`: measures, row by row; it judges no limit, its exit code is 0."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.file_option import Laid, read_file
from rwn_cli.terminal import (
    File,
    Number,
    Text,
    Texts,
    option,
    print_json,
    progress,
    readings_table,
    say,
)
from rwn_core.errors import InputError, ParameterError, SchemaError

Original = Annotated[str, typer.Argument(metavar="ORIGINAL", help="Its file, or demo:NAME.")]


def audit(
    original: Original,
    masked: Annotated[Path, typer.Argument(metavar="MASKED", help="Its rows in the same order.")],
    as_json: options.AsJson = False,
    measure: options.Measures = None,
    response: options.Response = None,
    predictor: options.Predictors = None,
    weights: Annotated[
        Text,
        option(
            "NAME",
            "Sampling weights: how many people a record stands for; by default the variable "
            "of that role.",
        ),
    ] = None,
    population: Annotated[
        Number, option("N", "How many people the original is a sample of.")
    ] = None,
    keys: Annotated[
        Texts,
        option("NAME,NAME", "Variables that somebody may know together; repeatable."),
    ] = None,
    halves: Annotated[
        Text,
        option(
            "NAME,NAME|NAME",
            "The two sets of variables of linkability; of one set, the other is the rest.",
        ),
    ] = None,
    record: Annotated[
        File,
        option("FILE.toml", "The internal record of MASKED: its setting gives the worst case."),
    ] = None,
    method: Annotated[
        Text,
        option(
            "KEY",
            "In place of a record: the method that made MASKED; rwn if only parameters are given.",
        ),
    ] = None,
    set_: options.Parameters = None,
    weight: options.Weighted = None,
    slice_: options.Sliced = None,
    round_: options.Precision = None,
    schema: options.SchemaFile = None,
    file: Laid = None,
    drop: options.Dropped = None,
    only: options.Chosen = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
) -> None:
    """Read the measures on an original and a masked table.

    Row i of MASKED must be the masked record i of ORIGINAL, as `rwn mask --order original` writes
    it. A shuffled release cannot be audited row by row. The worst case needs to know how MASKED
    was made: give --record, or --method and --set.
    """
    from rwn_core.evaluation.audit import comparable, compare, read_all
    from rwn_core.measures.risk.nearness import compute_cells_changed as compute
    from rwn_core.measures.risk.nearness import unchanged_words
    from rwn_core.tuning.verdict import RAISED

    _, data, _ = options.load_chosen(original, schema, file or [], only, drop)
    data = options.under_roles(data, confidential, key)
    data = options.asked(data, response, predictor)
    known = [options.names_in(each) for each in keys or ()]
    sides = [options.names_in(each) for each in halves.split("|")] if halves else []
    setting: rwn.Setting | None
    if record is not None:
        if any((method, set_, weight, slice_, round_)):
            raise ParameterError("--record says how MASKED was made; leave the parameters out.")
        setting = _recorded(record, data, masked)
    else:
        data = options.described(data, weights=weight, slices=slice_)
        setting = _stated(data, method, set_, round_)
    if setting is not None:
        data = setting.applied_to(data)
    say("note: row i of MASKED is read as record i of ORIGINAL; a shuffled file gives nonsense.")
    said = weights is not None or population is not None
    sampling = rwn.Sampling(weights=weights, population=population) if said else None
    data_read, other, notes = comparable(data, like(data, masked))
    for note in notes:
        say(f"note: {note}")
    comparison = compare(data_read, other, sampling=sampling, key_sets=known)
    comparison = comparison.with_halves(sides)
    if setting is not None:
        comparison = _with_law(comparison, setting, partial=data_read is not data)
    with progress("auditing") as report:
        readings = read_all(comparison, measure, progress=report)
    if as_json:
        document = {"records": data.n, "variables": len(data.schema.released)}
        print_json({**document, "measures": readings.records()})
        return
    words = readings_table(readings.records()), unchanged_words(compute(comparison))
    typer.echo("\n".join(filter(None, words)))
    _say_caveats(readings.records(), RAISED)


def _recorded(record: Path, data: rwn.Microdata, masked: Path) -> rwn.Setting:
    """Return the setting of the internal record of this table and file."""
    from rwn_cli.record_file import read_record_file
    from rwn_core.reporting.release_folder import recorded_setting

    document = read_record_file(record)
    if document["table"]["fingerprint"] != data.fingerprint:
        raise InputError(
            "The record is of a release of another table; give its own ORIGINAL, with the same "
            "--schema and --drop."
        )
    digest = hashlib.sha256(masked.read_bytes()).hexdigest()
    if document["file"]["order"] == "shuffled" and document["file"]["sha256"] == digest:
        raise InputError(
            "MASKED is shuffled: row i is not of record i; mask again with --order original."
        )
    return recorded_setting(document, data, "the worst case cannot be computed from it")


def _say_caveats(rows: Sequence[Mapping[str, Any]], raised: Sequence[str]) -> None:
    """Say what is to be borne in mind with the readings."""
    if any(row["measure"] in raised for row in rows):
        say("note: a verdict takes what simple attacks reach on the file where that is more.")
    for row in rows:
        if row["caveat"]:
            say(f"note: {row['title']}: {row['caveat']}")


def _stated(
    data: rwn.Microdata, method: str | None, texts: Texts, rounding: Texts
) -> rwn.Setting | None:
    """The setting of the command line, if it states one."""
    from rwn_core.data.rounding import steps_by_name

    if method is None and not texts:
        if rounding:
            raise ParameterError("--round is part of a setting; give --method and --set, too.")
        return None
    params = options.parameters(method or "rwn", **options.settings(texts))
    return rwn.Setting(
        params=params, precision=steps_by_name(options.steps(data, rounding))
    ).resolved(data)


def _with_law(comparison: rwn.Comparison, setting: rwn.Setting, *, partial: bool) -> rwn.Comparison:
    """The comparison under the law of the setting, if MASKED can have been made by it."""
    from rwn_core.evaluation.audit import require_possible

    if partial:
        say("note: the worst case is not computed, because the distance had more variables.")
        return comparison
    data = comparison.original
    law = setting.params.prepare(data).law
    if law is None:
        say(
            f"note: the law of {setting.params.title} is not known before its key is drawn; "
            "what needs it does not apply."
        )
        return comparison
    law = law.rounded(dict(setting.precision)) if setting.precision else law
    informed = comparison.with_masked(comparison.masked, law)
    require_possible(informed)
    return informed


def like(data: rwn.Microdata, masked: Path) -> rwn.Microdata:
    """Read a masked file as the original is described (is 01 a text?), if it has its columns."""
    from rwn_core.io.reading import read_released
    from rwn_core.laws.donors import released_schema

    options.require_openable(masked)
    schema = released_schema(data.schema)
    try:
        return read_released(masked, schema)
    except SchemaError:
        table = read_file(str(masked), None, hint=False)
        if table.names == schema.names:
            raise
        return table
