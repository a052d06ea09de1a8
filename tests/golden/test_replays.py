"""What the papers of 2015 and 2022 print comes out, or the verdict says why not."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from benchmarks.papers import REPLAYS, Request, Verdict, replay, replayed
from benchmarks.papers.__main__ import PAGE, section


def test_the_script_of_the_authors_leaves_out_the_same_eleven() -> None:
    raw, data = rwn.load_demo("bodyfat_raw"), rwn.load_demo("bodyfat")
    siri, density, height = (raw.values(name) for name in ("siri", "density", "height"))
    apart = np.abs(np.round(495 / density - 450, 1) - siri)
    kept = ~((apart > 1) | (siri < 4) | (height < 30))
    np.testing.assert_array_equal(siri[kept], data.values("siri"))


@pytest.mark.engines
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_plain_r_gives_the_numbers_of_the_data_file(tmp_path: Path) -> None:
    data, count = rwn.load_demo("bodyfat"), 100
    frame = pd.DataFrame({name: data.values(name) for name in data.schema.names})
    frame.to_csv(tmp_path / "men.csv", index=False)
    command = ["Rscript", str(Path(__file__).with_name("figures_in_r.R")), "men.csv", str(count)]
    output = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    lines = [line.split("\t") for line in output.stdout.splitlines()]
    rows = {line[0]: line[1:] for line in lines}
    keys = [f"rwn2022-figure-{number}" for number in range(2, 10)]
    held = [each for key in keys for each in replay.published(key)]
    for each in held:
        if each.name in rows:
            value, sd = map(float, rows[each.name])
            error = sd * (1 / count + 1 / (each.runs or np.inf)) ** 0.5
            # four standard errors: about a hundred numbers are compared
            assert abs(value - each.low) <= 4 * error + 2 * each.rounding, each.name


EXPECTED = {
    # differ with a cause; differ without one; not reproducible
    "rwn2022-pef": (0, 0, 5),
    "rwn2022-section-11": (6, 0, 0),
    "mt2015-regression": (0, 0, 18),
    "mt2015-draft": (0, 0, 5),
}


def test_what_agrees_and_what_does_not() -> None:
    found = {}
    for key in REPLAYS.keys() - {"rwn2022-pima"}:  # 25 forests: tested by itself
        rows = replayed(REPLAYS[key], Request(short=True)).rows
        differ = [row for row in rows if row.verdict is Verdict.DIFFERS]
        explained = sum(row.explained for row in differ)
        lost = sum(row.verdict is Verdict.NOT_REPRODUCIBLE for row in rows)
        found[key] = (explained, len(differ) - explained, lost)
    assert {key: each for key, each in found.items() if any(each)} == EXPECTED


def test_the_pima_table_is_within_luck_and_a_useless_forest_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.papers.rwn2022.KS", (5,))
    names = ("not masked", "k = 5")
    facts = tuple(p for p in replay.published("rwn2022-pima") if p.name in names)
    monkeypatch.setattr(replay, "published", lambda _: facts)
    rows = replayed(REPLAYS["rwn2022-pima"], Request(short=True)).rows
    # three splits cannot tell errors apart that differ by .012 in the paper
    assert [row.verdict for row in rows] == [Verdict.CANNOT_TELL] * 2
    assert all(row.published.holds(row.ours) for row in rows)
    # who answers "no diabetes" for everybody is wrong for 268 of 768
    useless = replace(rows[0].ours, value=268 / 768, runs=25)
    assert not rows[0].published.holds(useless)


@pytest.mark.parametrize("key", ["rwn2022-figure-1", "rwn2022-section-11"])
def test_the_page_of_the_docs_has_what_comes_out_without_luck(key: str) -> None:
    assert section(replayed(REPLAYS[key], Request())) in PAGE.read_text(encoding="utf-8")
