"""What methods leave alone, and how they take the positions of their levers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, Recoding, RowCopy, at_levers
from rwn_core.masking.lever import LeverRange, check_share, family, fixed_options
from rwn_core.masking.unmasked_variables import kept_as_they_are, maskable, require_masked


def test_a_share_that_may_be_large_is_no_percentage_up_to_there() -> None:
    check_share("share", 5.0, 5.0)
    with pytest.raises(ParameterError, match=r"from 0 to 5, not a percentage: write 0.05 for 5"):
        check_share("share", 5.5, 5.0)
    for wrong in (True, "0.5", -0.001, 100.001):
        with pytest.raises(ParameterError, match=r"^x must be a number from 0 to 1\.$"):
            check_share("x", wrong)


ABC = Microdata.from_frame(
    pd.DataFrame(
        {"x": [1.5, 2.5, 3.5], "y": [1.0, 2.0, 4.5], **{name: list("uvv") for name in "abcde"}}
    )
)


def test_what_is_not_masked_is_named_up_to_four_and_then_counted() -> None:
    assert kept_as_they_are(ABC, ("x",)) == ["released as they are: y, a, b, c and 2 more"]
    assert kept_as_they_are(ABC, ("x", "y")) == ["released as they are: a, b, c, d and 1 more"]
    assert kept_as_they_are(ABC, ("x", "y", "a")) == ["released as they are: b, c, d, e"]
    assert kept_as_they_are(ABC, ABC.names) == []


def test_a_method_masks_what_it_can_of_what_it_may() -> None:
    shown = ABC.with_schema(ABC.schema.replace_variable("y", masked=False))
    some = maskable(shown, lambda v: v.name in "xya", "keep", "numbers")
    assert some == ("x", "a")
    with pytest.raises(ParameterError) as caught:
        maskable(shown, lambda v: v.name == "x", "refuse", "numbers")
    assert str(caught.value) == (
        "The method masks numbers only, not a, b, c, d and 1 more; choose another method, take "
        'them out of the masking, or say others="keep" to release them as they are.'
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


def test_nothing_chosen_is_refused_before_names_are_looked_at() -> None:
    schema = ABC.schema
    for name in ABC.names:
        schema = schema.replace_variable(name, masked=False)
    nothing = ABC.with_schema(schema)
    for ask in (
        lambda: maskable(nothing, bool, "keep", "x"),
        lambda: require_masked(nothing, ("x",)),
    ):
        with pytest.raises(ParameterError, match=r"^No variable is chosen"):
            ask()


def test_levers_take_whole_numbers_as_such_and_leave_what_is_no_number() -> None:
    k, top = Recoding.levers[0], Recoding.levers[1]
    assert [k.value(x) for x in (3.0, 2.5, np.int64(4), None, True)] == [3, 2.5, 4, None, True]
    assert [type(k.value(x)) for x in (3.0, 2.5, np.int64(4), True)] == [int, float, int, bool]
    assert type(top.value(1)) is float
    assert [lever.words for lever in RWN.levers] == [
        "radius ε", "minimum neighbors k", "modification probability q",
    ]  # fmt: skip
    ends = LeverRange(low=1, high=3, step=1)
    assert [ends.clip(x) for x in (0, 1, 2.5, 3, 4)] == [1, 1, 2.5, 3, 3]


def test_settings_of_one_family_differ_by_their_levers_alone() -> None:
    one = RWN(k=3)
    assert family(one) == family(at_levers(one, {"k": 9.0, "epsilon": 2, "q": 0.5}))
    assert family(one) != family(RWN(k=3, scale="range"))
    assert family(one) != family(RWN(k=3, epsilon=np.ones(4)))
    assert family(one) != family(RowCopy(k=3))
    assert fixed_options(RWN(k=3, scale="range", m=5, neighbors="pairs")) == {
        "scale": "range", "neighbors": "pairs", "m": 5,
    }  # fmt: skip
    assert fixed_options(one) == {}
