"""The command `rwn find`: the best setting under limits; `rwn seek-slices`, of slices alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import grid_options as grid
from rwn_cli import options
from rwn_cli.output import Overwrite, refuse_existing, require_toml
from rwn_cli.partial_answer import answering, finish
from rwn_cli.terminal import option


def seek_slices(
    source: options.Source,
    limit: grid.Limits = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Least size of a neighborhood.")] = 5,
    method: options.MethodKey = None,
    set_: options.Parameters = None,
    weight: options.Weighted = None,
    records: Annotated[
        int, typer.Option(min=2, help="Of a larger table so many random records are searched.")
    ] = 1000,
    round_: options.Precision = None,
    kernels: Annotated[
        bool,
        typer.Option(
            "--kernels",
            help="Try soft and balanced neighborhoods, too, and say what RWN as published loses.",
        ),
    ] = False,
    target: grid.SettingFile = None,
    schema: options.SchemaFile = None,
    drop: options.Dropped = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    workers: grid.Workers = None,
    overwrite: Overwrite = False,
) -> None:
    """Find which variables should travel together: least loss of relations within all limits.

    The answer is judged on releases that had no part in the search. Where no slices keep all
    limits, the nearest are printed, nothing is written, and the exit code is 4. It takes minutes;
    Ctrl-C ends it with the best slices so far and exit code 6. `rwn find --slices` ends in time.
    """
    from rwn_cli.precision_option import steps

    require_toml(target, "--out", source, schema)
    refuse_existing(overwrite, target)
    data = options.described(options.load(source, schema), identifiers=drop or ())
    data = options.working_table(options.under_roles(data, confidential, key), None, weight)
    policy = grid.limits(None, limit or ())
    with answering("searching", data, policy, target, overwrite=overwrite) as report:
        answer = rwn.seek_slices(
            data,
            policy,
            setting=rwn.Setting(
                params=_start(method or "rwn", k, options.settings(set_ or ())),
                precision=tuple(steps(data, round_ or ()).items()),
            ),
            ranges=rwn.SliceRanges(records=records, kernels=kernels),
            workers=workers,
            progress=report,
        )
    finish(answer, data, policy, target, overwrite=overwrite)


def find(
    source: options.Source,
    limit: grid.Limits = None,
    lose_at_most: Annotated[float | None, option("X", "Share of relations to lose.")] = None,
    strength: Annotated[bool, typer.Option("--strength", help="Nothing else may change.")] = False,
    slices: Annotated[bool, typer.Option("--slices", help="The slices may change.")] = False,
    kernel: Annotated[bool, typer.Option("--kernel", help="The kernel may change.")] = False,
    method: Annotated[bool, typer.Option("--method", help="The method may change.")] = False,
    chain: Annotated[bool, typer.Option("--chain", help="Slices may be chained.")] = False,
    tie: Annotated[bool, typer.Option("--tie", help="Slices may be tied.")] = False,
    lever: Annotated[list[str] | None, option("NAME", "It may change, such as k.")] = None,
    scenario: Annotated[Path | None, option("FILE.toml", "Limits, and where to begin.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Then the best so far is it.")] = 60.0,
    target: grid.SettingFile = None,
    schema: options.SchemaFile = None,
    drop: options.Dropped = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    workers: grid.Workers = None,
    overwrite: Overwrite = False,
) -> None:
    """Find the best setting: it keeps all limits and loses least, or loses no more than you say.

    Without --strength, --slices, --kernel, --method, --chain, --tie and --lever everything of RWN
    may change, and a better method is named. With --chain limits on attribute gain and true matches
    are needed. Where no setting keeps all limits, the nearest is named, nothing is written, and
    the exit code is 4. Ctrl-C ends the search with the best setting so far and exit code 6.
    """
    require_toml(target, "--out", source, schema, scenario)
    refuse_existing(overwrite, target)
    loaded = options.read_scenario(scenario)
    data = options.described(options.load(source, schema), identifiers=drop or ())
    data = options.working_table(options.under_roles(data, confidential, key), loaded, None)
    policy = grid.limits(loaded, limit or ())
    free = not (strength or slices or kernel or method or chain or tie or lever)
    may: dict[str, Any] = {"slices": slices or free, "kernels": kernel or free, "methods": method}
    may |= {"chain": chain, "tie": tie, "levers": tuple(lever or ())}
    start = None if loaded is None else loaded.setting
    space = rwn.Space(setting=start, lose_at_most=lose_at_most, **may)
    with answering("searching", data, policy, target, overwrite=overwrite) as report:
        answer = rwn.search(data, policy, space, seconds=seconds, workers=workers, progress=report)
    finish(answer, data, policy, target, overwrite=overwrite)


def _start(method: str, k: int, more: dict[str, Any]) -> Any:
    """The parameters that stay, at any strength."""
    from rwn_core.masking import in_present_names
    from rwn_core.masking.lever import neutral_levers

    method, more = in_present_names(method, more)
    levers: dict[str, Any] = neutral_levers(rwn.METHODS[method])
    levers |= {name: x for name, x in (("epsilon", 1.0), ("k", k)) if name in levers}
    return options.parameters(method, **{**levers, **more})
