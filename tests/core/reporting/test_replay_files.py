"""The files of a replay: what they say, and pictures that need no browser."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from rwn_core.evaluation.published_results import REPLAYS, Request, replayed
from rwn_core.reporting.replay_files import replay_files

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("key", [key for key in REPLAYS if key != "rwn2022-pima"])
def test_every_replay_has_a_picture_a_table_and_a_text(key: str) -> None:
    done = replayed(REPLAYS[key], Request(short=True))
    files = replay_files(done)
    assert {f"{key}.{end}" for end in ("html", "svg", "csv", "txt")} <= set(files)
    rows = list(csv.DictReader(io.StringIO(files[f"{key}.csv"].decode())))
    assert [row["verdict"] for row in rows] == [row.verdict_words for row in done.rows]
    text = files[f"{key}.txt"].decode()
    assert all(row.published.name in text for row in done.rows)
    for name, content in files.items():
        if name.endswith(".svg"):
            ET.fromstring(content)
            assert b"nan" not in content
            assert b"http" not in content.replace(SVG[1:-1].encode(), b"")
    # the browser itself keeps the page from asking anybody
    assert b"default-src 'none'" in files[f"{key}.html"][:400]
    assert len(files[f"{key}.html"]) < 1_000_000
