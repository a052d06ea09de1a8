"""With q = 0 every value comes back as it was: in each format, and from files of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import rdata
import statsmodels

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError
from rwn_core.io import writable
from rwn_core.io.reading import read, read_bytes

PACKAGES = (Path(str(files(statsmodels))), Path(str(files(pd))), Path(str(rdata.TESTDATA_PATH)))
ENDINGS = (".dta", ".sav", ".por", ".rda", ".rds", ".xpt", ".sas7bdat")


def again(data: Microdata, path: Path) -> Microdata:
    """Through a release that changes nothing, in the original order, whatever the rows are."""
    data = data.with_schema(data.schema.with_rows("separate"))
    release = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1)
    keep = [doubt.variable for doubt in release.find_doubts() if doubt.stops]
    return read(release.publish(path, order="original", keep=keep, overwrite=True))


def same(one: Microdata, other: Microdata) -> list[str]:
    """The columns of a release that are not the same, by their values."""
    return [name for name in other.names if not _equal(one.frame[name], other.frame[name])]


def _equal(one: pd.Series, other: pd.Series) -> bool:
    if one.dtype.kind == "M" and one.dt.tz is None and other.dt.tz is not None:
        other = other.dt.tz_localize(None)  # R knows no moment without a time zone
    if pd.api.types.is_numeric_dtype(one.dtype) and pd.api.types.is_numeric_dtype(other.dtype):
        pair = [each.astype("Float64").to_numpy(float, na_value=np.nan) for each in (one, other)]
        return bool(np.array_equal(*pair, equal_nan=True))
    pair = [
        each.astype(object).where(each.notna(), None).map(str).tolist() for each in (one, other)
    ]
    return pair[0] == pair[1]


def people(n: int = 40) -> pd.DataFrame:
    """A table with codes, gaps, dates and texts that a text file has to quote."""
    rng = np.random.default_rng(14)
    return pd.DataFrame(
        {
            "sex": rng.choice([1.0, 2, 9], n),
            "health": rng.choice([1.0, 2, 3], n),
            "income": np.where(rng.random(n) < 0.2, -9, np.round(rng.normal(3000, 900, n), 2)),
            "age": rng.integers(16, 95, n),
            "town": rng.choice(["Ford Prefect", "Köln", "a, b", 'say "no"', ""], n),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
        }
    )


TEXT_FILES = {
    "people.csv": people().to_csv(index=False),
    "tabs.tsv": people().to_csv(index=False, sep="\t"),
    "windows.csv": people().fillna("NA").to_csv(index=False, lineterminator="\r\n"),
}


@pytest.mark.nightly  # core/io/test_corpus writes each kind of missing value in each format
@pytest.mark.parametrize("form", [each.suffixes[0] for each in writable()])
def test_values_come_back_from_every_format(form: str, tmp_path: Path) -> None:
    data = read_bytes("people.csv", TEXT_FILES["people.csv"].encode())
    assert same(data, again(data, tmp_path / f"out{form}")) == []


@pytest.mark.nightly  # core/io/test_text_files has generated tables
@pytest.mark.parametrize("name", TEXT_FILES)
def test_a_text_file_comes_back_text_for_text(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{Path(name).suffix}"
    again(read_bytes(name, TEXT_FILES[name].encode()), path)
    assert path.read_text() == TEXT_FILES[name].replace("\r\n", "\n")


def real_files() -> Iterator[Path]:
    """The files of these formats that installed packages ship."""
    for package in PACKAGES:
        yield from (path for path in sorted(package.rglob("*")) if path.suffix in ENDINGS)


@pytest.mark.nightly  # core/io/test_corpus has a file of each kind
def test_files_of_other_packages_survive_a_release(tmp_path: Path) -> None:
    read_ = 0
    broken = []
    for path in real_files():
        try:
            data = read(path)
            masked = again(
                data, tmp_path / f"out{'.sav' if path.suffix == '.por' else path.suffix}"
            )
        except InputError:  # a test of the package: no table, or one that is refused with a reason
            continue
        except rwn.RWNError as refusal:
            if "identifiers are never released" not in str(refusal):  # it has nothing else
                broken.append(f"{path.name}: {refusal}")
            continue
        read_ += 1
        broken += [f"{path.name}: {name}" for name in same(data, masked)]
        for name in masked.names:  # an identifier is in no release
            one, other = (each.schema.variable(name) for each in (data, masked))
            if (one.label, one.value_labels, one.missing_codes) != (
                other.label,
                other.value_labels,
                other.missing_codes,
            ):
                broken.append(f"{path.name}: what is said of {name}")
    assert broken == []
    assert read_ >= 5
