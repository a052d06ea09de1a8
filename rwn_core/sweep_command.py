"""The command `rwn sweep`: the same settings, releases and numbers as in Python."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rwn_core.arguments import described, load, output_format
from rwn_core.errors import ParameterError, ReleaseError, RWNError
from rwn_core.terminal import progress, say

if TYPE_CHECKING:
    from rwn_core.scenario import Scenario, Search

Values = Annotated[
    str | None, typer.Option(metavar="V,V,...", help="Values to try, such as 0,1,2 or 0:2:0.5.")
]


def sweep(
    source: Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file, or demo:NAME.")],
    target: Annotated[
        Path, typer.Option("--out", "-o", metavar="OUT", help="Ends in .csv or .parquet.")
    ],
    epsilon: Values = None,
    k: Annotated[str | None, typer.Option("--k", metavar="V,V,...")] = None,
    q: Annotated[str | None, typer.Option("--q", metavar="V,V,...")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=V,V", help="Values of another parameter; repeatable."),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=W", help="Weight of a variable in the distance; repeatable."),
    ] = None,
    method: Annotated[str | None, typer.Option(metavar="KEY", help="rwn if left out.")] = None,
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
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="FILE.toml", help="Describes the variables.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="NAME", help="A direct identifier, left out; repeatable."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; one for each processor if left out.")
    ] = None,
) -> None:
    """Try many settings and write a table of what the measures read.

    A row for each setting and measure: the median over the releases, and low and high between
    which one more release falls 9 times in 10. Finished settings are kept in the folder OUT.sweep
    until all are done: the same command goes on where it was stopped.
    """
    from rwn_core.tuning import prepared, values_of
    from rwn_core.tuning import sweep as run_sweep

    form = output_format(target, source, schema, scenario)
    told = None if scenario is None else read_scenario(scenario)
    given = {"epsilon": epsilon, "k": k, "q": q, **dict(_named(text) for text in set_ or ())}
    axes = {name: values_of(text, f"--{name}") for name, text in given.items() if text is not None}
    search = _search(told, axes, method, (tuple(measure or ()), releases, seed))
    own = [] if told is None or told.setting is None else list(told.setting.weights)
    data = described(load(source, schema), identifiers=drop or ())
    data = described(data, weights=[*(f"{n}={w}" for n, w in own), *(weight or ())])
    settings = prepared(data, search.grid, references=False)
    say(f"{len(settings):,} settings, {search.plan.releases} releases each")
    folder = target.with_name(f"{target.name}.sweep")
    with progress("sweeping") as tell:
        found = run_sweep(
            data, settings, plan=search.plan, workers=workers, folder=folder, progress=tell
        )
    _write(target, form, found.frame())
    shutil.rmtree(folder, ignore_errors=True)
    say(f"written to {target}, {len(found) * len(search.plan.measures):,} rows")


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Raises
    ------
    InputError, ParameterError, OSError
    """
    from rwn_core.errors import InputError
    from rwn_core.scenario import Scenario

    try:
        return Scenario.from_toml(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError("The scenario file is not UTF-8 text.") from None


def _search(
    told: Scenario | None,
    axes: dict[str, tuple[Any, ...]],
    method: str | None,
    plan: tuple[tuple[str, ...], int | None, int | None],
) -> Search:
    """The scenario's search, with what the command line says in place of its parts."""
    from rwn_core.scenario import Search
    from rwn_core.tuning import USUAL, Grid, Plan

    old = None if told is None else told.search
    if old is None and not axes:
        raise ParameterError("Give --epsilon, --k or --q, or a --scenario that has a sweep.")
    measures, releases, seed = plan
    before = Plan(measures=USUAL) if old is None else old.plan
    grid = Grid(axes={}) if old is None else old.grid
    if method is not None and method != grid.method:
        grid = Grid(axes={}, method=method)
    return Search(
        grid=Grid(axes={**grid.axes, **axes}, method=grid.method, weights=grid.weights),
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


def _write(target: Path, form: str, frame: object) -> None:
    from rwn_core.export import table_bytes, write_atomically

    try:
        write_atomically(target, table_bytes(frame, form))  # type: ignore[arg-type]  # a DataFrame
    except ReleaseError as failure:
        raise RWNError(str(failure)) from None
