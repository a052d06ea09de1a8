"""Releases that stay the same, byte for byte, until the masking is meant to change."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tests.golden.make_release_bytes import FILE, SETTINGS, TABLES, digests

GOLDEN = json.loads(FILE.read_text())


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("table", TABLES)
def test_a_release_has_its_golden_bytes(table, setting):
    expected = GOLDEN["sha256"][table][setting]
    found = digests(table, setting)
    assert found.get("donors") == expected.get("donors")
    assert found["csv"] == expected["csv"]
    if pa.__version__ == GOLDEN["pyarrow"]:  # its version is part of every Parquet file
        assert found["parquet"] == expected["parquet"]


def test_every_release_is_another():
    found = [files for settings in GOLDEN["sha256"].values() for files in settings.values()]
    assert len({files["csv"] for files in found}) == len(TABLES) * len(SETTINGS)
