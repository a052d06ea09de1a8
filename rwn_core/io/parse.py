"""Turns the bytes of a file into microdata, in this process; what is not understood is refused."""

from __future__ import annotations

from dataclasses import replace

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io import Format, detected, either, endings, format_of_name, kinds
from rwn_core.io.file_name import shown
from rwn_core.io.file_type import describe
from rwn_core.io.limits import LARGEST_FILE
from rwn_core.io.missing_codes import without_missing_codes


def parse(
    name: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a table from bytes."""
    form = format_in_use(name, content)
    file = shown(name)
    if len(content) > LARGEST_FILE:
        raise InputError(too_large(file))
    if not content:
        raise InputError(f"{file} is empty (0 bytes); choose a file that holds a table.")
    layout = layout or (schema and schema.file) or FileLayout()
    if schema is not None and not schema.variables:
        schema = None  # it says how the file is laid out, and nothing of the columns
    _check_layout(form, file, layout)
    _check_content(form, file, content)
    if form.layout:
        read = form.read(file, content, schema, layout)
    else:
        read = form.read(file, content, schema)
    data = without_missing_codes(read, schema)
    return data.with_schema(replace(data.schema, file=layout if layout.changed() else None))


def format_in_use(name: str, content: bytes) -> Format:
    """The format that a name asks for."""
    form = format_of_name(name)
    if form is not None:
        return form
    own = detected(content)
    if own is not None:
        raise InputError(
            f"{shown(name)} is {own.noun}; give it the ending {either(own.suffixes)}, or save the "
            f"table as {kinds()}."
        )
    what = describe(content)
    fault = f"does not end in {endings()}" if what is None else f"is {what}"
    raise InputError(f"{shown(name)} {fault}; save the table as {kinds()}.")


def too_large(file: str) -> str:
    """The sentence about a file with too many bytes."""
    return (
        f"{file} is larger than {LARGEST_FILE // 1_000_000:,} MB; "
        "read fewer columns or records, or use the commands for large tables."
    )


def _check_layout(form: Format, file: str, layout: FileLayout) -> None:
    for name in layout.changed():
        if name not in form.layout:
            raise InputError(
                f"{file} is to be read with a given {name}, which {form.noun} does not have; leave "
                "it out."
            )


def _check_content(form: Format, file: str, content: bytes) -> None:
    """Refuse a file if its bytes and its name show different formats."""
    if form.detects(content):
        return
    what = describe(content)
    fault = f"is not {form.noun}" if what is None else f"is {what} and not {form.title}"
    if form.has_signature:
        raise InputError(
            f"{file} {fault}; save the table as {form.title}, or give a file of another format "
            f"the ending {endings(besides=form.key)}."
        )
    if what is not None:
        raise InputError(f"{file} {fault}; save the table as {kinds()}.")
