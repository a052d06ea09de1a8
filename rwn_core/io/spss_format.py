"""SPSS in and out: labels of variables and values, and codes that users declared as missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rwn_core.io.format import Feature, Format

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema
    from rwn_core.data.variable import Variable

_STAMP = 92  # where the time of making stands, after the sign, the program and six numbers
_PORTABLE = b"SPSS PORT FILE"


def read(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
) -> Microdata:
    """Read an SPSS file, see `read_labelled`."""
    from rwn_core.io.readstat_files import read_labelled

    kind = "sav" if content.startswith((b"$FL2", b"$FL3")) else "por"
    return read_labelled(file, content, schema, layout, kind)


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write a file that any SPSS since release 7 reads."""
    import pyreadstat

    from rwn_core.io.readstat_files import coded_table, made_the_same, written_bytes

    table, column_labels, value_labels = coded_table(frame, schema)
    ordered = {n for n in frame.columns if getattr(frame[n].dtype, "ordered", False)}
    known = () if schema is None else [each for each in schema.variables if each.name in frame]
    numbers = {each.name for each in known if each.kind in ("continuous", "count")}
    missing = {each.name: _missing(each) for each in known}
    content = written_bytes(
        pyreadstat.write_sav,
        table,
        "SPSS",
        ".sav",
        row_compress=True,
        column_labels=column_labels,
        variable_value_labels={
            name: _of_type(table[name], labels) for name, labels in value_labels.items()
        },
        missing_ranges={name: codes for name, codes in missing.items() if codes},
        variable_measure={
            **dict.fromkeys(value_labels, "nominal"),
            # numbers with labels stay a scale
            **{name: "scale" for name in value_labels if name in numbers},
            **dict.fromkeys(ordered, "ordinal"),
        },
    )
    return made_the_same(content, _STAMP, b"01 Jan 6000:00:00")


def _of_type(column: pd.Series[Any], labels: Mapping[Any, str]) -> dict[Any, str]:
    """Return the labels of the codes that are of the column's type: texts, or numbers."""
    has_texts = column.dtype == object
    return {code: label for code, label in labels.items() if isinstance(code, str) == has_texts}


def _missing(variable: Variable) -> list[Any]:
    """Up to three codes, or a range and a code: SPSS has no more; letters are Stata's."""
    codes = variable.missing_codes
    ranges = [{"lo": code[0], "hi": code[1]} for code in codes if isinstance(code, tuple)]
    numbers: list[Any] = [code for code in codes if not isinstance(code, tuple | str)]
    return [ranges[0], *numbers[:1]] if ranges else numbers[:3]


def detects(content: bytes) -> bool:
    """True if a content has the sign of .sav or .zsav, or that of a portable file further on."""
    return content.startswith((b"$FL2", b"$FL3")) or _PORTABLE in content[:300]


FORMAT = Format(
    key="spss",
    title="SPSS",
    noun="an SPSS file",
    suffixes=(".sav", ".zsav", ".por"),
    media_type="application/x-spss-sav",
    read=read,
    write=write,
    keeps=frozenset(Feature) - {Feature.TRUTHS, Feature.TIME_ZONES, Feature.MISSING_LETTERS},
    detects=detects,
    again_by="pyreadstat (SPSS has no second library)",
)
