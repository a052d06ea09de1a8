"""The command `rwn sweep`: the same settings, releases and numbers as in Python."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.file_option import Laid, named_texts
from rwn_cli.terminal import (
    Count,
    File,
    Overwrite,
    Text,
    Texts,
    least,
    option,
    output_format,
    progress,
    refuse_existing,
    say,
    write,
)
from rwn_core.errors import ParameterError


def sweep(
    source: options.Source,
    target: Annotated[Path, option("OUT", options.ENDS_IN, "--out", "-o")],
    epsilon: Annotated[Text, option("V,V,...", "Values to try, such as 0,1,2 or 0:2:0.5.")] = None,
    k: Annotated[Text, option("V,V,...", "Values of k to try.", "--k")] = None,
    q: Annotated[Text, option("V,V,...", "Values of q to try.", "--q")] = None,
    set_: Annotated[
        Texts, option("NAME=V,V", "Values of another parameter; repeatable.", "--set")
    ] = None,
    round_: Annotated[
        Texts,
        option(
            "NAME=S,S",
            "Steps of release precision to try; none: not rounded. 0.1,0.25: shares of a standard "
            "deviation for all numbers. Repeatable: every combination is tried.",
            "--round",
        ),
    ] = None,
    weight: options.Weighted = None,
    slice_: options.Sliced = None,
    slices: Annotated[
        Text,
        option(
            "PRESET,PRESET",
            "Usual choices of what travels together to try: alone, keys_apart, keys_together, "
            "confidential_apart, related_2, related_3, related_5, whole.",
        ),
    ] = None,
    method: Annotated[Text, option("KEY,KEY", "Methods to try; rwn if left out.")] = None,
    measure: options.Measures = None,
    limit: options.Limits = None,
    releases: Annotated[Count, least(1, "Releases at each setting; 8 if left out.")] = None,
    seed: Annotated[Count, least(0, "Of the first release; for trials, and no secret.")] = None,
    scenario: Annotated[File, option("FILE.toml", "A scenario that says all this.")] = None,
    schema: options.SchemaFile = None,
    file: Laid = None,
    drop: options.Dropped = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    workers: options.Workers = None,
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
    from rwn_core.tuning import USUAL, prepared
    from rwn_core.tuning.slice_presets import preset_slices
    from rwn_core.tuning.verdict import counted

    form = output_format(target, source, schema, scenario)
    refuse_existing(overwrite, target)
    loaded = options.read_scenario(scenario)
    policy = options.limits(loaded, limit)
    given = {"epsilon": epsilon, "k": k, "q": q}
    given |= named_texts(set_, "--set", "scale=sd,range")
    grid = _grid(loaded, given, method)
    # measures without limits: only these measures are read
    before = rwn.Plan(measures=USUAL)
    if loaded is not None and loaded.search is not None:
        before = loaded.search.plan
    judged = _judges(loaded, limit, measure)
    read = [*(policy.measures if judged else ()), *(measure or before.measures)]
    plan = rwn.Plan(
        measures=tuple(dict.fromkeys(read)),
        releases=before.releases if releases is None else releases,
        seed=before.seed if seed is None else seed,
    )
    _, data, _ = options.load_chosen(source, schema, file or [], drop=drop)
    data = options.under_roles(data, confidential, key)
    data = options.working_table(data, loaded, weight, slice_)
    if round_:
        grid = replace(grid, precision=_precisions(data, round_))
    if slices is not None:
        presets = [preset_slices(data, each.strip()) for each in slices.split(",")]
        grid = replace(grid, slices=tuple(presets))
    elif slice_:
        grid = replace(grid, slices=(None,))
    settings = prepared(data, grid)
    say(f"{counted(len(settings), 'setting')}, {counted(plan.releases, 'release')} each")
    folder = target.with_name(f"{target.name}.sweep")
    with progress("sweeping") as report:
        trials = rwn.sweep(
            data, settings, plan=plan, workers=workers, folder=folder, progress=report
        )
    write(target, table_bytes(trials.frame(policy if judged else None), form), overwrite=overwrite)
    shutil.rmtree(folder, ignore_errors=True)
    if judged:
        say(options.in_shell(trials.words(policy)))
    say(f"low and high: {range_words(plan.releases)}")
    say(f"written to {target}, {len(trials) * len(plan.measures):,} rows")


def _grid(
    loaded: rwn.Scenario | None, given: Mapping[str, str | None], method: str | None
) -> rwn.Grid:
    """Return the scenario's grid, with what the command line says in place of its parts."""
    from rwn_core.tuning import parse_values

    axes = {}
    for name, values in given.items():
        if values is not None:
            axes[name] = parse_values(values, f"--{name}")
    steps = dict[str, float]()
    if loaded is not None and loaded.setting is not None:
        steps = dict(loaded.setting.precision)
    grid = rwn.Grid(axes={}, precision=(steps,))
    if loaded is not None and loaded.search is not None:
        grid = loaded.search.grid
    elif not axes:
        raise ParameterError("Give --epsilon, --k or --q, or a --scenario that has a sweep.")
    methods = grid.methods
    if method is not None:
        methods = tuple(map(str, parse_values(method, "--method")))
    if methods != grid.methods:
        grid = replace(grid, axes={}, method=methods)
    return replace(grid, axes={**grid.axes, **axes})


def _judges(
    loaded: rwn.Scenario | None, limit: Sequence[str] | None, measure: Sequence[str] | None
) -> bool:
    """True if settings are judged: limits are given, or nothing else is asked for."""
    if limit or (loaded is not None and loaded.policy is not None):
        return True
    return not measure and (loaded is None or loaded.search is None)


def _precisions(data: rwn.Microdata, texts: Sequence[str]) -> tuple[dict[str, float], ...]:
    """Every combination of the steps of a command line."""
    from rwn_core.tuning import parse_values

    axes = []
    for text in texts:
        name, sign, values = text.rpartition("=")
        axes.append([f"{name}{sign}{value}" for value in parse_values(values, "--round")])
    return tuple(options.steps(data, list(chosen)) for chosen in product(*axes))
