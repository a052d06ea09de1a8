"""Record swapping as `dswap` documents it, without the three faults of its code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.io.demo import load_demo
from rwn_core.laws import block_law
from rwn_core.masking import RecordSwapping, mask
from rwn_core.randomness import SecretKey


def table(sizes: tuple[int, ...], seed: int = 0) -> Microdata:
    """Blocks of these sizes, mixed, with two variables that nobody shares."""
    rng = np.random.default_rng(seed)
    block = rng.permutation(np.repeat([f"b{i}" for i in range(len(sizes))], sizes))
    n = len(block)
    frame = pd.DataFrame({"block": block, "a": np.arange(n) * 1.0, "b": -np.arange(n), "c": 1.5})
    return Microdata.from_frame(frame.assign(c=rng.normal(size=n)))


SWAP = RecordSwapping(share=1.0, within="block", variables="a,b")


def test_blocks_keep_their_tuples_and_everything_else_stays():
    data = table((7, 4, 1, 2, 2))
    masked = mask(data, SWAP, seed=1).masked.frame
    own = data.frame
    assert masked[["block", "c"]].equals(own[["block", "c"]])
    assert (masked["a"] == -masked["b"]).all()  # what is swapped moves together
    for block, rows in own.groupby("block").groups.items():
        assert sorted(masked.loc[rows, "a"]) == sorted(own.loc[rows, "a"]), block
    alone = own["block"] == "b2"
    assert masked.loc[alone, "a"].equals(own.loc[alone, "a"])
    assert "1 records are alone in their block and keep their values" in SWAP.remarks(data, None)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_so_many_of_each_block_are_selected(share):
    data = table((10, 5, 3))
    method = replace(SWAP, share=share)
    moved, prepared = np.zeros(data.n), method.prepare(data)
    most = {"b0": 0, "b1": 0, "b2": 0}
    for seed in range(60):
        masked = prepared.release(SecretKey.from_seed(seed)).masked
        change = (masked.frame["a"] != data.frame["a"]).to_numpy()
        moved += change
        for block in most:
            here = int(change[(data.frame["block"] == block).to_numpy()].sum())
            most[block] = max(most[block], here)
    selected = {b: int(np.ceil(share * size)) for b, size in (("b0", 10), ("b1", 5), ("b2", 3))}
    assert most == {block: count if count > 1 else 0 for block, count in selected.items()}


def test_E_M8a_the_first_record_of_a_block_and_a_last_block_take_part():
    """The code of `dswap` skips the first record of every block after the first."""
    data = table((4, 4, 4)).frame.sort_values("block", kind="stable")
    data = Microdata.from_frame(data)
    moved = np.zeros(12)
    for seed in range(40):
        moved += mask(data, SWAP, seed=seed).masked.frame["a"].to_numpy() != data.frame["a"]
    assert moved.min() > 10


def test_E_M8b_one_variable_makes_the_same_blocks_as_several():
    """With one key the code of `dswap` sorts wrongly."""
    data = table((6, 5, 4))
    twice = Microdata.from_frame(data.frame.assign(again=data.frame["block"]))
    one = mask(data, SWAP, seed=3).masked.frame
    two = mask(twice, replace(SWAP, within=("block", "again")), seed=3).masked.frame
    assert one["a"].equals(two["a"])


def test_E_M8c_one_selected_record_keeps_its_values():
    """R's sample(x, 1) of one number draws from 1 to x: values of another block."""
    data = table((3, 3, 3))
    method = replace(SWAP, share=0.1)
    for seed in range(20):
        assert mask(data, method, seed=seed).masked.frame.equals(data.frame)


def test_rows_stay_in_their_order():
    data = table((5, 5))
    masked = mask(data, SWAP, seed=4).masked.frame
    assert masked["c"].equals(data.frame["c"])


def test_missing_values_stay_where_they_are():
    frame = table((30, 20)).frame
    frame.loc[::7, "a"] = np.nan
    frame.loc[3, "block"] = None
    data = Microdata.from_frame(frame)
    masked = mask(data, SWAP, seed=5).masked.frame
    assert (masked.isna() == frame.isna()).to_numpy().all()
    assert masked.loc[::7].equals(frame.loc[::7])
    assert masked.loc[3].equals(frame.loc[3])  # alone among those without a block


def donors_counted(data: Microdata, method: RecordSwapping, releases: int) -> np.ndarray:
    counts, prepared = np.zeros((data.n, data.n)), method.prepare(data)
    for seed in range(releases):
        masked = prepared.release(SecretKey.from_seed(seed)).masked
        counts[np.arange(data.n), masked.frame["a"].astype(int)] += 1
    return counts


def test_donors_are_as_likely_as_the_law_says():
    data, method, releases = table((5, 3, 1)), replace(SWAP, share=0.7), 800
    law = method.prepare(data).law
    chances = law.probabilities.toarray()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    counts = donors_counted(data, method, releases)
    spread = np.sqrt(np.maximum(releases * chances * (1 - chances), 1e-9))
    assert np.max(np.abs(counts - releases * chances) / spread) < 4.5
    other = replace(SWAP, share=0.4).prepare(data).law.probabilities.toarray()
    assert np.max(np.abs(counts - releases * other) / spread) > 6


def test_the_law_has_the_swapped_variables_as_one_unit():
    data = table((5, 3))
    law = SWAP.prepare(data).law
    assert law.units() == [("a", "b"), ("block",), ("c",)]
    assert law.neighborhoods is None
    assert law.keeps_value_counts("a")
    seen = Microdata(data.frame[["block", "a"]], law.original.schema.__class__(
        variables=tuple(v for v in data.schema.variables if v.name in ("block", "a"))))  # fmt: skip
    assert law.restricted_to(seen).units() == [("a",), ("block",)]
    blind = Microdata(data.frame[["a", "c"]], law.original.schema.__class__(
        variables=tuple(v for v in data.schema.variables if v.name in ("a", "c"))))  # fmt: skip
    with pytest.raises(NotApplicable, match="make the blocks"):
        law.restricted_to(blind)


def test_the_law_of_large_blocks_is_the_same_by_values(monkeypatch):
    data = table((8, 2))
    exact = replace(SWAP, share=0.6).prepare(data).law
    monkeypatch.setattr("rwn_core.masking.record_swapping.ATTACKED_PAIRS", 60)
    monkeypatch.setattr("rwn_core.laws.block_law.ATTACKED_PAIRS", 60)
    law = replace(SWAP, share=0.6).prepare(data).law
    assert "names no donors" in SWAP.remarks(data, None)[-1]
    assert law.donors is None
    assert exact.donors is not None
    assert sorted(law.units()) == sorted(exact.units())
    rows = np.arange(data.n)
    masked = replace(SWAP, share=0.6).prepare(data).release(SecretKey.from_seed(3)).masked
    for name in ("a", "b"):
        listed = [each.table(name)[0].toarray() for each in (exact, law)]
        np.testing.assert_allclose(listed[1], listed[0], atol=1e-12)
        assert law.modification(name) == pytest.approx(1 - exact.retained(name).mean())
    chances = [each.unit_chances(("a", "b"), masked, rows) for each in (exact, law)]
    np.testing.assert_allclose(chances[1], chances[0], atol=1e-12)
    np.testing.assert_allclose(law.rows_unchanged(), exact.rows_unchanged(), atol=1e-12)
    only = Microdata(data.frame[["a", "c"]], law.original.schema.__class__(
        variables=tuple(v for v in data.schema.variables if v.name in ("a", "c"))))  # fmt: skip
    with pytest.raises(NotApplicable, match="make the blocks"):
        law.restricted_to(only)
    monkeypatch.setattr("rwn_core.laws.block_law.LISTED_PAIRS", 5)
    assert replace(SWAP, share=0.5).prepare(data).law is None
    assert block_law.block_pairs(np.array([0, 0, 1, -1])) == 5


def test_defaults_follow_the_roles():
    data = load_demo("cps1988")
    method = RecordSwapping()
    assert method.makers(data) == ("ethnicity", "smsa", "region")
    assert method.swapped(data) == ("wage",)
    numbers = load_demo("bodyfat")
    assert method.makers(numbers) == ()
    assert method.swapped(numbers) == ("siri",)


def test_whole_records_and_nothing_are_refused():
    data = table((5, 5))
    with pytest.raises(ParameterError, match="All variables would move together"):
        RecordSwapping(variables="block,a,b,c").prepare(data)
    with pytest.raises(ParameterError, match="All variables would move together"):
        RecordSwapping().prepare(data)
    with pytest.raises(ParameterError, match="must not share a variable"):
        RecordSwapping(within="a", variables="a,b")
    with pytest.raises(ParameterError, match="within must name released variables"):
        RecordSwapping(within="nobody").prepare(data)
    with pytest.raises(ParameterError, match="not a percentage"):
        RecordSwapping(share=50)
    keys = tuple(replace(v, role=Role.KEY) for v in data.schema.variables)
    with pytest.raises(ParameterError, match="No variable is left"):
        RecordSwapping().prepare(data.with_schema(replace(data.schema, variables=keys)))
