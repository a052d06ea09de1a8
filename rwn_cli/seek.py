"""The command `rwn seek`: the best setting that keeps all limits, as a sentence and a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import rwn_core as rwn
from rwn_cli import grid_options as grid
from rwn_cli import options
from rwn_cli.output import Overwrite, refuse_existing, require_toml
from rwn_cli.partial_answer import answering, finish
from rwn_cli.terminal import option, say
from rwn_core.measures import UTILITY


def seek(
    source: options.Source,
    limit: grid.Limits = None,
    best: Annotated[str, option("MEASURE", "What is made as good as possible.")] = UTILITY,
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
