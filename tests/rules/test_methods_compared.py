"""The page that compares methods has the numbers of its file, of all tables and methods."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks import methods, pages
from rwn_core.masking import METHODS

WHERE = ("each alone", "in slices")


def test_page_and_file_agree_and_lack_no_table_and_no_method() -> None:
    rows = pages.read_lines(methods.FILE)
    page = methods.PAGE.read_text(encoding="utf-8").partition(methods.BEGINS)[2]
    assert page == f"\n{methods.page(rows)}\n"
    own = {METHODS[key].title for key in ("rwn", "soft_rwn")}  # by their slices
    titles = {method.title for method in METHODS.values()} - own
    ways = {f"RWN, {kernel}{where}" for kernel in ("", "soft kernel, ") for where in WHERE}
    assert len(methods.TABLES) == 6
    for name in methods.TABLES:
        assert {row["method"] for row in rows if row["table"] == name} >= titles | ways, name


def test_an_attack_without_an_answer_keeps_no_limit() -> None:
    row = {"linkage": "0.01", "attribute": "0.04", "policy": "yes"}
    for limit in (*methods.LIMITS, methods.POLICY):
        assert methods.keeps(row, limit)
        assert not methods.keeps({**row, "attribute": ""}, limit)
        assert not methods.keeps({**row, "linkage": ""}, limit)
    assert not methods.keeps({**row, "attribute": "0.06"}, "5 %")
    assert not methods.keeps({**row, "policy": "no"}, methods.POLICY)


def test_a_tree_tells_noise_from_the_same_file_and_from_another_sample() -> None:
    draw = np.random.default_rng(3)

    def sample() -> pd.DataFrame:
        size = draw.normal(size=400)
        group = np.where(size + draw.normal(size=400) > 0, "a", "b")
        return pd.DataFrame({"size": size, "weight": size + draw.normal(size=400), "group": group})

    original = sample()
    assert methods.tree_pmse(original, original) == 0
    assert 0.6 < methods.tree_pmse(original, sample()) < 1.5
    noisy = original.assign(weight=original["weight"] + draw.normal(scale=3, size=400))
    assert methods.tree_pmse(original, noisy) > 2
    constant = original.assign(group="a")
    assert methods.tree_pmse(original, constant) > 2
