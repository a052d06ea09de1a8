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
}
"""A value of each parameter that differs from its default where it can."""

OWN = {
    "rank_swapping": {"p": 0.1, "r0": 0.9, "k0": 0.05, "form": "mu_argus"},
    "random_swapping": {"share": 0.5, "pairs": "successive", "rarer_than": 3, "variables": "age"},
    "record_swapping": {"share": 0.25, "within": "age", "variables": "siri,neck"},
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


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--set", "scale"), "--set must be NAME=VALUE"),
        (("--set", "=3"), "--set must be NAME=VALUE"),
        (("--set", "scale=sd", "--set", "scale=range"), "--set gives scale twice"),
        (("--k", 3, "--set", "k=4"), "--k and --set k say the same"),
        (("--k", 3, "--set", "depth=4"), "The method rwn has no depth; it has: epsilon, k, q"),
        (("--k", 3, "--set", "scale=inches"), "scale must be one of: sd, range"),
        (("--k", 3, "--set", "q=often"), "q must be a probability"),
        (("--k", 3, "--set", "fresh=perhaps"), "fresh must be true or false"),
        (("--k", 3, "--method", "swap"), "--method must be one of: rwn, nbrs2015"),
        (("--method", "nbrs2015"), "The method nbrs2015 needs epsilon"),
        (("--method", "nbrs2015", "--epsilon", 2, "--k", 3), "The method nbrs2015 has no k"),
    ],
)
def test_what_cannot_be_set_is_refused_in_one_sentence(rwn_command, options, sentence) -> None:
    code, output, said = rwn_command("mask", "demo:bodyfat", "out.csv", *options)
    assert (code, output) == (2, "")
    assert sentence in said
    assert len(said.strip().splitlines()) == 1
