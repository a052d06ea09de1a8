"""What is compiled ahead is what the sliders of a table use, with many levels too."""

from __future__ import annotations

import pytest

from rwn_core import compile_ahead
from rwn_core.neighbors import far_donors
from rwn_core.neighbors.points import CodedPoints


@pytest.mark.parametrize("levels", [False, True])
def test_moves_beyond_the_stored_table_are_compiled_ahead(levels: bool, monkeypatch) -> None:
    coded, looked = [], []
    find, look = far_donors.find_far_donors, compile_ahead._look_up_far

    def look_up_far(table, params) -> None:
        coded.append(isinstance(params.points(table), CodedPoints))
        look(table, params)

    monkeypatch.setattr(compile_ahead, "_look_up_far", look_up_far)
    monkeypatch.setattr(far_donors, "find_far_donors", lambda *a: looked.append(a) or find(*a))
    monkeypatch.setattr(compile_ahead, "is_ready", lambda *_: False)
    monkeypatch.setattr(compile_ahead, "set_ready", lambda *_: None)
    (compile_ahead.warm_for_levels if levels else compile_ahead.warm)()
    assert coded == [levels]
    assert len(looked) == 1
