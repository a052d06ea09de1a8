"""A second reading: another library reads the release, and each value occurs in the original."""

import decimal
import io
import random
import tempfile
import tomllib
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

import rwn_core as rwn
from rwn_core import ReleasedFile, ReleaseError
from rwn_core.data.file_layout import FileLayout
from rwn_core.io import arrow_files, format_of_key, writable
from rwn_core.io.demo import demo_path
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes
from rwn_core.masking.second_reading import ALONE, NOT_DONE, SourceFile, second_reading
from rwn_core.reporting.facts import Material
from rwn_core.reporting.public_notice import public_file

KEYS = [form.key for form in writable()]
PRICES = [decimal.Decimal(number) / 100 for number in range(500, 800)]


def parquet(**columns: pa.Array) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def every_type(n: int = 120) -> pd.DataFrame:
    rng = random.Random(4)
    days = [date(1990 + i % 20, 1 + i % 12, 1 + i % 28) for i in range(n)]
    return pd.DataFrame(
        {
            "amount": [round(rng.random() * 1e6, 2) for _ in range(n)],
            "tiny": [rng.random() * 1e-7 for _ in range(n)],
            "whole": [rng.randrange(10**12) for _ in range(n)],
            "gaps": [None if i % 7 == 0 else i * 0.1 for i in range(n)],
            "town": [["Zürich", "St. Pölten", "a b", "01", "=1+1"][i % 5] for i in range(n)],
            "truth": [i % 3 == 0 for i in range(n)],
            "day": pd.Series(days).astype("datetime64[s]"),
            "moment": [datetime(2020, 1, 1 + i % 28, i % 24, i % 60, i % 60) for i in range(n)],
            "group": pd.Categorical([["lo", "mid", "hi"][i % 3] for i in range(n)]),
        }
    )


@pytest.mark.parametrize(
    ("source", "target"), [*((key, "csv") for key in KEYS), *(("parquet", key) for key in KEYS)]
)
def test_honest_releases_pass_from_every_format_to_every_other(source, target):
    name = f"t{format_of_key(source).suffixes[0]}"
    content = table_bytes(every_type(), source)
    data = parse(name, content)
    release = rwn.mask(data, rwn.RWN(k=5), seed=1, precision={"whole": 1000})
    written = release.to_bytes(target, keep=[doubt.variable for doubt in release.find_doubts()])
    found = second_reading(release, written, target, SourceFile(name=name, content=content))
    assert set(found.checked) == set(data.names), "what is rounded is compared, too"
    assert len(found.words.split()) <= 25
    if format_of_key(source).again is not None:
        assert found.original != "the first library alone", "another library read the file itself"
    alone = second_reading(release, written, target)
    assert alone.checked == found.checked


def test_a_number_shifted_by_its_last_bit_stops_the_release(monkeypatch):
    """Finding T2, planted: the reader's conversion of decimals is off by one unit of the last."""
    content = parquet(
        price=pa.array(PRICES, pa.decimal128(10, 2)), g=pa.array([str(i % 3) for i in range(300)])
    )
    original = SourceFile(name="t.parquet", content=content)
    honest = parse("t.parquet", content)
    release = rwn.mask(honest, rwn.RWN(k=3), seed=1)
    assert second_reading(release, release.to_bytes("csv"), "csv", original).checked

    texts = arrow_files.decimal_texts
    monkeypatch.setattr(arrow_files, "decimal_texts", lambda array: array.cast(pa.float64()))
    monkeypatch.setattr(arrow_files, "comes_back", lambda *_: True)
    wrong = parse("t.parquet", content)
    assert (wrong.frame["price"] != honest.frame["price"]).any()
    release = rwn.mask(wrong, rwn.RWN(k=3), seed=1)
    for target in ("csv", "parquet", "excel", "stata"):
        with pytest.raises(ReleaseError, match=r"for another library, in column: price \(") as no:
            second_reading(release, release.to_bytes(target), target, original)
        assert "5.1" not in str(no.value)
    assert texts is not arrow_files.decimal_texts


@pytest.mark.parametrize("target", KEYS)
def test_a_writer_that_changes_a_number_or_a_day_stops_the_release(target):
    data = rwn.Microdata.from_frame(every_type()[["amount", "day", "moment"]])
    release = rwn.mask(data, rwn.RWN(k=5), seed=1)
    frame = release.published().frame
    for name, wrong in (
        ("amount", frame["amount"] * (1 + 2**-50)),
        ("day", frame["day"] - pd.Timedelta(days=366 * 40)),
    ):
        content = table_bytes(frame.assign(**{name: wrong}), target)
        with pytest.raises(ReleaseError, match=f"column: {name}"):
            second_reading(release, content, target)
    content = release.to_bytes(target, keep=[each.variable for each in release.find_doubts()])
    with pytest.raises(ReleaseError):
        second_reading(release, content[: len(content) // 2], target)
    assert not release.second_readings


def test_publish_reads_the_file_again_and_its_record_and_card_say_so(tmp_path):
    data = rwn.load_demo("bodyfat")
    source = demo_path("bodyfat")
    release = rwn.mask(data, rwn.RWN(k=5))
    path = release.publish(tmp_path / "release.parquet", original=source)
    file = ReleasedFile.of(path.read_bytes(), "parquet")
    record = tomllib.loads(rwn.reporting.internal_record(data, release, file))
    words = "release read by Arrow's Rust library, original by pandas."
    assert record["file"]["second_reading"]["words"].endswith(words)
    assert set(record["file"]["second_reading"]["checked"]) == set(data.names)
    material = Material(record=record)
    assert words in public_file(material, data, ".json").decode()
    other = ReleasedFile.of(release.to_bytes("csv"), "csv")
    record = tomllib.loads(rwn.reporting.internal_record(data, release, other))
    material = Material(record=record)
    assert NOT_DONE in public_file(material, data, ".json").decode()


def test_publish_writes_nothing_if_a_value_is_not_in_the_given_original(tmp_path):
    lines = demo_path("bodyfat").read_bytes().split(b"\n")
    (tmp_path / "other.csv").write_bytes(b"\n".join(lines[:9]))
    release = rwn.mask(rwn.load_demo("bodyfat"), rwn.RWN(k=5), seed=1)
    with pytest.raises(ReleaseError, match="is read as 8 records by another"):
        release.publish(tmp_path / "release.csv", original=tmp_path / "other.csv")
    assert not (tmp_path / "release.csv").exists()
    kept = release.publish(tmp_path / "part.csv", drop=["age", "weight"])
    assert "age" not in kept.read_text().split("\n")[0]


def test_what_a_method_makes_is_compared_with_the_masked_table():
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.METHODS["additive_noise"](size=0.5), seed=1)
    content = release.to_bytes("csv")
    assert second_reading(release, content, "csv").checked == release.masked.names
    lines = content.decode().splitlines(keepends=True)
    swapped = "".join([*lines[:3], lines[4], lines[3], *lines[5:]])
    with pytest.raises(ReleaseError, match="has other values for another library"):
        second_reading(release, swapped.encode(), "csv")
    kept = release.to_bytes("csv", order="original")
    assert second_reading(release, kept, "csv", order="original").checked


def originals() -> dict[str, tuple[str, bytes, FileLayout | None]]:
    """Files of every format that two libraries read, with their layouts."""
    table = every_type()
    rows = "".join(f"{i % 50},5;{1 + i % 28:02}.03.2019;k.A.;\u00df{i}\r\n" for i in range(90))
    plain = FileLayout(encoding="cp1252", separator=";", decimal=",", dates="DD.MM.YYYY")
    below = replace(plain, below=2, missing=("k.A.",))
    stream = io.BytesIO()
    with pd.ExcelWriter(stream, engine="xlsxwriter") as writer:
        pd.DataFrame({"prose": ["a note"]}).to_excel(writer, sheet_name="about", index=False)
        table.to_excel(writer, sheet_name="data", index=False, startrow=2)
    found = {
        format_of_key(key).key: (
            f"t{format_of_key(key).suffixes[0]}",
            table_bytes(table, key),
            None,
        )
        for key in KEYS
        if format_of_key(key).again is not None
    }
    days = table.assign(day=[date(1990 + i % 20, 1 + i % 12, 1 + i % 28) for i in range(120)])
    transport = days[["amount", "whole", "town", "day"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.xpt"
        pyreadstat.write_xport(transport, str(path), file_format_version=5, table_name="T")
        found["xpt"] = ("t.xpt", path.read_bytes(), None)
    lines, book = fixed_width()
    return found | {
        "fixed": ("t.dat", lines + b"\0" + book, None),
        "laid out": ("t.csv", f"x;day;gap;town\r\n{rows}".encode("cp1252"), plain),
        "no header": ("t.csv", rows.encode("cp1252"), replace(plain, header=False)),
        "notes": ("t.csv", f"x;day;gap;town\r\n{rows}\r\nSource\r\n".encode("cp1252"), below),
        "rows above": ("t.xlsx", stream.getvalue(), FileLayout(above=2)),
    }


def fixed_width() -> tuple[bytes, bytes]:
    rows = "\n".join(f"{1950 + i % 50}{i * 7:06}{'ab'[i % 2]}{i % 3 or ' '}" for i in range(90))
    places = (("YEAR", 1, 4, "", 0), ("PAY", 5, 10, "", 2), ("T", 11, 11, "character", 0))
    variables = "".join(
        f'<var name="{name}" dcml="{decimals}"><location StartPos="{start}" EndPos="{end}"/>'
        f'<varFormat type="{kind or "numeric"}"/></var>'
        for name, start, end, kind, decimals in (*places, ("SEX", 12, 12, "", 0))
    )
    return rows.encode(), f"<codeBook><dataDscr>{variables}</dataDscr></codeBook>".encode()


ORIGINALS = originals()


@pytest.mark.parametrize("kind", ORIGINALS)
def test_one_cell_that_the_first_library_reads_otherwise_stops_the_release(kind):
    name, content, layout = ORIGINALS[kind]
    honest = parse(name, content, None, layout)
    identifying = [each.variable for each in rwn.mask(honest, rwn.RWN(k=5)).find_doubts()]
    source = SourceFile(name=name, content=content)

    def read_again(data: rwn.Microdata) -> str:
        release = rwn.mask(data, rwn.RWN(k=5), seed=1)
        written = release.to_bytes("parquet", keep=identifying)
        return second_reading(release, written, "parquet", source).original

    assert read_again(honest) != ALONE
    for column in honest.frame.columns:
        frame = honest.frame.copy()
        known = frame[column].dropna()
        if known.nunique() < 2:
            continue
        # two cells have changed places: each value still occurs in its column
        one = known.index[5]
        other = known.index[known != known[one]][0]
        frame.loc[[one, other], column] = known[[other, one]].array
        misread = rwn.Microdata.from_frame(frame, honest.schema)
        with pytest.raises(ReleaseError, match=rf"^The original .* column: {column} \(2\)"):
            read_again(misread)
