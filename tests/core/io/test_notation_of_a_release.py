"""A release in text has the marks of its original's file: what separates fields and decimals."""

from __future__ import annotations

import pandas as pd

import rwn_core as rwn
from rwn_core.data.file_layout import FileLayout
from rwn_core.io import format_of_key
from rwn_core.io.format_limits import losses
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes

LAYOUT = FileLayout(separator=";", decimal=",", dates="DD.MM.YYYY")


def content() -> bytes:
    """Two decimals at least, many digits, whole numbers, days, texts with marks, missing values."""
    rows = []
    for i in range(60):
        a, b = f"{i % 7 + 0.25 * (i % 4):.2f}", repr(i * 1.37 + 1e-9)
        e = '"north;west"' if i % 2 else "version 3.5"
        d = f"{i % 28 + 1:02}.03.1990"
        f = "" if i == 5 else f"{i % 3}.5"
        rows.append(";".join([a.replace(".", ","), b.replace(".", ","), str(i), d, e,
                              f.replace(".", ",")]))  # fmt: skip
    return ("a;b;c;d;e;f\n" + "\n".join(rows) + "\n").encode()


def test_the_marks_of_a_file_come_back() -> None:
    data = parse("t.csv", content(), None, LAYOUT)
    assert table_bytes(data.frame, "csv", data.schema) == content()
    masked = rwn.mask(data, rwn.RWN(k=5, q=0.0), seed=1)
    assert masked.to_bytes("csv", "original", keep=["c"]) == content()
    for params in (rwn.RWN(k=5), rwn.METHODS["additive_noise"](size=0.5)):
        release = rwn.mask(data, params, seed=1)
        again = parse("o.csv", release.to_bytes("csv", keep=["c"]), None, LAYOUT)
        for name in data.names:
            # all digits of a number come back, in the notation of the file
            published = release.published().frame[name]
            pd.testing.assert_series_equal(again.frame[name], published, check_exact=True)


def test_tiny_numbers_are_read_again() -> None:
    schema = parse("t.csv", b'x\n"1,5"\n"2,5"\n', None, FileLayout(decimal=",")).schema
    frame = pd.DataFrame({"x": [1.5e-07, 2e-09, -12.25]})
    content = table_bytes(frame, "csv", schema)
    assert content == b'x\n"1,5e-07"\n2e-09\n"-12,25"\n'
    assert parse("o.csv", content, schema).frame["x"].tolist() == frame["x"].tolist()


def test_what_of_a_files_layout_is_lost_is_said() -> None:
    layout = FileLayout(encoding="cp1252", separator=";", decimal=",", above=1)
    data = parse("t.csv", b"Title\nx;y\n1,5;2\n2,5;3\n", None, layout)
    assert losses(data, format_of_key("csv")) == [
        "CSV does not keep the encoding of the file, the lines above the table."
    ]
    assert losses(data, format_of_key("tsv")) == [
        "TSV does not keep the encoding of the file, its separator, the lines above the table."
    ]
    assert losses(data, format_of_key("parquet")) == []
    kept = parse("t.csv", content(), None, LAYOUT)
    assert losses(kept, format_of_key("csv")) == []
    tabs = parse("t.csv", b"x\ty\n1.5\t2\n2.5\t3\n", None, FileLayout(separator="\t"))
    assert losses(tabs, format_of_key("tsv")) == []
