"""Terminal output: sentences, a table of readings, a bar; and output files, all or nothing."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import orjson
import typer

import rwn_core as rwn
from rwn_core.errors import ParameterError, ReleaseError, RWNError
from rwn_core.parallel.pace import Pace

Text = str | None
Texts = list[str] | None
Number = float | None
Count = int | None
File = Path | None
BAR_AFTER = 1.0  # seconds, so that whatever takes two of them shows a bar
_BAR_STEPS = 1000
_COLUMNS = ("measure", "value", "baseline", "better", "unit")


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value: what stands for it in the help, what it says, and its names."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(name: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help)


def least(smallest: int, help: str) -> Any:
    """An option with a number of at least so much."""
    return typer.Option(min=smallest, help=help)


def say(line: str) -> None:
    """Write a line for the person, apart from what a program may read."""
    typer.echo(line, err=True)


def print_json(document: dict[str, Any]) -> None:
    """Write what a program reads."""
    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_INDENT_2
    typer.echo(orjson.dumps(document, option=options).decode())


def size_words(table: rwn.Microdata, original: rwn.Microdata) -> str:
    """Return the numbers of records and variables, and of the units that risk is counted in."""
    from rwn_core.data.units import unit_of

    records = "1 record" if table.n == 1 else f"{table.n:,} records"
    if (unit := unit_of(original)) is not None:
        records += f" of {unit.size:,} {unit.words} by {unit.name}"
    return f"{records}, {table.p} {'variable' if table.p == 1 else 'variables'}"


class progress:
    """A display of the reports of long work: a bar, and the answer so far."""

    def __init__(self, label: str) -> None:
        self.so_far: Any = None
        self._label = label
        self._reading = ""  # the title of the measure that is computed, in brackets
        self._share = 0.0
        self._pace = Pace()
        self.bar: Any = None
        self._start = time.monotonic()

    def __call__(self, share: float) -> None:
        """Take in the share done, from 0 to 1; where stderr is a terminal, show it."""
        self._pace.report(share)
        self._share = share
        self._show()

    def _show(self) -> None:
        lasts = time.monotonic() - self._start > BAR_AFTER
        if self.bar is None and sys.stderr.isatty() and lasts:
            self.bar = typer.progressbar(length=_BAR_STEPS, show_eta=False, file=sys.stderr)
            self.bar.__enter__()
        if self.bar is not None:
            self.bar.label = f"{self._label}{self._reading}, {self._pace.words}"
            self.bar.update(max(0, round(self._share * _BAR_STEPS) - self.bar.pos))
            self.bar.render_progress()

    def found(self, answer: object) -> None:
        """Take in an answer so far, which may name the measure that is computed."""
        self.so_far = answer
        title = getattr(answer, "title_now", "")
        if title:
            self._reading = f" ({title})"
            self._show()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the bar where it stands."""
        if self.bar is not None:
            self.bar.__exit__(None, None, None)


def readings_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows of an audit as aligned text; measures without an answer follow with the reason."""
    read = [dict(row) for row in rows if row["not_applicable"] is None]
    for row in read:
        if row.get("used") is not None:
            row["unit"] += f" ({row['used']:,} of {row['total']:,} rows)"
    lines = [_COLUMNS, *(tuple(_cell(row[column]) for column in _COLUMNS) for row in read)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
    for row in rows:
        if row.get("at_most") is not None:
            text.append(f"{row['title']} {_cell(row['value'])}, at most {_cell(row['at_most'])}.")
        if row["not_applicable"] is not None:
            text.append(f"{row['measure']}: not applicable. {row['not_applicable']}")
    return "\n".join(text)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "-"
    return str(value)


Overwrite = Annotated[bool, flag("--overwrite", "Replace files of these names.")]


def refuse_existing(overwrite: bool, *targets: Path | None) -> None:
    """Refuse files that are there already, before any work is done."""
    for target in targets:
        if target is not None and target.is_file() and not overwrite:
            raise ReleaseError(
                f"{target.name} exists; choose another name, or give --overwrite to replace it."
            )


def require_folder(target: Path) -> None:
    """Refuse a file in a folder that does not exist."""
    if not target.parent.is_dir():
        raise RWNError(f"The folder {target.parent} does not exist; create it first.")


def require_toml(target: Path | None, option: str, *others: str | Path | None) -> None:
    """Refuse a TOML file that cannot be written, before any work is done."""
    if target is None:
        return
    if target.suffix.lower() != ".toml":
        raise ParameterError(f"{option} must name a file that ends in .toml.")
    require_folder(target)
    if any(target.resolve() == Path(other).resolve() for other in others if other):
        raise ReleaseError(f"{option} names another file of this command; choose a new one.")


def output_format(target: Path, *inputs: str | Path | None) -> str:
    """The format of a file that may be written; refused before any work is done."""
    from rwn_core.io.write import file_format

    form = file_format(target)
    require_folder(target)
    for path in inputs:
        if path is not None and target.exists() and Path(path).exists() and target.samefile(path):
            raise ReleaseError("OUT is the input file itself; write to another file.")
    return form


def write(target: Path, content: bytes, *, overwrite: bool) -> None:
    """Write a file, all or nothing; one that is there already only if it may be replaced."""
    write_all({target: content}, overwrite=overwrite)


def write_all(files: Mapping[Path, bytes], *, overwrite: bool) -> None:
    """Write files that belong together: all of them, or none."""
    from rwn_core.io.write import write_together

    refuse_existing(overwrite, *files)  # the work may have taken hours
    write_together(files)
