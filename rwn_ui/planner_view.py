"""The planner for large tables on the Sweep page."""

from __future__ import annotations

import streamlit as st

from rwn_core.neighborhoods import LARGEST_DENSE
from rwn_core.tuning.planner import Offer, plan_large
from rwn_ui.session import Session


def draw(session: Session) -> None:
    """Sizes and a button; then what the exact method and Methods 1 to 3 would take."""
    with st.expander("Planner for large tables"):
        large = session.data.n > LARGEST_DENSE
        left, right, press = st.columns([2, 2, 3], vertical_alignment="bottom")
        n = left.number_input(
            "Records",
            LARGEST_DENSE + 1,
            10_000_000_000,
            session.data.n if large else 1_000_000,
            key=f"plan.{session.generation}.n",
        )
        p = right.number_input(
            "Variables",
            1,
            10_000,
            session.data.p if large else 10,
            key=f"plan.{session.generation}.p",
            help="Independent normal variables stand for a table that is not loaded.",
        )
        place = f"plan.{session.generation}.offers"
        if press.button(f"What would {session.words} take?", key=f"plan.{session.generation}.go"):
            own = large and p == session.data.p
            bar = st.progress(0.0, text="Masking small samples, to see how long they take")
            st.session_state[place] = plan_large(
                session.params,
                microdata=session.data if own else None,
                n=int(n),
                p=int(p),
                progress=lambda share: bar.progress(share) and None,
            )
            bar.empty()
        offers: list[Offer] = st.session_state.get(place, [])
        if offers:
            st.table(table(offers))
            st.caption(
                "Forecasts from small samples on this machine, right within a factor of about "
                "three. Fewer candidates thin the neighborhoods: more records fall back to "
                "k, and their donors are farther away."
            )


def table(offers: list[Offer]) -> dict[str, list[str]]:
    """The offers as people read them."""
    return {
        "who may be a neighbor": [offer.title for offer in offers],
        "time": [_duration(offer.seconds) for offer in offers],
        "memory": [
            f"{offer.bytes / 1e9:.2g} GB{'' if offer.fits else ' (not free now)'}"
            for offer in offers
        ],
        "exact members kept": [f"{offer.kept:.2%}" for offer in offers],
        "records that fall back to k": [f"{offer.fall_back:.0%}" for offer in offers],
        "median radius": [f"{offer.radius:.3g}" for offer in offers],
    }


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
