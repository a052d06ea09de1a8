"""Slices chained by prediction: fit, scores, places, weights and law, and what a method says."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.formula import product_terms
from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.laws import predicted_slices
from rwn_core.laws.chained_slices import Chain
from rwn_core.laws.predicted_slices import (
    PredictedChain,
    axes_of,
    fit_records,
    kept_share,
)
from rwn_core.neighbors.draw_kernel import draw_weighted
from rwn_core.neighbors.metric import Metric
from tests.check_values import check_values
from tests.oracles import predicted_rows

VALUES = check_values("prediction")


class Case:
    """The program on the table of a check value, without a method."""

    def __init__(self, about, *, balanced=False, lots=None):
        self.about = about
        slices = [about[name] for name in ("slice_1", "slice_2", "later_slice") if name in about]
        columns, self.units = {}, []
        for slice_ in slices:
            names = tuple(f"v{len(columns) + at}" for at in range(len(slice_)))
            columns |= dict(zip(names, slice_, strict=True))
            self.units.append(names)
        self.table = Microdata.from_frame(pd.DataFrame(columns))
        self.metric = Metric.fit(self.table, equal_weights=True)
        households = about.get("households")
        terms = product_terms("v0:v1") if "terms" in about else ()
        self.chain = PredictedChain(
            points=self.metric.coded(self.table),
            later=about["later"],
            balanced=balanced,
            groups=None if households is None else np.array(households),
            table=self.table,
            lots=lambda *_: lots,
            terms=terms,
        )

    def shown(self, *donors):
        """Let rows show slices of some records, numbered from 0."""
        for unit, own in zip(self.units[:-1], donors, strict=True):
            columns, codes = self.metric.variable_columns(unit), joint_codes(self.table, unit)
            self.chain.show(unit, columns, codes, np.asarray(own))
        return self.chain

    def coordinates(self, unit):
        """The coordinates of a slice; a level that misses comes before the others."""
        axes = [axis for axis in self.metric.axes if axis.variable.name in unit]
        place = {axis: at for at, axis in enumerate(self.metric.axes)}
        first = {name: at for at, name in enumerate(unit)}

        def order(axis):
            late = axis.missing and axis.level is None and axis.variable.kind != "categorical"
            return first[axis.variable.name], late or not axis.missing, place[axis]

        chosen = [place[axis] for axis in sorted(axes, key=order)]
        return self.metric.points(self.table)[:, chosen]

    def fit(self):
        """The fit of all, with rows that show each record's own slices."""
        everyone = np.arange(self.table.n)
        if not self.chain.shown:
            self.shown(*[everyone] * (len(self.units) - 1))
        return fit_records(
            self.chain.coordinates().records, self.metric.points(self.table)[:, self.last()]
        )

    def last(self):
        """The columns of the later slice."""
        names = self.units[-1]
        return [at for at, axis in enumerate(self.metric.axes) if axis.variable.name in names]

    def row_scores(self):
        """Scores of the rows in units of the later slice's coordinates, and who is left out."""
        fit, n = self.fit(), len(self.chain.shown[0][2])
        left_out = self.chain.holders(np.arange(n))
        asked = self.chain.coordinates().rows
        return predicted_slices.scores_without(fit, asked, left_out), left_out


def numbered(left_out):
    return [(np.asarray(each) + 1).tolist() for each in left_out]


def near(found, expected, kind):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 if "1e-7" in kind else 1e-9)


@pytest.mark.parametrize("id", ["PRED-1", "PRED-2"])
def test_coordinates(id):
    value = VALUES[id]
    case = Case(value["input"])
    for unit, name in zip(case.units, ("slice_1", "later_slice"), strict=True):
        near(case.coordinates(unit), value["expected"][name], value["kind"])


@pytest.mark.parametrize("id", ["PRED-3", "PRED-4", "PRED-5", "PRED-6"])
def test_coefficients_and_scores_of_records(id):
    value = VALUES[id]
    fit = Case(value["input"]).fit()
    near(fit.coefficients, value["expected"]["coefficients"], value["kind"])
    near(fit.scores, value["expected"]["scores"], value["kind"])


@pytest.mark.parametrize("id", ["PRED-7", "PRED-8", "PRED-9", "PRED-10", "PRED-11"])
def test_scores_of_rows_without_whom_they_show(id):
    value = VALUES[id]
    scores, left_out = Case(value["input"]).row_scores()
    assert numbered(left_out) == value["expected"]["left_out"]
    near(scores, value["expected"]["scores"], value["kind"])


def test_a_closed_form_that_cancels_is_not_used(monkeypatch):
    """Planted fault: a lone level without a fit anew."""
    value = VALUES["PRED-9"]
    monkeypatch.setattr(predicted_slices, "SURE", 2.0)
    scores, _ = Case(value["input"]).row_scores()
    assert abs(scores - np.array(value["expected"]["scores"])).max() > 1e-6


@pytest.mark.parametrize("id", ["PRED-12", "PRED-13"])
def test_axes(id):
    value = VALUES[id]
    axes = axes_of(Case(value["input"]).fit())
    near(axes.covariance, value["expected"]["covariance"], value["kind"])
    near(axes.factor, value["expected"]["factor"], value["kind"])
    near(axes.spreads, value["expected"]["spread"], value["kind"])


@pytest.mark.parametrize("id", [f"PRED-{number}" for number in range(14, 19)])
def test_donors_of_an_even_draw(id):
    value = VALUES[id]
    case = Case(value["input"])
    chain = case.shown(np.arange(case.table.n))
    assert numbered(chain.holders(np.arange(case.table.n))) == value["expected"]["left_out"]
    found = chain.next_slice(case.units[-1])
    donors = [sorted((found.members(row) + 1).tolist()) for row in range(case.table.n)]
    assert donors == value["expected"]["donors"]


@pytest.mark.parametrize("id", ["PRED-19", "PRED-20", "PRED-21"])
def test_law_of_whole_rows_by_an_even_draw(id):
    value = VALUES[id]
    about, expected = value["input"], value["expected"]
    case = Case(about)
    m = case.table.n
    found = case.shown(np.arange(m)).next_slice(case.units[-1])
    after = found.probabilities().toarray()
    own, later = (joint_codes(case.table, unit) for unit in case.units)
    chances = np.array(about["weights_slice_1"])
    first = np.array([[row[own == code].sum() for code in own] for row in chances])
    follows = np.array([[row[later == code].sum() for code in later] for row in after])
    for each in expected["rows"]:
        shown, given = each["slice_1_of_record"] - 1, each["later_slice_of_record"] - 1
        near(first[:, shown] * follows[shown, given], each["by_source"], value["kind"])
        near(first[:, shown], each["slice_1"], value["kind"])
        near(follows[shown, given], each["without_source"], value["kind"])
    possible = {(own[a], later[b]) for a in range(m) for b in range(m) if follows[a, b] > 0}
    assert len(possible) == expected["possible_rows"]


def test_scores_of_a_third_slice_pred_22():
    value = VALUES["PRED-22"]
    about, expected = value["input"], value["expected"]
    case = Case(about)
    donors = [np.array(about[f"donors_of_slice_{number}"]) - 1 for number in (1, 2)]
    case.shown(*donors)
    fit = case.fit()
    near(fit.coefficients, expected["coefficients"], value["kind"])
    near(fit.scores, expected["records"], value["kind"])
    scores, left_out = case.row_scores()
    near(scores, expected["rows"], value["kind"])
    assert numbered(left_out) == expected["left_out"]


def drawn(id):
    """Return the case of a balanced draw, and its donors with their weights."""
    about = VALUES[id]["input"]
    lots = np.array(about["lots_of_rows"]), np.array(about["lots_of_records"])
    case = Case(about, balanced=True, lots=lots)
    chain = case.shown(np.array(about["donors_of_slice_1"]) - 1)
    scores = chain.scores(case.units[-1], chain.coordinates())
    return case, scores, chain.next_slice(case.units[-1])


@pytest.mark.parametrize("id", [f"PRED-{number}" for number in range(23, 29)])
def test_places_and_balanced_weights(id):
    value = VALUES[id]
    expected, about = value["expected"], value["input"]
    case, _, found = drawn(id)
    n = case.table.n
    near(case.chain.placed[n:], expected["places_of_rows"], value["kind"])
    near(case.chain.placed[:n], expected["places_of_records"], value["kind"])
    weights = found.probabilities().toarray()
    near(weights, expected["weights"], value["kind"])
    near(weights.sum(axis=1), 1.0, value["kind"])
    near(weights.sum(axis=0), 1.0, value["kind"])
    assert weights.max() <= 1 / about["later"] + 1e-9
    # planted fault: no places, so that rows and records lie at their scores
    lots = np.array(about["lots_of_rows"]), np.array(about["lots_of_records"])
    other = Case(about, balanced=True, lots=lots)
    chain = other.shown(np.array(about["donors_of_slice_1"]) - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PredictedChain, "lying", lambda self, names, s: (s.records, s.rows))
        unmatched = chain.next_slice(other.units[-1]).probabilities().toarray()
    assert abs(unmatched - np.array(expected["weights"])).max() > 0.05


def test_draws_pred_29():
    value = VALUES["PRED-29"]
    _, _, found = drawn("PRED-29")
    donors = np.empty(found.n, np.int64)
    numbers = np.array(value["input"]["uniforms"])
    draw_weighted(found.table.offsets, found.table.records, found.shares, numbers, donors)
    assert (donors + 1).tolist() == value["expected"]["donors"]


def test_what_a_draw_keeps_pred_30():
    value = VALUES["PRED-30"]
    expected = value["expected"]
    case, scores, found = drawn("PRED-30")
    assert kept_share(found, scores) == pytest.approx(expected["kept"], abs=1e-7)
    responses = case.metric.points(case.table)[:, case.last()]
    near(
        found.probabilities().toarray() @ responses, expected["expected_coordinates"], value["kind"]
    )


LEVELS = "uvw"


def small_tables(count, m, seed=3):
    """Yield columns of a first and a later slice, with ties, levels and missing values."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        first = [draw.integers(0, 3, m).tolist(), [LEVELS[at] for at in draw.integers(0, 3, m)]]
        later = [draw.normal(size=m).round(1).tolist()]
        if draw.random() < 0.5:
            later.append([LEVELS[at] for at in draw.integers(0, 2, m)])
        if draw.random() < 0.5:
            first[0][int(draw.integers(m))] = None
        yield first, later, draw


@pytest.fixture
def any_donors(monkeypatch):
    """No refusal of tables with few donors."""
    monkeypatch.setattr(Chain, "refuse_few", lambda self, names: None)


def test_program_and_slow_reference_agree(any_donors):
    reached = 0
    for number, (first, later, draw) in enumerate(small_tables(40, 9)):
        about = {"slice_1": first, "later_slice": later, "later": 2}
        if product_ := bool(draw.random() < 0.3):
            about["terms"] = True
            first[1] = draw.integers(0, 3, 9).tolist()
            first[0] = draw.integers(0, 3, 9).tolist()
        donors = draw.integers(0, 9, 9)
        rows = [[donor] for donor in donors]
        own, others, spreads, left_out = predicted_rows.axes([first], later, rows, 2, product_)
        lots = draw.permutation(9) / 9, draw.permutation(9) / 9
        # an even draw
        case = Case(about)
        found = case.shown(donors).next_slice(case.units[-1])
        scores = case.chain.scores(case.units[-1], case.chain.coordinates())
        np.testing.assert_allclose(scores.records, own, atol=2e-8)
        np.testing.assert_allclose(scores.rows, others, atol=2e-8)
        expected = predicted_rows.even(others.round(9), own.round(9), left_out, 2)
        np.testing.assert_allclose(found.probabilities().toarray(), expected, atol=1e-12)
        if number >= 12:
            continue
        # a balanced one
        placed = [
            predicted_rows.places(scores, own_lots, spreads)
            for scores, own_lots in ((others, lots[0]), (own, lots[1]))
        ]
        expected = predicted_rows.balanced(*placed, left_out, 2)
        if abs(expected.sum(axis=1) - 1).max() > 1e-8:
            continue  # more rows show a few people than others can give
        case = Case(about, balanced=True, lots=lots)
        found = case.shown(donors).next_slice(case.units[-1])
        np.testing.assert_allclose(found.probabilities().toarray(), expected, atol=2e-6)
        reached += 1
    assert reached >= 6


def tied_orders(scores):
    """Return all lots, up to what ties leave open: numbers of the rows of these scores."""
    groups = {}
    for row, score in enumerate(map(tuple, scores)):
        groups.setdefault(score, []).append(row)
    orders = []
    for choice in product(*(permutations(group) for group in groups.values())):
        lots = np.empty(len(scores))
        lots[[row for group in choice for row in group]] = np.arange(len(scores)) / len(scores)
        orders.append(lots)
    return orders


def beliefs(likelihoods, m):
    """Return P(record i is the source of row r) from the likelihoods of all permutations."""
    found = np.zeros((m, m))
    for sources, likelihood in likelihoods.items():
        found[np.arange(m), sources] += likelihood
    return found / found.sum(axis=1, keepdims=True)


def whole_file(about, chances, rows, *, balanced, known_lots=False):
    """Return beliefs by the law of whole rows, and by that of first slices alone.

    `rows` are the records that gave each released row its first and its later slice. Row i of the
    file before it is shuffled is that of source i, and lots are by row.
    """
    case = Case(about, balanced=balanced)
    m = case.table.n
    own, later = (joint_codes(case.table, unit) for unit in case.units)
    holders = [np.flatnonzero(own == code) for code in own]
    drawn = {}

    def after(given):
        """The mean over lots of the weights of rows in the order of sources, all of them."""
        if given not in drawn:
            # which of the holders gave its values makes no difference to a row
            donors = [holders[each][source % len(holders[each])]
                      for source, each in enumerate(given)]  # fmt: skip
            case.chain.shown.clear()
            case.chain.units.clear()
            chain = case.shown(np.array(donors))
            scores = chain.scores(case.units[-1], chain.coordinates())
            lots = [tied_orders(each) for each in (scores.rows, scores.records)]
            if known_lots or not balanced:
                lots = [each[:1] for each in lots]
            drawn[given] = []
            for each in product(*lots):
                chain.lots = lambda *_, each=each: each
                chain.placed = np.concatenate(chain.lying(case.units[-1], scores))
                found = Chain.next_slice(chain, case.units[-1])
                assert not balanced or found.imbalance < 1e-5
                drawn[given].append(found.probabilities().toarray())
        return drawn[given]

    whole, alone = {}, {}
    for sources in permutations(range(m)):
        # rows in the order of their sources
        order = np.argsort(sources)
        firsts = np.array([rows[row][0] for row in order])
        first = np.prod([chances[i][own == own[a]].sum() for i, a in enumerate(firsts)])
        shown = [later == later[rows[row][1]] for row in order]
        given = tuple(int(holders[each][0]) for each in firsts)
        follows = [
            np.prod([weights[i][each].sum() for i, each in enumerate(shown)])
            for weights in after(given)
        ]
        whole[sources], alone[sources] = first * np.mean(follows), first
    return beliefs(whole, m), beliefs(alone, m)


def tables_of_five(count, balanced, seed=1):
    """Yield tables of five with ties in the first slice, chances of donors, and rows of a file."""
    draw, found = np.random.default_rng(seed), 0
    while found < count:
        first = draw.permutation([0, 0, 1, *draw.integers(0, 4, 2)]).tolist()
        later = draw.permutation(np.round(draw.normal(size=5), 1)).tolist()
        about = {"slice_1": [first], "later_slice": [later], "later": 2}
        givers = draw.permutation(5)
        givers[int(draw.integers(5))] = givers[0]
        case = Case(about, balanced=balanced, lots=(np.arange(5) / 5, np.arange(5) / 5))
        drawn = case.shown(givers).next_slice(case.units[-1])
        if balanced and not drawn.imbalance < 1e-7:
            continue  # more rows show a few people than others can give
        weights = drawn.probabilities().toarray()
        rows = [(giver, draw.choice(5, p=row)) for giver, row in zip(givers, weights, strict=True)]
        found += 1
        yield about, draw.dirichlet(np.ones(5), 5), rows


def largest_gap(count, balanced, **how):
    """Return how far whole-file beliefs are from those of first slices, at most."""
    gaps = []
    for about, chances, rows in tables_of_five(count, balanced):
        whole, alone = whole_file(about, chances, rows, balanced=balanced, **how)
        gaps.append(abs(whole - alone).max())
    return max(gaps)


@pytest.mark.parametrize("balanced", [False, True])
def test_beliefs_in_sources_are_those_of_the_first_slice(any_donors, balanced):
    assert largest_gap(30 if balanced else 50, balanced) < 1e-12


@pytest.mark.parametrize("balanced", [False, True])
def test_a_fit_without_the_donor_by_number_tells_of_the_source(any_donors, monkeypatch, balanced):
    """Planted fault: leaving out the record that gave a slice, not those with its values."""

    def by_number(self, rows):
        return [np.array([self.shown[0][2][row]]) for row in rows]

    monkeypatch.setattr(PredictedChain, "holders", by_number)
    assert largest_gap(6, balanced) > 0.01


def test_lots_known_by_record_tell_of_the_source(any_donors):
    """Planted fault: an intruder who knows lots; they belong to the key."""
    assert largest_gap(10, True, known_lots=True) > 0.01
