"""Long work of the Utility page: many draws, and the truth of standard errors."""

from __future__ import annotations

import streamlit as st

from rwn_ui.features import repeated_draws
from rwn_ui.features.repeated_draws_results import setting_of
from rwn_ui.state.session import Session
from rwn_ui.utility.results import Desk


def offer(session: Session) -> None:
    """Two buttons, then progress and Cancel."""
    repeated_draws.offer_draws(session, "utility")
    st.button(
        "Check the standard errors",
        key="utility.validity",
        disabled=session.busy or session.data.schema.question is None,
        on_click=repeated_draws.begin_validity,
        args=(session,),
        width="stretch",
    )
    repeated_draws.follow(session, "utility")
    st.caption("In the background; tiles and charts then show where 9 of 10 draws fall.")


def notice(session: Session, mine: Desk) -> None:
    """The text about standard errors, once they have been checked."""
    found = mine.validities.get(setting_of(session))
    if found is None:
        return
    with st.expander("Text for the people who receive the release"):
        st.code(found.notice(), language=None, wrap_lines=True)
        st.caption("Factors and coverage only: no estimate, no record, no key.")
