"""What holds for every method: laws, settings, what is said, small tables, defects of peers."""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import METHODS, NBRS2015, RWN, Kind, Microaggregation, Microdata, Role, mask
from rwn_core.errors import ParameterError
from rwn_core.masking import method_options, option_words
from rwn_core.masking.lever import lever_presets, lever_ranges, neutral_levers
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from rwn_core.masking.option import method_words, name_tuple
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.nearness import inside
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.neighbors.slider_range import SliderRange
from rwn_core.randomness import SecretKey
from tests import tables
from tests.core.masking.method_tables import TABLES, WITHOUT, defaults, key, prepared, table
from tests.holding import hold
from tests.lanes import lanes

CERTAIN = {"recoding", "microaggregation", "local_suppression"}
"""Nothing is random in them."""
SUPPRESSING = {"local_suppression", "sampling"}
"""They lose values on purpose."""
LEVELS = (Kind.CATEGORICAL, Kind.ORDERED)


def alike(method: str, name: str) -> bool:
    """Whether a table has no distances, so that a method of neighborhoods refuses it."""
    return name == "identical records" and issubclass(METHODS[method], NeighborhoodMethod)


def same(one: Microdata, other: Microdata) -> None:
    pd.testing.assert_frame_equal(one.frame, other.frame, check_exact=True)


def test_a_key_gives_the_same_bytes_however_it_is_drawn():
    def rule(method: str, name: str) -> None:
        data = table(name)
        other = prepared(method, data)
        first = mask(data, other.params, seed=3)
        same(mask(data, other.params, seed=3, threads=1).masked, first.masked)
        for lever in other.params.levers:  # what was asked for before changes nothing
            end = other.ranges[lever.name].high
            other.with_levers(**{lever.name: end}).release(key(9))
        same(other.release(key(3), threads=2).masked, first.masked)

    hold(rule, METHODS, ["holes", WITHOUT])


def test_the_slices_that_a_table_has_may_be_asked_for_again():
    """Sweeps and pages do so at every setting; whole rows must not be torn by it."""

    def rule(method: str) -> None:
        data = table("mixed")
        made = prepared(method, data)
        again = made.with_slices(data.schema.slices)
        same(again.release(key(8)).masked, made.release(key(8)).masked)

    hold(rule, METHODS)


def test_two_keys_differ_where_anything_is_random():
    def rule(method: str) -> None:
        one, other = (prepared(method, table("mixed")).release(key(i)).masked for i in (1, 2))
        assert one.frame.equals(other.frame) == (method in CERTAIN)

    hold(rule, METHODS)


def weakest(params: Any) -> dict[str, float]:
    """Where a method masks nothing: no cell, classes of one record, or no strength at all."""
    levers = {lever.name: lever for lever in params.levers}
    if "q" in levers:
        return {"q": 0.0}
    return {params.strength: 1 if levers[params.strength].whole_number else 0.0}


def test_at_its_weakest_a_method_returns_the_table():
    def rule(method: str, name: str) -> None:
        made = prepared(method, table(name))
        released = made.with_levers(**weakest(made.params)).release(key(4)).masked
        same(released, table(name))

    hold(rule, METHODS, ["holes", "two records", "one level", WITHOUT])


def change(original: Microdata, masked: Microdata) -> float:
    """How far values moved: in standard deviations, or 1 for another category or a lost value."""
    moved = []
    for variable in original.schema.released:
        if variable.kind in LEVELS:
            levels = original.codes(variable.name)[1]
            one, other = (table.codes(variable.name, levels)[0] for table in (original, masked))
            moved.append(float(((one != other) | (one < 0)).mean()))
        else:
            own = original.values(variable.name)
            apart = np.abs(masked.values(variable.name) - own) / own.std(ddof=1)
            moved.append(float(np.where(np.isnan(apart), 1.0, apart).mean()))
    return float(np.mean(moved))


def expected_changes(made: Any, strength: str, seeds: int) -> np.ndarray:
    """The change at rising strengths, shape (strengths, seeds)."""
    ends = made.ranges[strength]
    kinds = {lever.name: lever for lever in made.params.levers}
    positions = [ends.low + share * (ends.high - ends.low) for share in (0.0, 0.1, 0.3, 0.6, 1.0)]
    if kinds[strength].whole_number:
        positions = [round(position) for position in positions]
    return np.array(
        [
            [change(made.microdata, one.release(key(i)).masked) for i in range(seeds)]
            for one in (made.with_levers(**{strength: position}) for position in positions)
            if not _loses(one)
        ]
    )


def _loses(made: Any) -> bool:
    """Whether records without neighbors lose their values: no small change, at a small radius."""
    if made.law is None or made.params.method in SUPPRESSING:
        return False
    neighborhoods = made.law.neighborhoods
    return neighborhoods is not None and bool((neighborhoods.sizes == 0).any())


@pytest.mark.parametrize("releases", lanes(6, 12))
def test_more_strength_never_lowers_the_expected_change(releases):
    def rule(method: str) -> None:
        made = prepared(method, table("mixed"))
        found = expected_changes(made, made.params.strength, releases)
        steps = np.diff(found, axis=0)
        error = steps.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
        assert np.all(steps.mean(axis=1) >= -3 * error - 1e-12), found.mean(axis=1)
        assert found[-1].mean() > found[0].mean()

    hold(rule, METHODS)


def holds_types(data: rwn.Microdata, masked: rwn.Microdata) -> None:
    """Hold that each column keeps its type; with a lost value, one that has room for gaps."""
    for column in data.names:
        one, other = (str(each.frame[column].dtype) for each in (data, masked))
        lost = masked.frame[column].isna().any()
        assert one == other or (lost and one == other.lower()), column


def holds_gaps(method: str, name: str, data: rwn.Microdata, masked: rwn.Microdata) -> None:
    """Hold that gaps stay and none is made, but by a method that moves or suppresses values."""
    missing, lost = (each.frame.isna().to_numpy() for each in (data, masked))
    if not METHODS[method].moves_missing:
        assert lost[missing].all()
        assert method in SUPPRESSING or not lost[~missing].any()
    elif name == "holes":  # somebody who lacks a value gets one
        assert not lost[missing].all()


def holds_levels(data: rwn.Microdata, masked: rwn.Microdata) -> None:
    """Hold that no level is released that nobody has."""
    for variable in data.schema.released:
        if variable.kind in LEVELS:
            known = set(data.frame[variable.name].dropna())
            assert set(masked.frame[variable.name].dropna()) <= known


def test_hard_tables_are_masked_and_types_survive():
    def rule(method: str, name: str) -> None:
        data = table(name)
        if alike(method, name):
            return
        before = data.frame.copy(deep=True)
        masked = prepared(method, data).release(key(5)).masked
        pd.testing.assert_frame_equal(data.frame, before)
        assert masked.n == data.n
        assert masked.names == data.names
        holds_types(data, masked)
        holds_gaps(method, name, data, masked)
        holds_levels(data, masked)

    hold(rule, METHODS, [*TABLES, WITHOUT])


def test_thousands_of_levels():
    data = tables.table("many levels", 2_500)

    def rule(method: str) -> None:
        masked = prepared(method, data).release(key(6)).masked
        assert set(masked.frame["g"].dropna()) <= set(data.frame["g"])

    hold(rule, METHODS)


def attacked(name: str) -> tuple[str, ...]:
    """Few variables, so that the attack neither always succeeds nor never."""
    return {"bodyfat": ("siri", "age"),
            "cps1988": ("education", "ethnicity", "smsa", "region", "parttime")}[name]  # fmt: skip


def excess(made: Any, names: tuple[str, ...], releases: int, law: Any = None) -> float:
    """Analytic success less simulated success, in standard errors."""
    expected, counted = [], []
    for seed in range(releases):
        masked = made.release(key(seed)).masked
        links = link(law or made.law, masked, names)
        expected.append(links.best)
        counted.append(links.top1)
    apart = np.mean(expected, axis=1) - np.mean(counted, axis=1)
    by_row = np.subtract(expected, counted)
    error = max(apart.std(ddof=1) / np.sqrt(releases), by_row.std() / np.sqrt(by_row.size))
    return float(apart.mean() / max(error, 1e-9))


@pytest.mark.parametrize("releases", lanes(6, 12))
@pytest.mark.parametrize("name", ["bodyfat", "cps1988"])
@pytest.mark.parametrize("method", METHODS)
def test_the_attack_succeeds_as_often_as_the_law_says(method, name, releases):
    try:
        made = prepared(method, tables.table(name))
    except ParameterError as refusal:
        pytest.skip(str(refusal))
    if made.law is None:
        pytest.skip("The method has no law.")
    assert abs(excess(made, attacked(name), releases)) < 3


def test_a_law_of_another_setting_does_not_say_how_often_it_succeeds():
    """The same for planted laws, of half the strength."""

    def rule(case: str) -> None:
        method, name = case.split(" on ")
        made = prepared(method, tables.table(name))
        strength = made.params.strength
        other = made.with_levers(**{strength: getattr(made.params, strength) / 2})
        names = ("wage", "region") if method == "record_swapping" else attacked(name)
        assert abs(excess(made, names, 12, other.law)) > 3

    hold(rule, ["random_swapping on cps1988", "record_swapping on cps1988", "pram on cps1988",
                "additive_noise on bodyfat"])  # fmt: skip


FLAGS = ("uses_weights", "uses_slices", "releases_true_rows", "drops_lost_rows", "moves_missing")
NEAR = SliderRange(epsilon=3.0, step=0.1, k=10, typical=0.5, stored=3.0)
TWINS = SliderRange(epsilon=3.0, step=0.1, k=10, typical=0.0, stored=3.0)
SPARSE = pd.DataFrame({"x": [1.5, None, None, None], "g": list("abab")})


def table_settings(n: int) -> Microdata:
    frame = pd.DataFrame({"x": np.arange(n) * 1.0, "g": ["a", "b"] * (n // 2)})
    return Microdata.from_frame(frame)


def of_a_method(method: Any) -> Iterator[str]:
    """All that holds of a method before a table is known."""
    yield "flags: " + ", ".join(flag for flag in FLAGS if getattr(method, flag, False) is True)
    yield f"neutral: {neutral_levers(method)}"
    for field in fields(method):
        default = "needed" if "MISSING" in repr(field.default) else repr(field.default)
        yield f"default {field.name}: {default}"
    for lever in method.levers:
        yield f"lever {lever.name}: {lever.words}, whole {lever.whole_number}, off {lever.off}"
    for option in method_options(method):
        about = f"{option.title}, {option.form}, {option.choices}, optional {option.optional}"
        yield f"option {option.name}: {about}; {option.help}"
    helped = {option.name for option in method_options(method)}
    for name, words in method_words(method, "parameters").items():
        if name not in helped:
            yield f"words {name}: {words}"


def on_tables(method: str) -> Iterator[str]:
    """How far its levers go on tables of several sizes, and where they start."""
    near = method in ("rwn", "nbrs2015", "row_copy")
    options = {"rwn": {"k": 1}, "nbrs2015": {"epsilon": 1.0}}.get(method, {})
    tables: dict[str, Any] = {
        "300": table_settings(300),
        "6": table_settings(6),
        "4": table_settings(4),
    }
    tables |= {"sparse": Microdata.from_frame(SPARSE), "2": Microdata.from_frame(SPARSE[:2])}
    params = METHODS[method](**options)
    before = dict[str, str]()
    for name, data in ({"near": NEAR, "twins": TWINS} if near else tables).items():
        ranges = lever_ranges(params, data).items()
        said = {lever: f"{ends.low} to {ends.high} by {ends.step}" for lever, ends in ranges}
        said |= {start: str(dict(at)) for start, at in lever_presets(params, data).items()}
        for what, words in said.items():
            if words != before.get(what):  # only what differs from the table before
                yield f"{name} records, {what}: {words}"
        before = said


def test_every_method_says_what_it_takes_and_where_it_starts(sentences):
    sentences("setting", {key: [*of_a_method(METHODS[key]), *on_tables(key)] for key in METHODS})


def test_values_of_options_in_words():
    matrices = (("sex", ((1.0, 0.0), (0.0, 1.0))),)
    values = (True, False, 1, 0.25, 1 / 3, ("a", "b"), ["a"], (("a", 1), "b"), matrices, None, 1e7)
    assert [option_words(each) for each in values] == [
        "yes", "no", "1", "0.25", "0.333333", "a, b", "a", "a, b", "sex", "None", "1e+07"
    ]  # fmt: skip


KEY = SecretKey.from_seed(3)
N = LARGEST_DENSE + 100


def table_sizes(n: int = N) -> Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(2), columns=["x", "y"])
    return Microdata.from_frame(frame.assign(g=rng.choice(list("abc"), n), h=np.arange(n) // 3))


@pytest.mark.parametrize("params", [RWN(epsilon=0.4, k=5, q=0.7), NBRS2015(epsilon=0.5)], ids=str)
@pytest.mark.parametrize("way", ["prepare", "preview"])
def test_the_law_is_the_same_without_a_search(params, way):
    data = table_sizes()
    made = getattr(params, way)(data)
    assert made.known is None, "nothing was searched yet"
    release = made.release(KEY)
    known = pickle.loads(pickle.dumps(made.known))
    again = params.prepare(table_sizes()).with_search_state(known)
    assert again.law.neighborhoods.sizes.tolist() == release.law.neighborhoods.sizes.tolist()
    for name in ("x", "y", "g"):
        mine = again.law.table(name)[0]
        expected = release.law.table(name)[0]
        assert abs(mine - expected).max() < 1e-15
    np.testing.assert_array_equal(again.law.rows_unchanged(), release.law.rows_unchanged())


def test_where_not_everybody_may_be_a_neighbor_nothing_is_told():
    data = table_sizes()
    apart = tables.described(data.frame, h="household")
    others = [
        RWN(k=2, outside_household=True).prepare(apart),
        RWN(k=2, neighbors="sample", m=8).prepare(data),
        RWN(k=2).prepare(table_sizes(50)),
        Microaggregation(k=3).prepare(data),
    ]
    for made in others:
        made.release(KEY)
        assert made.known is None
    assert others[-1].with_search_state(None) is others[-1]


CAUTIONS: list[tuple[str, list[dict[str, Any]]]] = [
    ("rwn", [{"k": 1, "q": 0}, {"k": 1}, {"k": 1, "q": 0.25, "neighbors": "sample", "m": 3},
        {"k": 1, "neighbors": "sample", "m": 3, "fresh": True},
        {"k": 1, "neighbors": "pairs", "m": 3}, {"k": 1, "neighbors": "partition", "u": 2}]),
    ("soft_rwn", [{"balance": 1.0}, {"own": True}, {"cap": 1.0}]),
    ("nbrs2015", [{"epsilon": 1.0, "q": 0.4}]),
    ("row_copy", [{"q": 0.0}, {"q": 0.5}]),
    ("additive_noise", [{"size": 0}, {"size": 2}]),
    ("correlated_noise", [{"size": 0}, {"size": 1}]),
    ("k_noise", [{"k": 1}, {"k": 2}]),
    ("k_pram", [{"k": 1}, {"k": 2}]),
    ("microaggregation", [{"k": 1}, {"k": 2}]),
    ("rank_swapping", [{"p": 0}, {"p": 0.1}, {"p": 0, "r0": 0.9}, {"p": 0, "k0": 0.1},
        {"p": 0, "top": 0.1}, {"p": 0, "bottom": 0.1}]),
    ("random_swapping", [{"share": 0}, {}]),
    ("record_swapping", [{"share": 0}, {}]),
    ("pram", [{"change": 0}, {"alpha": 0}, {"change": 0, "matrices": {"g": [[1.0]]}},
        {"invariant": False}, {"invariant": False, "spread": "margins"}]),
    ("recoding", [{}]),
    ("local_suppression", [{}]),
    ("data_shuffling", [{"anew": 0}, {}]),
    ("cart_synthesis", [{"q": 0}, {"q": 0.5, "smoothing": 0.5}, {"leaf": 10}]),
    ("sampling", [{}]),
]  # fmt: skip


def test_a_setting_says_what_it_keeps_and_nothing_that_holds_for_others(sentences):
    found = {f"{method} {options}": METHODS[method](**options).cautions()
             for method, listed in CAUTIONS for options in listed}  # fmt: skip
    sentences("caution", found)
    assert all(sentence.endswith(".") for lines in found.values() for sentence in lines)


@pytest.fixture(scope="module")
def data() -> Microdata:
    """Eight records: x has negative numbers, y none but a 0, z is missing once; two keys."""
    frame = pd.DataFrame(
        {
            "x": [-1.5, 2.5, 3.5, 0.5, 9.0, 1.0, 2.0, 4.0],
            "y": [0.0, 2.5, 3.5, 0.5, 9.0, 1.0, 2.0, 40.0],
            "z": [1.5, np.nan, 2.5, 2.0, 8.0, 6.5, 5.5, 7.0],
            "g": list("aaaabbbc"),
            "h": list("uuvvuuvv"),
        }
    )
    return tables.described(frame, g="key", h="key", z="confidential")


REMARKS: list[tuple[str, list[dict[str, Any]]]] = [
    ("additive_noise", [{}, {"size": 0}, {"reflected": True}]),
    ("correlated_noise", [{}]),
    ("k_noise", [{}]),
    ("k_pram", [{}]),
    ("microaggregation", [{}]),
    ("rank_swapping", [{"p": 0.25}, {"p": 0.2}, {"p": 0.2, "r0": 0.5}, {"p": 0.2, "k0": 0.5},
        {"p": 0}]),
    ("data_shuffling", [{}]),
    ("random_swapping", [{}]),
    ("record_swapping", [{"within": "g"}, {"within": "h"}]),
    ("pram", [{}, {"change": 1}]),
    ("recoding", [{"k": 2}, {"k": 1}]),
    ("local_suppression", [{}]),
    ("sampling", [{"left_out": 0.25}]),
    ("row_copy", [{}, {"q": 0.0}]),
    ("rwn", [{"k": 1}]),
]  # fmt: skip


def test_a_table_is_remarked_on_in_full(data, sentences):
    one_level = Microdata.from_frame(pd.DataFrame({"g": ["a"] * 4, "h": list("uvuv")}))
    found = {f"{method} {options}": METHODS[method](**options).remarks(data, None)
             for method, listed in REMARKS for options in listed}  # fmt: skip
    numbers = Microdata.from_frame(data.frame[["x", "y"]])
    found["numbers alone"] = METHODS["recoding"](k=2).remarks(numbers, None)
    found["a level without another"] = METHODS["pram"](change=1).remarks(one_level, None)
    # smaller weights of categories, records without a neighbor, what random candidates cost
    discrete = RWN(k=1, weights="discrete")
    found["discrete weights"] = discrete.remarks(data, None)
    assert sum(discrete.metric(data).shares(data).values()) == pytest.approx(1.0)
    far = Microdata.from_frame(pd.DataFrame({"x": [0.0, 0.1, 0.2, 9.0, 50.0]}))
    for epsilon in (0.1, 5.0):
        params = NBRS2015(epsilon=epsilon)
        found[f"nbrs2015 {epsilon}"] = params.remarks(far, params.prepare(far).law)
    some = RWN(k=1, neighbors="sample", m=4)
    found["random candidates"] = some.remarks(data, mask(data, some, seed=1).law)
    found["random candidates before a key is drawn"] = some.remarks(data, None)
    sentences("remark", found)


FILLED = -999.0


def left_over(original: np.ndarray, masked: np.ndarray) -> float:
    """What a straight line through the original leaves of the masked numbers, in its sd."""
    line = np.polyfit(original, masked, 1)
    return float((masked - np.polyval(line, original)).std() / original.std(ddof=1))


def test_P_2_every_form_of_noise_adds_noise_and_does_not_only_rescale():
    own = np.random.default_rng(1).normal(50, 4, 5000)
    data = Microdata.from_frame(pd.DataFrame({"x": own}))
    forms: dict[str, tuple[Any, float]] = {
        **{f"additive {shape}": (rwn.AdditiveNoise(size=0.5, shape=shape), 0.5)
           for shape in ("gaussian", "laplace", "uniform")},
        **{f"correlated {form}": (rwn.CorrelatedNoise(size=0.25, form=form), a * 0.5)
           for form, a in (("plain", 1.0), ("population", 1.25**-0.5), ("sample", 1.25**-0.5))},
    }  # fmt: skip

    def rule(form: str) -> None:
        params, size = forms[form]
        masked = rwn.mask(data, params, seed=2).masked.values("x")
        assert left_over(own, masked) == pytest.approx(size, rel=0.06)

    hold(rule, forms)
    assert left_over(own, own.mean() + (own - own.mean()) / np.sqrt(1.25)) < 1e-9  # the peer's


def test_P_4_a_mean_does_not_grow_with_the_table():
    rng = np.random.default_rng(3)
    frames = [pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"]) for _ in range(2)]

    def loss(frames: list[pd.DataFrame]) -> Any:
        one, other = (Microdata.from_frame(frame) for frame in frames)
        return rwn.MEASURES["il1s"].compute(Comparison(original=one, masked=other))

    once, thrice = loss(frames), loss([pd.concat([f] * 3, ignore_index=True) for f in frames])
    assert thrice.value == pytest.approx(once.value, rel=0.02)
    assert thrice.detail.il1s_sum > 2.9 * once.detail.il1s_sum  # what the peer returns


def test_P_4_one_value_inside_is_not_all_values_inside():
    before = np.random.default_rng(4).normal(size=(50, 2))
    after = before + np.array([0.0, 9.0])  # the first variable is released as it is
    assert not inside(before, after).any()
    assert inside(before[:, :1], after[:, :1]).all()


def around_100(seed: int) -> pd.DataFrame:
    """Numbers near 100 of which a third is missing, and what the methods need besides."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(100, 1, 120) for name in ("x", "y", "key")})
    frame = frame.mask(rng.random(frame.shape) < 0.33)
    return frame.assign(g=rng.choice(["a", "b"], 120), s=rng.choice(["u", "v"], 120))


def farthest(release: Callable[[Microdata], Microdata]) -> float:
    """How far the numbers of a release are from 100."""
    data = tables.described(around_100(5), key=Role.KEY, g=Role.KEY, y=Role.CONFIDENTIAL)
    return float(np.nanmax(np.abs(release(data).matrix(("x", "y", "key")) - 100)))


def test_missing_values_are_never_turned_into_numbers():
    """A filled-in -999 would be released, or widen every distance, interval and noise."""

    def released(method: str) -> Callable[[Microdata], Microdata]:
        return lambda data: prepared(method, data).release(key(6)).masked

    def rule(method: str) -> None:
        assert farthest(released(method)) < 6

    hold(rule, METHODS)

    def planted(data: Microdata) -> Microdata:
        filled = data.frame.fillna(dict.fromkeys(("x", "y", "key"), FILLED))
        masked = prepared("additive_noise", Microdata.from_frame(filled)).release(key(6)).masked
        hidden = data.frame.isna()
        return Microdata(masked.frame.mask(hidden), data.schema)

    assert farthest(planted) > 100


def test_every_lever_has_steps_between_its_ends_and_its_presets_lie_inside():
    def rule(method: str) -> None:
        made = defaults(method).prepare(table("mixed"))
        levers = {lever.name: lever for lever in made.params.levers}
        for name, ends in made.ranges.items():
            whole = levers[name].whole_number
            first = 1 if whole else 0
            # a radius of 0 would leave everybody without a neighbor, and no kernel has a width of 0
            above = (method, name) in (("nbrs2015", "epsilon"), ("soft_rwn", "width"))
            assert ends.low == (ends.step if above else first)
            assert 0 < ends.step <= (ends.high - ends.low) / 10
            assert not whole or ends.step == 1
        for preset in made.presets.values():
            assert all(made.ranges[n].low <= v <= made.ranges[n].high for n, v in preset.items())

    hold(rule, METHODS)


def test_names_are_stripped_unique_and_texts():
    assert name_tuple(" age, sex ") == name_tuple(["age", "sex "]) == ("age", "sex")
    assert name_tuple("") == name_tuple(()) == ()
    for wrong in ("age,,sex", ["age", 3], ["age", ""]):
        with pytest.raises(ParameterError, match="must be names of variables"):
            name_tuple(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="each variable once"):
        name_tuple("age, age")


def test_a_setting_that_masks_nothing_says_so():
    def rule(method: str) -> None:
        params = defaults(method)
        if params.strength == "k":
            params = replace(params, k=3)
        nothing = replace(params, **weakest(params))
        assert not any("masks nothing" in each for each in params.cautions())
        assert any("masks nothing" in each for each in nothing.cautions())

    hold(rule, METHODS)
