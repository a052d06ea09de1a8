"""The `rwn` command: a thin shell over the same functions that Python and the browser call."""

from __future__ import annotations

import json
import operator
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import rwn_core as rwn
from rwn_cli.audit import audit
from rwn_cli.audit_dataset import audit_dataset
from rwn_cli.describe import describe
from rwn_cli.find import find
from rwn_cli.ledger import ledger
from rwn_cli.mask import mask
from rwn_cli.mask_dataset import mask_dataset
from rwn_cli.options import ENDS_IN, require_openable
from rwn_cli.recommend import recommend
from rwn_cli.report import report
from rwn_cli.reproduce import reproduce
from rwn_cli.sweep import sweep
from rwn_cli.terminal import (
    Count,
    File,
    Overwrite,
    Texts,
    flag,
    option,
    output_format,
    refuse_existing,
    say,
    size_words,
    write,
)
from rwn_cli.verify import verify
from rwn_core._version import __version__
from rwn_core.errors import InputError, NotWritten, ParameterError, ReleaseError, RWNError
from rwn_core.io import titles
from rwn_core.parallel.kernel_cache import on_compiling

COMPILING = "note: part of the search is compiled for this machine, once; this takes half a minute."
ALIASES = ("recommend", "seek", "seek-slices")
FIND = "note: rwn find is the name of every search and answers in a minute; rwn {} stays."
INTERNAL, USAGE, INPUT, POLICY, INPUT_OUTPUT = 1, 2, 3, 4, 5
_EXIT_CODES = (
    (ParameterError, USAGE),
    (InputError, INPUT),
    (NotWritten, INPUT_OUTPUT),
    (ReleaseError, POLICY),
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Mask confidential microdata by randomization within neighborhoods; audit the result.",
    epilog=(
        "Exit codes: 0 done, 2 wrong use or parameter, 3 input refused, 4 policy refused, "
        "5 a file cannot be read or written, 6 interrupted with an answer so far, 130 interrupted."
    ),
)


def main() -> None:
    """Run the command line and leave with its exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a library's warning may show a value
        sys.exit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; every failure is one sentence on stderr and an exit code."""
    try:
        with on_compiling(lambda: say(COMPILING)):
            app(args=arguments, prog_name="rwn")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except RWNError as refusal:
        codes = (code for kind, code in _EXIT_CODES if isinstance(refusal, kind))
        code = _fail(str(refusal), next(codes, INPUT_OUTPUT))
        for hint in getattr(refusal, "__notes__", ()):
            say(f"note: {hint}")
        return code
    except OSError as error:
        named = error.filename if isinstance(error.filename, str | Path) else "A file"
        what = Path(named).name or str(named)  # "." and "/" have no name
        why = error.strerror or type(error).__name__
        return _fail(f"{what} cannot be read or written ({why}).", INPUT_OUTPUT)
    except MemoryError:
        return _fail("There is not enough memory for this table.", INPUT_OUTPUT)
    except Exception as error:  # the last barrier: a library's message may hold a cell's value
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__}, {Path(last.filename).name} line {last.lineno}"
        return _fail(f"RWN met a fault of its own ({where}); please report it.", INTERNAL)
    return 0


def _fail(sentence: str, code: int) -> int:
    say(f"rwn: {sentence}")
    return code


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rwn {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand in ALIASES:
        say(FIND.format(context.invoked_subcommand))


@app.command("app")
def serve(
    file: Annotated[File, typer.Argument(help=f"{titles()} file to open first.")] = None,
    port: Annotated[
        Count, typer.Option(min=1, max=65535, help="By default the first free from 8501 on.")
    ] = None,
    host: Annotated[
        Texts,
        option(
            "NAME",
            "A name under which a proxy with a login hands the app on; repeatable. The app "
            "then listens to other machines, too.",
        ),
    ] = None,
    no_browser: Annotated[
        bool,
        flag(
            "--no-browser",
            "Open no window: the terminal shows an address that works once and for a minute.",
        ),
    ] = False,
    classroom: Annotated[
        bool, flag("--classroom", "Large type, demo tables only: no file is taken.")
    ] = False,
) -> None:
    """Open the app in this machine's browser; Ctrl-C ends it."""
    from rwn_ui.server import launch

    if classroom and file is not None:
        raise ParameterError("--classroom shows demo tables only; leave the file out.")
    if file is not None:
        require_openable(file)  # not to be opened is no fault of its content
        rwn.read(file)  # refused here, with a sentence, rather than on the page
    raise typer.Exit(
        launch.run(
            file, port=port, browser=not no_browser, classroom=classroom, hosts=host or (), say=say
        )
    )


@app.command()
def demo(
    name: Annotated[str, typer.Argument(help="Such as bodyfat, pima, randhie or cps1988.")],
    out: Annotated[Path, typer.Option("--out", "-o", help=ENDS_IN)],
    schema: Annotated[
        bool, flag("--schema", "Write its description next to it, as .toml.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a demo table to a file."""
    from rwn_core.io.demo import demo_path
    from rwn_core.io.write import file_format, table_bytes

    form = output_format(out)
    refuse_existing(overwrite, out, out.with_suffix(".toml") if schema else None)
    demo_file = demo_path(name)
    data = rwn.load_demo(name)
    same = form == file_format(demo_file)
    content = demo_file.read_bytes() if same else table_bytes(data.frame, form, data.schema)
    write(out, content, overwrite=overwrite)
    if schema:
        described = demo_file.with_suffix(".toml").read_bytes()
        write(out.with_suffix(".toml"), described, overwrite=overwrite)
    say(f"{name}: {size_words(data, data)}, written to {out}")


@app.command()
def methods() -> None:
    """List the masking methods: key, name, purpose, what each needs, and what each keeps."""
    from rwn_core.masking.option import method_words

    for key, method in rwn.METHODS.items():
        purpose, _, _ = method_words(method)["does"].partition(". ")
        typer.echo(f"{key:19} {method.title}: {purpose.rstrip('.')}.")
        typer.echo(f"{'':19} needs {', '.join(method_words(method, 'parameters'))}")
        for each in method.keeps:
            typer.echo(f"{'':19} keeps {each.words}")
        for name, choices in getattr(method, "choice_titles", {}).items():
            for choice, title in choices.items():
                typer.echo(f"{'':19} {name}={choice}: {title}")


@app.command()
def measures() -> None:
    """List the measures by group: key, name, unit; limits of the usual policy have a star."""
    usual = rwn.Policy().measures
    groups = dict[str, list[str]]()
    for key, measure in rwn.MEASURES.items():
        home = getattr(measure.compute, "func", measure.compute).__module__.rpartition(".")[2]
        star = "*" if key in usual else " "
        line = f"{star} {key:27} {measure.title} ({measure.unit})"
        groups.setdefault(f"{measure.side}: {home.replace('_', ' ')}", []).append(line)
    for group, lines in groups.items():
        typer.echo("\n".join([group, *lines]))


app.add_typer(ledger, name="ledger")
for _command in (
    describe,
    find,
    recommend,
    mask,
    mask_dataset,
    audit,
    audit_dataset,
    sweep,
    report,
    verify,
    reproduce,
):
    app.command(_command.__name__.replace("_", "-"))(_command)
for _alias in ("seek", "seek-slices"):
    app.command(_alias, hidden=True)(find)
# What help says is written by `python -m docs.build`: a program without docstrings says it, too.
_HELP = json.loads(Path(__file__).with_name("help.json").read_text(encoding="utf-8"))
for _each in (*app.registered_commands, *ledger.registered_commands):
    _each.help = _HELP.get(".".join(operator.attrgetter("__module__", "__name__")(_each.callback)))
