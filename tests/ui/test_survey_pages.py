"""The Data page describes a survey, and Utility and Risk read it so."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.measures.comparison import Sampling
from rwn_ui.state.results import prepared
from rwn_ui.utility.results import read
from rwn_ui.utility.tables import tables


def rules(screen, text: str) -> list[str]:
    """Write the edit rules on the Data page; what it refuses."""
    area = next(each for each in screen.test.text_area if each.label.startswith("Edit rules"))
    area.set_value(text).run()
    return screen.errors


def shown_tables(screen) -> dict[str, dict[str, Any]]:
    """The tables of the Utility page, by title."""
    session = screen.session
    session.clamp(prepared(session).prepared)
    return {each["title"]: each for each in tables(read(session), (), None, None)}


def test_rules_count_at_once_and_a_bad_one_is_a_sentence(open_page) -> None:
    screen = open_page("data", demo="bodyfat")
    (sentence,) = rules(screen, "age >= 15\nage >")
    assert "cannot be read at place" in sentence
    assert screen.session.data.schema.edit_rules == ()
    assert rules(screen, "age >= 15\n\nabdomen > neck") == []
    assert [each.text for each in screen.session.data.schema.edit_rules] == [
        "age >= 15",
        "abdomen > neck",
    ]
    assert screen.visit("utility").errors == []
    shown = shown_tables(screen)["Edit rules: records that break them"]
    assert [row[:2] for row in shown["rows"]] == [["age >= 15", 0], ["abdomen > neck", 0]]


def test_a_sampling_weight_is_read_by_utility_and_risk(open_page, monkeypatch) -> None:
    editor = st.data_editor

    def edited(frame: pd.DataFrame, **options: object) -> pd.DataFrame:
        shown = editor(frame, **options)
        if "role" not in shown:
            return shown
        weights = shown["variable"] == "weight"
        return shown.assign(role=shown["role"].mask(weights, str(rwn.Role.SAMPLING_WEIGHT)))

    monkeypatch.setattr(st, "data_editor", edited)
    screen = open_page("data", demo="bodyfat")
    assert Sampling.of_schema(screen.session.data) == Sampling(weights="weight")
    assert screen.visit("utility").errors == []
    assert "Survey estimates, weighted by weight" in shown_tables(screen)
    screen.visit("risk")
    chosen = {each.label: each.value for each in screen.test.selectbox}
    assert chosen["Sampling weights"] == "weight"
