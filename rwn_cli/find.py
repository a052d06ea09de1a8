"""The command `rwn find`, with its older names: the best setting under limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.file_option import Laid
from rwn_cli.recommend import command, remedy_lines, restated
from rwn_cli.terminal import (
    File,
    Number,
    Overwrite,
    Texts,
    flag,
    least,
    option,
    progress,
    refuse_existing,
    require_toml,
    say,
    write,
)
from rwn_core.errors import ReleaseError

SO_FAR = 6  # exit code


def find(
    source: options.Source,
    limit: options.Limits = None,
    lose_at_most: Annotated[Number, option("X", "Share of the use to lose.")] = None,
    strength: Annotated[bool, flag("--strength", "Nothing else may change.")] = False,
    slices: Annotated[bool, flag("--slices", "The slices may change.")] = False,
    kernel: Annotated[bool, flag("--kernel", "The kernel may change.")] = False,
    method: Annotated[bool, flag("--method", "The method may change.")] = False,
    by_prediction: Annotated[
        bool, flag("--by-prediction", "Slices may be drawn by prediction.")
    ] = False,
    tie: Annotated[bool, flag("--tie", "Slices may be tied.")] = False,
    lever: Annotated[Texts, option("NAME", "It may change, such as k.")] = None,
    scenario: Annotated[File, option("FILE.toml", "Limits, and where to begin.")] = None,
    seconds: Annotated[float, least(1, "Of processor time; then the best so far is it.")] = 60.0,
    target: Annotated[
        File, option("OUT.toml", "Write the setting as a scenario.", "--out", "-o")
    ] = None,
    schema: options.SchemaFile = None,
    file: Laid = None,
    drop: options.Dropped = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    rows: options.WhatRows = None,
    workers: options.Workers = None,
    overwrite: Overwrite = False,
) -> None:
    """Find the best setting: it keeps all limits and leaves most, or as much as you say.

    Without --strength, --slices, --kernel, --method, --by-prediction, --tie and --lever everything
    of RWN may change, and a better method is named. With --by-prediction limits on attribute gain
    and true matches are needed. Where no setting keeps all limits, the nearest is named with what
    helps, nothing is written, and the exit code is 4. Ctrl-C ends the search with the best setting
    so far and exit code 6.
    `rwn seek` and `rwn seek-slices` are other names of it.
    """
    from rwn_core.data.belonging.gate import refuse_together
    from rwn_core.tuning.remedies import remedied

    require_toml(target, "--out", source, schema, scenario)
    refuse_existing(overwrite, target)
    loaded = options.read_scenario(scenario)
    _, data, _ = options.load_chosen(source, schema, file or [], drop=drop)
    data = options.working_table(options.under_roles(data, confidential, key), loaded)
    data = options.with_rows(data, rows)
    refuse_together(data)
    policy = options.limits(loaded, limit)
    free = not any((strength, slices, kernel, method, by_prediction, tie, lever))
    space = rwn.Space(
        setting=None if loaded is None else loaded.setting,
        slices=slices or free,
        kernels=kernel or free,
        methods=method,
        levers=tuple(lever or ()),
        by_prediction=by_prediction,
        tie=tie,
        lose_at_most=lose_at_most,
    )
    answer, interrupted = _searched(data, policy, space, seconds, workers)
    sure = bool(answer.settings) and answer.settings[0].confirmed
    verdict = f"{answer.verdict.headline}. " if sure else ""
    words = options.in_shell(f"{verdict}{answer.sentence}")
    if not (interrupted or answer.reached):
        more = restated({}, {"file": file, "rows-are": rows})
        _say_what_helps(remedied(answer, data, policy, space, seconds), source, more)
        raise ReleaseError(words)
    typer.echo(f"Interrupted. {words}" if interrupted else words)
    setting = answer.point.setting
    if interrupted and (setting.weights or setting.slices or setting.precision):
        say(setting.words)  # whole, where the sentence counts its weights and slices only
    if target is not None:
        _write_scenario(target, answer, data, policy, interrupted=interrupted, overwrite=overwrite)
    if interrupted:
        raise typer.Exit(SO_FAR)


def _write_scenario(
    target: Path,
    answer: rwn.SearchAnswer,
    data: rwn.Microdata,
    policy: rwn.Policy,
    *,
    interrupted: bool,
    overwrite: bool,
) -> None:
    """Write the setting as a scenario; not that of an ended search which breaks a limit."""
    if interrupted and not answer.met:
        say(f"{target} was not written: the setting does not keep all limits.")
        return
    scenario = _scenario(answer, data, policy, interrupted=interrupted)
    write(target, scenario.to_toml().encode("utf-8"), overwrite=overwrite)
    say(f"written to {target}; rwn mask --scenario {target.name} takes it")


def _searched(
    data: rwn.Microdata, policy: rwn.Policy, space: rwn.Space, seconds: float, workers: int | None
) -> tuple[rwn.SearchAnswer, bool]:
    """Return the answer, or the best so far where Ctrl-C came, and whether it did."""
    with progress("searching") as report:
        try:
            answer = rwn.search(
                data, policy, space, seconds=seconds, workers=workers, progress=report
            )
            return answer, False
        except KeyboardInterrupt:
            if report.so_far is None:
                raise
            return report.so_far, True


def _scenario(
    answer: rwn.SearchAnswer, data: rwn.Microdata, policy: rwn.Policy, *, interrupted: bool
) -> rwn.Scenario:
    """Return the answer as a scenario, with its readings where the search came to its end."""
    stated: dict[str, Any] = {"note": answer.sentence}
    if interrupted:
        stated = {"note": f"Interrupted. {answer.sentence}", "name": "answer so far"}
    else:
        stated |= {"readings": answer.point.stated(), "unread": answer.verdict.unread}
    return rwn.Scenario(
        table=data.fingerprint,
        setting=answer.point.setting,
        policy=policy,
        use=data.schema.use,
        **stated,
    )


def _say_what_helps(answer: rwn.SearchAnswer, source: str, more: list[str]) -> None:
    """Say the command of the nearest setting, and the remedies that were tried."""
    if answer.settings:
        say(f"the nearest: {command(answer.point.setting, source, Path('OUT.csv'), more)}")
    for line in remedy_lines(answer):
        say(options.in_shell(line))
