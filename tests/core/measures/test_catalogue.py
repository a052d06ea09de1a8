"""Catalogues: what is copied with its key, or stands in a wrong room, is refused in a sentence."""

from dataclasses import replace

import pytest

from rwn_core.errors import each_once
from rwn_core.masking import METHODS
from rwn_core.measures import MEASURES, by_key

LINKAGE = MEASURES["bayes_linkage"]
GAIN = MEASURES["attribute_gain"]
LOSS = MEASURES["association_loss"]
FOUND = [("utility/relations.py", LOSS), ("risk/worst_linkage.py", LINKAGE)]


def test_measures_are_known_by_their_key_and_a_file_may_import_one() -> None:
    known = by_key([*FOUND, ("risk/attributes.py", GAIN), ("risk/values.py", GAIN)])
    assert list(known) == ["association_loss", "bayes_linkage", "attribute_gain"]
    assert list(by_key((m.side + "/any.py", m) for m in MEASURES.values())) == list(MEASURES)


def test_a_copied_measure_is_refused_with_both_files() -> None:
    copied = replace(LINKAGE, title="Another linkage", raised_by=None)
    words = (
        "bayes_linkage of risk/mine.py has the key of one in risk/worst_linkage.py; give it its own"
    )
    with pytest.raises(ValueError, match=words):
        by_key([*FOUND, ("risk/mine.py", copied)])


def test_a_file_in_the_room_of_the_other_side_is_refused() -> None:
    words = (
        "association_loss of the side utility is in risk/relations.py; move its file to utility/"
    )
    with pytest.raises(ValueError, match=words):
        by_key([("risk/relations.py", LOSS)])


def test_a_third_measure_that_attacks_raise_is_refused() -> None:
    third = replace(GAIN, key="own_gain")
    words = "own_gain has raised_by = attribute, as attribute_gain has; one measure states"
    with pytest.raises(ValueError, match=words):
        by_key([*FOUND, ("risk/attributes.py", GAIN), ("risk/mine.py", third)])
    assert {m.raised_by: m.key for m in MEASURES.values() if m.raised_by} == {
        "identity": "bayes_linkage",
        "attribute": "attribute_gain",
    }


def test_a_copied_method_is_refused() -> None:
    class Copied(METHODS["pram"]):  # with the key of PRAM
        pass

    with pytest.raises(ValueError, match="Two entries have the key of the method pram"):
        each_once("method", [*METHODS.items(), (Copied.method, Copied)])
