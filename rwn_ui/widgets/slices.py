"""Variables that travel together: a usual choice, or slices of one's own."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

import rwn_core as rwn
from rwn_core.data.schema import Slices, as_slices, verbatim_words
from rwn_core.masking.sliced_method import slice_words
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_key, preset_slices
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.session import Session

OWN, TABLE = "own", "table"
_HELP = (
    "A slice is a set of variables that a row takes from one donor. Fewer slices keep more "
    "relations and give who links rows less evidence; in turn each is a true piece of a "
    "person's record. Distances do not change: nothing is ranked anew."
)

_EACH_SLICE = (
    "A row shows each slice of one person verbatim. An intruder who knows some of its values may "
    "find the row and read the others."
)


def draw(session: Session) -> None:
    """The choice, the editor of one's own slices, and what a row then shows."""
    # Nothing where the method does not ask which variables travel together.
    if not rwn.METHODS[session.method].uses_slices:
        return
    _choose(session)
    if _edited(session):
        # a field for each slice and an empty one for another; a variable moves to its last slice
        names = masked_names(session.data)
        shown = _drafts(session)
        with st.expander("Own slices", expanded=True):
            for number in range(len(shown) + 1):
                key = session.key(f"tune.slices.part.{number}")
                st.session_state[key] = shown[number] if number < len(shown) else []
                st.multiselect(
                    f"Slice {number + 1}",
                    names,
                    key=key,
                    format_func=session.data.schema.called,
                    placeholder="two variables or more",
                    on_change=_take,
                    args=(session, number),
                )
    _say_what_rows_show(session)


def _say_what_rows_show(session: Session) -> None:
    """Say what a row shows of one person; of several slices once, each behind the question mark."""
    shown = verbatim_words(session.slices)
    if len(shown) > 1:
        st.caption(_EACH_SLICE, help=escaped("\n\n".join(shown)))
    else:
        for sentence in shown:
            st.caption(escaped(sentence))
    for sentence in slice_words(session.params):
        st.caption(escaped(sentence))


def choices(session: Session) -> dict[str, Slices]:
    """The usual slices of this table, each once, and those that it came with."""
    known = {key: preset_slices(session.data, key) for key in PRESETS}
    retained = {key: each for key, each in known.items() if preset_key(session.data, each) == key}
    own = session.own_slices
    return retained if own in retained.values() else {**retained, TABLE: own}


def _title(choice: str) -> str:
    if choice in PRESETS:
        return PRESETS[choice].title
    return "As the table groups them" if choice == TABLE else "Own slices"


def _edited(session: Session) -> bool:
    """True if the editor is open: by choice, or for unusual slices."""
    asked = st.session_state.get(session.key("tune.slices.edit")) == session.edit_version
    return asked or session.slices not in choices(session).values()


def _choose(session: Session) -> None:
    known = choices(session)
    key = session.key("tune.slices.choice")
    now = next((name for name, each in known.items() if each == session.slices), OWN)
    now = OWN if _edited(session) else now

    def choose() -> None:
        chosen = st.session_state[key]
        st.session_state[session.key("tune.slices.edit")] = (
            session.edit_version if chosen == OWN else None
        )
        if chosen in known:
            set_setting(session, replace(session.setting, slices=known[chosen]))

    st.session_state[key] = now  # an earlier choice, a link or a scenario may have brought others
    st.selectbox(
        "Variables that travel together",
        [*known, OWN],
        format_func=_title,
        key=key,
        on_change=choose,
        help=_HELP,
    )


def _drafts(session: Session) -> list[list[str]]:
    """The fields as they were left, while they stand for the slices in use."""
    drafts: list[list[str]] = st.session_state.get(session.key("tune.slices.drafts"), [])
    if as_slices(each for each in drafts if len(each) > 1) != session.slices:
        drafts = [list(each) for each in session.slices]
        st.session_state[session.key("tune.slices.drafts")] = drafts
    return drafts


def _take(session: Session, number: int) -> None:
    """Take over a field; a variable that it took leaves its old slice."""
    chosen = st.session_state[session.key(f"tune.slices.part.{number}")]
    drafts = [*_drafts(session), []]
    drafts = [[name for name in each if name not in chosen] for each in drafts]
    drafts[number] = list(chosen)
    while drafts and not drafts[-1]:
        drafts.pop()
    st.session_state[session.key("tune.slices.drafts")] = drafts
    slices = as_slices(each for each in drafts if len(each) > 1)
    set_setting(session, replace(session.setting, slices=slices))
