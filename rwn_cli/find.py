"""The command `rwn find`: the best setting under limits; also `seek` and `seek-slices`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rwn_core as rwn
from rwn_cli import grid_options as grid
from rwn_cli import options
from rwn_cli.terminal import (
    Overwrite,
    Report,
    option,
    progress,
    refuse_existing,
    require_toml,
    say,
    write,
)
from rwn_core.errors import ReleaseError

if TYPE_CHECKING:
    from rwn_core.tuning import SearchAnswer

SO_FAR = 6  # exit code


@contextmanager
def answering(
    label: str, data: rwn.Microdata, policy: rwn.Policy, target: Path | None, *, overwrite: bool
) -> Iterator[Report]:
    """Report a search; after Ctrl-C write its answer so far, where it has one, and leave."""
    with progress(label) as report:
        try:
            yield report
            return
        except KeyboardInterrupt:
            if report.so_far is None:
                raise
    answer: SearchAnswer = report.so_far
    typer.echo(f"Interrupted. {answer.sentence}")
    setting = answer.point.setting
    if setting.weights or setting.slices or setting.precision:
        say(setting.words)  # whole, where the sentence counts its weights and slices only
    if target is not None and answer.met:
        more = {"name": "answer so far", "note": f"Interrupted. {answer.sentence}"}
        _write(answer, data, policy, target, overwrite=overwrite, **more)
    elif target is not None:
        say(f"{target} was not written: the setting does not keep all limits.")
    raise typer.Exit(SO_FAR)


def finish(
    answer: SearchAnswer, data: rwn.Microdata, policy: rwn.Policy, target: Path | None, **more: Any
) -> None:
    """Print the answer of a search, and write it as a scenario; refuse one that keeps no policy."""
    sentence = options.in_shell(answer.sentence)
    if not answer.reached:
        raise ReleaseError(sentence)
    typer.echo(sentence)
    if target is not None:
        more |= {"readings": answer.point.stated(), "unread": answer.verdict.unread}
        _write(answer, data, policy, target, note=answer.sentence, **more)


def _write(
    answer: SearchAnswer, data: rwn.Microdata, policy: rwn.Policy, target: Path, **more: Any
) -> None:
    overwrite, setting = more.pop("overwrite"), answer.point.setting
    made = rwn.Scenario(table=data.fingerprint, setting=setting, policy=policy, **more)
    write(target, made.to_toml().encode("utf-8"), overwrite=overwrite)
    say(f"written to {target}; rwn mask --scenario {target.name} takes it")


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
    from rwn_cli.options import steps

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


def seek(
    source: options.Source,
    limit: grid.Limits = None,
    best: Annotated[
        str, option("MEASURE", "What is made as good as possible.")
    ] = "association_loss",
    epsilon: grid.Values = None,
    k: grid.ValuesOfK = None,
    q: grid.ValuesOfQ = None,
    set_: grid.OtherValues = None,
    round_: grid.Steps = None,
    weight: options.Weighted = None,
    method: options.MethodKey = None,
    releases: grid.Releases = None,
    seed: grid.Seed = None,
    scenario: Annotated[
        Path | None, option("FILE.toml", "A scenario with limits or a sweep.")
    ] = None,
    target: grid.SettingFile = None,
    schema: options.SchemaFile = None,
    drop: options.Dropped = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    workers: grid.Workers = None,
    overwrite: Overwrite = False,
) -> None:
    """Find the best setting that keeps all limits.

    Settings are swept and refined between the values that were given; the answer is read on fresh
    releases, which chose nothing. Where no setting keeps all limits, the nearest is named, nothing
    is written, and the exit code is 4. Ctrl-C ends the search with the best setting so far and
    exit code 6. `rwn find` needs no values to try and ends in a minute.
    """
    from rwn_core.tuning import prepared
    from rwn_core.tuning.goal_seek import seek_among
    from rwn_core.tuning.verdict import counted

    require_toml(target, "--out", source, schema, scenario)
    refuse_existing(overwrite, target)
    loaded = options.read_scenario(scenario)
    policy = grid.limits(loaded, limit or ())
    values = {"epsilon": epsilon, "k": k, "q": q}
    search = grid.stated_search(loaded, (values, set_), method, ((best,), releases, seed))
    search = grid.with_measures(search, policy.measures)
    data = options.described(options.load(source, schema), identifiers=drop or ())
    data = options.working_table(options.under_roles(data, confidential, key), loaded, weight)
    search = grid.rounded(search, data, round_ or ())
    with answering("seeking", data, policy, target, overwrite=overwrite) as report:
        settings = prepared(data, search.grid)
        goal, plan = rwn.Goal(keep=policy, best=best), search.plan
        each = f"{counted(plan.releases, 'release')} each"
        say(f"{counted(len(settings), 'setting')}, {each}: {goal.words}")
        answer = seek_among(data, settings, goal, plan=plan, workers=workers, progress=report)
    finish(answer, data, policy, target, overwrite=overwrite, name="goal seek", seed=plan.seed)
