"""The sidebar: widgets that read and write the session's choices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_ui.history import Choice
from rwn_ui.session import PRESETS, Policy, Session, preset_values


def badge(session: Session) -> None:
    """Which table this is."""
    st.markdown(
        f"**{_plain(session.name)}** · {session.data.n:,} × {session.data.p}",
        help="Records × variables. The original stays on this machine.",
    )


def _plain(text: str) -> str:
    """A name as Markdown that shows it and does nothing else."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]()<>#+-.!|~:$" else sign for sign in text)


def _key(session: Session, what: str) -> str:
    return f"tune.{session.generation}.{what}"


def presets(session: Session) -> None:
    """Three starting points; the one on screen is marked."""

    # buttons, which have no state of their own: a selection that is set from here while a key
    # is held down on a slider makes the browser lose presses
    def choose(name: str) -> None:
        session.use_preset(name)
        push_levers(session)

    shown = _preset_on_screen(session)
    with st.container(key="presets"):
        for name, place in zip(PRESETS, st.columns(len(PRESETS), gap="xsmall"), strict=True):
            place.button(
                name,
                key=_key(session, f"preset.{name}"),
                on_click=choose,
                args=(name,),
                width="stretch",
                type="primary" if name == shown else "secondary",
                help="A starting point fitted to this table's distances.",
            )


def _preset_on_screen(session: Session) -> str | None:
    """The preset that the sliders show; a moved slider belongs to none."""
    shown = tuple(
        round(st.session_state.get(_key(session, what), getattr(session, what)), 10)
        for what in ("epsilon", "k", "q")
    )
    reach = session.bench().reach
    return next((name for name in PRESETS if preset_values(name, reach) == shown), None)


def push_levers(session: Session) -> None:
    """Make the sliders show the session's values."""
    for what in ("epsilon", "k", "q"):
        st.session_state[_key(session, what)] = getattr(session, what)


def drop_levers(session: Session) -> None:
    """From another page: let the sliders start anew, at the session's values."""
    for what in ("epsilon", "k", "q"):
        st.session_state.pop(_key(session, what), None)


class Lever(NamedTuple):
    """One slider: the choice it moves, and how far."""

    what: str
    label: str
    low: float
    high: float
    step: float
    help: str


def levers(session: Session) -> None:
    """Epsilon, k and q."""
    reach = session.bench().reach
    for lever in (
        Lever(
            "epsilon",
            "Radius ε (standard deviations)",
            0.0,
            reach.epsilon,
            reach.step,
            "Every record within ε gives values; not the epsilon of differential privacy.",
        ),
        Lever(
            "k",
            "Minimum neighbors k",
            1,
            reach.k,
            1,
            "At least the k nearest records give values, also to an outlier.",
        ),
        Lever(
            "q",
            "Modification probability q",
            0.0,
            1.0,
            0.05,
            "The chance that a cell takes the value of a random neighbor.",
        ),
    ):
        _slide(session, lever)


def _slide(session: Session, lever: Lever) -> None:
    low, high, step = lever.low, lever.high, lever.step
    key = _key(session, lever.what)
    # a slider of another range is another widget to Streamlit, which would start at its low end
    ends = st.session_state.get(f"{key}.ends")
    if key not in st.session_state or ends != (low, high):
        st.session_state[f"{key}.ends"] = (low, high)
        st.session_state[key] = min(max(getattr(session, lever.what), low), high)
    if low == high:
        st.text(f"{lever.label}: {high}")
        return
    digits = max(0, -math.floor(math.log10(step)))
    form = f"%.{digits}f" if isinstance(step, float) else "%d"
    value = st.slider(lever.label, low, high, step=step, key=key, help=lever.help, format=form)
    setattr(session, lever.what, round(value, 10) if isinstance(value, float) else value)


def weights(session: Session) -> None:
    """The table of variable weights; an edit changes every neighborhood."""
    released = [v.name for v in session.data.schema.released]
    place = _key(session, f"weights.start.{session.rewound}")
    editor = _key(session, f"weights.{session.rewound}")
    # a visit to another page drops the edits, but not the weights that they made
    if place not in st.session_state or editor not in st.session_state:
        st.session_state[place] = pd.DataFrame(
            {"variable": released, "weight": [v.weight for v in session.data.schema.released]}
        )
    with st.expander("Variable weights"):
        edited = st.data_editor(
            st.session_state[place],
            hide_index=True,
            height=260,
            disabled=["variable"],
            key=editor,
            width="stretch",
            column_config={
                "weight": st.column_config.NumberColumn(
                    min_value=0.0, max_value=100.0, step=0.1, format="%.2f", required=True
                )
            },
        )
    chosen = dict(zip(released, edited["weight"].tolist(), strict=True))
    if not any(chosen.values()):
        raise ParameterError(
            "The weights are 0 for every variable; give at least one a positive weight."
        )
    changed = {n: w for n, w in chosen.items() if w != session.data.schema.variable(n).weight}
    if changed:
        session.data = session.data.with_weights(changed)
        st.rerun()  # the sliders are drawn already, with the reach of the old distances


def pins(session: Session, put: Callable[[str], None]) -> None:
    """Put the current setting aside as A or B."""
    with st.container(horizontal=True, gap="small"):
        for name in "AB":
            st.button(
                f"Pin {name}",
                key=_key(session, f"pin.{name}"),
                width="stretch",
                on_click=put,
                args=(name,),
                help=f"Keep this setting as {name}; tiles and map show the change against it.",
            )
        if session.pins:
            st.button(
                "Clear",
                key=_key(session, "pin.clear"),
                width="stretch",
                on_click=session.pins.clear,
            )


def history(session: Session) -> None:
    """Go back to earlier settings, and forward again, without limit."""

    def go(to: Callable[[], Choice]) -> None:
        session.take(to())
        push_levers(session)

    session.note()
    with st.container(horizontal=True, gap="small"):
        for words, to, able in (
            ("Undo", session.history.undo, session.history.can_undo),
            ("Redo", session.history.redo, session.history.can_redo),
        ):
            st.button(
                words,
                key=_key(session, words.lower()),
                width="stretch",
                disabled=not able,
                on_click=go,
                args=(to,),
                help="Every setting of epsilon, k, q and the weights is kept.",
            )


def extras(session: Session) -> None:
    """Seed, shown variable, projector mode, policy."""
    session.seed = int(
        st.number_input(
            "Seed of the trial",
            0,
            2**31 - 1,
            session.seed,
            key=_key(session, "seed"),
            help="The same seed draws the same donors, so charts move only when a parameter "
            "does. A seed is no secret.",
        )
    )
    names = [v.name for v in session.data.schema.released]
    session.variable = st.selectbox(
        "Variable of the distribution card",
        names,
        names.index(session.variable),
        key=_key(session, "variable"),
    )
    session.projector = st.toggle(
        "Projector mode",
        session.projector,
        key=_key(session, "projector"),
        help="Two columns and large type for a meeting room.",
    )
    with st.expander("Policy limits"):
        session.policy = _policy(session)


def _policy(session: Session) -> Policy:
    old = session.policy
    linkage = st.number_input(
        "Records re-linked, % at most",
        0.0,
        100.0,
        100 * old.linkage,
        0.5,
        key=_key(session, "policy.linkage"),
    )
    correlation = st.number_input(
        "Mean |Δ correlation| at most",
        0.0,
        2.0,
        old.correlation,
        0.01,
        key=_key(session, "policy.correlation"),
    )
    slope = st.number_input(
        "Median |Δ slope| / SE at most",
        0.0,
        100.0,
        old.slope,
        0.1,
        key=_key(session, "policy.slope"),
    )
    return replace(old, linkage=linkage / 100, correlation=correlation, slope=slope)


def read_link(session: Session) -> None:
    """Take epsilon, k, q and the projector from the address, once; say what cannot be used."""
    place = "tune.link"  # the address speaks of the table that it opened, not of a later one
    if place in st.session_state:
        return
    st.session_state[place] = True
    reach = session.bench().reach
    for what, kind, low, high in (
        ("epsilon", float, 0.0, reach.epsilon),
        ("k", int, 1, reach.k),
        ("q", float, 0.0, 1.0),
    ):
        text = st.query_params.get(what)
        if text is None:
            continue
        value = _number(text, kind)
        if value is None or not low <= value <= high:
            whole = "a whole number" if kind is int else "a number"
            st.warning(
                f"{what} of the link must be {whole} from {low:g} to {high:g}; "
                "it is left as it was."
            )
        else:
            setattr(session, what, value)
    session.projector = st.query_params.get("projector") == "1" or session.projector


def _number(text: str, kind: type[Any]) -> Any:
    try:
        value = kind(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def write_link(session: Session) -> None:
    """Keep the address shareable: parameters and the demo's name, never a file or a seed."""
    link = {"epsilon": f"{session.epsilon:g}", "k": str(session.k), "q": f"{session.q:g}"}
    if session.demo is not None:
        link["demo"] = session.demo
    if session.projector:
        link["projector"] = "1"
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)


def download(session: Session) -> None:
    """The released table as a file."""
    with st.popover("Released data", icon=":material/download:", width="stretch"):
        fresh = st.toggle(
            "Fresh secret key",
            True,
            key=_key(session, "download.fresh"),
            help="On: a new 256-bit secret draws the file, and is forgotten. Off: the file is "
            "the one on screen, drawn from the seed, which anybody can try.",
        )
        form = (
            st.segmented_control(
                "Format", ["csv", "parquet"], default="csv", key=_key(session, "download.format")
            )
            or "csv"
        )
        seed = None if fresh else session.seed
        place = _key(session, "download.id")
        number = st.session_state.setdefault(place, _release_number())
        data, params = session.data, session.params
        st.download_button(
            "Download",
            lambda: rwn.mask(data, params, seed=seed).to_bytes(form),
            file_name=f"release-{number}.{form}",
            on_click="ignore",
            width="stretch",
            key=_key(session, "download"),
            mime="application/octet-stream",
        )
        st.caption("Rows are in random order; direct identifiers are left out.")


def _release_number() -> str:
    import secrets

    return secrets.token_hex(8)
