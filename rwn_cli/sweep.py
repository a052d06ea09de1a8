"""The command `rwn sweep`: the same settings, releases and numbers as in Python."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rwn_cli.options import (
    ENDS_IN,
    Dropped,
    SchemaFile,
    Source,
    Weighted,
    described,
    load,
    output_format,
    read_scenario,
    under,
    write,
)
from rwn_cli.terminal import progress, say
from rwn_core.errors import ParameterError

if TYPE_CHECKING:
    from rwn_core.reporting.scenario import Scenario, Search

Values = Annotated[
    str | None, typer.Option(metavar="V,V,...", help="Values to try, such as 0,1,2 or 0:2:0.5.")
]


def sweep(
    source: Source,
    target: Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help=ENDS_IN)],
    epsilon: Values = None,
    k: Annotated[
        str | None, typer.Option("--k", metavar="V,V,...", help="Values of k to try.")
    ] = None,
    q: Annotated[
        str | None, typer.Option("--q", metavar="V,V,...", help="Values of q to try.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=V,V", help="Values of another parameter; repeatable."),
    ] = None,
    round_: Annotated[
        list[str] | None,
        typer.Option(
            "--round",
            metavar="NAME=S,S",
            help="Steps of release precision to try; none: as is. 0.1,0.25: shares of a standard "
            "deviation for all numbers. Repeatable: every combination is tried.",
        ),
    ] = None,
    weight: Weighted = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="KEY,KEY", help="Methods to try; rwn if left out."),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Measure to read; repeatable.")
    ] = None,
    releases: Annotated[
        int | None, typer.Option(min=1, help="Releases at each setting; 8 if left out.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the first release; for trials, and no secret.")
    ] = None,
    scenario: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="A scenario that says all this.")
    ] = None,
    schema: SchemaFile = None,
    drop: Dropped = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; one for each processor if left out.")
    ] = None,
) -> None:
    """Try many settings and write a table of what the measures read.

    A row for each setting and measure: the median over the releases, and low and high between
    which one more release falls 9 times in 10. Finished settings are kept in the folder OUT.sweep
    until all are done: the same command goes on where it was stopped.
    """
    from rwn_cli.precision_option import step_axis
    from rwn_core.io.write import table_bytes
    from rwn_core.tuning import prepared, values_of
    from rwn_core.tuning import sweep as run_sweep

    form = output_format(target, source, schema, scenario)
    told = None if scenario is None else read_scenario(scenario)
    given = {"epsilon": epsilon, "k": k, "q": q, **dict(_named(text) for text in set_ or ())}
    axes = {name: values_of(text, f"--{name}") for name, text in given.items() if text is not None}
    search = _search(told, axes, method, (tuple(measure or ()), releases, seed))
    data = described(load(source, schema), identifiers=drop or ())
    data = described(under(told, data), weights=weight or ())
    if round_:
        grid = replace(search.grid, precision=step_axis(data, round_))
        search = replace(search, grid=grid)
    settings = prepared(data, search.grid, references=False)
    say(f"{len(settings):,} settings, {search.plan.releases} releases each")
    folder = target.with_name(f"{target.name}.sweep")
    with progress("sweeping") as tell:
        found = run_sweep(
            data, settings, plan=search.plan, workers=workers, folder=folder, progress=tell
        )
    write(target, table_bytes(found.frame(), form))
    shutil.rmtree(folder, ignore_errors=True)
    say(f"written to {target}, {len(found) * len(search.plan.measures):,} rows")


def _search(
    told: Scenario | None,
    axes: dict[str, tuple[Any, ...]],
    method: str | None,
    plan: tuple[tuple[str, ...], int | None, int | None],
) -> Search:
    """The scenario's search, with what the command line says in place of its parts."""
    from rwn_core.reporting.scenario import Search
    from rwn_core.tuning import USUAL, Grid, Plan, values_of

    old = None if told is None else told.search
    first = () if told is None or told.setting is None else told.setting.precision
    if old is None and not axes:
        raise ParameterError("Give --epsilon, --k or --q, or a --scenario that has a sweep.")
    measures, releases, seed = plan
    before = Plan(measures=USUAL) if old is None else old.plan
    grid = Grid(axes={}, precision=(dict(first),)) if old is None else old.grid
    methods = grid.methods if method is None else tuple(map(str, values_of(method, "--method")))
    if methods != grid.methods:
        grid = replace(grid, axes={}, method=methods)
    return Search(
        grid=replace(grid, axes={**grid.axes, **axes}),
        plan=Plan(
            measures=measures or before.measures,
            releases=before.releases if releases is None else releases,
            seed=before.seed if seed is None else seed,
        ),
    )


def _named(text: str) -> tuple[str, str]:
    name, sign, values = text.partition("=")
    if not sign or not name:
        raise ParameterError("--set must be NAME=V,V: a parameter and its values.")
    return name, values
