"""Rows that come back whole or in true fragments, and links of a whole file."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import betaincinv
from scipy.stats import binom

from rwn_core import Comparison, Microdata, NotApplicable, Reading, SecretKey
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures import MEASURES, read
from rwn_core.measures.attacks import true_match as known_sets_file
from rwn_core.measures.attacks.assignment import blocks, most_likely, scaled
from rwn_core.measures.attacks.likeliest_value import EXACT
from rwn_core.measures.attacks.posterior import likelihoods, posteriors
from rwn_core.measures.attacks.predicate import Condition, Predicate, answer
from rwn_core.measures.attacks.true_match import known_sets
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.risk.key_classes import same_share
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.measures.risk.repeated_releases import bhattacharyya, simulated_donors
from tests.core.measures.attacks.attribute_tables import number, released
from tests.oracles.exact_assignments import exact_marginals, permanent, sinkhorn
from tests.tables import described

KEYS = ("age", "weight", "height")
RELEASE = [[1, 0], [0, 0], [1, 0], [0, 0], [11, 0], [10, 1]]


@pytest.fixture
def likelihood(e1_law, e1_rows):
    scaled, logs = likelihoods(e1_law(0.5), e1_rows(RELEASE), np.arange(6))
    return (scaled.toarray() * np.exp(logs)).T


def test_ATT_4(likelihood, e1_law, e1_rows, check_values):
    expected = check_values["ATT-4"]
    np.testing.assert_allclose(likelihood, expected["likelihood_matrix"], atol=1e-14)
    assert permanent(likelihood) == pytest.approx(number(expected["permanent"]), rel=1e-12)
    marginals = [[number(p) for p in row] for row in expected["joint_marginals"]]
    np.testing.assert_allclose(exact_marginals(likelihood), marginals, atol=1e-12)
    limit = expected["sinkhorn_limit"]
    np.testing.assert_allclose(sinkhorn(likelihood), limit, atol=2e-6)
    belief = posteriors(e1_law(0.5), e1_rows(RELEASE), np.arange(6))
    found = scaled(belief, blocks(belief), steps=2000).toarray().T
    np.testing.assert_allclose(found, limit, atol=1e-6)
    published = np.array(expected["joint_MAP_assignment_1based_one_optimum"]) - 1
    for order in (_assigned(belief), published):
        best = np.prod(likelihood[np.arange(6), order])
        assert best == pytest.approx(_best_product(likelihood))


def _assigned(belief):
    n = belief.shape[0]
    return most_likely(belief, blocks(belief), (np.arange(n), np.arange(n)))


def _best_product(likelihood):
    n = len(likelihood)
    return max(np.prod(likelihood[np.arange(n), list(o)]) for o in permutations(range(n)))


def test_the_most_likely_assignment_by_trying_all_of_them():
    """Of 60 sparse tables with n <= 6, also where the truth is not possible."""
    rng = np.random.default_rng(5)
    split = 0
    for number_of_table in range(60):
        n = int(rng.integers(2, 7))
        likelihood = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
        order = np.arange(n) if number_of_table % 4 else rng.permutation(n)
        likelihood[np.arange(n), order] = rng.random(n) + 1e-3
        belief = sparse.csc_array(likelihood.T)
        split += blocks(belief).any()
        found = np.prod(likelihood[np.arange(n), _assigned(belief)])
        assert found == pytest.approx(_best_product(likelihood), rel=1e-7)
    assert split > 15


def test_blocks_are_the_pairs_of_some_assignment():
    rng = np.random.default_rng(6)
    for _ in range(30):
        n = int(rng.integers(2, 7))
        likelihood = (0.1 + rng.random((n, n))) * (rng.random((n, n)) < 0.35)
        likelihood[np.diag_indices(n)] = 0.5
        parts = blocks(sparse.csc_array(likelihood.T))
        inside = (parts[:, None] == parts) & (likelihood > 0)
        np.testing.assert_array_equal(inside, exact_marginals(likelihood) > 1e-6)
        marginals = scaled(sparse.csc_array(likelihood.T), parts, steps=2000).toarray()
        np.testing.assert_allclose(marginals.sum(axis=0), 1, atol=1e-6)
        np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-6)


def test_a_row_that_no_record_can_release_takes_what_is_left(e1, e1_law, e1_rows):
    rows = e1.frame.to_numpy(dtype=float).copy()
    rows[2] = [99, 99]
    masked = e1_rows(rows)
    linked = _assigned(posteriors(e1_law(0.1), masked, np.arange(6)))
    assert sorted(linked) == list(range(6))
    found = worst_case(Comparison(original=e1, masked=masked, law=e1_law(0.1)))
    assert found.matched == 1.0
    assert found.links.success < 1.0


def test_BF_3_the_whole_file_helps_on_three_keys(bodyfat):
    setting = RWN(epsilon=0.0, k=5)
    found = [worst_case(released(bodyfat, setting, seed), KEYS) for seed in range(3)]
    assert np.mean([each.links.success for each in found]) == pytest.approx(0.69, abs=0.03)
    assert np.mean([each.matched for each in found]) == pytest.approx(0.90, abs=0.04)


def test_the_whole_file_needs_one_row_each_and_a_moderate_size(e1, e1_law, e1_rows, monkeypatch):
    law = e1_law(0.5)
    short = Comparison(original=e1, masked=e1_rows(RELEASE[:4]), law=law)
    with pytest.raises(NotApplicable, match="another number of records"):
        MEASURES["whole_file_linkage"].compute(short)
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 2)
    whole = Comparison(original=e1, masked=e1_rows(RELEASE), law=law)
    with pytest.raises(NotApplicable, match="lower bound"):
        MEASURES["whole_file_linkage"].compute(whole)


DRAWS = 2000


@pytest.fixture(scope="module")
def data() -> Microdata:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.integers(0, 4, 24) * 1.0, "y": rng.integers(0, 3, 24) * 1.0})
    frame.loc[[5, 11]] = [[40.0, 40.0], [-40.0, 9.0]]  # two records without a neighbor
    frame.loc[7] = [1.5, 0.5]  # values of its own, that others may take
    return Microdata.from_frame(frame)


@pytest.fixture(scope="module")
def law(data) -> RowMixtureLaw:
    return mask(data, NBRS2015(epsilon=1.0, q=0.6, record_selection="bernoulli"), seed=1).law


@pytest.fixture(scope="module")
def drawn(law) -> tuple[np.ndarray, np.ndarray]:
    """Values of simulated releases, shape (DRAWS, n, 2), NaN where lost."""
    generator = np.random.default_rng(2)
    donors = np.stack([simulated_donors(law, generator) for _ in range(DRAWS)])
    values = law.original.matrix(["x", "y"])
    padded = np.vstack((values, np.full((1, 2), np.nan)))
    return padded[donors[:, :, 0], 0], padded[donors[:, :, 1], 1]


def near(shares: np.ndarray, chances: np.ndarray) -> bool:
    error = np.sqrt(chances * (1 - chances) / DRAWS)
    return bool((np.abs(shares - chances) <= 5 * error + 1e-12).all())


def test_the_simulation_keeps_or_masks_whole_rows_and_queries_know_it(data, law, drawn):
    x, y = drawn
    assert (np.isnan(x) == np.isnan(y)).all()
    assert near(np.isnan(x).mean(axis=0), np.where(law.neighborhoods.sizes, 0.0, law.row_share))
    own = law.original.matrix(["x", "y"])
    intact = (x == own[:, 0]) & (y == own[:, 1])
    assert near(intact.mean(axis=0), law.rows_unchanged())
    predicate = Predicate(conditions=(Condition(name="x", sign="at least", value=1.2),))
    chances = predicate.chances(law)
    asked = x >= 1.2
    assert near(asked.mean(axis=0), chances)
    answered = (asked & (y == data.values("y")[7])).mean(axis=0)
    fits = data.values("y") == data.values("y")[7]
    assert near(answered, chances * predicate.tells(law, "y", fits))
    counts = np.bincount(asked.sum(axis=1), minlength=25)[:25] / DRAWS
    assert near(counts, answer(law, predicate)[0])


def test_membership_knows_that_columns_of_a_row_depend(data, law, drawn):
    appears, own = fingerprints(law)
    assert own[[5, 7, 11]].tolist() == [2, 2, 2]
    x, y = drawn
    for record in (5, 7, 11):
        seen = (x == data.values("x")[record]) | (y == data.values("y")[record])
        assert near(seen.any(axis=1).mean(), appears[record])
    assert appears[5] == pytest.approx(0.4)  # nobody's neighbor: only its own row shows it


def test_bhattacharyya_of_whole_rows_is_an_upper_bound(law):
    """Against the definition, over all rows that can be."""
    values = [law.table(name)[0].toarray() for name in ("x", "y")]
    drawn = [law.given(selected=True).table(name)[0].toarray() for name in ("x", "y")]
    own = [law.given(selected=False).table(name)[0].toarray() for name in ("x", "y")]

    def rows(parts):
        wide = [np.zeros_like(v) for v in values]
        for place, part in enumerate(parts):
            wide[place][:, : part.shape[1]] = part
        return (wide[0][:, :, None] * wide[1][:, None, :]).reshape(24, -1)

    whole = 0.4 * rows(own) + 0.6 * rows(drawn)
    lost = np.zeros((24, 1))
    lost[law.empty] = 0.6
    whole = np.hstack((whole, lost))
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)
    exact = np.sqrt(whole) @ np.sqrt(whole).T
    assert (bhattacharyya(law) >= exact - 1e-9).all()


def test_a_neighborhood_is_homogeneous_by_the_weights_of_its_members(law):
    """Under a soft kernel all records are members; those far away have no weight to speak of."""
    # by hand: weights .5, .3, .2 hide as much as 1 / .38 records, and .8 of them have the value
    members = sparse.csr_array(np.array([[0, 0.5, 0.3, 0.2], [0] * 4, [0] * 4, [0] * 4]))
    found = same_share(members, np.array([1.0, 1.0, 1.0, 2.0]), EXACT)
    assert found.tolist() == pytest.approx([(1 + 0.8 / 0.38) / (1 + 1 / 0.38), 0, 0, 0])
    share = same_share(law.probabilities, np.zeros(24), EXACT)
    assert share[5] == share[11] == 0  # an empty one discloses nothing
    assert np.delete(share, [5, 11]).min() == 1


def small(seed: int, n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, [8, 6, 9], (n, 3)) * 1.0, columns=list("abd"))
    frame["c"], frame["t"] = rng.choice(["x", "y", "z"], n), rng.choice(["yes", "no"], n)
    frame["s"] = rng.normal(size=n).round(1)
    return frame.mask(rng.random(frame.shape) < 0.04)


def counted_by_hand(
    original: pd.DataFrame, masked: pd.DataFrame, known: tuple[str, ...], secret: str
) -> tuple[int, int, float, float]:
    """People who are alone, and with a value; shares found, and read truly: by every pair."""
    spread = 0.1 * original[secret].std() if original[secret].dtype.kind == "f" else None
    people, valued, found, read_truly = 0, 0, 0.0, 0.0
    for person in range(len(original)):
        own = original.loc[person, list(known)]
        if own.isna().any() or (original[list(known)] == own).all(axis=1).sum() != 1:
            continue
        people += 1
        rows = masked[(masked[list(known)] == own).all(axis=1)]
        found += len(rows) > 0
        shown = rows[secret].dropna()
        truth = original.loc[person, secret]
        valued += not pd.isna(truth)
        if len(shown) and not pd.isna(truth):
            near = shown == truth if spread is None else (shown - truth).abs() <= spread + 1e-12
            read_truly += near.mean()
    return people, valued, found / max(people, 1), read_truly / max(valued, 1)


def test_every_set_is_counted_as_by_hand():
    frame = small(0)
    original = described(frame, s="confidential", t="confidential")
    mixed = frame.sample(frac=1, random_state=0).reset_index(drop=True)
    masked = frame.where(np.random.default_rng(0).random(frame.shape) < 0.7, mixed)
    comparison = Comparison(original=original, masked=Microdata(masked, original.schema))
    stated = (("a",), ("a", "b", "c", "d"), ("a", "s"))
    sets = read("true_matches", comparison.with_key_sets(stated)).detail
    assert {frozenset(names) for names in sets.known.sets} == {
        *map(frozenset, combinations("abcd", 3)),
        *map(frozenset, stated),
    }
    for place, names in enumerate(sets.known.sets):
        others = [secret for secret in ("s", "t") if secret not in names]
        assert sets.secret[place] in others
        by_hand = counted_by_hand(frame, masked, tuple(names), sets.secret[place])
        assert (sets.people[place], sets.valued[place]) == by_hand[:2]
        assert (sets.found[place], sets.read[place]) == pytest.approx(by_hand[2:])


TABLE_OF_4_9 = {
    # units, epsilon, share found, share read truly
    "none": ((), 4.0, 0.0, 0.0),
    "all": (("*",), 6.0, 0.643, 0.643),
    "keys and siri": (((*KEYS, "siri"),), 4.0, 0.635, 0.635),
    "keys | all others": ((KEYS, "*"), 6.0, 0.622, 0.026),
}


def in_units(table: Microdata, *units: Any) -> Microdata:
    """The table in slices, of which "*" has all other variables."""
    named = {name for unit in units if unit != "*" for name in unit}
    rest = [name for name in table.names if name not in named]
    return table.with_slices([rest if unit == "*" else unit for unit in units])


def deviations(shares: list, expected: tuple[float, float], n: int) -> np.ndarray:
    """How far the means over seeds are from those of one seed, in its binomial errors."""
    p = np.array(expected)
    return np.abs(np.mean(shares, axis=0) - p) / np.sqrt(np.maximum(p * (1 - p), 0.01) / n)


def test_whole_rows_give_two_thirds_of_the_people_away(bodyfat):
    """Found and read truly by the keys over 4 seeds."""
    shares = {}
    for name, (units, epsilon, *_) in TABLE_OF_4_9.items():
        table = in_units(bodyfat, *units)
        prepared = RWN(epsilon=epsilon, k=5, q=1.0).prepare(table)
        shares[name] = []
        for seed in range(4):
            masked = prepared.release(SecretKey.from_seed(seed)).masked
            sets = read("true_matches", Comparison(original=table, masked=masked)).detail
            assert sets.known.sets[0] == KEYS
            shares[name].append((sets.found[0], sets.read[0]))
    for name, (_, _, *expected) in TABLE_OF_4_9.items():
        assert (deviations(shares[name], expected, bodyfat.n) < 3).all(), name
    expected = TABLE_OF_4_9["keys and siri"][2:]  # and another setting is not taken for it
    assert deviations(shares["none"], expected, bodyfat.n).min() > 3
    assert deviations(shares["keys | all others"], expected, bodyfat.n).max() > 3


def test_no_law_and_no_order_of_the_rows_is_needed_and_keys_are_rounded(bodyfat):
    release = released(in_units(bodyfat, "*"), RWN(epsilon=6.0, k=5), 3)
    order = np.random.default_rng(1).permutation(bodyfat.n)
    tables = (release.masked, release.masked.take(order), release.masked.take(order[:100]))
    whole, moved, part = (
        read("true_matches", Comparison(original=bodyfat, masked=each)) for each in tables
    )
    assert (whole.value, whole.baseline) == (moved.value, moved.baseline)
    assert 0 < part.value < whole.value
    coarse = released(in_units(bodyfat, "*"), RWN(epsilon=6.0, k=5), 3, share=0.25)
    assert read("true_matches", coarse.with_masked(coarse.masked)).value < 0.1
    knowing = read("true_matches", coarse).detail
    assert knowing.read[knowing.worst] > 0.5
    # without a confidential variable being found counts
    table = Microdata.from_frame(pd.DataFrame({"a": np.arange(50.0), "b": -np.arange(50.0)}))
    half = Comparison(original=table, masked=table.take(np.arange(25)))
    found = read("true_matches", half)
    assert (found.value, found.detail.secret[found.detail.worst]) == (0.5, None)
    assert 0 < found.baseline < 0.02


def asked(original: pd.DataFrame, masked: pd.DataFrame, *sets: tuple[str, ...]) -> Comparison:
    """Compare a table with its release; s is confidential, each set may be known together."""
    data = described(original, s="confidential")
    shown = Microdata.from_frame(masked)
    return Comparison(original=data, masked=shown).with_key_sets(sets)


def test_a_few_people_decide_only_where_no_set_has_more():
    n = 60
    numbers = np.arange(n) * 1.0
    frame = pd.DataFrame({"a": numbers % 30, "b": [0.0, 1.0] * 30, "s": numbers})
    frame.loc[0, "b"] = 7.0  # the only person who is alone with b
    comparison = asked(frame, frame.assign(a=-1.0), ("b",), ("a", "b"))
    sets = read("true_matches", comparison).detail
    assert dict(zip(sets.known.sets, sets.read.tolist(), strict=True))[("b",)] == 1.0
    # two people are too few, too; of 60 rows one is right by chance: nothing else is within 5 %
    assert read("true_matches", comparison).value == pytest.approx(1 - 1 / 60)
    frame["c"] = np.arange(n) * 2.0
    found = read("true_matches", asked(frame, frame.assign(a=-1.0, c=-1.0), ("b",)))
    assert found.value == 0.0
    few = found.detail.few
    assert found.detail.known.sets[few] == ("b",)
    assert found.detail.people[few] == 1
    assert found.detail.shares[few] == pytest.approx(59 / 60)
    said = MEASURES["true_matches"].sentence(found, n)
    assert said.endswith("It is 98 % of the one person who is alone with certain b.")


def test_one_value_or_two_may_be_all_that_tells():
    """Of 60 people each is alone with a, or with b and c; no other variable stays as it is."""
    n = 60
    numbers = np.arange(n) * 1.0
    sure = betaincinv(n, 1, 0.025) - 1 / n  # all of 60, less the one that is right by chance
    frame = pd.DataFrame({"a": numbers, "b": numbers // 10, "c": numbers % 10})
    frame["s"] = 2.0**numbers
    for name in "xyz":
        frame[name] = numbers % 31
    gone = dict.fromkeys("xyz", -1.0)
    for known, lost in ((("a",), ("b", "c")), (("c", "b"), ("a",))):
        masked = frame.assign(**gone, **dict.fromkeys(lost, -1.0))
        found = read("true_matches", asked(frame, masked))
        assert found.detail.known.sets[found.detail.worst] == known
        assert found.value == pytest.approx(sure)
        said = MEASURES["true_matches"].sentence(found, n)
        assert "98 % more than by chance, of so few people" in said


def test_luck_and_relations_that_donors_bring_along_are_no_match():
    """Anybody is found by one of 150 values, beside which stands a value of another row."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": np.arange(150.0), "b": rng.permutation(150) * 1.0})
    frame["s"] = rng.permutation(np.repeat(["yes", "no"], 75))
    for _ in range(3):
        dealt = frame.apply(lambda column: rng.permutation(column.to_numpy()))
        assert read("true_matches", asked(frame, dealt)).value < 0.02
    frame = pd.DataFrame(rng.normal(size=(150, 2)), columns=["a", "b"])
    original = described(frame.assign(s=frame["a"] + 0.02 * rng.normal(size=150)), s="confidential")
    found = read("true_matches", released(original, RWN(k=5)))
    assert {len(names) for names in found.detail.known.sets} == {2}  # of two both together
    assert found.value < 0.12


def test_the_search_says_what_it_leaves_out(monkeypatch):
    names = tuple("abcdefgh")
    monkeypatch.setattr(known_sets_file, "WORK", 100)
    given = [("h", "a")], names, [("f", "g", "h"), ("b", "c", "d", "s")], ("s",), 10
    found = known_sets(*given)
    assert (len(found.sets), found.stated, found.searched, found.possible) == (11, 1, 10, 56)
    # what shares its donor with the secret, then what shares a donor, then the rest
    assert found.sets[:4] == (("h", "a"), ("b", "c", "d"), ("f", "g", "h"), ("a", "b", "c"))
    assert found == known_sets(*given)
    monkeypatch.setattr(known_sets_file, "WORK", 50)
    assert known_sets_file.small_sets(tuple("abcd"), 10) == ([*zip("abcd"), ("a", "b")], 5)
    assert known_sets_file.small_sets(("a",), 10) == ([("a",)], 0)


def _of_a_small_group(people: int, shown: int) -> Reading:
    """Of 300 who are alone with c some are with b; the release shows s of a few of those."""
    n = 300
    numbers = np.arange(n) * 1.0
    frame = pd.DataFrame({"b": np.maximum(numbers - n + people, -1.0), "c": numbers, "s": numbers})
    masked = frame.assign(b=-2.0, c=-2.0)
    masked.loc[n - shown :, "b"] = frame["b"]
    return read("true_matches", asked(frame, masked, ("b",), ("c",)))


def test_of_a_small_group_counts_what_luck_hardly_explains():
    found = _of_a_small_group(people=40, shown=10)
    detail = found.detail
    worst = found.detail.worst
    assert binom.sf(9, 40, found.value + detail.chance[worst]) == pytest.approx(0.025)
    assert detail.shares[worst] == pytest.approx(10 / 40 - detail.chance[worst])
    enough = _of_a_small_group(people=100, shown=10)
    assert enough.value == enough.detail.shares[enough.detail.worst]
    assert enough.detail.few is None
    fewest = _of_a_small_group(people=19, shown=19)
    assert (fewest.value, fewest.detail.people[fewest.detail.few]) == (0.0, 19)
