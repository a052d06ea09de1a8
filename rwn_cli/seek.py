"""The command `rwn seek`: the best setting that keeps all limits, as a sentence and a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import rwn_core as rwn
from rwn_cli import grid_options as grid
from rwn_cli import options
from rwn_cli.output import Overwrite, refuse_existing, require_toml
from rwn_cli.partial_answer import answering, write_scenario
from rwn_cli.terminal import Report, option, say
from rwn_core.errors import ReleaseError

if TYPE_CHECKING:
    from rwn_core.reporting.scenario import SavedSearch
    from rwn_core.tuning import SearchAnswer

_SWEPT = 0.6  # of the progress bar


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
    exit code 6.
    """
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
        answer = _answer(data, search, rwn.Goal(keep=policy, best=best), workers, report)
    if not answer.reached:
        raise ReleaseError(options.in_shell(answer.sentence))
    typer.echo(options.in_shell(answer.sentence))
    if target is not None:
        made = rwn.Scenario(
            name="goal seek",
            note=answer.sentence,
            table=data.fingerprint,
            setting=answer.point.setting,
            seed=search.plan.seed,
            policy=policy,
            readings=answer.point.stated(),
            unread=answer.verdict.unread,
        )
        write_scenario(made, target, overwrite=overwrite)


def _answer(
    data: rwn.Microdata, search: SavedSearch, goal: rwn.Goal, workers: int | None, report: Report
) -> SearchAnswer:
    """Find a first answer, sweep, then seek between the settings."""
    from rwn_core.parallel.pace import Part
    from rwn_core.tuning import prepared
    from rwn_core.tuning.goal_seek import first_answer, is_of_width, seek_width
    from rwn_core.tuning.verdict import counted

    settings = prepared(data, search.grid, references=False)
    if is_of_width(goal, settings):
        say(f"the smallest width: {goal.words}")
        return seek_width(data, settings, goal, plan=search.plan, progress=report)
    releases = counted(search.plan.releases, "release")
    say(f"{counted(len(settings), 'setting')}, {releases} each: {goal.words}")
    first_answer(data, settings, goal, report.found)
    swept = rwn.sweep(
        data, settings, plan=search.plan, workers=workers, progress=_Swept(report, goal, data.n)
    )
    return rwn.seek(data, swept, goal, workers=workers, progress=Part(report, _SWEPT, 1.0))


class _Swept:
    """Reports of the sweep: its best setting so far is an answer so far."""

    def __init__(self, report: Report, goal: rwn.Goal, records: int) -> None:
        from rwn_core.tuning.goal_seek import teller

        self._report, self.found = report, teller(goal, records, self._found)

    def __call__(self, share: float) -> None:
        self._report(_SWEPT * share)

    def _found(self, answer: SearchAnswer) -> None:
        before: SearchAnswer | None = self._report.so_far
        if before is None or answer.beyond <= before.beyond:
            self._report.found(answer)
