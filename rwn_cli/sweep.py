"""The command `rwn sweep`: the same settings, releases and numbers as in Python."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from rwn_cli.grid_options import (
    Limits,
    OtherValues,
    Presets,
    Releases,
    Seed,
    Steps,
    Values,
    ValuesOfK,
    ValuesOfQ,
    Workers,
    limits,
    rounded,
    sliced,
    stated_search,
    with_measures,
)
from rwn_cli.options import (
    ENDS_IN,
    Dropped,
    SchemaFile,
    Sliced,
    Source,
    Weighted,
    read_scenario,
    working_table,
)
from rwn_cli.output import Overwrite, output_format, refuse_existing, write
from rwn_cli.terminal import progress, say


def sweep(
    source: Source,
    target: Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help=ENDS_IN)],
    epsilon: Values = None,
    k: ValuesOfK = None,
    q: ValuesOfQ = None,
    set_: OtherValues = None,
    round_: Steps = None,
    weight: Weighted = None,
    slice_: Sliced = None,
    slices: Presets = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="KEY,KEY", help="Methods to try; rwn if left out."),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Measure to read; repeatable.")
    ] = None,
    limit: Limits = None,
    releases: Releases = None,
    seed: Seed = None,
    scenario: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="A scenario that says all this.")
    ] = None,
    schema: SchemaFile = None,
    drop: Dropped = None,
    workers: Workers = None,
    overwrite: Overwrite = False,
) -> None:
    """Try many settings and write a table of what the measures read.

    A row for each setting and measure: the median over the releases, and low and high between
    which one more release falls 9 times in 10. Finished settings are kept in the folder OUT.sweep
    until all are done: the same command goes on where it was stopped. Limits are
    judged too, unless measures are named and no limits.
    """
    from rwn_core.io.write import table_bytes
    from rwn_core.measures.statistics.intervals import range_words
    from rwn_core.tuning import prepared
    from rwn_core.tuning import sweep as run_sweep
    from rwn_core.tuning.verdict import counted

    form = output_format(target, source, schema, scenario)
    refuse_existing(overwrite, target)
    loaded = None if scenario is None else read_scenario(scenario)
    policy = limits(loaded, limit or ())
    values, plan = {"epsilon": epsilon, "k": k, "q": q}, (tuple(measure or ()), releases, seed)
    search = stated_search(loaded, (values, set_), method, plan)
    # who names measures and no limits asks for these measures alone
    named = measure or (loaded is not None and loaded.search is not None)
    judged = bool(limit) or (loaded is not None and loaded.policy is not None) or not named
    if judged:
        search = with_measures(search, policy.measures)
    data = working_table(source, schema, loaded, drop=drop, weights=weight, slices=slice_)
    search = rounded(search, data, round_ or ())
    search = sliced(search, data, slices, given=bool(slice_))
    settings = prepared(data, search.grid, references=False)
    say(f"{counted(len(settings), 'setting')}, {counted(search.plan.releases, 'release')} each")
    folder = target.with_name(f"{target.name}.sweep")
    with progress("sweeping") as report:
        trials = run_sweep(
            data, settings, plan=search.plan, workers=workers, folder=folder, progress=report
        )
    write(target, table_bytes(trials.frame(policy if judged else None), form), overwrite=overwrite)
    shutil.rmtree(folder, ignore_errors=True)
    if judged:
        say(trials.words(policy))
    say(f"low and high: {range_words(search.plan.releases)}")
    say(f"written to {target}, {len(trials) * len(search.plan.measures):,} rows")
