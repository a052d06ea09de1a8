"""Record swapping as `dswap` documents it, without the three faults of its code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.masking import RecordSwapping, mask


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


def test_E_M8a_the_first_record_of_a_block_and_a_last_block_take_part():
    """The code of `dswap` skips the first record of every block after the first."""
    data = table((4, 4, 4)).frame.sort_values("block", kind="stable")
    data = Microdata.from_frame(data)
    moved = np.zeros(12)
    for seed in range(25):
        moved += mask(data, SWAP, seed=seed).masked.frame["a"].to_numpy() != data.frame["a"]
    assert moved.min() > 5


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


def test_missing_values_stay_where_they_are():
    frame = table((30, 20)).frame
    frame.loc[::7, "a"] = np.nan
    frame.loc[3, "block"] = None
    data = Microdata.from_frame(frame)
    masked = mask(data, SWAP, seed=5).masked.frame
    assert (masked.isna() == frame.isna()).to_numpy().all()
    assert masked.loc[::7].equals(frame.loc[::7])
    assert masked.loc[3].equals(frame.loc[3])  # alone among those without a block


def test_blocks_that_are_too_large_to_name_donors_are_said(monkeypatch):
    assert "names no donors" not in " ".join(SWAP.remarks(table((8, 2)), None))
    monkeypatch.setattr("rwn_core.masking.record_swapping.ATTACKED_PAIRS", 60)
    assert "names no donors" in SWAP.remarks(table((8, 2)), None)[-1]


def test_whole_records_and_nothing_are_refused():
    data = table((5, 5))
    with pytest.raises(ParameterError, match="All variables would move together"):
        RecordSwapping(variables="block,a,b,c").prepare(data)
    with pytest.raises(ParameterError, match="All variables would move together"):
        RecordSwapping().prepare(data)
    with pytest.raises(ParameterError, match="within must name released variables"):
        RecordSwapping(within="nobody").prepare(data)
    keys = tuple(replace(v, role=Role.KEY) for v in data.schema.variables)
    with pytest.raises(ParameterError, match="No variable is left"):
        RecordSwapping().prepare(data.with_schema(replace(data.schema, variables=keys)))
