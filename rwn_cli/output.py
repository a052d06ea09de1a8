"""Output files of commands: refused before the work, written completely or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from rwn_core.errors import ParameterError, ReleaseError, RWNError

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files of these names.")]


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
