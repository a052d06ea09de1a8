"""Layout that was recognized in a file or workbook, to accept or to correct."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rwn_core.data.file_layout import (
    MOST_HEADER,
    MOST_LINES,
    NOTATIONS,
    SEPARATORS,
    USUAL_DATES,
    FileLayout,
)
from rwn_core.io import Format, format_of_name
from rwn_core.io.packed import unpacked_file
from rwn_core.tuning.verdict import counted
from rwn_ui.background.opening import Opening
from rwn_ui.server.messages import escaped, informed
from rwn_ui.state.session import Session
from rwn_ui.widgets.upload import read_upload

_ENCODINGS = {
    "utf-8": "UTF-8",
    "cp1252": "Windows-1252",
    "iso8859-1": "Latin-1",
    "iso8859-15": "Latin-9",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "mac-roman": "Mac Roman",
    "utf-16": "UTF-16",
}
_MARKS = {".": "point, as in 1.5", ",": "comma, as in 1,5"}
_SHOWN = 6  # lines
_SeenRows = Sequence[tuple[int, tuple[str, ...]]]
_START = 20_000  # bytes


def correct(session: Session) -> None:
    """Show how the chosen file is read, or seems to be laid out, and read it in another way."""
    opening = session.user.work.opening
    upload = st.session_state.get("data.upload")
    if opening is None or opening.reading is not None or opening.seen is None or upload is None:
        return
    name, content = unpacked_file(opening.name, upload.getvalue())
    form = format_of_name(name)
    if form is not None and "sheet" in form.layout:
        if opening.seen.sheets:
            _workbook(session, opening)
    else:
        _text(session, opening, content, form)


def _workbook(session: Session, opening: Opening) -> None:
    assert opening.seen is not None
    sheets = opening.seen.sheets
    refused = opening.refusal is not None
    now = opening.layout or (opening.seen.layout if refused else FileLayout())
    sheet = now.sheet  # None for the first one
    if len(sheets) > 1:
        given = now.sheet or sheets[0]
        index = sheets.index(given) if given in sheets else 0
        key = f"data.sheet.{_number(opening)}"
        chosen = st.selectbox("Sheet of the workbook", sheets, index, key=key)
        sheet = now.sheet if chosen == given else chosen
    if sheet != now.sheet:
        read_upload(session, FileLayout(sheet=sheet))
        st.rerun()
    shown_layout = opening.better or now
    words = _sentence([*_around(shown_layout, "row"), *_notation(shown_layout)])
    key = f"data.layout.{_number(opening)}"
    form = _form(opening, words)
    with form.corrections:
        lines = _line_numbers(shown_layout, "Rows", key)
        marks = _marks(shown_layout, st.columns(3), key)
        fill = st.checkbox("Every cell of a merged area has its value", now.fill, key=f"{key}.fill")
    with form.above:
        _open_so(session, FileLayout(sheet=sheet, fill=fill, **lines, **marks), now, refused)
        if sheet in (None, sheets[0]):
            shown = _picture(opening.seen.rows, **lines)
            st.dataframe(shown, lazy=False, height="content")


def _picture(rows: _SeenRows, above: int, header: int, below: int) -> pd.DataFrame:
    """The first and last rows of a sheet as they are; those of the table have a mark."""
    last = max((number for number, _ in rows), default=0) - below
    words = ["▌ names" if number < above + header else "▌ record" for number, _ in rows]
    inside = [above <= number <= last for number, _ in rows]
    marks = [word if within else "" for word, within in zip(words, inside, strict=True)]
    shown = _as_frame(rows)
    shown.insert(0, "read", marks)
    return shown


def _as_frame(rows: _SeenRows) -> pd.DataFrame:
    """Rows of a file with their numbers, as they are."""
    width = max((len(cells) for _, cells in rows), default=0)
    texts = [[cell[:24] for cell in cells] + [""] * (width - len(cells)) for _, cells in rows]
    shown = pd.DataFrame(texts, index=pd.Index([number + 1 for number, _ in rows], name="row"))
    shown.columns = [f"column {place + 1}" for place in range(width)]
    return shown


def _text(session: Session, opening: Opening, content: bytes, form: Format | None) -> None:
    assert opening.seen is not None
    refused = opening.refusal is not None
    usual = "\t" if form is not None and form.key == "tsv" else ","
    now = opening.layout or (opening.seen.layout if refused else FileLayout())
    shown_layout = opening.better or now
    form_of_layout = _form(opening, _words(shown_layout, usual))
    with form_of_layout.corrections:
        layout = _fields(shown_layout, usual, f"data.layout.{_number(opening)}")
    with form_of_layout.above:
        _open_so(session, layout, replace(now, separator=now.separator or usual), refused)
        _preview(content, layout, usual)
        foot = foot_of_table(opening, layout.below)
        if foot is not None and refused:
            st.markdown("Below the table, and no records:")
            st.dataframe(foot, lazy=False, height="content")


class _Form(NamedTuple):
    """The places of the one form: what was seen with its button, and what may be corrected."""

    above: DeltaGenerator
    corrections: DeltaGenerator


def _form(opening: Opening, words: str) -> _Form:
    """Say how a file was read, or is proposed to be; a file that is open hides its form."""
    refused = opening.refusal is not None
    if not refused and opening.better is None:
        with st.expander("How this file was read", icon=":material/visibility:"):
            st.markdown(escaped(words))
            above = st.container()
            corrections = st.container()
        return _Form(above, corrections)
    with st.container(border=True):
        title = "This is what I saw" if refused else "This file reads better in another layout"
        st.markdown(f"#### {title}")
        if opening.seen_otherwise and refused:
            informed(_refused_words(opening, words))
        else:
            st.markdown(escaped(words))
        above = st.container()
        opens = opening.seen is not None and opening.seen.opens
        corrections = st.expander("Correct it", expanded=refused and not opens)
    return _Form(above, corrections)


def _refused_words(opening: Opening, words: str) -> str:
    """Say how a file that is not open seems to be laid out, and why that is asked."""
    why = str(opening.refusal).partition("; ")[0].rstrip(".")
    if opening.seen is None or not opening.seen.opens:
        return f"{why}; say below how it is laid out."
    layout = words.replace("Names", "a table with names", 1) if words.startswith("Names") else words
    return f"I read this as {layout.rstrip('.')}: look at it, and open it so. ({why}.)"


def foot_of_table(opening: Opening | None, below: int) -> pd.DataFrame | None:
    """Return the last rows of a file, which are left out; None where they were not seen."""
    if not below or opening is None or opening.seen is None:
        return None
    rows = opening.seen.rows[-below:]
    return _as_frame(rows) if rows else None


def _open_so(session: Session, layout: FileLayout, now: FileLayout, refused: bool) -> None:
    """Offer to open the file in this layout."""
    if st.button(
        "Open it so" if refused else "Read it again so",
        type="primary" if refused else "secondary",
        key="data.layout.open",
        disabled=not refused and layout == now,
    ):
        read_upload(session, layout)
        st.rerun()


def _number(opening: Opening) -> str:
    """Part of widget keys that differs between two readings."""
    return str(opening.number)


def _words(layout: FileLayout, usual: str) -> str:
    mark = layout.separator or usual
    parts = [
        f"{_ENCODINGS.get(layout.encoding, layout.encoding)} text",
        f"fields separated by {SEPARATORS.get(mark, mark)}",
        f"decimals after a {_MARKS[layout.decimal].partition(',')[0]}",
        *_notation(replace(layout, decimal=".")),
    ]
    named, *around = _around(layout, "line")
    return _sentence([*parts, named if layout.header else "no line with names", *around])


def _notation(layout: FileLayout) -> list[str]:
    """Name the notation of values that is not the usual one."""
    parts = [] if layout.decimal == "." else ["texts with a decimal comma are numbers"]
    if layout.dates != USUAL_DATES:
        parts.append(f"dates as {layout.dates}")
    if layout.missing:
        parts.append(f"missing values as {', '.join(layout.missing)}")
    if layout.grouped:
        parts.append("digits in groups are numbers")
    if layout.join:
        parts.append("texts that look the same are one")
    return parts + (["merged cells have the value of their area"] if layout.fill else [])


def _around(layout: FileLayout, what: str) -> list[str]:
    last = layout.above + max(int(layout.header), 1)
    named = f"names in {what} {layout.above + 1}"
    if last > layout.above + 1:
        named = f"names in {what}s {layout.above + 1} to {last}, joined"
    parts = [
        named
        if what == "line" or layout.above or layout.header > 1
        else "names in the first row with values"
    ]
    if layout.above:
        parts.append(f"{counted(layout.above, what)} above the table")
    if layout.below:
        parts.append(f"{counted(layout.below, what)} below it")
    return parts


def _sentence(parts: list[str]) -> str:
    words = "; ".join(parts)
    return f"{words[:1].upper()}{words[1:]}."


def _fields(now: FileLayout, usual: str, key: str) -> FileLayout:
    """The layout as the user corrects it."""
    encodings = dict.fromkeys([*_ENCODINGS, now.encoding])
    mark = now.separator or usual
    marks = dict.fromkeys([*SEPARATORS, mark])
    one, two = st.columns(2)
    encoding = _choose_text(
        *(one, "Encoding", _ENCODINGS), options=encodings, now=now.encoding, key=f"{key}.encoding"
    )
    words = "Fields are separated by"
    key_of_mark = f"{key}.separator"
    mark = _choose_text(two, words, SEPARATORS, options=marks, now=mark, key=key_of_mark)
    values = _marks(now, st.columns(3), key)
    lines = _line_numbers(now, "Lines", key)
    return FileLayout(encoding=encoding, separator=mark, **values, **lines)


def _choose_text(column: DeltaGenerator, label: str, words: Mapping[str, str], **more: Any) -> Any:
    """Choose one of some options, shown in words where there are any."""
    options = list(more.pop("options", words))
    now = more.pop("now")
    return column.selectbox(
        label, options, options.index(now), format_func=lambda each: words.get(each, each), **more
    )


def _marks(now: FileLayout, columns: Sequence[DeltaGenerator], key: str) -> dict[str, Any]:
    """Ask for the notation of values."""
    decimal = _choose_text(
        columns[0], "Decimal mark", _MARKS, now=now.decimal, key=f"{key}.decimal"
    )
    dates = _choose_text(
        *(columns[1], "Dates", {}),
        options=(USUAL_DATES, *NOTATIONS),
        now=now.dates,
        key=f"{key}.dates",
        help="D and M are a day and a month without a zero before them.",
    )
    missing = columns[2].text_input(
        "Texts for a missing value",
        " | ".join(now.missing),
        key=f"{key}.missing",
        help="In every column; several with | between them, such as n/a | unknown.",
    )
    words = tuple(word.strip() for word in missing.split("|") if word.strip())
    grouped = columns[0].checkbox(
        "Digits in groups are numbers",
        now.grouped,
        key=f"{key}.grouped",
        help="Such as 1 234, 1'234, (1,234) for a minus, or 1.5D+03.",
    )
    join = columns[1].checkbox(
        "Texts that look the same are one",
        now.join,
        key=f"{key}.join",
        help="Those that differ only in case, blanks or invisible letters.",
    )
    more = {"grouped": grouped, "join": join}
    return {"decimal": decimal, "dates": dates, "missing": words} | more


def _line_numbers(now: FileLayout, what: str, key: str) -> dict[str, Any]:
    """Lines or rows that are no records, as corrected: above, with the names, and below."""
    least = int(what == "Rows")  # a text may have no names
    asked = {
        "above": ("above the table", 0, MOST_LINES),
        "header": ("with the names", least, MOST_HEADER),
        "below": ("below the table", 0, MOST_LINES),
    }
    return {
        name: column.number_input(
            f"{what} {words}", low, high, int(getattr(now, name)), key=f"{key}.{name}"
        )
        for column, (name, (words, low, high)) in zip(st.columns(3), asked.items(), strict=True)
    }


def _preview(content: bytes, layout: FileLayout, usual: str) -> None:
    """The first lines of the table as they would be divided."""
    lines = content[:_START].decode(layout.encoding, "replace").splitlines()[layout.above :]
    text = io.StringIO("\n".join(lines[:_SHOWN]))
    try:
        rows = list(filter(None, csv.reader(text, delimiter=layout.separator or usual)))
    except csv.Error:
        return
    if not rows:
        return
    width = max(map(len, rows))
    names = [f"{i}" for i in range(1, width + 1)]
    shown = pd.DataFrame([row + [""] * (width - len(row)) for row in rows], columns=names)
    shown.index = pd.RangeIndex(layout.above + 1, layout.above + 1 + len(shown), name="line")
    st.dataframe(shown, lazy=False, height="content")
