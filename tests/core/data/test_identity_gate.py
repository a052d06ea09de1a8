"""No file leaves before every doubt about identity has an answer (finding T4)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.identity import Confidence, identity_doubts
from rwn_core.data.identity.gate import with_answers
from rwn_core.data.open_questions import require_answers
from rwn_core.reporting import internal_record, read_record
from rwn_core.reporting.reproduce import reproduced
from tests.core.data.labelled_columns import GIVEN, Labelled, judged, labelled_columns

IDENTIFYING = ("first_name", "last_name", "dob", "lat", "lon", "household_id", "remark")
SETTING = rwn.RWN(k=5, q=0.5)


def people(n: int = 300, seed: int = 4) -> pd.DataFrame:
    """Make the table of finding T4: seven identifying variables among three harmless ones."""
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D")
    return pd.DataFrame(
        {
            "first_name": rng.choice(GIVEN[:15], n),
            "last_name": rng.choice(["Moser", "Auinger", "Leitgeb", "Zach", "Ofner"] * 3, n),
            "dob": born.strftime("%Y-%m-%d"),
            "lat": rng.uniform(48.1, 48.3, n).round(6),
            "lon": rng.uniform(16.2, 16.5, n).round(6),
            "household_id": np.repeat(np.arange(1000, 1000 + n // 3), 3),
            "remark": [f"moved in late, keeps {i} dogs" if i % 25 == 0 else None for i in range(n)],
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10, 0.5, n).round(),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def test_seven_identifying_variables_stop_a_release_until_they_are_answered(tmp_path: Path) -> None:
    release = rwn.mask(rwn.Microdata.from_frame(people()), SETTING, seed=1)
    for way in (lambda: release.publish(tmp_path / "o.csv"), lambda: release.to_bytes("csv")):
        with pytest.raises(rwn.ReleaseError, match="may identify people") as refusal:
            way()
        said = f"{refusal.value} {refusal.value.__notes__}"
        assert all(name in said for name in IDENTIFYING)
        assert not any(name in said for name in ("income", "sex", GIVEN[0], "Moser", "dogs"))
    assert not (tmp_path / "o.csv").exists()
    release.publish(tmp_path / "o.csv", drop=IDENTIFYING[:6], keep=["remark"])
    assert list(pd.read_csv(tmp_path / "o.csv").columns) == ["remark", "age", "income", "sex"]
    with pytest.raises(rwn.ParameterError, match="one answer"):
        release.to_bytes("csv", drop=IDENTIFYING, keep=["remark"])


def test_one_open_doubt_is_enough_to_stop_a_release() -> None:
    release = rwn.mask(rwn.Microdata.from_frame(people()), SETTING, seed=1)
    for name in IDENTIFYING:
        others = [other for other in IDENTIFYING if other != name]
        with pytest.raises(rwn.ReleaseError, match=f"people: {name}\\."):
            release.to_bytes("csv", drop=others)


def test_a_role_in_a_schema_answers_and_a_guessed_one_does_not() -> None:
    data = rwn.Microdata.from_frame(people())
    schema = with_answers(data.schema, drop=IDENTIFYING[:5], keep=["remark"])
    schema = schema.replace_variable("household_id", role=rwn.Role.KEY)
    again = rwn.Schema.from_toml(schema.to_toml())
    assert again == schema
    require_answers(data.with_schema(again))
    unanswered = rwn.Schema.from_toml(data.schema.to_toml())
    with pytest.raises(rwn.ReleaseError):
        require_answers(data.with_schema(unanswered))


def test_the_record_holds_the_answers_and_the_file_comes_out_again() -> None:
    data = rwn.Microdata.from_frame(people())
    key = rwn.SecretKey.fresh()
    release = rwn.mask(data, SETTING, seed=key)
    content = release.to_bytes("csv", drop=IDENTIFYING[:6], keep=["remark"])
    record = read_record(
        internal_record(data, release, rwn.ReleasedFile.of(content, "csv"), measures=())
    )
    given = {row["variable"]: row["answer"] for row in record["identity"]}
    assert given == dict.fromkeys(IDENTIFYING[:6], "drop") | {"remark": "keep"}
    assert reproduced(record, data, key) == content


def test_a_dataset_is_refused_alike(tmp_path: Path) -> None:
    people(1_200).to_parquet(tmp_path / "in.parquet")
    with pytest.raises(rwn.ReleaseError, match="household_id") as refusal:
        rwn.mask_dataset(tmp_path / "in.parquet", tmp_path / "out", rwn.RWN(k=3), seed=1)
    assert len(refusal.value.__notes__) == len(IDENTIFYING)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*"))


@pytest.fixture(scope="module")
def labelled() -> list[Labelled]:
    """Columns that identify people and columns that do not."""
    return labelled_columns()


@pytest.mark.parametrize("held_out", [False, True])
def test_labelled_columns_are_told_apart(labelled: list[Labelled], held_out: bool) -> None:
    columns = [each for each in labelled if each.held_out is held_out]
    assert [each.identifies for each in columns].count(True) == 30
    assert len(columns) == 80
    assert judged(columns)[1] == []


def test_reliability_page_states_what_is_measured(labelled: list[Labelled]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert judged(labelled)[0] in page


def test_all_identifying_columns_are_found_in_one_table_too(labelled: list[Labelled]) -> None:
    columns = [each.values for each in labelled if each.identifies]
    frame = pd.DataFrame({column.name: column.iloc[:80] for column in columns})
    found = {doubt.variable for doubt in identity_doubts(frame, frame.columns) if doubt.stops}
    assert len(found) >= 0.95 * frame.shape[1], set(frame.columns) - found


def test_shuffling_the_rows_of_harmless_columns_raises_no_alarm(labelled: list[Labelled]) -> None:
    """Sorted by a quantity, a table has runs of equal values that are no households."""
    for each in labelled:
        if not each.identifies:
            values = each.values.sort_values(ignore_index=True)
            found = identity_doubts(values.to_frame(), [each.name])
            assert not any(doubt.stops for doubt in found), (each.name, found)


def test_a_design_weight_is_a_question_and_no_refusal() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"pweight": rng.uniform(1, 90, 200), "weight": rng.normal(70, 9, 200)})
    (doubt,) = identity_doubts(frame, frame.columns)
    assert (doubt.variable, doubt.confidence) == ("pweight", Confidence.LOW)
    assert not doubt.stops


def test_a_long_table_is_judged_by_blocks_of_its_rows() -> None:
    rng, n = np.random.default_rng(3), 200_000
    frame = pd.DataFrame(
        {
            "income": rng.lognormal(10, 0.5, n).round(2),
            "age": rng.integers(18, 95, n),
            "x": rng.normal(size=n),
            "city": pd.Categorical.from_codes(rng.integers(0, 50, n), [f"C{i}" for i in range(50)]),
            "visits": rng.poisson(3, n),
            "person_id": np.arange(n),
            "mail": [f"p{i}@example.org" for i in range(n)],
            "dob": pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
            "hh": np.repeat(np.arange(n), 3)[:n],
            "lat": rng.uniform(46, 49, n).round(6),
        }
    )
    found = {doubt.variable for doubt in identity_doubts(frame, frame.columns) if doubt.stops}
    assert found == {"person_id", "mail", "dob", "hh", "lat"}


def test_no_doubt_names_a_value(labelled: list[Labelled]) -> None:
    for each in labelled:
        for doubt in identity_doubts(each.values.to_frame(), [each.name]):
            texts = {text for text in each.values.dropna().unique() if isinstance(text, str)}
            assert not any(len(text) > 3 and text in doubt.sentence for text in texts)
