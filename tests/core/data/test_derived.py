"""Variables that follow from others: found where they do, and only there; the share that breaks."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.derived import broken_relations, derived_variables
from rwn_core.masking.release import notes_on_file
from rwn_core.reporting import read_record
from rwn_core.reporting.facts import Material
from rwn_core.reporting.leak_check import file_texts
from rwn_core.reporting.public_notice import public_file

POLICY = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.5),))


def people(n: int = 400, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 10, n).round(1),
            "height": rng.normal(170, 8, n).round(),
            "wage": rng.gamma(2, 500, n).round(),
            "rent": rng.gamma(2, 300, n).round(2),
            "aid": np.where(rng.random(n) < 0.6, 0, rng.gamma(2, 300, n).round()),
            "adults": rng.integers(1, 5, n),
            "children": rng.integers(0, 4, n),
        }
    )
    # asked on some day of the year: a birthday may still come
    frame["born"] = 2024 - frame["age"] - (rng.random(n) < 0.5)
    frame["bmi"] = (frame["weight"] / (frame["height"] / 100) ** 2).round(1)
    frame["income"] = frame["wage"] + frame["rent"] + frame["aid"]
    frame["share"] = (100 * frame["rent"] / frame["wage"]).round(3)
    frame["persons"] = frame["adults"] + frame["children"]
    return frame


def words(frame: pd.DataFrame) -> set[str]:
    return {each.words for each in derived_variables(rwn.Microdata.from_frame(frame))}


FOUND = {
    "born follows from age",
    "bmi follows from weight and height",
    "income follows from wage, rent and aid",
    "share follows from rent and wage",
    "persons follows from adults and children",
}


@pytest.mark.parametrize("seed", range(5))
def test_what_follows_from_others_is_found(seed: int) -> None:
    """Finding V13: age and year of birth, a body mass index and totals contradicted each other."""
    assert words(people(seed=seed)) == FOUND


def test_gaps_and_the_order_of_rows_change_nothing() -> None:
    frame = people().sample(frac=1, random_state=2).astype(float)
    rng = np.random.default_rng(5)
    assert words(frame.mask(rng.random(frame.shape) < 0.03)) == FOUND


def test_one_record_that_differs_is_no_relation() -> None:
    frame = people()
    for name in ("born", "income", "persons", "bmi"):
        frame.loc[7, name] += 9
    assert words(frame) == {"share follows from rent and wage"}


def test_independent_and_nearly_related_numbers_show_none() -> None:
    rng = np.random.default_rng(3)
    drawn = {f"x{i}": rng.normal(50, 10, 300).round(i % 3) for i in range(60)}
    drawn |= {f"n{i}": rng.integers(0, 2 + i, 300) for i in range(40)}
    assert words(pd.DataFrame(drawn)) == set()
    sparse = {
        f"z{i}": np.where(rng.random(300) < 0.04, rng.integers(1, 5, 300), 0) for i in range(30)
    }
    assert words(pd.DataFrame(sparse)) == set()
    for demo in ("bodyfat_raw", "pima", "randhie", "cps1988"):
        assert derived_variables(rwn.load_demo(demo)) == ()
    (one,) = derived_variables(rwn.load_demo("bodyfat"))
    assert one.words == "bmi follows from weight and height"


def test_the_share_is_that_of_a_release() -> None:
    data = rwn.Microdata.from_frame(people())
    assert broken_relations(data, data, {}) == []
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=8), seed=1)
    masked = release.masked.frame
    found = {each["name"]: each for each in broken_relations(data, release.masked, {})}
    off = ~(masked["born"] + masked["age"]).isin([2023, 2024])
    assert found["born"] == {"name": "born", "parts": ["age"], "share": pytest.approx(off.mean())}
    assert off.mean() > 0.5
    total = masked["wage"] + masked["rent"] + masked["aid"]
    assert found["income"]["share"] == pytest.approx(
        (total - masked["income"]).abs().gt(0.01).mean()
    )
    # what travels together from one donor stays true, also within a coarser rounding
    together = data.with_slices([["wage", "rent", "aid", "income"], ["age", "born"]])
    steps = {"income": 100.0, "wage": 50.0, "born": 5.0}
    release = rwn.mask(together, rwn.RWN(epsilon=1.0, k=8), seed=1, precision=steps)
    left = {each["name"] for each in broken_relations(data, release.masked, steps)}
    assert left == {"bmi", "share", "persons"}


def test_a_large_table_takes_a_second() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{i}": rng.normal(50, 10, 100_000).round(1) for i in range(57)})
    frame["total"] = frame["v1"] + frame["v2"] + frame["v3"]
    data = rwn.Microdata.from_frame(frame)
    began = time.process_time()
    assert [each.words for each in derived_variables(data)] == ["total follows from v1, v2 and v3"]
    assert time.process_time() - began < 2.0  # alone on a processor 0.6 s


def test_a_notice_and_a_shell_say_the_share_and_no_value() -> None:
    """In the notice the share is in order of magnitude, as all of its numbers."""
    data = rwn.Microdata.from_frame(people())
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=8), precision={"rent": 1})
    file = rwn.ReleasedFile.of(release.to_bytes("csv"), "csv")
    record = read_record(rwn.internal_record(data, release, file, measures=(), policy=POLICY))
    (share,) = [each["share"] for each in record["table"]["derived"] if each["name"] == "income"]
    notice = file_texts(public_file(Material(record=record), data, "notice.html"), ".html")
    begins = "income follows from wage, rent and aid in every record of the original; in this file "
    (line,) = [each for each in notice if each.startswith(begins)]
    assert share > 0.9
    assert line.startswith(f"{begins}it does not in nearly all of the records.")
    (note,) = [each for each in notes_on_file(release, data, "csv") if begins in each]
    assert note.startswith(f"note: {begins}it does not in {share:.0%} of the records.")
