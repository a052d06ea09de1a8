"""Categories that a setting leaves as they are, though q is 1, are said in words."""

from __future__ import annotations

import rwn_core as rwn
from rwn_ui.features import unchanged_categories
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session


def strip(data: rwn.Microdata, **params: object) -> dict:
    session = Session(name="pima", demo=None, data=data)
    session.levers.update({"q": 1.0})
    release = rwn.mask(data, rwn.RWN(epsilon=0.5, k=5, **params), seed=1)
    reading = rwn.audit(data, release, measures=["cells_changed"])["cells_changed"]
    return unchanged_categories.strip(session, reading)


def test_a_category_that_stays_is_named_and_both_remedies_work() -> None:
    data = rwn.load_demo("pima")
    shown = strip(data)
    assert shown["least"].startswith("least: test 0.")
    assert shown["warning"].startswith("Barely masked at q = 1: test (at most 0.")
    light = data.with_schema(data.schema.with_weights({"test": 0.1}))
    assert strip(light)["warning"] == ""
    assert strip(data, encoding="matching")["warning"] == ""


def test_numbers_alone_are_no_reason_to_warn(open_page) -> None:
    shown = open_page("tune").panel["changed"]
    assert shown["warning"] == ""
    assert shown["least"].startswith("least: ")


def test_what_a_method_without_q_leaves_as_it_is_is_named() -> None:
    data = rwn.load_demo("pima")
    session = Session(name="pima", demo=None, data=data)
    session.levers = {"size": 0.3}
    release = rwn.mask(data, rwn.AdditiveNoise(size=0.3), seed=1)
    reading = rwn.audit(data, release, measures=["cells_changed"])["cells_changed"]
    warning = unchanged_categories.strip(session, reading)["warning"]
    assert warning == "Not masked at this setting: test."


def test_the_largest_own_weight_stands_next_to_q_where_a_record_is_its_own_donor(open_page) -> None:
    shown = open_page("tune", kernel="gaussian", width="0.5", own_donors="1")
    law = current_release(shown.session).comparison.law
    largest = law.probabilities.toarray().diagonal().max()
    assert largest == 0.1  # the cap
    assert shown.panel["changed"]["own"] == ", own donor up to 10 %"
    assert open_page("tune", kernel="gaussian").panel["changed"]["own"] == ""
    assert open_page("tune").panel["changed"]["own"] == ""
