"""A notice says whether the columns of a household are still one value in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_core.reporting import read_record
from rwn_core.reporting.facts import public_words as words
from rwn_core.reporting.facts.fact import Material, shared_words
from rwn_core.reporting.facts.inside import INSIDE
from rwn_core.reporting.facts.outside import OUTSIDE
from rwn_core.reporting.release_record import shared_columns


def homes(n: int = 240, *, masked: bool = True) -> rwn.Microdata:
    rng = np.random.default_rng(5)
    home = np.repeat(np.arange(n // 3), 3)
    frame = pd.DataFrame(
        {
            "hid": home + 1_000,
            "hh_income": rng.normal(30, 9, n // 3).round(1)[home],
            "region": rng.choice(["a", "b", "c"], n // 3)[home],
            "age": rng.integers(1, 90, n),
        }
    )
    data = rwn.Microdata.from_frame(frame)
    schema = data.schema.replace_variable("hid", role="household")
    return data.with_schema(schema.replace_variable("region", masked=masked))


def lines(record: dict[str, object]) -> list[str]:
    said = []
    for entry in (*OUTSIDE, *INSIDE):
        if entry.key in ("variables", "data"):
            assert entry.make is not None
            said += entry.make(Material(record=record)).lines
    return said


@pytest.mark.parametrize("masked", [True, False])
def test_household_columns_that_are_drawn_person_by_person_are_named(masked: bool) -> None:
    data = homes(masked=masked)
    release = rwn.mask(data, rwn.RWN(epsilon=9.0, k=90), seed=1)
    found = shared_columns(data, release.masked)["household"]
    names = ["hh_income", "region"]
    assert found == {
        "kept": [] if masked else ["region"],
        "split": names if masked else ["hh_income"],
    }
    table = {"variables": [], "kinds": [], "roles": [], "not_masked": [], "removed": ["hid"]}
    record = {
        "table": {**table, "records": data.n, "household": found},
        "file": {"records": data.n},
        "setting": {"method": "rwn"},
        "readings": {},
    }
    split = words.HOUSEHOLD["split"].format(names=", ".join(found["split"]))
    said = lines(record)
    assert said.count(split) == 2  # in the house and outside
    assert (words.HOUSEHOLD["kept"].format(names="region") in said) is not masked


def test_nothing_is_said_without_households_or_where_nobody_shares_one() -> None:
    data = homes()
    undeclared = data.with_schema(data.schema.replace_variable("hid", role="other"))
    assert shared_columns(undeclared, undeclared) == {}
    alone = data.frame.iloc[::3]
    single = rwn.Microdata.from_frame(alone)
    single = single.with_schema(single.schema.replace_variable("hid", role="household"))
    assert shared_columns(single, single) == {}
    assert shared_columns(data, data)["household"] == {
        "kept": ["hh_income", "region"],
        "split": [],
    }


def counted(release: rwn.Release, name: str, unit: str) -> bool:
    """Whether any unit of the original has several values of a variable in the release."""
    masked = release.masked.frame[name].to_numpy()
    values: dict[object, set[object]] = {}
    for each, value in zip(release.original.frame[unit], masked, strict=True):
        values.setdefault(each, set()).add(value)
    return any(len(found) > 1 for found in values.values())


def panel(people: int = 80) -> rwn.Microdata:
    rng = np.random.default_rng(7)
    person = np.repeat(np.arange(people), 4)
    frame = pd.DataFrame(
        {
            "pid": person + 70_000,
            "year": np.tile([2016, 2017, 2018, 2019], people),
            "birth": rng.integers(1940, 2000, people)[person],
            "sex": rng.choice(["f", "m"], people)[person],
            "wage": rng.lognormal(3, 1, 4 * people).round(1),
        }
    )
    data = rwn.Microdata.from_frame(frame)
    schema = data.schema.replace_variable("pid", role="person")
    return data.with_schema(schema.replace_variable("sex", masked=False))


def test_columns_of_a_person_in_a_panel_are_named_as_a_count_has_them() -> None:
    data = panel()
    release = rwn.mask(data, rwn.RWN(epsilon=9.0, k=90), seed=1)
    assert shared_columns(data, release.masked) == {"person": {"kept": ["sex"], "split": ["birth"]}}
    assert [counted(release, name, "pid") for name in ("birth", "sex")] == [True, False]
    said = shared_words(shared_columns(data, release.masked))
    assert said == (
        words.PERSON["kept"].format(names="sex"),
        words.PERSON["split"].format(names="birth"),
    )


@pytest.mark.parametrize(("make", "unit"), [(homes, "household"), (panel, "person")])
def test_rwn_mask_says_it_and_so_does_the_notice(
    make: Callable[[], rwn.Microdata],
    unit: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = make()
    source, record = tmp_path / "t.csv", tmp_path / "r.toml"
    data.frame.to_csv(source, index=False)
    (tmp_path / "t.csv.toml").write_text(data.schema.to_toml())
    given = ["--epsilon", "9", "--k", "90", "--record", str(record)]
    assert main.run(["mask", str(source), str(tmp_path / "out.csv"), *given]) == 0
    table = read_record(record.read_text("utf-8"))["table"]
    (split,) = (each for each in shared_words(table) if "drawn" in each)
    assert table[unit]["split"]
    assert f"note: {split}" in capsys.readouterr().err
    assert lines(read_record(record.read_text("utf-8"))).count(split) == 2  # inside and outside
