"""The options of a method are read off its record."""

from __future__ import annotations

import pytest

from rwn_core.masking import METHODS, PRAM, RWN, method_options, option_words


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.method)
def test_every_option_has_a_form_and_words(method) -> None:
    names = {lever.name for lever in method.levers}
    for option in method_options(method):
        assert option.name not in names
        assert option.help[0].isupper() or option.help[0] in "aP"
        assert (option.form == "choice") == bool(option.choices)
        assert option.form != "choice" or option.default in option.choices


def test_forms_follow_the_types_of_the_record() -> None:
    forms = {option.name: option.form for option in method_options(PRAM)}
    assert forms == {
        "spread": "choice",
        "invariant": "switch",
        "alpha": "number",
        "matrices": "text",
        "variables": "names",
        "within": "names",
        "others": "choice",
    }
    m = next(option for option in method_options(RWN) if option.name == "m")
    assert (m.form, m.optional, m.title) == ("whole", True, "m")


def test_what_stands_in_place_of_a_lever_is_no_option() -> None:
    names = [option.name for option in method_options(METHODS["rank_swapping"])]
    assert names == ["top", "bottom", "form", "others"]


def test_values_in_words() -> None:
    matrices = (("sex", ((1.0, 0.0), (0.0, 1.0))),)
    shown = [option_words(each) for each in (True, 0.25, ("a", "b"), matrices, "even")]
    assert shown == ["yes", "0.25", "a, b", "sex", "even"]
