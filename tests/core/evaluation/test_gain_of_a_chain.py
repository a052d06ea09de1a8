"""What rows of a chain name of people inside a file, less what they name of others, on hard tables.

Each line has a file or a method that is known to name people, as its planted fault.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.control_group import attribute_difference
from tests.tables import described

N = 200
CHAIN = rwn.SoftRWN(chain=True, own=True, width=1.0, balance=1.0)
WEAK = rwn.RWN(epsilon=0.0, k=1, q=0.1)
SMALL = 0.09  # a difference that luck explains, in a table of 200


def survey(seed=0):
    """Two keys, a secret that follows from them up to noise, and a rare one that does not."""
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 70, N)
    height = (150 + 0.4 * age + draw.normal(0, 6, N)).round(1)
    rich = age * 2 + height + draw.normal(0, 12, N) > 265
    sick = draw.permutation(N) < 8
    words = {"rich": np.where(rich, "y", "n"), "sick": np.where(sick, "yes", "no")}
    return pd.DataFrame({"age": age, "height": height, **words})


def roles(frame, **more):
    secrets = dict.fromkeys(("rich", "sick"), "confidential")
    return described(frame, [["age", "height"]], age="key", height="key", **secrets, **more)


def voted(setting, releases, people=None):
    """Return how often nearest rows of several releases name `rich`, inside less outside."""
    frame = survey()
    points = frame[["age", "height"]].to_numpy(float)
    points = points / points.std(axis=0)
    right = {True: [], False: []}
    for split in range(8):
        half = np.random.default_rng(split).permutation(N) < N // 2
        data = roles(frame[half].reset_index(drop=True))
        votes = np.zeros(N)
        for seed in range(releases):
            masked = rwn.mask(data, setting, seed=100 * split + seed).masked.frame
            rows = masked[["age", "height"]].to_numpy(float)
            rows = rows / frame[["age", "height"]].to_numpy(float).std(axis=0)
            near = ((points[:, None] - rows) ** 2).sum(axis=2).argmin(axis=1)
            votes += np.where(masked["rich"].to_numpy() == "y", 1, -1)[near]
        named = (votes > 0) == (frame["rich"] == "y")
        for inside in right:
            some = (half == inside) if people is None else (half == inside) & people
            right[inside].append(named[some].mean())
    return np.mean(right[True]) - np.mean(right[False])


@cache
def usual():
    return attribute_difference(roles(survey()), CHAIN)


def test_a_chain_names_few_more_and_the_unmasked_file_nearly_all():
    assert usual().value < SMALL
    table = roles(survey())
    assert attribute_difference(table, CHAIN, masked=table).value > 0.3
    assert attribute_difference(table, WEAK).value > 0.2


def test_a_rare_level_is_named_no_more_than_outside():
    sick = [row for row in usual().rows if row["secret"] == "sick"]
    assert max(row["value"] for row in sick) < SMALL
    # planted: the rows of those few are their own
    table, release = roles(survey()), rwn.mask(roles(survey()), CHAIN, seed=1)
    rare = (table.frame["sick"] == "yes").to_numpy()
    kept = release.masked.frame.copy()
    kept[rare] = table.frame[rare]
    shown = rwn.Microdata.from_frame(kept, release.masked.schema)
    found = attribute_difference(table, CHAIN, masked=shown)
    assert max(row["value"] for row in found.rows if row["secret"] == "sick") > 0.3


def test_one_far_person_changes_little():
    far = survey()
    far.loc[0, ["age", "height"]] = [900, 900.0]
    assert attribute_difference(roles(far), CHAIN).value == pytest.approx(usual().value, abs=0.06)


def test_further_releases_of_one_table_add_little():
    assert voted(CHAIN, 5) < min(SMALL, voted(CHAIN, 1) + 0.04)
    assert voted(WEAK, 5) > 0.1  # planted: a method that shows the own row


def test_the_tenth_with_the_farthest_keys_is_not_named_more():
    points = survey()[["age", "height"]].to_numpy(float)
    distance = (((points - points.mean(axis=0)) / points.std(axis=0)) ** 2).sum(axis=1)
    tenth = distance >= np.quantile(distance, 0.9)
    assert voted(CHAIN, 3, tenth) < 0.15
    hard = np.abs(points @ [2, 1] - 265) < 12  # of whom the keys tell least
    assert voted(CHAIN, 3, hard) < 0.15
    assert voted(WEAK, 3, hard) > 0.3


def test_rows_of_one_person_are_inside_or_outside_together():
    twice = pd.concat([survey().head(N // 2)] * 2, ignore_index=True)
    person = np.tile(np.arange(N // 2), 2)
    apart = rwn.SoftRWN(chain=True, own=True, width=1.0, balance=1.0, outside_household=True)
    declared = roles(twice.assign(person=person), person="household")
    assert attribute_difference(declared, apart).value < SMALL + 0.04
    # planted: a person with a row on either side is no outsider, and hides what rows name
    weak = attribute_difference(declared, WEAK).value
    assert weak > attribute_difference(roles(twice), WEAK).value + 0.1
