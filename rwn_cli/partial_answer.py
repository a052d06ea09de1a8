"""Ctrl-C during a search: the answer so far, in words and as a scenario, with an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.output import write
from rwn_cli.terminal import Report, progress, say
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
