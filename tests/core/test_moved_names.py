"""Public names that moved resolve, or say in one sentence what to write; the changelog has all."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_core.moved_names import ALIASES, INSTEAD, MEASURES_INSTEAD

ROW = re.compile(r"\| `(?P<before>[\w.]+)` \| `(?P<now>[^`]+)` \| [\w\s,]+ \|")
# the lists of public names of version 0.2.0
IN_0_2 = {
    "rwn_core": (
        "AdditiveNoise Analysis AnalysisPlan Audit AuditOptions Comparison CorrelatedNoise "
        "DEMOS Draws Ensemble Forecast Goal Grid InputError KNoise KPRAM Kind Limit "
        "LocalSuppression MEASURES METHODS Measure Metric Microaggregation Microdata NBRS2015 "
        "Neighborhoods NotApplicable PRAM ParameterError Plan Policy Question RWN RWNError "
        "Radii RandomSample RandomSwapping RankSwapping Reading Recoding RecordSwapping "
        "Release ReleaseError ReleasedFile Role Rounded RowCopy RunOptions Sampling Scenario "
        "Schema SchemaError SecretKey Setting SliceAnswer SliceRanges Statistic Variable "
        "audit audit_dataset combine_releases coordinates copy_from_donors draw_donors "
        "ensemble expected_curve find_neighborhoods forecast forecast_scan frontier "
        "internal_record load_demo mask mask_dataset nearest_radii read read_bytes seek "
        "seek_slices standard_error_validity sweep "
    ),
    "rwn_core.tuning": (
        "Goal GoalAnswer Grid JobFolder Limit Plan Point Policy Setting SliceAnswer "
        "SliceRanges Spread Sweep SweepRun Trials USUAL Verdict frontier job_name "
        "parse_values prepared seek seek_slices sweep "
    ),
    "rwn_core.neighbors": (
        "Drawing LARGEST_DENSE NeighborTable Neighborhoods Radii Radius check_radius_and_k "
        "find_and_draw find_neighborhoods find_strictly nearest_radii neighbor_table "
    ),
}


def asked_for(dotted: str) -> object:
    """What a program gets that asks for a name: of a module, or of a public class."""
    home, _, last = dotted.rpartition(".")
    if home.rpartition(".")[2][:1].isupper():
        module, _, owner = home.rpartition(".")
        return getattr(getattr(import_module(module), owner), last)
    return getattr(import_module(home), last)


def stated() -> dict[str, str]:
    text = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8")
    _, _, table = text.partition("### Names that moved")
    return {row["before"]: row["now"] for row in ROW.finditer(table.partition("\n### ")[0])}


def test_the_changelog_has_the_names_that_moved() -> None:
    assert stated() == ALIASES | INSTEAD
    assert len(stated()) > 20


def test_every_public_name_of_the_version_before_is_there_or_in_the_list() -> None:
    lost = []
    for home, names in IN_0_2.items():
        for name in names.split():
            known = {**ALIASES, **INSTEAD}
            if f"{home}.{name}" not in known and not hasattr(import_module(home), name):
                lost.append(f"{home}.{name}")
    assert lost == []


@pytest.mark.parametrize("before", ALIASES)
def test_a_name_with_an_alias_is_what_it_is_called_now(before: str) -> None:
    now = ALIASES[before]
    with pytest.warns(DeprecationWarning, match=f"^{before} is {now} now; write that") as warned:
        found = asked_for(before)
    assert found is asked_for(now)
    assert warned[0].filename == __file__  # the line of the program that asked


@pytest.mark.parametrize("before", INSTEAD)
def test_a_name_that_is_gone_says_what_to_write(before: str) -> None:
    sentence = f"{before} is gone; write {INSTEAD[before]}."
    if before.startswith("rwn_core.Policy."):  # of an object; the class itself is not asked
        policy = asked_for("rwn_core.Policy")()
        with pytest.raises(AttributeError) as refused:
            getattr(policy, before.rpartition(".")[2])
    else:
        with pytest.raises(AttributeError) as refused:
            asked_for(before)
    assert str(refused.value) == sentence
    # what is written now is there
    asked_for(INSTEAD[before].partition("(")[0])


def test_a_name_that_never_was_is_refused_as_before() -> None:
    for name in ("rwn_core.tuning.sweeep", "rwn_core.neighbors.nothing", "rwn_core.nothing"):
        with pytest.raises(AttributeError, match="has no attribute"):
            asked_for(name)


@pytest.mark.parametrize("key", MEASURES_INSTEAD)
def test_a_measure_that_is_gone_says_which_one_to_read(key: str) -> None:
    now = MEASURES_INSTEAD[key]
    with pytest.raises(rwn.ParameterError, match=f"^The measure {key} is gone; read {now}"):
        rwn.Limit(measure=key, at_most=0.1)
    assert now in rwn.MEASURES
