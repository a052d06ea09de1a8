"""Python calls that cannot be meant: each is refused in one sentence of this program's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import rwn_core as rwn
from rwn_core.data.given_tables import as_microdata
from rwn_core.evaluation.claims import claim_table
from rwn_ui import notebook

DATA: Any = rwn.load_demo("bodyfat")
FRAME: Any = DATA.frame
METHOD: Any = rwn.RWN(epsilon=2.0, k=5)
RELEASE: Any = rwn.mask(DATA, METHOD, seed=1)
AUDIT: Any = rwn.audit(DATA, RELEASE, measures=["correlation"])
ANY: Any = rwn
ANY_PANEL: Any = notebook
ASKED = rwn.Question(response="siri", predictors=("age",))

MISUSES: dict[str, Callable[[], object]] = {
    # what is no table
    "a path": lambda: ANY.mask("survey.csv", METHOD),
    "a dict": lambda: ANY.mask({"x": [1, 2]}, METHOD),
    "a list": lambda: ANY.mask([1, 2, 3], METHOD),
    "an array": lambda: ANY.mask(FRAME.to_numpy(), METHOD),
    "a column": lambda: ANY.mask(FRAME["age"], METHOD),
    "nothing": lambda: ANY.mask(None, METHOD),
    "the class": lambda: ANY.mask(rwn.Microdata, METHOD),
    "one row": lambda: ANY.mask(FRAME.iloc[:1], METHOD),
    "no rows": lambda: ANY.mask(FRAME.iloc[:0], METHOD),
    "no columns": lambda: ANY.mask(pd.DataFrame(index=[0, 1]), METHOD),
    "two columns of a name": lambda: ANY.mask(pd.concat([FRAME, FRAME], axis=1), METHOD),
    "numbers as names": lambda: ANY.mask(pd.DataFrame(np.ones((5, 2))), METHOD),
    "infinite values": lambda: ANY.mask(FRAME.assign(age=np.inf), METHOD),
    "lists in cells": lambda: ANY.mask(FRAME.assign(age=[[1]] * len(FRAME)), METHOD),
    # what is no method
    "a key": lambda: ANY.mask(DATA, "rwn"),
    "a class": lambda: ANY.mask(DATA, rwn.RWN),
    "no method": lambda: ANY.mask(DATA),
    "a dict of levers": lambda: ANY.mask(DATA, {"epsilon": 2, "k": 5}),
    "a number": lambda: ANY.mask(DATA, 5),
    "both exchanged": lambda: ANY.mask(METHOD, DATA),
    "an ensemble of a key": lambda: ANY.ensemble(DATA, "pram"),
    "a forecast of a class": lambda: ANY.forecast(DATA, rwn.PRAM),
    # parameters
    "values without names": lambda: ANY.RWN(2, 5),
    "eps": lambda: ANY.RWN(eps=2),
    "a negative radius": lambda: ANY.RWN(epsilon=-1.0),
    "neither": lambda: ANY.mask(DATA, ANY.RWN()),
    "k of 0": lambda: ANY.RWN(k=0),
    "k as a text": lambda: ANY.RWN(k="5"),
    "q of 2": lambda: ANY.RWN(k=5, q=2),
    "q in percent": lambda: ANY.RWN(k=5, q=50),
    "nan": lambda: ANY.RWN(epsilon=float("nan")),
    "an unknown kernel": lambda: ANY.SoftRWN(kernel="flat", width=1),
    "PRAM by place": lambda: ANY.PRAM(0.2),
    "PRAM in percent": lambda: ANY.PRAM(change=20),
    "swapping in percent": lambda: ANY.RankSwapping(p=15),
    "an unknown parameter": lambda: ANY.Microaggregation(size=3),
    "random_state": lambda: ANY.mask(DATA, METHOD, random_state=1),
    "a negative seed": lambda: ANY.mask(DATA, METHOD, seed=-1),
    "a seed as text": lambda: ANY.mask(DATA, METHOD, seed="1"),
    "the method's epsilon": lambda: ANY.mask(DATA, epsilon=3),
    "the method's width": lambda: ANY.mask(DATA, width=1.0),
    "a weight of nothing": lambda: ANY.mask(DATA, METHOD, weights={"nobody": 2}),
    "weights as a list": lambda: ANY.mask(DATA, METHOD, weights=["age"]),
    "a weight as a text": lambda: ANY.mask(DATA, METHOD, weights={"age": "2"}),
    "a negative weight": lambda: ANY.mask(DATA, METHOD, weights={"age": -1}),
    "a slice of one": lambda: ANY.mask(DATA, METHOD, slices=[["age"]]),
    "one list as slices": lambda: ANY.mask(DATA, METHOD, slices=["age", "siri"]),
    "slices as a text": lambda: ANY.mask(DATA, METHOD, slices="age"),
    "a variable in two slices": lambda: ANY.mask(DATA, METHOD, slices=[["age", "siri"]] * 2),
    "a slice with what stays": lambda: ANY.mask(
        DATA, METHOD, as_is="age", slices=[["age", "siri"]]
    ),
    "nothing as is": lambda: ANY.mask(DATA, METHOD, as_is=["nobody"]),
    "all as they are": lambda: ANY.mask(DATA, METHOD, as_is=list(DATA.names)),
    "a number as it is": lambda: ANY.mask(DATA, METHOD, as_is=5),
    "a list in a list": lambda: ANY.mask(DATA, METHOD, confidential=[["age"]]),
    "a dict of roles": lambda: ANY.mask(DATA, METHOD, confidential={"age": True}),
    "two roles": lambda: ANY.mask(DATA, METHOD, confidential="age", key="age"),
    "a list of steps": lambda: ANY.mask(DATA, METHOD, precision=["age"]),
    "a generator as seed": lambda: ANY.mask(DATA, METHOD, seed=np.random.default_rng(1)),
    "true as progress": lambda: ANY.mask(DATA, METHOD, progress=True),
    "all threads": lambda: ANY.mask(DATA, METHOD, threads="all"),
    # what mask takes, given to the method
    "weights in the method": lambda: ANY.RWN(k=5, weights={"age": 2}),
    "slices in the method": lambda: ANY.RWN(k=5, slices=[["age", "siri"]]),
    "a seed in the method": lambda: ANY.PRAM(change=0.2, seed=1),
    "roles in the method": lambda: ANY.Microaggregation(k=3, confidential=["age"]),
    "precision of nothing": lambda: ANY.mask(DATA, METHOD, precision={"height_cm": 1}),
    # audits
    "an audit of one": lambda: ANY.audit(DATA),
    "exchanged tables": lambda: ANY.audit(RELEASE, DATA),
    "other rows": lambda: ANY.audit(DATA, FRAME.iloc[:5]),
    "other columns": lambda: ANY.audit(DATA, FRAME[["age", "siri"]]),
    "columns in another order": lambda: ANY.audit(DATA, FRAME[FRAME.columns[::-1]]),
    "a measure that is none": lambda: ANY.audit(DATA, RELEASE, measures=["entropi"]),
    "a text of a measure": lambda: ANY.audit(DATA, RELEASE, measures="correlation"),
    "a measure not read": lambda: AUDIT["regression"],
    "no measure": lambda: AUDIT["nonsense"],
    "a question as a formula": lambda: ANY.audit(DATA, RELEASE, question="siri ~ age"),
    "a question as a pair": lambda: ANY.audit(DATA, RELEASE, question=("siri", ["age"])),
    "predictors alone": lambda: ANY.audit(DATA, RELEASE, predictors=["age"]),
    "an unknown response": lambda: ANY.audit(DATA, RELEASE, response="salary"),
    "an unknown predictor": lambda: ANY.audit(DATA, RELEASE, response="siri", predictors="x"),
    "a response that explains": lambda: ANY.audit(
        DATA, RELEASE, response="siri", predictors=["siri", "age"]
    ),
    "two regressions": lambda: ANY.audit(DATA, RELEASE, question=ASKED, response="siri"),
    "a list as response": lambda: ANY.audit(DATA, RELEASE, response=["siri"]),
    "a holdout by path": lambda: ANY.audit(DATA, RELEASE, holdout="more.csv"),
    "the original twice": lambda: ANY.audit(RELEASE, RELEASE),
    # tables and their descriptions
    "no schema": lambda: ANY.Microdata(FRAME),
    "a schema as a dict": lambda: ANY.Microdata.from_frame(FRAME, {"age": "count"}),
    "a dict for a schema": lambda: DATA.with_schema({"age": "count"}),  # type: ignore[arg-type]
    "a schema of names": lambda: ANY.Schema(variables=("age", "siri")),
    "a schema of a dict": lambda: ANY.Schema(variables={"age": "count"}),
    "an unknown kind": lambda: ANY.Variable(name="x", kind="number"),
    "predictors as a text": lambda: ANY.Question(response="siri", predictors="age"),
    "points of a frame": lambda: ANY.find_neighborhoods(FRAME, k=5),
    "coordinates of a file": lambda: ANY.coordinates("survey.csv"),
    "a number to read": lambda: ANY.read(5),
    "a frame to read": lambda: ANY.read(FRAME),
    "a number as a scenario": lambda: ANY.Scenario.from_toml(5),
    # tables of this program used as data frames
    "head": lambda: DATA.head(),
    "a column of it": lambda: DATA["age"],
    "its shape": lambda: DATA.shape,
    "its describe": lambda: DATA.describe(),
    # limits, goals, grids
    "5 for 5 percent": lambda: ANY.Limit(measure="bayes_linkage", at_most=5),
    "1.5": lambda: ANY.Limit(measure="bayes_linkage", at_most=1.5),
    "a limit by place": lambda: ANY.Limit("bayes_linkage", 0.05),
    "a limit of nothing": lambda: ANY.Limit(measure="x", at_most=0.05),
    "half a limit": lambda: ANY.Limit(measure="bayes_linkage"),
    "a limit below 0": lambda: ANY.Limit(measure="bayes_linkage", at_most=-0.1),
    "a limit on a gain": lambda: ANY.Limit(measure="ci_overlap", at_most=0.5),
    "a policy of a number": lambda: ANY.Policy(5),
    "a grid by lever": lambda: ANY.Grid(epsilon=[1, 2]),
    "a policy of a dict": lambda: ANY.Policy(limits={"bayes_linkage": 0.05}),
    "a policy of numbers": lambda: ANY.Policy(limits=[0.05]),
    "a limit as a text": lambda: ANY.Limit(measure="bayes_linkage", at_most="5 %"),
    "a policy by name": lambda: ANY.search(DATA, policy="strict"),
    "a sweep of numbers": lambda: ANY.sweep(DATA, [1, 2]),
    "a verdict on a number": lambda: ANY.quick_verdict(DATA, 5),
    "a forecast of a number": lambda: ANY.forecast(DATA, 5),
    "a frontier of one": lambda: ANY.frontier([]),
    "a record of a table": lambda: ANY.internal_record(DATA),
    "a radius by place": lambda: ANY.nearest_radii(np.ones((5, 2)), 3),
    "a file by number": lambda: RELEASE.publish(5),  # type: ignore[arg-type]
    "an order": lambda: RELEASE.to_bytes("csv", "random"),  # type: ignore[arg-type]
    "a panel of a path": lambda: notebook.tune("survey.csv"),
    "a panel of a number": lambda: notebook.tune(DATA, response=5),  # type: ignore[arg-type]
    "a panel without a response": lambda: notebook.tune(DATA, predictors=["age"]),
    "a panel of an unknown response": lambda: notebook.tune(DATA, response="salary"),
    "a panel by place": lambda: ANY_PANEL.tune(DATA, "rwn", 7),
    "tune": lambda: ANY.tune(DATA),
    "a misspelled name": lambda: ANY.masc,
    "a sweep of nothing": lambda: ANY.sweep(DATA, None),
    "a setting by place": lambda: ANY.Setting(METHOD),
    "an unknown verdict": lambda: ANY.quick_verdict(DATA, "rankSwap"),
    "few draws": lambda: claim_table(DATA, METHOD, draws=3),
    "a file that is none": lambda: ANY.read_bytes("x.doc", b"a,b"),
    "no demo": lambda: ANY.load_demo("titanic"),
}
RAW = ("positional argument", "object has no attribute", "object is not", "Traceback", "NoneType'")


@pytest.mark.parametrize("name", MISUSES)
def test_each_gets_one_sentence(name: str) -> None:
    with pytest.raises((rwn.RWNError, AttributeError)) as caught:
        MISUSES[name]()
    text = str(caught.value)
    assert text[0].isupper() or text[0] in "kq" or text.split()[0].islower()
    assert text.endswith(".")
    assert not any(raw in text for raw in RAW), text
    assert 20 < len(text) < 420


SAYS = {
    "the method's epsilon": "rwn.RWN(epsilon=3)",
    "the method's width": "rwn.SoftRWN(width=1.0)",
    "weights in the method": "rwn.mask(table, method, weights=...)",
    "slices in the method": "rwn.mask(table, method, ...)",
    "tune": "from rwn_ui.notebook import tune",
    "a misspelled name": "mask is near",
}


@pytest.mark.parametrize("name", SAYS)
def test_the_sentence_says_where_it_belongs(name: str) -> None:
    with pytest.raises((rwn.RWNError, AttributeError)) as caught:
        MISUSES[name]()
    assert SAYS[name] in str(caught.value)


def test_there_are_more_than_a_hundred_misuses() -> None:
    assert len(MISUSES) > 100


def test_tables_of_other_libraries_are_taken_with_the_same_release() -> None:
    for frame in (FRAME, pa.Table.from_pandas(FRAME)):
        again = rwn.mask(frame, METHOD, seed=1)
        pd.testing.assert_frame_equal(again.masked.frame, RELEASE.masked.frame)
    shown: Any = rwn.audit(FRAME, RELEASE.masked.frame, measures=["correlation"])
    assert shown["correlation"].value == AUDIT["correlation"].value
    assert len(as_microdata(FRAME)) == len(FRAME)


def test_a_masked_data_frame_is_read_as_its_original_is_described() -> None:
    frame = pd.DataFrame({"code": ["01", "02"] * 10, "x": np.arange(20.0)})
    masked = frame.assign(x=frame["x"][::-1].to_numpy())
    shown: Any = rwn.audit(frame, masked, measures=["cells_changed"])
    assert shown["cells_changed"].value == 0.5
