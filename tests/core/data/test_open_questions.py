"""What a table leaves open is asked, and nothing that it does not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.open_questions import open_questions
from rwn_core.data.variable import Role

N = 400
DRAWS = np.random.default_rng(1)


def asked(**columns: object) -> dict[str, str]:
    frame = pd.DataFrame({"x": np.arange(N) % 37 + 0.5, **columns})
    data = Microdata.from_frame(frame)
    return {f"{d.variable}: {d.kind}": d.sentence for d in open_questions(data.frame, data.schema)}


def test_identifiers_free_text_levels_constants_and_codes_are_named() -> None:
    income = DRAWS.integers(0, 60, N).astype(float)
    income[:5] = 999
    found = asked(
        number=np.arange(N) + 10_000,
        patient_id=np.arange(N) // 1.5 // 1,
        patientName=[f"P{i // 1.6 // 1:.0f}" for i in range(N)],
        ssn=[f"{i % 50 + 100}-22-{i % 50:04d}" for i in range(N)],
        remark=[f"the house is number {i // 2} of a row" for i in range(N)],
        town=[f"T{i % 90}" for i in range(N)],
        deaf=["no"] * (N - 2) + ["yes"] * 2,
        income=income,
        job=["n/a", "cook", "smith", "nurse"] * (N // 4),
    )
    assert set(found) == {
        *("number: identifier", "patient_id: identifier", "patientName: identifier"),
        "ssn: identifier",
        *("remark: free text", "town: levels", "deaf: constant", "income: missing", "job: missing"),
    }
    assert "5 values 999" in found["income: missing"]
    assert "2 records have" in found["deaf: constant"]
    assert not any("cook" in sentence or "house" in sentence for sentence in found.values())


def test_an_ordinary_table_is_not_asked_about() -> None:
    assert (
        asked(age=DRAWS.integers(18, 99, N), sex=["f", "m"] * (N // 2), w=DRAWS.normal(size=N))
        == {}
    )


def test_the_answer_is_written_to_the_schema_and_ends_the_question() -> None:
    frame = pd.DataFrame({"key": np.arange(100) + 7, "x": np.arange(100) % 9 * 0.5})
    data = Microdata.from_frame(frame)
    (doubt,) = open_questions(data.frame, data.schema)
    schema = data.schema.replace_variable(doubt.variable, **doubt.changes)
    assert doubt.stops
    assert schema.variable("key").role is Role.IDENTIFIER
    assert 'role = "identifier"' in schema.to_toml()
    assert open_questions(data.frame, schema) == []
    frame = pd.DataFrame({"x": [*np.arange(40.0) / 8, 999, 999]})
    (code,) = open_questions(frame, Microdata.from_frame(frame).schema)
    assert (code.kind, code.stops) == ("missing", False)
