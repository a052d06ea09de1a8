"""The `rwn` command: a thin shell over the same functions that Python and the browser call."""

from __future__ import annotations

import hashlib
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
import typer

import rwn_core
from rwn_core.arguments import asked, described, like, load, output_format, parameters
from rwn_core.errors import InputError, ParameterError, ReleaseError, RWNError
from rwn_core.sweep_command import sweep
from rwn_core.terminal import progress, readings_table, say

if TYPE_CHECKING:
    from rwn_core.masking import Release
    from rwn_core.microdata import Microdata

INTERNAL, USAGE, INPUT, POLICY, INPUT_OUTPUT = 1, 2, 3, 4, 5
_EXIT_CODES = ((ParameterError, USAGE), (InputError, INPUT), (ReleaseError, POLICY))

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Mask confidential microdata by randomization within neighborhoods; audit the result.",
    epilog=(
        "Exit codes: 0 done, 2 wrong use or parameter, 3 input refused, 4 policy refused, "
        "5 a file cannot be read or written, 130 interrupted."
    ),
)

Source = Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file, or demo:NAME.")]
Original = Annotated[str, typer.Argument(metavar="ORIGINAL", help="Its file, or demo:NAME.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="Ends in .csv or .parquet.")]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE.toml", help="Describes the variables of the table."),
]
Dropped = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="NAME", help="A direct identifier, left out; repeatable."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="RWN_THREADS or all processors by default; never changes the release."
    ),
]


def main() -> None:
    """Run the command line and leave with its exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a library's warning may show a value
        sys.exit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; every failure is one sentence on stderr and an exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.

    Returns
    -------
    int
        0 done, 2 wrong use, 3 input refused, 4 policy refused, 5 input or output, 130 interrupted.
    """
    try:
        app(args=arguments, prog_name="rwn")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except RWNError as refusal:
        codes = (code for kind, code in _EXIT_CODES if isinstance(refusal, kind))
        return _fail(str(refusal), next(codes, INPUT_OUTPUT))
    except OSError as error:
        return _fail(_reason(error), INPUT_OUTPUT)
    except MemoryError:
        return _fail("There is not enough memory for this table.", INPUT_OUTPUT)
    except Exception as error:  # the last barrier: a library's message may hold a cell's value
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__}, {Path(place.filename).name} line {place.lineno}"
        return _fail(f"RWN met a fault of its own ({where}); please report it.", INTERNAL)
    return 0


def _fail(sentence: str, code: int) -> int:
    say(f"rwn: {sentence}")
    return code


def _reason(error: OSError) -> str:
    name = Path(error.filename).name if isinstance(error.filename, str | Path) else "A file"
    return f"{name} cannot be read or written ({error.strerror or type(error).__name__})."


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rwn {rwn_core.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command("app")
def serve(
    file: Annotated[Path | None, typer.Argument(help="CSV or Parquet file to open first.")] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="By default the first free from 8501 on.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no window.")] = False,
) -> None:
    """Open the app in this machine's browser; Ctrl-C ends it."""
    from rwn_core.intake import read
    from rwn_ui import launch

    if file is not None:
        file.open("rb").close()  # not to be opened is no fault of its content
        read(file)  # refused here, with a sentence, rather than on the page
    raise typer.Exit(launch.run(file, port=port, browser=not no_browser, say=say))


@app.command()
def demo(
    name: Annotated[str, typer.Argument(help="Such as bodyfat, pima, randhie or cps1988.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Ends in .csv or .parquet.")],
    schema: Annotated[
        bool, typer.Option("--schema", help="Write its description beside it, as .toml.")
    ] = False,
) -> None:
    """Write a demo table to a file."""
    from rwn_core.demo import demo_path, load_demo
    from rwn_core.export import table_bytes

    form = output_format(out)
    kept = demo_path(name)
    data = load_demo(name)
    _write(out, kept.read_bytes() if form == "csv" else table_bytes(data.frame, form))
    if schema:
        _write(out.with_suffix(".toml"), kept.with_suffix(".toml").read_bytes())
    say(f"{name}: {data.n:,} records, {data.p} variables, written to {out}")


@app.command()
def mask(
    source: Source,
    target: Target,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Radius in standard deviations; not that of differential privacy."),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="Least size of a neighborhood.")] = None,
    q: Annotated[
        float | None,
        typer.Option("--q", help="Modification probability of a cell, 0 to 1; 1 if left out."),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=W", help="Weight of a variable in the distance; repeatable."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeats a release; for teaching, and no secret.")
    ] = None,
    method: Annotated[str, typer.Option(metavar="KEY", help="rwn or nbrs2015.")] = "rwn",
    scale: Annotated[
        Literal["sd", "range"] | None, typer.Option(help="What numbers are divided by.")
    ] = None,
    encoding: Annotated[
        Literal["dummies", "matching"] | None, typer.Option(help="How a category counts.")
    ] = None,
    neighbors: Annotated[
        Literal["exact", "sample", "pairs", "partition"] | None,
        typer.Option(help="Who may be a neighbor: everybody, or a random few."),
    ] = None,
    m: Annotated[
        int | None, typer.Option("--m", help="Sample size, or mean number of random partners.")
    ] = None,
    u: Annotated[int | None, typer.Option("--u", help="Number of random parts.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Another sample for each record.")] = False,
    weights: Annotated[
        Literal["schema", "discrete"] | None,
        typer.Option(help="discrete: categories weigh less the larger the table is."),
    ] = None,
    order: Annotated[
        Literal["shuffled", "original"], typer.Option(help="The original order names each record.")
    ] = "shuffled",
    schema: SchemaFile = None,
    drop: Dropped = None,
    threads: Threads = None,
) -> None:
    """Mask a table and write the release.

    At least one of --epsilon and --k is needed. Without --seed a fresh 256-bit secret is used and
    forgotten.
    """
    from rwn_core.masking import mask as mask_table

    form = output_format(target, source, schema)
    params = parameters(
        method,
        epsilon=epsilon,
        k=k,
        q=q,
        scale=scale,
        encoding=encoding,
        neighbors=neighbors,
        m=m,
        u=u,
        fresh=fresh or None,
        weights=weights,
    )
    data = described(load(source, schema), weights=weight or (), identifiers=drop or ())
    for notice in data.notices:
        say(f"note: {notice}")
    _compile_once(data)
    with progress("masking") as tell:
        release = mask_table(data, params, seed=seed, threads=threads, progress=tell)
    content = release.to_bytes(form, order)
    _write(target, content)
    _summarize(data, release)
    _tell_what_it_cost(data, release, threads)
    say(f"written to {target}, rows {'in secret order' if order == 'shuffled' else 'as they were'}")
    say(f"SHA-256 {hashlib.sha256(content).hexdigest()}")
    if order == "original":
        say("note: the row order names each record; keep this file inside.")
    if seed is not None:
        say("note: a seed is for teaching: it is no secret.")


@app.command()
def audit(
    original: Original,
    masked: Annotated[Path, typer.Argument(metavar="MASKED", help="Its rows in the same order.")],
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    measure: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Only this measure; repeatable.")
    ] = None,
    response: Annotated[
        str | None, typer.Option(metavar="NAME", help="Response of the regression to keep.")
    ] = None,
    predictor: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Predictor of it; repeatable.")
    ] = None,
    schema: SchemaFile = None,
    drop: Dropped = None,
) -> None:
    """Read the measures on an original and a masked table.

    Row i of MASKED must be the masked record i of ORIGINAL, as `rwn mask --order original` writes
    it. A shuffled release cannot be audited row by row.
    """
    data = described(load(original, schema), identifiers=drop or ())
    from rwn_core.audit import audit as read_all

    data = asked(data, response, predictor or ())
    say("note: row i of MASKED is read as record i of ORIGINAL; a shuffled file gives nonsense.")
    with progress("auditing") as tell:
        found = read_all(data, like(data, masked), measures=measure, progress=tell)
    if as_json:
        document = {"records": data.n, "variables": len(data.schema.released)}
        typer.echo(_json({**document, "measures": found.records()}))
    else:
        typer.echo(readings_table(found.records()))


app.command()(sweep)


def _compile_once(data: Microdata) -> None:
    """Say why the first large table of a machine takes longer."""
    from rwn_core.neighborhoods import LARGEST_DENSE
    from rwn_core.neighborhoods.machine_code import is_ready

    if data.n > LARGEST_DENSE and not is_ready():
        from rwn_core.warm import warm

        say("note: the search of large tables is compiled for this machine, once: half a minute.")
        warm()


def _json(document: dict[str, Any]) -> str:
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_INDENT_2).decode()


def _write(target: Path, content: bytes) -> None:
    from rwn_core.export import write_atomically

    try:
        write_atomically(target, content)
    except ReleaseError as failure:
        raise RWNError(str(failure)) from None


def _tell_what_it_cost(data: Microdata, release: Release, threads: int | None) -> None:
    """Say what random candidates and weights by the table's size did to the neighborhoods."""
    from rwn_core.masking import RWN

    params = release.params
    if not isinstance(params, RWN):
        return
    if not params.scheme.exact and release.law is not None:
        cost = params.restriction_cost(data, release.law.neighborhoods, threads=threads)
        say(f"neighbors {params.neighbors}: {cost}")
    if params.weights == "discrete":
        shares = params.distance_shares(data)
        told = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        say(f"shares of the squared distance: {told}")


def _summarize(data: Microdata, release: Release) -> None:
    from rwn_core.audit import audit
    from rwn_core.reading import Reading

    table = release.masked
    changed = audit(data, release, measures=["cells_changed"])["cells_changed"]
    share = f", {changed.value:.1%} of cells changed" if isinstance(changed, Reading) else ""
    say(f"{release.method}: {table.n:,} records, {table.p} variables{share}")
