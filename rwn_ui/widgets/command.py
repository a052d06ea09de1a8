"""The command that repeats in a shell what a page shows."""

from __future__ import annotations

import shlex
from dataclasses import replace

import streamlit as st

import rwn_core as rwn
from rwn_core.io.demo import demo_path
from rwn_ui.state.session import Session
from rwn_ui.widgets.folded import folded

_TRIAL, _SCHEMA = "trial.csv", "schema.toml"


def offer(session: Session, page: str) -> None:
    """Show the commands of a page in a box, as they are when it is opened."""
    box = folded("The same in a shell", session.key(f"{page}.command"))
    if box is None:
        return
    with box:
        st.code(
            "\n".join(shlex.join(line) for line in commands(session, page)), "sh", wrap_lines=True
        )
        if _SCHEMA in _table(session):
            st.caption(f"{_SCHEMA} is the file *Schema (TOML)* of the Data page.")
        if page == "tune":
            st.caption("Open this box again after a slider has moved.")


def commands(session: Session, page: str) -> list[list[str]]:
    """The words of each command: a trial and its measures, a release, or a search."""
    table, trial = _table(session), ["--seed", str(session.seed)]
    setting = _setting(session)
    if page in ("find", "compare"):
        usual = session.policy == rwn.Policy()
        limits = (
            [] if usual else [f"{one.measure}={one.at_most:g}" for one in session.policy.limits]
        )
        return [["rwn", "find", *table, *(word for each in limits for word in ("--limit", each))]]
    if page == "release":
        kept = ["--key-file", "sealed.key", "--record", "record.toml"]
        return [["rwn", "mask", table[0], "release.csv", *table[1:], *setting, *kept]]
    mask = ["rwn", "mask", table[0], _TRIAL, *table[1:], *setting, *trial]
    if page == "tune":
        return [mask]
    judged = ["rwn", "audit", table[0], _TRIAL, *table[1:], *setting]
    return [[*mask, "--order", "original"], judged]


def _table(session: Session) -> list[str]:
    """The file, or the demo, with its description where it was not the table's own."""
    schema = session.data.schema
    if session.demo is None:
        return [session.path or session.name, "--schema", _SCHEMA]
    own = rwn.Schema.from_toml(demo_path(session.demo).with_suffix(".toml").read_text("utf-8"))
    bare = (
        replace(each.with_slices(()).with_weights(dict.fromkeys(each.names, 1.0)), question=None)
        for each in (own, schema)
    )
    same = len(set(bare)) == 1
    return [f"demo:{session.demo}", *([] if same else ["--schema", _SCHEMA])]


def _setting(session: Session) -> list[str]:
    """The setting as options: method, parameters, weights, slices and steps."""
    setting = session.setting.resolved(session.data)
    given = [("--method", setting.method)]
    for name, value in (setting.parameters | session.levers).items():
        word = str(value).lower() if isinstance(value, bool) else value
        given.append(("--set", f"{name}={word:g}" if isinstance(word, float) else f"{name}={word}"))
    given += [("--weight", f"{name}={weight:.12g}") for name, weight in setting.weights]
    given += [("--slice", ",".join(names)) for names in setting.slices or ()]
    given += [("--round", f"{name}={step:.12g}") for name, step in setting.precision]
    return [word for each in given for word in each]
