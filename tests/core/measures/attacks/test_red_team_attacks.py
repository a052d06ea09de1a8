"""The simple attacks of the red team: by hand, on recipes that they must find, and on nothing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from rwn_core import MEASURES, Comparison, Microdata, NotApplicable, RowCopy, load_demo, mask
from rwn_core.measures.attacks.red_team import attack, matching, merge, prediction
from rwn_core.measures.attacks.red_team.finding import Finding, NameCounts, reach_of
from rwn_core.measures.attacks.red_team.merge import shown
from rwn_core.measures.attacks.red_team.prediction import TREES, ForestOfLevels, ForestOfNumbers
from rwn_core.measures.risk import red_team
from rwn_core.measures.statistics.intervals import naming_score
from tests import attacked_tables
from tests.lanes import lanes

PEOPLE = pd.DataFrame({"a": [1, 1, 2, 3, 4, 5.0], "S": [0, 1, 0, 1, 1, 0.0]})
ROWS = pd.DataFrame({"a": [2, 1, 1, 3, 3, 9.0], "S": [0, 1, 0, 1, 1, 0.0]})
SMALL = attacked_tables.files(PEOPLE, ROWS, [2, 0, 1, 3, 4, 5], "a", "S")


def counts(tried):
    return {
        (each.words, level): tuple(part[i] for part in (each.right, each.named, each.people))
        for each in tried
        if isinstance(each, NameCounts)
        for i, level in enumerate(each.levels)
    }


def test_rows_show_the_level_of_most_of_them_or_the_number_in_the_middle() -> None:
    row, person = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 3])
    values = np.array([7.0, 7.0, 5.0, 1.0, 2.0, np.nan])
    guess, agreement = shown(row, values, person, None)
    assert guess[0] == 7
    assert agreement.tolist() == pytest.approx([2 / 3, 1 / 2, 0, 0])
    guess, agreement = shown(row, values, person, lambda some: np.full(some.shape, 1.0))
    assert guess.tolist() == pytest.approx([7, 1, np.nan, np.nan], nan_ok=True)
    assert agreement.tolist() == pytest.approx([2 / 3, 1, 0, 0])


def test_a_merge_by_hand() -> None:
    """Of six people those with 2 and 3 are alone and found; those with 1 meet both levels."""
    assert list(merge.sets_for(SMALL, "S")) == [("a",)]
    got = counts(merge.attack(SMALL))
    assert got["a merge on a", "level 0"] == (1, 1, 3)
    assert got["a merge on a", "level 1"] == (1, 1, 3)
    assert got["a merge on a", None] == (2, 2, 6)


def test_a_merge_on_one_or_two_values_by_hand() -> None:
    """Two of four variables are released as they are: together they name all 60 people."""
    a = np.arange(60.0)
    people = pd.DataFrame({"a": a // 10, "b": a % 10, "c": a % 29, "d": a % 31, "s": 3 * a + 100})
    rows = people.assign(c=-1.0, d=-1.0)
    got = counts(merge.attack(attacked_tables.files(people, rows, range(60), "abcd", "s")))
    assert got["a merge on b + a", None] == (60, 60, 60)
    one = people.assign(a=a), rows.assign(a=a, b=-1.0)
    got = counts(merge.attack(attacked_tables.files(*one, range(60), "abcd", "s")))
    assert got["a merge on a", None] == (60, 60, 60)


def test_prediction_by_hand() -> None:
    """A line through the released rows names what it says of a person's own key."""
    a = np.arange(20.0)
    people = pd.DataFrame({"a": a, "s": 3 * a + 100})
    rows = people.iloc[::-1]
    got = counts(
        prediction.attack(attacked_tables.files(people, rows, a[::-1].astype(int), "a", "s"))
    )
    assert got["a regression on the keys", None] in ((20, 20, 20),)
    levels = pd.DataFrame({"a": a, "S": (a > 9).astype(float)})
    held = attacked_tables.files(levels, levels, a.astype(int), "a", "S")
    got = counts(prediction.attack(held))
    for least in ("", *(f", where its chance is at least {each}" for each in (0.5, 0.8, 0.95))):
        assert got[f"a tree on the keys{least}", "level 1"] == (10, 10, 10)


def test_all_rows_at_once_by_hand() -> None:
    """Row by row two rows go to person 1; together each person has one row."""
    people = pd.DataFrame({"a": [0.0, 1.0, 5.0], "S": [0.0, 1.0, 0.0]})
    rows = pd.DataFrame({"a": [0.6, 1.2, 5.0], "S": [0.0, 1.0, 0.0]})
    made = matching.attack(attacked_tables.files(people, rows, [0, 1, 2], "a", "S"))
    assert {each.right for each in made if isinstance(each, Finding)} == {3.0}
    assert all(x.right[0] == x.people[0] for x in made if isinstance(x, NameCounts))
    # records that no value tells apart are linked rightly by chance only
    same = pd.DataFrame({"a": [0.0, 0.0, 5.0], "S": [0.0, 0.0, 0.0]})
    made = matching.attack(attacked_tables.files(same, same, [1, 0, 2], "a", "S"))
    assert {each.right for each in made if isinstance(each, Finding)} == {2.0}


def test_a_number_is_read_within_what_no_one_person_can_move() -> None:
    values = np.arange(1.0, 101.0)
    rich = np.append(values[:-1], 1e12)
    near = reach_of(values).of(values)
    assert near[[0, 99]].tolist() == pytest.approx([0.05, 0.1 * values.std(ddof=1)])
    np.testing.assert_allclose(reach_of(rich).of(values)[:50], near[:50])
    # where most have one value the others say how far apart values lie: 0 has 5 % of 5.75
    zeros = np.concatenate([np.zeros(80), np.arange(1.0, 21.0)])
    assert reach_of(zeros).of(np.array([0.0, 3.0])).tolist() == pytest.approx([0.2875, 0.15])
    assert reach_of(zeros).of(np.array([20.0])).item() == pytest.approx(0.1 * zeros.std(ddof=1))
    assert (reach_of(np.repeat([0.0, 9.0], [80, 20])).of(values) < 4.5).all()  # two are never one


def random_table(rng: np.random.Generator) -> Microdata:
    n = int(rng.integers(40, 120))
    share = rng.uniform(0.03, 0.5)
    frame = pd.DataFrame({"x": rng.normal(size=n), "y": rng.integers(0, 5, n)})
    frame["z"] = rng.choice(list("abc"), n)
    frame["s"] = rng.choice(["yes", "no"], n, p=[share, 1 - share])
    frame["t"] = np.round(np.exp(2 * rng.normal(size=n)), 2)
    frame["f"] = rng.integers(0, 10, n) // 9
    return attacked_tables.described(frame, list("xyz"), list("stf"))


def cut_off(data: Microdata, rng: np.random.Generator) -> Comparison:
    """The unmasked file, its secrets dealt anew and its keys, too: nothing is left to find."""
    frame = data.frame.copy()
    for names in (["x", "y", "z"], ["s", "t", "f"]):
        frame[names] = frame[names].take(rng.permutation(data.n)).set_axis(frame.index)
    return Comparison(original=data, masked=Microdata(frame, data.schema))


@pytest.mark.parametrize("count", lanes(8, 20))
def test_nothing_is_found_where_rows_are_cut_off_from_their_owners(count: int) -> None:
    rng = np.random.default_rng(0)
    scores = [attacked_tables.best(cut_off(random_table(rng), rng)) for _ in range(count)]
    assert np.mean(np.array(scores) > 0.05) <= 0.05


def test_everything_is_found_in_the_unmasked_file() -> None:
    data = random_table(np.random.default_rng(0))
    assert attacked_tables.best(Comparison(original=data, masked=data)) > 0.7
    assert attacked_tables.best(Comparison(original=data, masked=data), "identity") > 0.95
    # shares are of released rows: a sample of a twentieth is linked as the whole file is
    frame = data.frame.astype(object)
    frame.iloc[20:] = None
    kept = Microdata(frame.astype(data.frame.convert_dtypes().dtypes.to_dict()), data.schema)
    assert attacked_tables.best(
        Comparison(original=data, masked=kept), "identity"
    ) == pytest.approx(1.0)
    with pytest.raises(NotApplicable, match="another number of records"):
        attack(Comparison(original=data, masked=data.take(np.arange(5))))


@pytest.mark.parametrize("numbers", [True, False])
def test_values_that_few_people_have_are_counted_together(numbers: bool) -> None:
    """Seven amounts among 600 zeros, each once: naming one is luck, naming four is not."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"town": rng.integers(0, 12, 600), "rent": rng.permutation(600)})
    amounts = np.zeros(600)
    amounts[:7] = 1234.5 * np.arange(1, 8)
    shown = amounts.copy()
    shown[4:7] = shown[[5, 6, 4]]  # four of them beside their own keys, three beside others'
    frame["rent"] = np.where(np.arange(600) < 7, frame["rent"], frame["rent"] % 5)
    data, other = (
        attacked_tables.described(
            each.assign(S=values if numbers else pd.Series(values).map("v{:g}".format)),
            ["town", "rent"],
            ["S"],
        )
        for each, values in ((frame, amounts), (frame, shown))
    )
    tried = attack(Comparison(original=data, masked=other))
    rare = [each for each in tried if each.level == "rare values"]
    assert max(each.right for each in rare) == 4
    assert max(each.score for each in rare) == pytest.approx(
        float(naming_score(4, 7, 7, 1 / 600)), abs=0.01
    )


@pytest.mark.parametrize("way", ["merge", prediction.KEY])
def test_people_outside_count_as_attacked_only_by_what_was_tried_on_them(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a holdout only predictions name people outside; another attack keeps its caveat."""
    everybody = load_demo("bodyfat")
    rows = np.arange(everybody.n)
    data, outside = everybody.take(rows[::2]), everybody.take(rows[1::2])
    release = mask(data, RowCopy(k=3), seed=7)
    for holdout in (None, outside):
        compared = Comparison(
            original=data, masked=release.masked, law=release.law, holdout=holdout
        )
        named = [replace(each, attack=way) for each in attacked_tables.found(compared)]
        monkeypatch.setattr(red_team, "attack", lambda _, named=named: named)
        caveat = MEASURES["red_team"].compute(compared).detail.caveat
        judged = holdout is not None and way == prediction.KEY
        assert ("people outside were not attacked in this way" in caveat) != judged


def test_the_forests_are_those_of_scikit_learn():
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((90, 4))
    number = rows[:, 0] + rng.standard_normal(90)
    level = np.digitize(number, [-0.5, 0.8]).astype(float)
    grown = {"min_samples_leaf": 2, "max_features": "sqrt", "n_estimators": TREES}
    theirs = RandomForestRegressor(random_state=0, **grown).fit(rows, number)
    ours = ForestOfNumbers().fit(rows, number)
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    of_levels = RandomForestClassifier(random_state=0, **grown).fit(rows, level)
    chances = ForestOfLevels().fit(rows, level).predict_proba(rows)
    np.testing.assert_array_equal(chances, of_levels.predict_proba(rows))
