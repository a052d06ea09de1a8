"""The options that say which settings are tried, and under which limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import rwn_core as rwn
from rwn_cli.terminal import option
from rwn_core.errors import ParameterError

if TYPE_CHECKING:
    from rwn_core.reporting.scenario import SavedSearch

Values = Annotated[str | None, option("V,V,...", "Values to try, such as 0,1,2 or 0:2:0.5.")]
ValuesOfK = Annotated[str | None, option("V,V,...", "Values of k to try.", "--k")]
ValuesOfQ = Annotated[str | None, option("V,V,...", "Values of q to try.", "--q")]
OtherValues = Annotated[
    list[str] | None, option("NAME=V,V", "Values of another parameter; repeatable.", "--set")
]
Steps = Annotated[
    list[str] | None,
    option(
        "NAME=S,S",
        "Steps of release precision to try; none: as is. 0.1,0.25: shares of a standard "
        "deviation for all numbers. Repeatable: every combination is tried.",
        "--round",
    ),
]
Limits = Annotated[
    list[str] | None,
    option(
        "MEASURE=V",
        "The most that is tolerated of a measure, such as bayes_linkage=0.05; repeatable. In "
        "place of the limits of the scenario, or of the usual ones.",
        "--limit",
    ),
]
Presets = Annotated[
    str | None,
    option(
        "PRESET,PRESET",
        "Usual choices of what travels together to try: alone, keys_apart, keys_together, "
        "confidential_apart, related_2, related_3, related_5, whole.",
    ),
]
SettingFile = Annotated[
    Path | None, option("OUT.toml", "Write the setting as a scenario.", "--out", "-o")
]
Releases = Annotated[
    int | None, typer.Option(min=1, help="Releases at each setting; 8 if left out.")
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Of the first release; for trials, and no secret.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes; one for each processor if left out.")
]


def limits(loaded: rwn.Scenario | None, texts: Sequence[str]) -> rwn.Policy:
    """The policy of the command line, else of the scenario, else the usual one."""
    if not texts:
        return rwn.Policy() if loaded is None or loaded.policy is None else loaded.policy
    made = []
    for text in texts:
        measure, _, number = text.rpartition("=")
        try:
            made.append(rwn.Limit(measure=measure, at_most=float(number)))
        except ValueError as refusal:
            if isinstance(refusal, ParameterError):
                raise
            raise ParameterError("--limit must be MEASURE=V, V a number of at least 0.") from None
    return rwn.Policy(limits=tuple(made))


def rounded(search: SavedSearch, data: rwn.Microdata, texts: Sequence[str]) -> SavedSearch:
    """The search with the steps of --round to try, if there are any."""
    from rwn_cli.options import step_axis

    grid = search.grid
    return replace(search, grid=replace(grid, precision=step_axis(data, texts)) if texts else grid)


def sliced(
    search: SavedSearch, data: rwn.Microdata, presets: str | None, *, given: bool
) -> SavedSearch:
    """The search with the slices to try: presets, or those that the table was given."""
    from rwn_core.tuning.slice_presets import preset_slices

    if presets is not None:
        every = tuple(preset_slices(data, each.strip()) for each in presets.split(","))
        return replace(search, grid=replace(search.grid, slices=every))
    return replace(search, grid=replace(search.grid, slices=(None,))) if given else search


def stated_search(
    loaded: rwn.Scenario | None,
    values: tuple[dict[str, str | None], Sequence[str] | None],
    method: str | None,
    plan: tuple[tuple[str, ...], int | None, int | None],
) -> SavedSearch:
    """The scenario's search, with what the command line says in place of its parts."""
    from rwn_core.reporting.scenario import SavedSearch
    from rwn_core.tuning import USUAL, parse_values

    given = values[0] | dict(_named(text) for text in values[1] or ())
    axes = {each: parse_values(v, f"--{each}") for each, v in given.items() if v is not None}
    old = None if loaded is None else loaded.search
    first = () if loaded is None or loaded.setting is None else loaded.setting.precision
    if old is None and not axes:
        raise ParameterError("Give --epsilon, --k or --q, or a --scenario that has a sweep.")
    measures, releases, seed = plan
    before = rwn.Plan(measures=USUAL) if old is None else old.plan
    grid = rwn.Grid(axes={}, precision=(dict(first),)) if old is None else old.grid
    methods = grid.methods if method is None else tuple(map(str, parse_values(method, "--method")))
    if methods != grid.methods:
        grid = replace(grid, axes={}, method=methods)
    return SavedSearch(
        grid=replace(grid, axes={**grid.axes, **axes}),
        plan=rwn.Plan(
            measures=measures or before.measures,
            releases=before.releases if releases is None else releases,
            seed=before.seed if seed is None else seed,
        ),
    )


def with_measures(search: SavedSearch, measures: Sequence[str]) -> SavedSearch:
    """The search with further measures to read."""
    wanted = tuple(dict.fromkeys((*measures, *search.plan.measures)))
    return replace(search, plan=replace(search.plan, measures=wanted))


def _named(text: str) -> tuple[str, str]:
    name, sign, values = text.partition("=")
    if not sign or not name:
        raise ParameterError("--set must be NAME=V,V: a parameter and its values.")
    return name, values
