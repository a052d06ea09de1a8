"""What a release leaves of its use: by hand, by an independent program, and under attack."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES, USE
from rwn_core.measures.statistics.association import original_chance
from rwn_core.measures.utility.use_left import (
    NO_CONFIDENTIAL,
    NO_REGRESSION,
    RegressionLeft,
    UseLeft,
    left_words,
    mean_left,
)


def _table(frame: pd.DataFrame, secret: str = "y", use: rwn.Use | None = None) -> rwn.Microdata:
    """A table with one confidential variable; x is a key."""
    roles = {secret: rwn.Role.CONFIDENTIAL, "x": rwn.Role.KEY}
    kinds = {name: _kind(frame[name]) for name in frame}
    variables = tuple(
        rwn.Variable(name=name, kind=kinds[name], role=roles.get(name, rwn.Role.OTHER))
        for name in frame
    )
    return rwn.Microdata.from_frame(frame, rwn.Schema(variables=variables, use=use))


def _kind(column: pd.Series) -> rwn.Kind:
    return rwn.Kind.CONTINUOUS if column.dtype.kind == "f" else rwn.Kind.CATEGORICAL


def _left(original: rwn.Microdata, frame: pd.DataFrame) -> UseLeft:
    masked = rwn.Microdata.from_frame(frame, original.schema)
    reading = MEASURES[USE].read(rwn.Comparison(original=original, masked=masked), bare=True)
    assert isinstance(reading, rwn.Reading), reading
    assert reading.value == reading.detail.least
    return reading.detail


def _related(n: int = 300, seed: int = 1) -> pd.DataFrame:
    """Y follows x and z, and w follows x."""
    draw = np.random.default_rng(seed)
    x, z, e, f = draw.normal(size=(4, n))
    return pd.DataFrame({"x": x, "z": z, "w": x + f, "y": 2 * x - z + e})


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return _related()


@pytest.fixture(scope="module")
def original(frame: pd.DataFrame) -> rwn.Microdata:
    return _table(frame)


def _permuted(frame: pd.DataFrame, name: str, seed: int = 2) -> pd.DataFrame:
    order = np.random.default_rng(seed).permutation(len(frame))
    return frame.assign(**{name: frame[name].to_numpy()[order]})


def test_five_rows_by_hand() -> None:
    """Original y = 1, 2, 3, 4, 5 + (0, .5, 0, -.5, 0) on x = -2..2: slope .9, intercept 3.

    The release has y = 2.1, 2.5, 3, 3.5, 3.9: slope (-2 * -.9 - 1 * -.5 + .5 + 1.8) / 10 = .46.
    Fitted values differ by .44 x: left = 1 - (.44 / .9)^2 = .76099.
    """
    x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    frame = pd.DataFrame({"x": x, "y": np.array([1.0, 2.5, 3.0, 3.5, 5.0])})
    use = rwn.Use(confidential=("y",), regressions=(rwn.StatedRegression(formula="y ~ x"),))
    table = _table(frame, use=use)
    left = _left(table, frame.assign(y=[2.1, 2.5, 3.0, 3.5, 3.9]))
    (regression,) = left.regressions
    assert regression.left == pytest.approx(1 - (0.44 / 0.9) ** 2, abs=1e-12)
    # residuals -.2, .4, 0, -.4, .2: variance .4 / 3, so that the slope's standard error is .11547
    assert regression.worst_slope == pytest.approx(0.44 / np.sqrt(0.4 / 3 / 10), abs=1e-9)


def _sum_of_products(one: Iterable[float], two: Iterable[float]) -> float:
    return sum(a * b for a, b in zip(one, two, strict=True))


def _design(table: pd.DataFrame, terms: list[str]) -> list[list[float]]:
    """Rows of a one and the terms."""
    return [[1.0, *row[terms]] for _, row in table.iterrows()]


def _solved(table: pd.DataFrame, response: str, terms: list[str]) -> np.ndarray:
    """The coefficients by normal equations."""
    columns = list(zip(*_design(table, terms), strict=True))
    products = [_sum_of_products(one, two) for one, two in product(columns, columns)]
    right = [_sum_of_products(each, table[response]) for each in columns]
    return np.linalg.solve(np.reshape(products, (len(columns), len(columns))), right)


def _slow_regression(own: pd.DataFrame, released: pd.DataFrame, formula: list[str]) -> float:
    """What is left by normal equations, one sum at a time."""
    response = formula[0]
    terms = formula[1:]
    before = _solved(own, response, terms)
    after = _solved(released, response, terms)
    rows = _design(own, terms)
    fitted = [_sum_of_products(before, row) for row in rows]
    moved = [_sum_of_products(after, row) for row in rows]
    middle = sum(fitted) / len(fitted)
    lost = sum((a - b) ** 2 for a, b in zip(fitted, moved, strict=True))
    return 1 - lost / sum((each - middle) ** 2 for each in fitted)


def _slow_relations(
    own: pd.DataFrame, released: pd.DataFrame, chance: np.ndarray, *, secret: bool
) -> float:
    """What is left of the pairs with y, or of the others, pair by pair."""
    names = list(own)
    lost = 0.0
    total = 0.0
    for i, one in enumerate(names):
        for j, two in enumerate(names[:i]):
            if ("y" in (one, two)) is not secret:
                continue
            before = own[one].corr(own[two])
            after = released[one].corr(released[two])
            if abs(before) > chance[i, j]:
                weight = abs(before) - chance[i, j]
                total += weight
                lost += weight * min(abs(after - before) / abs(before), 2)
            else:
                lost += max(abs(after) - chance[i, j], 0)
    return 1 - min(lost / total, 1)


def test_an_independent_slow_program(frame: pd.DataFrame, original: rwn.Microdata) -> None:
    release = rwn.mask(original, rwn.RWN(epsilon=0.5, k=10), seed=3).masked.frame
    left = _left(original, release)
    chance = original_chance(rwn.Comparison(original=original, masked=original))
    assert left.relations == pytest.approx(_slow_relations(frame, release, chance, secret=True))
    assert left.others == pytest.approx(_slow_relations(frame, release, chance, secret=False))
    formula = list(left.regressions[0].regression.names)
    assert left.regression == pytest.approx(_slow_regression(frame, release, formula))


def test_the_unmasked_file_has_all(original: rwn.Microdata, frame: pd.DataFrame) -> None:
    left = _left(original, frame)
    assert left.shares == pytest.approx({"relations": 1, "regression": 1, "others": 1})
    assert left.worst_slope == pytest.approx(0, abs=1e-9)


def test_a_permuted_confidential_column_leaves_nothing(
    original: rwn.Microdata, frame: pd.DataFrame
) -> None:
    left = _left(original, _permuted(frame, "y"))
    assert left.relations == pytest.approx(0, abs=0.15)
    assert left.regression == pytest.approx(0, abs=0.15)
    assert left.others == 1
    assert left.below_half


def test_a_permuted_other_column_is_told_apart(
    original: rwn.Microdata, frame: pd.DataFrame
) -> None:
    left = _left(original, _permuted(frame, "w"))
    assert left.others == pytest.approx(0, abs=0.15)
    assert left.regression == pytest.approx(1, abs=0.1)


def test_a_rare_level_that_is_lost_is_no_error(frame: pd.DataFrame) -> None:
    level = np.where(np.arange(len(frame)) < 3, "rare", "usual").astype(object)
    level[3:100] = "other"
    named = frame.assign(c=level)
    use = rwn.Use(regressions=(rwn.StatedRegression(formula="y ~ x + c"),))
    left = _left(_table(named, use=use), named.assign(c=np.where(level == "rare", "other", level)))
    assert 0.9 < (left.regression or 0) <= 1
    # its first level, which the others are read against, may be lost as well
    lost = _left(_table(named, use=use), named.assign(c=np.where(level == "other", "usual", level)))
    assert 0.8 < (lost.regression or 0) <= 1


def test_an_outlier_changes_a_regression_and_not_a_refusal(frame: pd.DataFrame) -> None:
    far = frame.copy()
    far.loc[0, ["x", "y"]] = (40.0, 80.0)
    table = _table(far)
    moved = far.copy()
    moved.loc[0, "y"] = -80.0
    assert _left(table, far).least == pytest.approx(1)
    assert (_left(table, moved).regression or 0) < 0.7


@pytest.mark.parametrize("name", ["x", "y", "w"])
def test_other_units_leave_the_same(
    original: rwn.Microdata, frame: pd.DataFrame, name: str
) -> None:
    release = rwn.mask(original, rwn.RWN(epsilon=0.5, k=10), seed=3).masked.frame
    plain = _left(original, release)

    def scaled(table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(**{name: 1000 * table[name] + 1e6})

    other = _left(_table(scaled(frame)), scaled(release))
    assert other.shares == pytest.approx(plain.shares, abs=1e-9)
    assert other.worst_slope == pytest.approx(plain.worst_slope, abs=1e-6)


def test_the_worst_tenth_is_seen(original: rwn.Microdata, frame: pd.DataFrame) -> None:
    """A tenth of the rows, those with the largest y, lose their value to others of them."""
    top = frame["y"].nlargest(30).index
    moved = frame.copy()
    moved.loc[top, "y"] = frame["y"].nsmallest(30).to_numpy()
    left = _left(original, moved)
    assert (left.regression or 0) < 0.8
    assert (left.relations or 0) < 0.8


def test_a_second_release_is_as_good_as_the_first(original: rwn.Microdata) -> None:
    params = rwn.RWN(epsilon=0.5, k=10)
    shares = [
        _left(original, rwn.mask(original, params, seed=seed).masked.frame).least for seed in (1, 2)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.15)


def test_several_rows_a_person_count_as_rows(frame: pd.DataFrame) -> None:
    """Each row five times: the same coefficients, and so the same that is left."""
    release = _permuted(frame, "z")
    use = rwn.Use(confidential=("y",), regressions=(rwn.StatedRegression(formula="y ~ x + z"),))
    once = _left(_table(frame, use=use), release)

    def five(table: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([table] * 5, ignore_index=True)

    several = _left(_table(five(frame), use=use), five(release))
    assert several.regression == pytest.approx(once.regression)


@pytest.mark.parametrize("name", ["y", "x"])
def test_a_constant_released_column_is_no_exception(
    original: rwn.Microdata, frame: pd.DataFrame, name: str
) -> None:
    left = _left(original, frame.assign(**{name: 1.0}))
    expected = {"y": (0.0, 0.0), "x": (0.0, 0.6)}[name]
    assert expected[0] <= (left.regression or 0.0) <= expected[1]
    assert (left.relations or 0) < 0.5


def test_few_released_rows_leave_nothing_and_say_why(
    original: rwn.Microdata, frame: pd.DataFrame
) -> None:
    missing = frame.copy()
    missing.loc[3:, "x"] = np.nan
    (regression,) = _left(original, missing).regressions
    assert regression.left == 0
    assert "fewer complete records" in regression.reason


def test_what_the_original_does_not_answer_has_a_reason(frame: pd.DataFrame) -> None:
    use = rwn.Use(confidential=("y",), regressions=(rwn.StatedRegression(formula="y ~ x + z + w"),))
    few = frame.iloc[:4].reset_index(drop=True)
    table = _table(few, use=use)
    reading = MEASURES[USE].read(rwn.Comparison(original=table, masked=table), bare=True)
    reason = reading.reason if isinstance(reading, NotApplicable) else reading.detail.reasons[-1]
    assert "records without a missing value" in reason


def test_without_a_confidential_variable_it_says_so(frame: pd.DataFrame) -> None:
    left = _left(_table(frame, secret="none"), frame)
    assert left.relations is None
    assert left.reasons == (NO_CONFIDENTIAL, NO_REGRESSION)
    assert left.others == pytest.approx(1)
    assert left.sentence == "Left: 100 % of the relations"


@pytest.mark.parametrize("kind", ["logistic", "poisson"])
def test_generalized_models_by_their_linear_predictor(kind: str, frame: pd.DataFrame) -> None:
    draw = np.random.default_rng(5)
    rate = 1 / (1 + np.exp(-frame["x"]))
    counts = draw.poisson(np.exp(frame["x"] / 2)) if kind == "poisson" else draw.binomial(1, rate)
    counted = frame.assign(y=counts.astype(float))
    stated = rwn.StatedRegression(formula="y ~ x + z", kind=kind)
    table = _table(counted, use=rwn.Use(confidential=("y",), regressions=(stated,)))
    assert _left(table, counted).regression == pytest.approx(1)
    assert (_left(table, _permuted(counted, "y")).regression or 0) < 0.15
    assert _left(table, counted.assign(y=1.0)).regression == 0


def test_the_usual_use_of_a_flag_is_logistic() -> None:
    use = rwn.use_of(rwn.load_demo("pima"))
    assert {each.response: each.kind for each in use.regressions}["test"] == "logistic"
    assert all(len(each.names) <= 9 for each in use.regressions)


def test_the_usual_use_leaves_out_other_forms_and_what_is_unrelated(frame: pd.DataFrame) -> None:
    draw = np.random.default_rng(7)
    more = frame.assign(copied=frame["y"] * 2 + 1e-3 * draw.normal(size=len(frame)))
    more["noise"] = draw.normal(size=len(frame))
    (regression,) = rwn.usual_use(_table(more)).regressions
    assert set(regression.names) == {"y", "x", "z", "w"}
    alone = pd.DataFrame({"x": draw.normal(size=200), "y": draw.normal(size=200)})
    assert not rwn.usual_use(_table(alone)).regressions


def test_a_stated_use_is_completed_by_what_is_usual(frame: pd.DataFrame) -> None:
    stated = rwn.Use(regressions=(rwn.StatedRegression(formula="w ~ x"),))
    assert rwn.use_of(_table(frame, use=stated)).confidential == ("y",)
    named = rwn.use_of(_table(frame, use=rwn.Use(confidential=("w",))))
    assert named.regressions[0].response == "w"


def test_means_over_releases() -> None:
    about = rwn.StatedRegression(formula="y ~ x")
    several = [
        UseLeft(
            names=["y"],
            relations=share,
            regressions=(RegressionLeft(regression=about, left=share, worst_slope=2 * share),),
        )
        for share in (0.4, 0.8)
    ]
    middle = mean_left(several)
    assert middle.shares == pytest.approx({"relations": 0.6, "regression": 0.6})
    assert middle.worst_slope == pytest.approx(1.2)
    assert left_words(middle) == "Left: 60 % of y’s relations, 60 % of its regression"
