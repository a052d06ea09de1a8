"""Opens ordinary files and turns their bytes into microdata, in this process.

What is not understood is refused; so is a device without end, and a pipe without a writer.
"""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import LONGEST_DOCUMENT
from rwn_core.data.same_looks import joined, may_join
from rwn_core.data.schema import Schema
from rwn_core.data.validation import table_notices
from rwn_core.data.variable import is_missing, missing_words
from rwn_core.errors import InputError
from rwn_core.io import detected, either, endings, format_of_name, kinds
from rwn_core.io.format import Format
from rwn_core.io.limits import LARGEST_COMPANION, LARGEST_FILE, shown
from rwn_core.io.packed import unpacked_file

_SIGNS = (
    (b"PARE", "an encrypted Parquet file"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office file"),
    (b"\x1f\x8b", "a gzip archive"),
    ((b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c"), "a packed archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    ((b"\x89HDF\r\n\x1a\n", b"SQLite format 3\x00"), "a database"),
    ((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a pickle, which is never opened"),
)
_OF_ALL = ("only", "drop", "join")  # fields of a layout that every format has
_TEXT_SIGNS = (
    ((b"<!doctype html", b"<html"), "a web page"),
    (b"<?xml", "an XML file"),
    ((b"{", b"["), "a JSON file"),
)


def parse(
    name: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a table from bytes, which may be packed."""
    if len(content) <= LARGEST_FILE:
        name, content = unpacked_file(name, content)
    form = format_of_name(name)
    file = shown(name)
    if form is None:
        raise InputError(_unknown_ending(file, content))
    if len(content) > LARGEST_FILE:
        raise InputError(too_large(file))
    if not content:
        raise InputError(f"{file} is empty (0 bytes); choose a file that holds a table.")
    layout = layout or (schema and schema.file) or FileLayout()
    if schema is not None and not schema.variables:
        schema = None  # it says how the file is laid out, and nothing of the columns
    if odd := [given for given in layout.changed() if given not in (*form.layout, *_OF_ALL)]:
        raise InputError(
            f"{file} is to be read with a given {odd[0]}, which {form.noun} does not have; leave "
            "it out."
        )
    if not form.detects(content):
        _refuse_another_format(file, content, form)
    data = without_missing_codes(form.read(file, content, schema, layout), schema)
    if layout.join:
        data = with_levels_joined(data)
    layout = replace(layout, only=(), drop=())  # the variables say which columns were read
    return data.with_schema(replace(data.schema, file=layout if layout.changed() else None))


def _unknown_ending(file: str, content: bytes) -> str:
    """Say what a file is whose name does not end as that of a format."""
    own = detected(content)
    if own is not None:
        return (
            f"{file} is {own.noun}; give it the ending {either(own.suffixes)}, or save the "
            f"table as {kinds()}."
        )
    what = describe(content)
    fault = f"does not end in {endings()}" if what is None else f"is {what}"
    return f"{file} {fault}; {_remedy(what)}."


def _refuse_another_format(file: str, content: bytes, form: Format) -> None:
    """Refuse bytes that are of another format than the name says, as far as they show it."""
    what = describe(content)
    fault = f"is not {form.noun}" if what is None else f"is {what} and not {form.title}"
    if form.has_signature:
        raise InputError(
            f"{file} {fault}; save the table as {form.title}, or give a file of another format "
            f"the ending {endings(besides=form.key)}."
        )
    if what is not None:
        raise InputError(f"{file} {fault}; {_remedy(what)}.")


def with_levels_joined(microdata: Microdata) -> Microdata:
    """Return a table in which levels that look the same are one; its file says so from now on."""
    frame = microdata.frame
    for variable in microdata.schema.released:
        if may_join(frame[variable.name], variable):
            frame[variable.name] = joined(frame[variable.name])
    file = replace(microdata.schema.file or FileLayout(), join=True)
    before = table_notices(microdata.frame, microdata.schema)
    retained = tuple(notice for notice in microdata.notices if notice not in before)
    schema = replace(microdata.schema, file=file)
    return Microdata.from_own_frame(frame, schema, notices=retained, left_out={})


def _remedy(what: str | None) -> str:
    if what is not None and what.endswith("archive"):
        return "unpack it, and open the table that is in it"
    return f"save the table as {kinds()}"


def too_large(file: str) -> str:
    """The sentence about a file with too many bytes."""
    return (
        f"{file} is larger than {LARGEST_FILE // 1_000_000:,} MB; "
        "read fewer columns or records, or use the commands for large tables."
    )


def describe(content: bytes) -> str | None:
    """Name the type that the first bytes show, such as ``a PDF document``; None if unknown."""
    own = detected(content)
    if own is not None:
        return own.noun
    start = content[:200].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    shown_by = [what for sign, what in _SIGNS if content.startswith(sign)]
    shown_by += [what for sign, what in _TEXT_SIGNS if start.startswith(sign)]
    return next(iter(shown_by), None)


def without_missing_codes(microdata: Microdata, schema: Schema | None) -> Microdata:
    """Take out the values that the schema declares as missing."""
    released = {v.name for v in microdata.schema.released}
    frame = microdata.frame
    said = []
    for variable in () if schema is None else schema.variables:
        name = variable.name
        codes = variable.missing_codes
        column = frame[variable.name]
        known = column.dropna().unique().tolist() if codes and name in released else []
        gone = column.isin([value for value in known if is_missing(value, codes)])
        if count := int(gone.sum()):
            column = column.astype("Int64") if column.dtype.kind in "iu" else column
            frame[name] = column.mask(gone)
            said.append(
                f"{name} has {count:,} values declared as missing ({missing_words(codes)}): they "
                "are missing here."
            )
    if not said:
        return microdata
    before = table_notices(microdata.frame, microdata.schema)  # their notices of codes are decided
    retained = [notice for notice in microdata.notices if notice not in before]
    return Microdata.from_own_frame(
        frame, microdata.schema, notices=(*retained, *said), left_out={}
    )


_BYTES = 4  # of a letter, at most


def file_text(path: Path, what: str) -> str:
    """The text of a small file; a larger one is refused before it is read."""
    content = file_content(path, LONGEST_DOCUMENT * _BYTES)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"The {what} file is not UTF-8 text.") from None


def table_content(path: Path) -> bytes:
    """The content of a table's file, and after a NUL that of its codebook, if its format has one.

    The codebook has the file's name with another ending, or is the only one in the folder.
    """
    content = file_content(path)
    form = format_of_name(path.name)
    if form is None or not form.companion:
        return content
    near = [each for each in path.parent.glob("*") if each.suffix.lower() == form.companion]
    found = [each for each in near if each.stem.lower() == path.stem.lower()] or near
    if len(found) != 1:
        return content
    return b"\0".join((content, file_content(found[0], LARGEST_COMPANION)))


def file_content(path: Path, most: int | None = None) -> bytes:
    """The whole content of a file."""
    name = shown(path.name)
    largest = LARGEST_FILE if most is None else most
    try:
        about = path.stat()
        # a device may give bytes without end, and a pipe may never give one
        ordinary = stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)
        if ordinary and about.st_size <= largest:
            with path.open("rb") as stream:  # room for what is asked for is taken, and not for more
                content = stream.read(about.st_size + 1)
    except (OSError, ValueError) as error:  # a ValueError for a path with a NUL
        reason = (getattr(error, "strerror", None) or "not a path").lower()
        raise InputError(
            f"{name} cannot be opened ({reason}); check its path and your rights."
        ) from None
    if not ordinary:
        raise InputError(f"{name} is no ordinary file; copy the table into one.")
    if about.st_size > largest:
        small = f"{name} has more than {largest:,} bytes; shorten it."
        raise InputError(too_large(name) if most is None else small)
    if len(content) > about.st_size:
        raise InputError(f"{name} is still being written; open it when it is complete.")
    return content
