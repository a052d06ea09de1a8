"""What a release holds and how it is written: values, precision, unmasked variables, refusals."""

import csv
import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import MEASURES, RWN, Comparison, Microdata, Recoding, Release, Rounded, RowCopy
from rwn_core.data.rounding import rounded, rounded_values
from rwn_core.errors import NotApplicable, ParameterError, ReleaseError, SeedWarning
from rwn_core.evaluation.draws import draws, ensemble
from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.masking import METHODS as METHODS_refusals
from rwn_core.masking import at_levers
from rwn_core.masking.lever import LeverRange, family, fixed_options
from rwn_core.masking.method import unrounded
from rwn_core.masking.option import maskable, require_masked
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey
from rwn_core.reporting import ReleasedFile, internal_record
from rwn_core.reporting.release_record import read_record
from tests.core.laws.cell_probability import probability
from tests.oracles.exact_cells import exact_probability
from tests.tables import described


def table(n: int = 40) -> Microdata:
    number = np.arange(n, dtype=float)
    frame = pd.DataFrame(
        {
            "id": [f"person {i}" for i in range(n)],
            "x": number,
            "g": pd.Categorical(["a", "b"] * (n // 2), categories=["a", "b", "Zaphod"]),
            "t": ["=1+1", "plain"] * (n // 2),
        },
        index=pd.Index([f"row {i}" for i in range(n)], name="Zaphod"),
    )
    frame.attrs["source"] = "/home/Zaphod"
    return described(frame, id="identifier")


def release(data: Microdata | None = None) -> Release:
    return rwn.mask(data or table(), rwn.RWN(k=5), seed=3)


def test_no_unused_level_and_no_name_of_a_row_is_left():
    data = table()
    levels = ("b", "Zaphod", "a")
    ordered = data.with_schema(data.schema.replace_variable("g", kind="ordered", levels=levels))
    assert release(ordered).published().schema.variable("g").levels == ("b", "a")
    published = release().published()
    assert list(published.frame["g"].cat.categories) == ["a", "b"]
    assert "Zaphod" not in published.schema.to_toml()
    assert published.frame.attrs == {}
    assert published.frame.index.equals(pd.RangeIndex(40))
    assert published.frame.index.name is None
    assert published.notices == ()


def test_an_identifier_is_impossible():
    made = release()
    assert "id" not in made.published().names
    planted = replace(made, masked=table())  # a method that forgot to leave it out
    with pytest.raises(ReleaseError, match="direct identifier"):
        planted.published()


def test_rows_are_shuffled_by_the_key():
    data = rwn.load_demo("bodyfat")
    one = rwn.mask(data, rwn.RWN(k=5, q=0.0))
    two = rwn.mask(data, rwn.RWN(k=5, q=0.0))
    positions = np.argsort(one.order)
    assert sorted(one.order) == list(range(data.n))
    assert abs(np.corrcoef(positions, np.arange(data.n))[0, 1]) < 0.4
    assert (one.order != two.order).any()
    assert one.to_bytes("csv") != two.to_bytes("csv")


def test_a_cell_that_a_spreadsheet_would_run_is_written_as_text():
    """In a text or a category, by its first sign, unless it is a number."""
    texts = ["=cmd", "@sum", "+1.5e3", "-", "\tx", "+a", "-a", "b-c", "\t1", None]
    frame = pd.DataFrame({"x": -np.arange(10.0), "t": texts, "g": pd.Categorical(["=a", "b"] * 5)})
    made = rwn.mask(Microdata.from_frame(frame), rwn.RWN(k=1, q=0.0), seed=1)
    rows = csv.reader(made.to_bytes("csv", "original").decode().split("\n"))
    found = pd.DataFrame(list(rows)[1:-1], columns=["x", "t", "g"])
    guarded = ["'=cmd", "'@sum", "+1.5e3", "-", "'\tx", "'+a", "'-a", "b-c", "'\t1", ""]
    assert found["t"].tolist() == guarded
    assert found["g"].tolist() == ["'=a", "b"] * 5
    assert made.guarded("csv") == {"t": 6, "g": 5}
    # parquet keeps types: no program runs its texts
    assert made.guarded("parquet") == {}
    assert b"'=cmd" not in made.to_bytes("parquet")


METHODS = {
    "rwn": rwn.RWN(epsilon=1.0, k=3, q=0.6),
    "nbrs2015": rwn.NBRS2015(epsilon=1.5, q=0.7, record_selection="bernoulli"),
}
STEPS = {"age": 5.0, "income": 1000.0}


def people(n: int = 12) -> rwn.Microdata:
    """A small table with every trouble: whole numbers, missing ones, texts, dates, names."""
    place = np.arange(n)
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in place],
            "number": 100 + place,
            "age": 20 + place * 7 % 41,
            "income": np.where(place == 4, np.nan, 900.5 * (place * 5 % 13)),
            "town": np.where(place % 3 == 0, "Ost", "West"),
            "since": pd.Timestamp(2020, 1, 1) + pd.to_timedelta(place * 11 % 17, unit="D"),
        }
    )
    return described(frame, name="identifier", number="identifier")


@pytest.mark.parametrize("method", METHODS)
def test_a_release_is_the_exact_one_rounded(method):
    data = people(40)
    params = METHODS[method]
    exact = rwn.mask(data, params, seed=7)
    coarse = rwn.mask(data, params, precision=STEPS, seed=7)
    assert exact.precision == ()
    assert coarse.precision == (("age", 5.0), ("income", 1000.0))
    assert coarse.masked.frame.equals(rounded(exact.masked, STEPS).frame)
    np.testing.assert_array_equal(coarse.donors, exact.donors)
    np.testing.assert_array_equal(coarse.order, exact.order)
    frame = coarse.published().frame
    assert set(frame["age"].dropna() % 5) == {0}
    assert set(frame["income"].dropna() % 1000) == {0}
    assert frame["town"].equals(exact.published().frame["town"])


def test_a_method_that_rounds_is_the_method_with_that_precision():
    data = people(40)
    params = METHODS["rwn"]
    both = Rounded(params=params, precision=(("age", 5.0),))
    release = rwn.mask(data, both, seed=7)
    expected = rwn.mask(data, params, precision={"age": 5}, seed=7)
    assert release.to_bytes("csv") == expected.to_bytes("csv")
    assert (release.params, release.precision) == (params, expected.precision)
    assert unrounded(both) == (params, {"age": 5.0})
    assert Rounded(params=params, precision={"age": np.int64(5)}) == both
    assert len({both, Rounded(params=params, precision={"age": 5})}) == 1
    with pytest.raises(ParameterError, match="above 0"):
        Rounded(params=params, precision={"age": 0})
    wider = rwn.mask(data, both, precision={"age": 10, "income": 50}, seed=7)
    assert dict(wider.precision) == {"age": 10.0, "income": 50.0}


@pytest.mark.parametrize("method", METHODS)
def test_draws_of_a_setting_are_rounded(method):
    data = rwn.load_demo("bodyfat").take(np.arange(60))
    params = rwn.RWN(k=3) if method == "rwn" else rwn.NBRS2015(epsilon=6.0)
    made = Rounded(params=params, precision=(("age", 10.0), ("wrist", 0.5)))
    for number, work in enumerate(draws(data, made, 2, seed=3)):
        masked, law = work.masked, work.law
        expected = rwn.mask(data, made, seed=3 + number)
        assert masked.frame.equals(expected.masked.frame)
        assert set(law.table("age")[1]) <= {None, *np.arange(0.0, 100.0, 10.0).tolist()}
    drawn = ensemble(data, made, repeats=2, measures=["marginals"], seed=3)
    exact = ensemble(data, params, repeats=2, measures=["marginals"], seed=3)
    assert drawn.median("marginals") > exact.median("marginals")


def test_prediction_is_on_rounded_records():
    data = rwn.load_demo("bodyfat")
    made = Rounded(params=rwn.RWN(k=3), precision=tuple((n, 1e6) for n in data.numeric_names[1:]))
    trial = predict_on_holdout(data, made, seed=1, repeats=1)
    assert trial.errors.released[0, 0] > 0.9  # nothing is left to predict with


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["income", "town"])
def test_the_law_of_a_rounded_release_is_exact(method, name):
    data = people()
    release = rwn.mask(data, METHODS[method], precision=STEPS, seed=1)
    law = release.law
    values = data.frame[name].tolist()
    if name in STEPS:
        numbers = rounded_values(data.values(name), STEPS[name])
        values = [None if np.isnan(number) else float(number) for number in numbers]
    share = Fraction("0.6") if method == "rwn" else Fraction("0.7")
    probabilities, known = law.table(name)
    assert set(known) <= {*values, None}
    for record in range(data.n):
        members = law.neighborhoods.members(record)
        expected = Counter({values[record]: 1 - share})
        for member in members:
            expected[values[member]] += share / len(members)
        if not len(members):
            expected[None] += share
        for value in {*values, None}:
            exact = exact_probability(law, record, name, value)
            assert exact == expected[value]
            assert probability(law, record, name, value) == pytest.approx(float(exact), abs=1e-12)
    np.testing.assert_allclose(np.asarray(probabilities.sum(axis=1)).ravel(), 1.0)


def readings(data: rwn.Microdata, precision: dict[str, float]) -> dict[str, object]:
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=5, q=0.7), precision=precision, seed=5)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    return {key: measure.read(comparison) for key, measure in MEASURES.items()}


def test_a_step_that_leaves_one_value_gives_every_measure_a_value_or_a_reason():
    data = rwn.load_demo("bodyfat").take(np.arange(80))
    coarsest = dict.fromkeys(data.numeric_names, 1e9)
    some = dict.fromkeys(data.numeric_names[:2], 1e9)
    for precision in (some, coarsest):
        found = readings(data, precision)
        for key, reading in found.items():
            if isinstance(reading, Reading):
                assert np.isfinite(reading.value), key
            else:
                assert isinstance(reading, NotApplicable), key
                assert reading.reason.endswith("."), key
    assert found["bayes_linkage"].value == pytest.approx(1 / data.n)
    assert found["marginals"].value > 0.5


ABC = Microdata.from_frame(
    pd.DataFrame(
        {"x": [1.5, 2.5, 3.5], "y": [1.0, 2.0, 4.5], **{name: list("uvv") for name in "abcde"}}
    )
)


def test_a_method_masks_what_it_can_of_what_it_may():
    shown = ABC.with_schema(ABC.schema.replace_variable("y", masked=False))
    some = maskable(shown, lambda v: v.name in "xya", "keep", "numbers")
    assert some == ("x", "a")
    with pytest.raises(ParameterError) as caught:
        maskable(shown, lambda v: v.name == "x", "refuse", "numbers")
    assert str(caught.value) == (
        "The method masks numbers only, not a, b, c, d and 1 more; choose another method, take "
        'them out of the masking, or say others="keep" to release them unmasked.'
    )
    assert maskable(shown, lambda v: v.name != "y", "refuse", "numbers") == ("x", *"abcde")
    with pytest.raises(ParameterError) as caught:
        maskable(shown, lambda v: v.name == "y", "keep", "numbers")
    assert str(caught.value) == (
        "The method masks numbers only, and no variable that is to be masked has such values; "
        "choose another method."
    )
    assert require_masked(shown, ("a", "x")) == ("a", "x")
    with pytest.raises(ParameterError) as caught:
        require_masked(shown, ("a", "y"))
    assert str(caught.value) == (
        "y is no variable that is to be masked; name others, or choose it for masking."
    )


def test_levers_take_whole_numbers_as_such_and_leave_what_is_no_number():
    k, top = Recoding.levers[0], Recoding.levers[1]
    assert [k.value(x) for x in (3.0, 2.5, np.int64(4), None, True)] == [3, 2.5, 4, None, True]
    assert [type(k.value(x)) for x in (3.0, 2.5, np.int64(4), True)] == [int, float, int, bool]
    assert type(top.value(1)) is float
    assert [lever.words for lever in RWN.levers] == [
        "radius ε", "minimum neighbors k", "modification probability q",
    ]  # fmt: skip
    ends = LeverRange(low=1, high=3, step=1)
    assert [ends.clip(x) for x in (0, 1, 2.5, 3, 4)] == [1, 1, 2.5, 3, 3]


def test_settings_of_one_family_differ_by_their_levers_alone():
    one = RWN(k=3)
    assert family(one) == family(at_levers(one, {"k": 9.0, "epsilon": 2, "q": 0.5}))
    assert family(one) != family(RWN(k=3, scale="range"))
    assert family(one) != family(RWN(k=3, epsilon=np.ones(4)))
    assert family(one) != family(RowCopy(k=3))
    assert fixed_options(RWN(k=3, scale="range", m=5, neighbors="pairs")) == {
        "scale": "range", "neighbors": "pairs", "m": 5,
    }  # fmt: skip
    assert fixed_options(one) == {}


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def test_publishing_replaces_nothing_unless_it_is_asked_to(data, tmp_path):
    """Finding P2: the earlier secret draw was gone."""
    path = tmp_path / "out.csv"
    first = rwn.mask(data, rwn.RWN(k=5)).publish(path).read_bytes()
    second = rwn.mask(data, rwn.RWN(k=5))
    with pytest.raises(ReleaseError, match=r"out\.csv exists; .* overwrite=True to replace it"):
        second.publish(path)
    assert path.read_bytes() == first
    assert second.publish(path, overwrite=True) == path
    assert path.read_bytes() == second.to_bytes("csv")


def test_a_small_seed_is_said_when_its_release_is_published(data, tmp_path):
    """Finding P2: a release that anybody can undo was published without a word."""
    seeded = rwn.mask(data, rwn.RWN(k=5), seed=7)
    with pytest.warns(SeedWarning, match="tries the small numbers can undo it"):
        seeded.publish(tmp_path / "seeded.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rwn.mask(data, rwn.RWN(k=5)).publish(tmp_path / "fresh.csv")
        rwn.mask(data, rwn.RWN(k=5), seed=SecretKey.fresh()).publish(tmp_path / "kept.csv")


def test_the_record_says_that_a_seed_drew_it(data):
    for seed, words in ((7, "a seed, which is no secret"), (None, "forgotten")):
        release = rwn.mask(data, rwn.RWN(k=5), seed=seed)
        file = ReleasedFile.of(release.to_bytes("csv"), "csv")
        record = read_record(
            internal_record(data, release, file, measures=(), policy=rwn.Policy(limits=()))
        )
        assert words in record["file"]["key"]


METHOD = rwn.RWN(epsilon=2.0, k=5)


def test_weights_and_slices_give_the_bytes_of_a_table_that_has_them(data):
    slices = [["age", "weight"], ["hip", "thigh"]]
    one = rwn.mask(data, METHOD, weights={"age": 2, "siri": 0}, slices=slices, seed=3)
    other = data.with_weights({"age": 2, "siri": 0}).with_slices(slices)
    two = rwn.mask(other, METHOD, seed=3)
    assert one.to_bytes("csv") == two.to_bytes("csv")
    assert one.original.schema == other.schema
    plain = rwn.mask(data, METHOD, seed=3)
    assert one.to_bytes("csv") != plain.to_bytes("csv")
    same = rwn.mask(data, METHOD, weights={}, slices=None, seed=3)
    assert same.to_bytes("csv") == plain.to_bytes("csv")
    alone = rwn.mask(data.with_slices([["age", "weight"]]), METHOD, slices=[], seed=3)
    assert alone.original.schema.slices == ()


def test_a_data_frame_takes_all_of_it_in_one_call(data):
    release = rwn.mask(
        data.frame,
        METHOD,
        weights={"age": 2},
        slices=[["age", "weight"]],
        confidential=["siri"],
        as_is=["wrist"],
        seed=3,
    )
    schema = release.original.schema
    assert schema.slices == (("age", "weight"),)
    assert schema.variable("siri").role == rwn.Role.CONFIDENTIAL
    same = release.masked.frame["wrist"].to_numpy() == data.frame["wrist"].to_numpy()
    assert same.all()


def test_a_regression_is_named_in_the_audit(data):
    release = rwn.mask(data, METHOD, seed=3)
    asked = rwn.Question(response="weight", predictors=("age", "height"))
    one: Any = rwn.audit(data, release, question=asked, measures=["regression"])
    two: Any = rwn.audit(
        data, release, response="weight", predictors=["age", "height"], measures=["regression"]
    )
    assert one["regression"].value == two["regression"].value
    usual: Any = rwn.audit(data, release, measures=["regression"])
    assert usual["regression"].value != two["regression"].value


def test_a_response_alone_is_explained_by_all_other_numbers():
    frame = pd.DataFrame({"y": range(80), "x": [i % 7 for i in range(80)], "g": ["a", "b"] * 40})
    data = rwn.Microdata.from_frame(frame.astype({"y": float}))
    schema = data.schema.asking("y")
    assert schema.question == rwn.Question(response="y", predictors=("x",))
    assert data.schema.asking(None) is data.schema


TAKEN: dict[str, list[dict[str, Any]]] = {
    "additive_noise": [{"size": 0}, {"size": 100}, {"size": 1, "reflected": True}],
    "correlated_noise": [{"size": 0}, {"size": 100}],
    "k_noise": [{"k": 1}, {"k": np.int64(2)}],
    "k_pram": [{"k": 1}],
    "recoding": [{"k": 1, "top": 0, "bottom": 0.4}, {"top": 0.4, "bottom": 0}],
    "microaggregation": [{"k": 1}],
    "local_suppression": [{"k": 1, "classes": 1}],
    "sampling": [{"left_out": 0}, {"left_out": 0.999}],
    "data_shuffling": [{"anew": 0}, {"anew": 1}],
    "cart_synthesis": [{"q": 0, "leaf": 1, "smoothing": 0}, {"q": 1, "smoothing": 10}],
    "pram": [{"change": 0, "alpha": 1}, {"change": 1, "alpha": 0}],
    "record_swapping": [{"share": 0}, {"share": np.float64(1)}],
    "random_swapping": [{"share": 1},
        {"share": 100, "pairs": "successive"}],
    "rank_swapping": [{"p": 0, "r0": 0, "k0": 0}, {"p": 1, "r0": 1, "k0": 1e9},
        {"top": 0.5, "bottom": 0.499}],
    "rwn": [{"k": 1, "q": 0}, {"k": 1, "q": 1}],
    "soft_rwn": [{"q": 0, "balance": 0}, {"cap": 1, "balance": 1, "bandwidth_k": 1, "width": 1e9}],
    "row_copy": [{"k": 1, "epsilon": 0, "q": 0}],
    "nbrs2015": [{"epsilon": 1e-9, "q": 0}, {"epsilon": np.int64(1)}],
}  # fmt: skip
NAN = float("nan")
CANDIDATES: list[dict[str, Any]] = [
    {"neighbors": "some"}, {"neighbors": "sample"}, {"neighbors": "pairs"},
    {"neighbors": "partition"}, {"m": 10}, {"neighbors": "sample", "m": 10, "u": 2},
    {"neighbors": "sample", "m": 0}, {"neighbors": "sample", "m": 2.5},
    {"neighbors": "pairs", "m": 3, "fresh": True},
]  # fmt: skip
REFUSED: dict[str, list[dict[str, Any]]] = {
    "additive_noise": [{"size": -0.001}, {"size": 100.001}, {"size": True}, {"size": "1"},
        {"shape": "round"}, {"reflected": 1}, {"others": "drop"}],
    "correlated_noise": [{"size": -0.001}, {"size": 100.5}, {"size": True}, {"size": None},
        {"form": "kim"}, {"others": "drop"}],
    "k_noise": [{"k": 0}, {"k": 2.0}, {"shape": "round"}, {"others": "drop"}],
    "k_pram": [{"k": True}, {"draw_from": "all"}, {"others": "drop"}],
    "recoding": [{"k": 0}, {"top": 0.41}, {"top": -0.01}, {"bottom": 0.41}, {"bottom": False},
        {"bottom": "0.1"}, {"others": "drop"}],
    "microaggregation": [{"k": 0}, {"others": "drop"}],
    "local_suppression": [{"k": 0}, {"classes": 0}],
    "sampling": [{"left_out": 1}, {"left_out": -0.001}, {"left_out": False}, {"left_out": "half"}],
    "data_shuffling": [{"anew": 1.001}, {"variables": "a,a"}, {"others": "drop"}],
    "cart_synthesis": [{"q": 1.001}, {"leaf": 0}, {"leaf": 5.0}, {"smoothing": 10.001},
        {"visit": "a,a"}],
    "pram": [{"change": 1.001}, {"alpha": -0.001}, {"spread": "far"}, {"invariant": 0},
        {"within": "a", "variables": "a,b"}, {"within": "a", "matrices": {"b": [[1.0]]}},
        {"others": "drop"}],
    "record_swapping": [{"share": 100}, {"share": 100.5}, {"share": NAN},
        {"within": "a", "variables": "a"}],
    "random_swapping": [{"share": 1.001}, {"share": 100.5, "pairs": "successive"},
        {"pairs": "three"},
        {"others": "drop"}],
    "rank_swapping": [{"p": 1.001}, {"r0": -0.001}, {"top": 2}, {"bottom": -1}, {"k0": -0.001},
        {"top": 0.5, "bottom": 0.5}, {"form": "sdc"}, {"others": "drop"}],
    "rwn": [{"k": 1, "fresh": 1}, {"k": 1, "outside_household": 1},
        {"k": 1, "outside_household": True, "neighbors": "pairs", "m": 2},
        {"k": 1, "weights": "my own"}, *({"k": 5, **other} for other in CANDIDATES),
        {"k": 5, "q": 1.001}, {"k": 5, "q": 50}, {"k": 5, "scale": "iqr"},
        {"kernel": "gaussian"}, {"k": 5, "width": 1.0}, {"k": 5, "cap": 0.2},
        {"k": 5, "balance": 2.0}, {"k": 5, "own": True}],
    "soft_rwn": [{"k": 5}, {"kernel": "even"}, {"kernel": "round"}, {"width": -1.0}, {"width": 0},
        {"balance": 2}, {"own": 1}, {"cap": 0}, {"cap": None}, {"bandwidth": "wide"},
        {"bandwidth_k": 0}, {"outside_household": 1}, {"q": -1}, {"encoding": "far"}],
    "row_copy": [{"epsilon": None}, {"k": None}, {"epsilon": np.ones(3)}],
    "nbrs2015": [{"epsilon": 1, "record_selection": "all"}],
}  # fmt: skip


@pytest.mark.parametrize("method", TAKEN)
def test_the_ends_of_what_is_allowed_are_taken(method):
    for options in TAKEN[method]:
        made = METHODS_refusals[method](**options)
        assert {name: getattr(made, name) for name in options} == options


SMALL = Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0, 4.0, 7.0], "g": list("aabb")}))


TOO_MUCH: list[tuple[str, dict[str, Any]]] = [
    ("microaggregation", {"k": 5}),
    ("correlated_noise", {"size": 3, "form": "sample"}),
    ("k_pram", {"k": 5}),
    ("record_swapping", {"within": "g,z"}),
    ("cart_synthesis", {"visit": "z"}),
    ("data_shuffling", {"variables": "g"}),
    ("pram", {"within": "z"}),
    ("pram", {"within": "g"}),
    ("rwn", {"k": 1, "outside_household": True}),
    ("rwn", {"k": 4}),
]


def refusal(method: str, options: dict[str, Any], data: Microdata | None = None) -> str:
    """Why a setting is refused, or why a table refuses it."""
    with pytest.raises(ParameterError) as caught:
        METHODS_refusals[method](**options) if data is None else METHODS_refusals[method](
            **options
        ).prepare(data)
    return f"{options}: {caught.value}"


def test_what_lies_beyond_is_refused_in_a_sentence_with_the_range(sentences):
    found = {
        method: [refusal(method, options) for options in listed]
        for method, listed in REFUSED.items()
    }
    found["a table of four records"] = [
        f"{method} {refusal(method, options, SMALL)}" for method, options in TOO_MUCH
    ]
    sentences("refusal", found)


def test_the_largest_number_that_a_table_has_is_taken():
    for method in ("microaggregation", "k_noise", "k_pram", "recoding", "local_suppression"):
        METHODS_refusals[method](k=4).prepare(SMALL)
    METHODS_refusals["correlated_noise"](size=2.999, form="sample").prepare(SMALL)
    METHODS_refusals["correlated_noise"](size=3.0, form="plain").prepare(SMALL)
    METHODS_refusals["rwn"](k=3).prepare(SMALL)
