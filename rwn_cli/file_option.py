"""The option --file: how a table lies in its file; and the reading of files for every command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import rwn_core as rwn
from rwn_cli.terminal import Texts, option, say
from rwn_core.data.file_layout import USUAL_DATES, FileLayout, layout_options
from rwn_core.errors import InputError, ParameterError, ReleaseError, SchemaError

Laid = Annotated[
    Texts,
    option(
        "NAME=VALUE",
        "How the table lies in its file: encoding, separator (one character, or tab), decimal (. "
        "or ,), header (true, false or how many lines have the names), above and below (lines that "
        "are no records), dates (such as DD.MM.YYYY), missing (texts for a missing value, | "
        "between them), sheet, fill (true: merged cells), grouped (true: 1 234 and (5) are "
        "numbers), join (true: texts that look the same are one). Repeatable.",
    ),
]
_TRUTHS = {"true": True, "false": False}
# what leaves a file as it is, of each field that is proposed for one that opens
_AS_IS = {"below": "0", "missing": "", "grouped": "false", "decimal": ".", "dates": USUAL_DATES}


def description(source: str, schema: Path | None) -> Path | None:
    """The schema of the command line, or the one that was saved with the file; says which."""
    from rwn_core.io.reading import saved_schema

    saved = saved_schema(source)
    if schema is not None or not saved.is_file():
        return schema
    say(f"note: described by {saved.name}, which lies with the file.")
    return saved


def _stated_layout(given: Texts, of_schema: FileLayout | None) -> FileLayout | None:
    """Return the layout that --file states, with that of the schema for the rest; None for none."""
    named = named_texts(given, "--file", "encoding=cp1252", may_be_empty=True)
    if not named:
        return None
    stated = {} if of_schema is None else of_schema.changed()
    stated |= {name: _value(name, value) for name, value in named.items()}
    try:
        return FileLayout.from_dict(stated)
    except SchemaError as refusal:
        raise ParameterError(str(refusal)) from None


def read_file(
    source: str,
    schema: Path | None,
    given: Texts = None,
    *,
    hint: bool = True,
    only: Texts = None,
    drop: Texts = None,
) -> rwn.Microdata:
    """Read a file; a refusal says after its sentence how the file seems to be laid out."""
    # `only` and `drop` choose columns before they are parsed, where a file has too many
    from rwn_core.io.reading import begin, schema_from

    described = schema_from(schema)

    of_schema = None if described is None else described.file
    layout = _stated_layout(given, of_schema)
    used_layout = layout
    if only or drop:
        base = layout or of_schema or FileLayout()
        used_layout = replace(base, only=tuple(only or ()), drop=tuple(drop or ()))
    reading = begin(source, described, used_layout)
    try:
        reading.wait()
        return reading.table()
    except InputError as refusal:
        seen = reading.seen
        is_stated = layout is not None or of_schema is not None
        if hint and not is_stated and seen is not None and seen.opens:
            refusal.add_note(_how_to_say(seen.layout, option=given is not None))
        raise
    finally:
        reading.cancel()  # also where Ctrl-C ended the waiting


def refuse_better_layout(data: rwn.Microdata, given: Texts) -> None:
    """Refuse a table that reads better in another layout, until --file says which one it has.

    `data`: as it was read; `given`: the options --file.
    """
    from rwn_core.io.reading import proposed_layout

    proposed = proposed_layout(data)
    if proposed is None:
        return
    used = {} if data.schema.file is None else data.schema.file.changed()
    stated = named_texts(given, "--file", "", may_be_empty=True)
    open_fields = {
        name: value
        for name, value in proposed.changed().items()
        if used.get(name) != value and name not in stated
    }
    if not open_fields:
        return
    better = " ".join(f"--file {option}" for option in layout_options(FileLayout(**open_fields)))
    as_is = " ".join(f"--file {name}={_AS_IS[name]}" for name in open_fields)
    why = "more of its columns are numbers or dates"
    if "below" in open_fields:
        why = "its last rows seem to be no records (a total, a note or a source)"
    raise ReleaseError(
        f"The file seems to be laid out in another way: {why}. Answer: {better} reads it so, "
        f"{as_is} reads it as now."
    )


def _how_to_say(layout: FileLayout, *, option: bool) -> str:
    """Return the options that state a layout, on the command line or in a schema."""
    if option:
        words = " ".join(f"--file {option}" for option in layout_options(layout))
        return f"the file seems to be laid out in another way; give {words}"
    fields = ", ".join(f"{name} = {json.dumps(value)}" for name, value in layout.changed().items())
    return (
        "the file seems to be laid out in another way; begin its schema (--schema FILE.toml) with "
        f"the line file = {{ {fields} }}"
    )


def named_texts(
    texts: Texts, option: str, example: str, *, may_be_empty: bool = False
) -> dict[str, str]:
    """The values that a repeatable option gives as NAME=VALUE; an empty one where it may be."""
    given: dict[str, str] = {}
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not (name and sign) or not (value or may_be_empty):
            raise ParameterError(f"{option} must be NAME=VALUE, such as {example}.")
        if name in given:
            raise ParameterError(f"{option} gives {name} twice; give it once.")
        given[name] = value
    return given


def _value(name: str, text: str) -> Any:
    if name in ("above", "below") or (name == "header" and text.isdecimal()):
        return int(text) if text.isdecimal() else text
    if name == "missing":
        return [word for word in text.split("|") if word]
    if name in ("header", "fill", "grouped", "join"):
        return _TRUTHS.get(text, text)
    return "\t" if name == "separator" and text == "tab" else text
