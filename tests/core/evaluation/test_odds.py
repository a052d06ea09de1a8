"""A watched person's odds: in how many of 100 releases the best intruder names the own row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.disclosure import follow, odds_words

PARAMS = rwn.RWN(epsilon=0.0, k=6)


def people(n: int = 60, seed: int = 3) -> pd.DataFrame:
    """Two numbers, the second all but told by the first; the first record is far from all."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=n)
    frame = pd.DataFrame({"height": first, "weight": first + 0.3 * rng.normal(size=n)})
    frame.iloc[0] = [9.0, 9.0]
    return frame


def named_by_hand(frame: pd.DataFrame, records: list[int], releases: int, k: int) -> list[float]:
    """The share of releases in which the likeliest source of a row is its own; no project code."""
    z = ((frame - frame.mean()) / frame.std(ddof=1)).to_numpy()
    distance = ((z[:, None] - z[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :k]
    lists = [set(row) for row in near.tolist()]
    rng, n, hits = np.random.default_rng(11), len(frame), np.zeros(len(records))
    for _ in range(releases):
        for place, record in enumerate(records):
            donors = [int(rng.choice(near[record])) for _ in range(2)]  # one draw per variable
            fits = [i for i in range(n) if all(donor in lists[i] for donor in donors)]
            hits[place] += (record in fits) / len(fits)
    return (hits / releases).tolist()


def test_odds_of_400_releases_are_those_of_an_intruder_by_hand() -> None:
    """All values are distinct and q = 1, so that a row's sources are those who list its donors."""
    frame, records = people(), [0, 4, 17, 33]
    odds = follow(rwn.Microdata.from_frame(frame), PARAMS, records, seed=5, releases=400)
    by_hand = named_by_hand(frame, records, 4_000, 6)
    found = [odds[record] for record in records]
    assert found == pytest.approx(by_hand, abs=0.06)  # 2.5 standard errors of 400 releases
    shifted = named_by_hand(frame, records, 4_000, 12)
    assert np.max(np.abs(np.subtract(found, shifted))) > 0.06  # a wrong law is found


def test_odds_on_the_unmasked_file_in_other_units_and_among_twins() -> None:
    frame = people()
    data = rwn.Microdata.from_frame(frame)
    whole = follow(data, rwn.RWN(epsilon=0.0, k=5, q=0.0), (0, 9), seed=1, releases=20)
    assert whole == pytest.approx({0: 1.0, 9: 1.0})
    scaled = rwn.Microdata.from_frame(frame * 1000)
    for table in (data, scaled):
        odds = follow(table, PARAMS, (0, 9), seed=2, releases=30)
        assert odds == follow(data, PARAMS, (0, 9), seed=2, releases=30)
    twins = rwn.Microdata.from_frame(pd.concat([frame, frame], ignore_index=True))
    named = follow(twins, rwn.RWN(epsilon=0.0, k=5, q=0.0), (0, 9), seed=1, releases=20)
    assert named == pytest.approx({0: 0.5, 9: 0.5})  # two equal records share the hit


def test_rows_of_one_person_count_as_one() -> None:
    frame = pd.concat([people(30), people(30) + 0.01], ignore_index=True)
    frame.insert(0, "id", [*range(30), *range(30)])
    schema = rwn.Microdata.from_frame(frame).schema.replace_variable("id", role=rwn.Role.PERSON)
    both = rwn.Microdata.from_frame(frame, schema)
    alone = rwn.Microdata.from_frame(frame.drop(columns="id"))
    of_people = follow(both, rwn.RWN(epsilon=0.2, k=4), (3, 8), seed=4)
    of_rows = follow(alone, rwn.RWN(epsilon=0.2, k=4), (3, 8), seed=4)
    assert sum(of_people.values()) > sum(of_rows.values())


def test_a_setting_without_a_law_says_so_and_the_guess_stands_beside() -> None:
    assert follow(rwn.Microdata.from_frame(people()), PARAMS, (), seed=1) == {}
    assert odds_words(0.07, 250) == (
        "correctly named in 7 of 100 releases like this, in 0 if not in the file; "
        "a guess is correct in 0.4"
    )
    assert "no exact law" in odds_words(None, 250)
