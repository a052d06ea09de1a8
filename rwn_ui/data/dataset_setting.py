"""Setting of the method RWN for a dataset, and its donors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from rwn_core.masking import RWN, Option
from rwn_core.neighbors.candidates import TITLES, usual_sizes
from rwn_ui.background.dataset_job import FIRST, OpenDataset
from rwn_ui.state.session import Session
from rwn_ui.widgets.folded import folded
from rwn_ui.widgets.options import field, names_for, options_of_kernel

_IN_MEMORY = ("fresh", "outside_household", "radius_variable")  # no dataset is masked so


def draw(opened: OpenDataset) -> None:
    """The fields of the setting."""
    kernel = st.session_state.get(opened.key("option.kernel"), opened.params.kernel)
    columns = st.columns(3)
    given = _reach(opened, columns) if kernel == "even" else _weights(opened, columns)
    given["q"] = columns[2].number_input(
        "Modification probability q",
        0.0,
        1.0,
        float(opened.params.q),
        0.05,
        format="%g",
        key=opened.key("q"),
    )
    if kernel == "even":
        given |= _givers(opened)
    opened.params = RWN(**given, **_others(opened, kernel))


def _weights(opened: OpenDataset, columns: Sequence[Any]) -> dict[str, Any]:
    """Draw the fields of a soft kernel's width and balance."""
    old = opened.params
    width = columns[0].number_input(
        "Width of the kernel h",
        0.0,
        value=float(old.width or 1.0),
        step=0.1,
        format="%g",
        key=opened.key("width"),
        help="How far records give values, in units of the bandwidth.",
    )
    balance = columns[1].number_input(
        "Balance",
        0.0,
        1.0,
        float(old.balance),
        0.05,
        format="%g",
        key=opened.key("balance"),
        help="1: all records are equally likely to give. It needs the lists of all in memory.",
    )
    return {"width": width, "balance": balance}


def _reach(opened: OpenDataset, columns: Sequence[Any]) -> dict[str, Any]:
    """Draw the fields of the even kernel's reach."""
    old = opened.params
    before = (old if old.kernel == "even" else FIRST).k or 0
    k = columns[0].number_input(
        "k", 0, 10_000, before, key=opened.key("k"), help="0 is none: the radius alone."
    )
    epsilon = columns[1].number_input(
        "Radius epsilon, in standard deviations",
        0.0,
        value=float(old.epsilon or 0.0),
        step=0.1,
        format="%g",
        key=opened.key("epsilon"),
        help="Not the epsilon of differential privacy. 0 is none: the k nearest alone.",
    )
    return {"k": int(k) or None, "epsilon": epsilon or None}


def _givers(opened: OpenDataset) -> dict[str, Any]:
    """Choose the possible donors, and their number."""
    left, *others = st.columns([2, 1, 1])
    known, old = list(TITLES), opened.params
    neighbors = left.selectbox(
        "Who can give values",
        known,
        known.index(old.neighbors),
        format_func=TITLES.__getitem__,
        key=opened.key("neighbors"),
        help="Random candidates take less time where a search of everybody takes long. Donors are "
        "then farther away, and each gives values more often. What it takes, below, compares them.",
    )
    sizes: dict[str, Any] = {}
    start = usual_sizes(neighbors, opened.dataset.n)
    for (name, usual), column in zip(start.items(), others, strict=False):
        before = getattr(old, name) if old.neighbors == neighbors else usual
        number = column.number_input(
            name.upper(),
            0,
            opened.dataset.n,
            min(before or 0, opened.dataset.n),
            key=opened.key(f"{neighbors}.{name}"),
            help="0 is none: everybody of the part." if usual is None else None,
        )
        sizes[name] = int(number) or None
    return {"neighbors": neighbors, **sizes}


def _others(opened: OpenDataset, kernel: str) -> dict[str, Any]:
    """The options that are left, folded."""
    drawn = {"neighbors", "m", "u", *_IN_MEMORY}
    offered = [each for each in options_of_kernel(RWN, kernel) if each.name not in drawn]
    box = folded("More options", opened.key("options"))
    if box is None:
        return {option.name: getattr(opened.params, option.name) for option in offered}
    with box:
        return {option.name: _value(opened, option) for option in offered}


def _value(opened: OpenDataset, option: Option) -> Any:
    key = opened.key(f"option.{option.name}")
    st.session_state.setdefault(key, getattr(opened.params, option.name))
    return field(option, names_for(option, opened.schema), key=key)


def take_over(opened: OpenDataset, session: Session) -> None:
    """Take the setting of a table, and what it says of the released variables."""
    # Levels of ordered variables stay as they are: a sample may lack one.
    from rwn_core.datasets.prepare_run import checked_setting  # it brings the compiler

    params = checked_setting(session.masking, opened.dataset.n)
    described = opened.schema
    for each in session.data.schema.released:
        described = described.replace_variable(
            each.name,
            kind=each.kind,
            role=each.role,
            weight=each.weight,
            masked=each.masked,
            group=each.group,
        )
    opened.schema, opened.params = described, params
    opened.version += 1
