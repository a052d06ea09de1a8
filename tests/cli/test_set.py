"""`rwn mask --method KEY --set NAME=VALUE`: every parameter of every method."""

from __future__ import annotations

from dataclasses import fields

import pytest

import rwn_core as rwn

VALUES = {
    "epsilon": 2.0,
    "k": 5,
    "outside_household": False,
    "kernel": "even",
    "width": None,
    "bandwidth": "adaptive",
    "bandwidth_k": None,
    "cap": None,
    "own": False,
    "balance": 0.0,
    "q": 0.75,
    "scale": "range",
    "encoding": "matching",
    "neighbors": "partition",
    "m": 20,
    "u": 3,
    "fresh": False,
    "weights": "discrete",
    "radius_variable": "age",
    "record_selection": "bernoulli",
    "size": 0.5,
    "shape": "laplace",
    "reflected": True,
    "others": "keep",
    "form": "plain",
    "draw_from": "permute",
    "top": 0.05,
    "bottom": 0.1,
    "classes": 5,
    "left_out": 0.25,
    "leaf": 10,
    "smoothing": 0.5,
    "visit": "neck,age",
    "anew": 0.5,
}
"""A value of each parameter that differs from its default where it can."""

OWN = {
    "data_shuffling": {"variables": "siri,neck"},
    "rank_swapping": {"p": 0.1, "r0": 0.9, "k0": 0.05, "form": "mu_argus"},
    "random_swapping": {"share": 0.5, "pairs": "successive", "rarer_than": 3, "variables": "age"},
    "record_swapping": {"share": 0.25, "within": "age", "variables": "siri,neck"}
    | {"hierarchy": "height", "rarer_than": 3},
    "pram": {
        "change": 0.5,
        "spread": "margins",
        "invariant": False,
        "alpha": 0.5,
        "variables": "age",
        "within": "height",
        "matrices": None,
    },
}
"""The same of methods whose parameters exclude each other or have the names of others."""


def written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("method", rwn.METHODS)
def test_every_parameter_of_every_method_can_be_set(method, rwn_command, tmp_path) -> None:
    kind = rwn.METHODS[method]
    values = {**VALUES, **OWN.get(method, {})}
    names = [field.name for field in fields(kind) if values[field.name] is not None]
    chosen = {name: values[name] for name in names}
    options = [part for name, x in chosen.items() for part in ("--set", f"{name}={written(x)}")]
    code, _, said = rwn_command(
        *("mask", "demo:bodyfat", "out.csv", "--method", method, "--seed", 7, *options)
    )
    assert code == 0, said
    release = rwn.mask(rwn.load_demo("bodyfat"), kind(**chosen), seed=7)
    assert (tmp_path / "out.csv").read_bytes() == release.to_bytes("csv")
