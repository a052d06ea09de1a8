"""Ctrl-C during a search: the answer so far, in words and as a scenario, with an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import rwn_core as rwn
from rwn_cli.output import write
from rwn_cli.terminal import Report, progress, say

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
    print_setting(answer.point.setting)
    if target is not None and answer.met:
        made = rwn.Scenario(
            name="answer so far",
            note=f"Interrupted. {answer.sentence}",
            table=data.fingerprint,
            setting=answer.point.setting,
            policy=policy,
        )
        write_scenario(made, target, overwrite=overwrite)
    elif target is not None:
        say(f"{target} was not written: the setting does not keep all limits.")
    raise typer.Exit(SO_FAR)


def print_setting(setting: rwn.Setting) -> None:
    """Print a setting whole, where a sentence counts its weights and slices only."""
    if setting.weights or setting.slices or setting.precision:
        say(setting.words)


def write_scenario(made: rwn.Scenario, target: Path, advice: str = "", *, overwrite: bool) -> None:
    """Write the answer of a search as a scenario, and say where."""
    write(target, made.to_toml().encode("utf-8"), overwrite=overwrite)
    say(f"written to {target}{advice}")
