"""The command that repeats in a shell what a page shows."""

from __future__ import annotations

import shlex
from dataclasses import replace

import streamlit as st

import rwn_core as rwn
from rwn_core.io.demo import demo_path
from rwn_core.masking import lever_values
from rwn_core.tuning import USUAL
from rwn_core.tuning.named_policies import USUAL as USUAL_LIMITS
from rwn_core.tuning.named_policies import name_of, policy_called
from rwn_core.tuning.several_draws import draws_of, further_keys
from rwn_core.tuning.verdict import RED_TEAM
from rwn_ui.state.session import Session
from rwn_ui.widgets.buttons import file_button
from rwn_ui.widgets.folded import folded

_MASKED, _SCHEMA, _START = "masked.csv", "schema.toml", "setting.toml"


def offer(session: Session, page: str, space: rwn.Space | None = None) -> None:
    """Show the commands of a page in a box, as they are when it is opened."""
    key = session.key(f"{page}.command")
    box = folded("The same in a shell", key)
    if box is None:
        return
    with box:
        if page == "tune":
            session.seed = int(
                st.number_input(
                    "Seed of the draw",
                    0,
                    2**31 - 1,
                    session.seed,
                    key=session.key("tune.seed"),
                    help="The same seed draws the same masked table, so charts move only when a "
                    "parameter does. A seed is no secret, and this table is not for release.",
                )
            )
        shown = commands(session, page, space)
        none = "# one command for each scenario; there is none yet"
        st.code("\n".join(map(shlex.join, shown)) or none, "sh", wrap_lines=True)
        texts = {_SCHEMA: session.data.schema.to_toml, _START: lambda: start_file(session)}
        for name, text in texts.items():
            if any(name in line for line in shown):
                file_button(name, text, name, key=f"{key}.{name}", help="The command reads it.")
        if page == "tune":
            st.caption("Open this box again after a slider has moved.")


def start_file(session: Session) -> str:
    """The present setting and the limits as a scenario, where a search of this page begins."""
    given = session.setting
    table = session.data.fingerprint
    return rwn.Scenario(table=table, setting=given, policy=session.policy).to_toml()


def commands(session: Session, page: str, space: rwn.Space | None = None) -> list[list[str]]:
    """The words of each command: a table and its measures, scenarios, a release, or a search."""
    table = _table(session)
    seed = ["--seed", str(session.seed)]
    setting = _setting(session, session.setting.resolved(session.data))
    limits = [] if session.policy == rwn.Policy() else _limits(session)
    if page == "find":
        return [["rwn", "find", *table, *limits, *_space(space or rwn.Space())]]
    if page == "compare":
        return [
            ["rwn", "sweep", *table, "--out", f"readings-{number}.csv", *_read(session)]
            + _setting(session, each.setting)
            + ([] if each.setting.slices else ["--slices", "alone"])
            for number, each in enumerate(session.scenarios.values(), start=1)
            if each.setting is not None
        ]
    if page == "release":
        kept = ["--key-file", "sealed.key", "--record", "record.toml"]
        return [["rwn", "mask", table[0], "release.csv", *table[1:], *setting, *kept]]
    mask = ["rwn", "mask", table[0], _MASKED, *table[1:], *setting, *seed]
    if page == "tune":
        return [mask]
    judged = ["rwn", "audit", table[0], _MASKED, *table[1:], *setting]
    return [[*mask, "--order", "original"], judged]


def _limits(session: Session) -> list[str]:
    """The policy as options: by its name, or every limit."""
    name = name_of(session.policy)
    if name not in (None, USUAL_LIMITS) and session.policy == policy_called(name):
        return ["--limit", name]
    words = list[str]()
    for one in session.policy.limits:
        words += ["--limit", f"{one.measure}={one.at_most!r}"]
    return words


def _read(session: Session) -> list[str]:
    """What a scenario is read by: the limits with simple attacks, and the usual measures."""
    read = list[str]()
    for key in (RED_TEAM, *USUAL):
        read += ["--measure", key]
    keys = further_keys(draws_of(session.data.n))
    return [*_limits(session), *read, "--seed", str(keys[0]), "--releases", str(len(keys))]


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


def _space(space: rwn.Space) -> list[str]:
    """What a search may change as options, and the file of the setting where it begins."""
    if space.setting is None:  # everything of RWN may change
        return []
    may = {name: getattr(space, name) for name in ("slices", "by_prediction", "tie")}
    may |= {"kernel": space.kernels, "method": space.methods}
    named = [f"--{name.replace('_', '-')}" for name, changes in may.items() if changes] or [
        "--strength"
    ]
    most = [] if space.lose_at_most is None else ["--lose-at-most", f"{space.lose_at_most!r}"]
    levers = [word for name in space.levers for word in ("--lever", name)]
    return ["--scenario", _START, *named, *levers, *most]


def _setting(session: Session, setting: rwn.Setting) -> list[str]:
    """The setting as options: method, parameters, weights, slices and steps."""
    given = [("--method", setting.method)]
    for name, value in (setting.parameters | lever_values(setting.params)).items():
        word = str(value).lower() if isinstance(value, bool) else value
        given.append(("--set", f"{name}={word}"))
    weights = {each.name: 1.0 for each in session.data.schema.released if each.weight != 1.0}
    weights |= dict(setting.weights)
    given += [("--weight", f"{name}={weight:.12g}") for name, weight in weights.items()]
    given += [("--slice", ",".join(names)) for names in setting.slices or ()]
    given += [("--round", f"{name}={step:.12g}") for name, step in setting.precision]
    return [word for each in given for word in each]
