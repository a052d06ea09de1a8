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
from tools.fuzz_files import Seed, seeds

PACKAGES = (Path(str(files(statsmodels))), Path(str(files(pd))), Path(str(rdata.TESTDATA_PATH)))
ENDINGS = (".dta", ".sav", ".por", ".rda", ".rds", ".xpt", ".sas7bdat")


def again(data: Microdata, path: Path) -> Microdata:
    """Through a release that changes nothing, in the original order."""
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


def text_seeds() -> list[Seed]:
    return [seed for seed in seeds() if seed.format == "CSV"]


@pytest.mark.nightly
@pytest.mark.parametrize("form", [each.suffixes[0] for each in writable()])
def test_values_come_back_from_every_format(form: str, tmp_path: Path) -> None:
    data = read_bytes("people.csv", text_seeds()[0].content)
    assert same(data, again(data, tmp_path / f"out{form}")) == []


@pytest.mark.nightly
@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_text_file_comes_back_text_for_text(number: int, tmp_path: Path) -> None:
    seed = text_seeds()[number]
    path = tmp_path / f"out{Path(seed.name).suffix}"
    again(read_bytes(seed.name, seed.content), path)
    assert path.read_text() == seed.content.decode().replace("\r\n", "\n")


def real_files() -> Iterator[Path]:
    """The files of these formats that installed packages ship."""
    for package in PACKAGES:
        yield from (path for path in sorted(package.rglob("*")) if path.suffix in ENDINGS)


@pytest.mark.nightly
def test_files_of_other_packages_survive_a_release(tmp_path: Path) -> None:
    read_, broken = 0, []
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
