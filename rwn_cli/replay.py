"""The command `rwn replay`: figures and tables of papers, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rwn_cli.options import SchemaFile, load
from rwn_cli.output import Overwrite, refuse_existing, require_folder, write_all
from rwn_cli.terminal import option, progress, say
from rwn_core.errors import ParameterError


def replay(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A key of the list, or all.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the replays.")] = False,
    out: Annotated[Path | None, option("DIR", "The folder to write to.", "--out", "-o")] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Fewer repetitions, for a quick look.")
    ] = False,
    file: Annotated[
        str | None, option("FILE", "The paper's own table, where the list asks for one.")
    ] = None,
    schema: SchemaFile = None,
    overwrite: Overwrite = False,
) -> None:
    """Run a figure or table of a paper again, and compare its numbers with ours.

    Writes to DIR, for each replay: a page and a picture, a table, and a text with the number held
    against, ours and the verdict: agrees, differs with a cause as far as one is found, cannot
    tell where the tolerance is too wide, or not reproducible with the reason.
    """
    from rwn_core.evaluation.published_results import REPLAYS, Request, chosen, replayed
    from rwn_core.reporting.replay_files import replay_files

    if listed:
        for each in REPLAYS.values():
            needs = f" (needs --file: {each.file})" if each.file else ""
            typer.echo(f"{each.key:32}{each.title}{needs}")
        return
    if name is None or out is None:
        raise ParameterError("Give NAME and --out DIR, or --list to see the names.")
    replays = chosen(name)
    refuse_existing(overwrite, *(path for each in replays for path in out.glob(f"{each.key}.*")))
    data = None if file is None else load(file, schema)
    require_folder(out)
    out.mkdir(exist_ok=True)
    with progress("replaying") as report:
        for number, each in enumerate(replays, start=1):
            done = replayed(each, Request(short=short, data=data))
            write_all(
                {out / end: content for end, content in replay_files(done).items()},
                overwrite=overwrite,
            )
            say(f"{each.key}: {'; '.join(done.counts)}")
            report(number / len(replays))
    say(f"written to {out}")
