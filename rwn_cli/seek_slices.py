"""The command `rwn seek-slices`: which variables should travel together, under limits."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import grid_options as grid
from rwn_cli import options
from rwn_cli.output import Overwrite, refuse_existing, require_toml
from rwn_cli.partial_answer import answering, print_setting, write_scenario
from rwn_cli.terminal import say
from rwn_core.errors import ReleaseError


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
    Ctrl-C ends it with the best slices so far and exit code 6.
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
    print_setting(answer.point.setting)
    if not answer.reached:
        raise ReleaseError(options.in_shell(answer.sentence))
    say(options.in_shell(answer.sentence))
    if target is not None:
        scenario = rwn.Scenario(table=data.fingerprint, setting=answer.point.setting, policy=policy)
        advice = f"; rwn mask --scenario {target.name} takes it"
        write_scenario(scenario, target, advice, overwrite=overwrite)


def _start(method: str, k: int, more: dict[str, Any]) -> Any:
    """The parameters that stay, at any strength."""
    from rwn_core.masking import in_present_names
    from rwn_core.masking.lever import neutral_levers

    method, more = in_present_names(method, more)
    if method not in rwn.METHODS:
        return options.parameters(method)  # refuses it
    levers: dict[str, Any] = neutral_levers(rwn.METHODS[method])
    levers |= {name: x for name, x in (("epsilon", 1.0), ("k", k)) if name in levers}
    return options.parameters(method, **{**levers, **more})
