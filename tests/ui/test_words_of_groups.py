"""Words of groups in the grid of the Data page."""

from __future__ import annotations

import rwn_core as rwn
from rwn_ui.data import variables


def test_a_group_that_lists_its_variables_has_a_short_word_in_the_grid() -> None:
    """It named eleven variables eleven times; what the grid gives back is the same description."""
    names = ("abdomen", "circumference", "forearm", "wrist", "knee")
    words = ("+".join(names[:3]),) * 3 + ("joints",) * 2
    made = tuple(
        rwn.Variable(name=name, kind="continuous", group=word)
        for name, word in zip(names, words, strict=True)
    )
    shown = variables.short_groups(rwn.Schema(variables=made))
    assert shown == {words[0]: "group 1", "joints": "joints"}
    behind = {short: word for word, short in shown.items()}
    row = {"kind": "continuous", "role": "other", "masked": True}
    for each in made:
        given = row | {"group": shown[each.group or ""]}
        assert variables.edited_variable(each, given, behind).group == each.group
    joined = variables.edited_variable(made[4], row | {"group": "group 1"}, behind)
    assert joined.group == words[0], "who types the short word joins the group"
    assert variables.edited_variable(made[4], row | {"group": None}, behind).group is None
