"""The command `rwn recommend`, and what `rwn mask` does without parameters."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

import rwn_core as rwn
from rwn_cli.file_option import Laid
from rwn_cli.options import Chosen, Dropped, SchemaFile, Source, described, load_chosen
from rwn_cli.terminal import say

_OWN = ("epsilon", "k", "q", "kernel", "width", "balance")  # options of RWN by their names


def recommend(
    source: Source,
    schema: SchemaFile = None,
    file: Laid = None,
    drop: Dropped = None,
    only: Chosen = None,
) -> None:
    """Recommend a setting for a table, and say which methods cannot work on it."""
    from rwn_core.masking import at_levers
    from rwn_core.neighbors import LARGEST_DENSE
    from rwn_core.tuning.policy_presets import policy_presets
    from rwn_core.tuning.quick_verdict import WITHIN

    read, gone = load_chosen(source, schema, file or (), only or (), drop or ())
    data = described(read, identifiers=gone)
    for notice in read.notices:
        say(f"note: {notice}")
    advice = rwn.recommend(data)
    typer.echo(f"recommended: {advice.setting.words}")
    typer.echo(f"why: {advice.reason}")
    for each in advice.runners_up:
        typer.echo(f"or: {each.words}")
    small = data.n <= LARGEST_DENSE  # where a release is judged in seconds
    verdict = rwn.quick_verdict(data, advice.setting, within=math.inf if small else WITHIN)
    typer.echo(f"can it keep the usual policy: {verdict.answer}. {verdict.sentence}")
    if small:
        for name, levers in policy_presets(data, advice.setting, rwn.Policy()).items():
            setting = replace(advice.setting, params=at_levers(advice.setting.params, levers))
            typer.echo(f"{name}: {setting.words}")
    for step in verdict.next_steps:
        typer.echo(f"try: {step.title}")
    if verdict.caution:
        typer.echo(verdict.caution)
    for key, why in advice.unfit.items():
        typer.echo(f"not {key}: {why}")


def advised(data: rwn.Microdata, source: str, target: Path) -> tuple[rwn.Microdata, Any]:
    """Return the table with recommended slices, and the parameters; say which and why."""
    from rwn_core.tuning.recommend import tuned

    advice = rwn.recommend(data)
    held = advice.confirmed and advice.kept  # at this strength, on further releases
    found = advice.setting if held else tuned(data, advice.setting)
    say(f"recommended: {advice.reason}")
    if found is None:
        found = tuned(data, rwn.Setting(params=rwn.RWN(kernel="gaussian", balance=1.0), slices=()))
        if found is not None:
            say(
                "Instead: each variable alone, which kept the limits on further releases. "
                "It may lose nearly all relations."
            )
    setting = found or advice.setting
    say(f"the same as: {command(setting, source, target)}")
    if found is None:
        say("WARNING: no limit is checked for this strength; audit it, or run rwn seek.")
    return setting.applied_to(data), setting.params


def command(setting: rwn.Setting, source: str, target: Path) -> str:
    """Write the command that masks with a setting."""
    import shlex

    words = ["rwn", "mask", source, str(target)]
    own = _OWN if setting.method == "rwn" else ()
    if not own:
        words += ["--method", setting.method]
    for name, value in setting.parameters.items():
        words += [f"--{name}", str(value)] if name in own else ["--set", f"{name}={value}"]
    for names in setting.slices or ():
        words += ["--slice", ",".join(names)]
    return shlex.join(words if setting.slices or own == () else [*words, "--slice", "none"])
