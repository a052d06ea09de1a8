"""The command `rwn sweep`: the same settings, releases and numbers as in Python."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import rwn_core as rwn
from rwn_cli import grid_options as grid
from rwn_cli import options
from rwn_cli.terminal import Overwrite, option, output_format, progress, refuse_existing, say, write


def sweep(
    source: options.Source,
    target: Annotated[Path, option("OUT", options.ENDS_IN, "--out", "-o")],
    epsilon: grid.Values = None,
    k: grid.ValuesOfK = None,
    q: grid.ValuesOfQ = None,
    set_: grid.OtherValues = None,
    round_: grid.Steps = None,
    weight: options.Weighted = None,
    slice_: options.Sliced = None,
    slices: grid.Presets = None,
    method: Annotated[str | None, option("KEY,KEY", "Methods to try; rwn if left out.")] = None,
    measure: options.Measures = None,
    limit: grid.Limits = None,
    releases: grid.Releases = None,
    seed: grid.Seed = None,
    scenario: Annotated[Path | None, option("FILE.toml", "A scenario that says all this.")] = None,
    schema: options.SchemaFile = None,
    drop: options.Dropped = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    workers: grid.Workers = None,
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
    from rwn_core.tuning.verdict import counted

    form = output_format(target, source, schema, scenario)
    refuse_existing(overwrite, target)
    loaded = options.read_scenario(scenario)
    policy = grid.limits(loaded, limit or ())
    values, plan = {"epsilon": epsilon, "k": k, "q": q}, (tuple(measure or ()), releases, seed)
    search = grid.stated_search(loaded, (values, set_), method, plan)
    # measures without limits: only these measures are read
    named = measure or (loaded is not None and loaded.search is not None)
    judged = bool(limit) or (loaded is not None and loaded.policy is not None) or not named
    if judged:
        search = grid.with_measures(search, policy.measures)
    data = options.described(options.load(source, schema), identifiers=drop or ())
    data = options.under_roles(data, confidential, key)
    data = options.working_table(data, loaded, weight, slice_)
    search = grid.rounded(search, data, round_ or ())
    search = grid.sliced(search, data, slices, given=bool(slice_))
    settings = prepared(data, search.grid)
    say(f"{counted(len(settings), 'setting')}, {counted(search.plan.releases, 'release')} each")
    folder = target.with_name(f"{target.name}.sweep")
    with progress("sweeping") as report:
        trials = rwn.sweep(
            data, settings, plan=search.plan, workers=workers, folder=folder, progress=report
        )
    write(target, table_bytes(trials.frame(policy if judged else None), form), overwrite=overwrite)
    shutil.rmtree(folder, ignore_errors=True)
    if judged:
        say(options.in_shell(trials.words(policy)))
    say(f"low and high: {range_words(search.plan.releases)}")
    say(f"written to {target}, {len(trials) * len(search.plan.measures):,} rows")
