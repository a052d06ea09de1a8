"""Small valid files of every format, from which broken ones are made: texts, dates, labels, codes.

Each holds a few words and numbers that occur nowhere else, so that a message that shows a cell is
found.
"""

from __future__ import annotations

import gzip
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyreadstat
import rdata

from rwn_core.io import format_of_key
from rwn_core.io.write import table_bytes

WORDS = ("Zaphod", "Trillian", "Ford Prefect", "4711.125", "8086.375")
"""Cells that no message may show."""
LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}, "health": {1: "bad", 2: "fair", 3: "good"}}
_NAMES = {"sex": "Sex of the person", "income": "Income in euros"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A valid file."""

    format: str  # by which the figures are counted
    name: str  # what it is called when it is read
    content: bytes
    # whether the file has a checksum of its values, so that a changed byte must be noticed
    sealed: bool = False
    packed: str = ""  # "zip" or "gzip" where what it holds can also be changed before it is packed


def people(n: int = 40) -> pd.DataFrame:
    """A table with every kind of variable."""
    rng = np.random.default_rng(14)
    frame = pd.DataFrame(
        {
            "sex": rng.choice([1.0, 2, 9], n),
            "health": rng.choice([1.0, 2, 3], n),
            "income": np.where(rng.random(n) < 0.2, -9, np.round(rng.normal(3000, 900, n), 2)),
            "age": rng.integers(16, 95, n),
            "town": rng.choice([*WORDS[:3], "Köln", "a, b", 'say "no"', ""], n),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
        }
    )
    frame.loc[[3, 7], "income"] = [float(word) for word in WORDS[3:]]
    return frame


def seeds() -> list[Seed]:
    """Every valid file, a few of each format."""
    made = [*_texts(), *_excel(), *_parquet(), *_feather(), *_labelled(), *_r()]
    assert len({each.name for each in made}) == len(made)
    return made


def _texts() -> list[Seed]:
    frame = people()
    plain = frame.to_csv(index=False).encode()
    return [
        Seed(format="CSV", name="people.csv", content=plain),
        Seed(format="CSV", name="tabs.tsv", content=frame.to_csv(index=False, sep="\t").encode()),
        Seed(
            format="CSV",
            name="marked.csv",
            content=b"\xef\xbb\xbf" + frame.to_csv(index=False, quoting=1).encode(),
        ),
        Seed(
            format="CSV",
            name="windows.csv",
            content=frame.fillna("NA").to_csv(index=False, lineterminator="\r\n").encode(),
        ),
    ]


def _excel() -> list[Seed]:
    content = table_bytes(_typed(people()), "excel")
    return [Seed(format="Excel", name="ours.xlsx", content=content, sealed=True, packed="zip")]


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(
        town=frame["town"].astype("category"),
        old=frame["age"] > 60,
        moment=pd.to_datetime(frame["born"]) + pd.Timedelta(3, "h"),
    )


def _parquet() -> list[Seed]:
    frame = _typed(people())
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.append_column("exact", pa.array(frame["age"]).cast(pa.decimal128(21, 2)))
    ways = {
        "plain.parquet": {"compression": "none", "use_dictionary": False},
        "snappy.parquet": {"compression": "snappy"},
        "zstd.parquet": {"compression": "zstd", "data_page_version": "2.0"},
    }
    made = []
    for name, options in ways.items():
        out = io.BytesIO()
        pq.write_table(table, out, write_page_checksum=True, **options)
        made.append(Seed(format="Parquet", name=name, content=out.getvalue(), sealed=True))
    out = io.BytesIO()
    delta = dict.fromkeys(["sex", "income"], "BYTE_STREAM_SPLIT") | {"age": "DELTA_BINARY_PACKED"}
    texts = pa.Table.from_pandas(people(), preserve_index=False)
    pq.write_table(
        texts,
        out,
        use_dictionary=False,
        column_encoding={**delta, "town": "DELTA_BYTE_ARRAY"},
        compression="none",
    )
    made.append(Seed(format="Parquet", name="delta.parquet", content=out.getvalue()))
    return made


def _feather() -> list[Seed]:
    table = pa.Table.from_pandas(_typed(people()), preserve_index=False)
    made = []
    for way in ("uncompressed", "lz4"):
        out = io.BytesIO()
        pyarrow.feather.write_feather(table, out, compression=way)
        made.append(Seed(format="Feather", name=f"{way}.feather", content=out.getvalue()))
    return made


def _labelled() -> list[Seed]:
    frame = people()
    frame["born"] = frame["born"].dt.date
    both = {"column_labels": _NAMES, "variable_value_labels": LABELS}
    codes = {"missing_ranges": {"sex": [9], "income": [{"lo": -9, "hi": -1}]}}
    ways: dict[str, tuple[str, Callable[[Path], object]]] = {
        "people.dta": ("Stata", lambda at: pyreadstat.write_dta(frame, at, **both)),
        "old.dta": ("Stata", lambda at: pyreadstat.write_dta(frame, at, version=10, **both)),
        "people.sav": ("SPSS", lambda at: pyreadstat.write_sav(frame, at, **both, **codes)),
        "rows.sav": ("SPSS", lambda at: pyreadstat.write_sav(frame, at, row_compress=True, **both)),
        "packed.zsav": ("SPSS", lambda at: pyreadstat.write_sav(frame, at, compress=True, **both)),
        "people.por": ("SPSS", lambda at: pyreadstat.write_por(_upper(frame), at)),
        "people.xpt": ("SAS", lambda at: pyreadstat.write_xport(frame, at, column_labels=_NAMES)),
    }
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (form, write) in ways.items():
            write(Path(folder) / name)
            made.append(Seed(format=form, name=name, content=(Path(folder) / name).read_bytes()))
    return made


def _upper(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns=str.upper).drop(columns="BORN").replace({"TOWN": {"Köln": "Koln"}})


def _r() -> list[Seed]:
    frame = _typed(people())
    write = format_of_key("r").write
    assert write is not None
    packed = write(frame, None)
    made = [
        Seed(format="R", name="people.rds", content=packed, sealed=True, packed="gzip"),
        Seed(format="R", name="plain.rds", content=gzip.decompress(packed)),
    ]
    for name in ("test_dataframe.rda", "test_dataframe.rds", "test_dataframe_v3.rda"):
        path = rdata.TESTDATA_PATH / name
        if path.is_file():
            content = path.read_bytes()
            gz = content.startswith(b"\x1f\x8b")
            made.append(
                Seed(format="R", name=name, content=content, sealed=gz, packed="gzip" if gz else "")
            )
    return made
