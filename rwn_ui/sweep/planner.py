"""The planner for large tables on the Sweep page."""

from __future__ import annotations

import streamlit as st

from rwn_core.datasets.planner import RANGE, Offer, plan_large
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

JOB = "planner"


def draw(session: Session) -> None:
    """Sizes and a button; then what the exact method and Methods 1 to 3 would take."""
    if session.data.n <= LARGEST_DENSE:
        return  # the exact method is quick
    # a job under way moves everything down, and what moves is folded up again
    work = user_work()
    with st.expander("Planner for large tables", expanded=JOB in work.jobs):
        left, right, press = st.columns([2, 2, 3], vertical_alignment="bottom")
        n = left.number_input(
            "Records", LARGEST_DENSE + 1, 10_000_000_000, session.data.n, key=session.key("plan.n")
        )
        p = right.number_input(
            "Variables",
            1,
            10_000,
            session.data.p,
            key=session.key("plan.p"),
            help="Independent normal variables stand for a table that is not loaded.",
        )
        words = f"What would {session.words} take?"
        key = session.key("plan.go")
        if press.button(escaped(words), key=key, disabled=work.busy):
            own = p == session.data.p
            work.jobs[JOB] = Job(
                session.words,
                plan_large,
                words="Masking small samples, to see how long they take",
                params=session.params,
                microdata=session.data if own else None,
                n=int(n),
                p=int(p),
            )
            st.rerun()
        _result(session, work.jobs.get(JOB))


def _result(session: Session, job: Job | None) -> None:
    """Progress while small samples are masked, then what they say."""
    if is_done(job, session.key("plan.cancel"), before=""):
        st.table(table(job.result))
        st.caption(
            f"{escaped(job.label)}, forecast from small samples on this machine, for when nothing "
            "else runs on it. Fewer candidates thin the neighborhoods: more records fall back to "
            "k, and their donors are farther away."
        )


def table(offers: list[Offer]) -> dict[str, list[str]]:
    """The offers as people read them."""
    return {
        "who may be a neighbor": [offer.title for offer in offers],
        "time": [
            f"{_duration(offer.seconds / RANGE)} to {_duration(offer.seconds * RANGE)}"
            for offer in offers
        ],
        "memory": [
            f"{offer.bytes / 1e9:.2g} GB{'' if offer.fits else ' (not free now)'}"
            for offer in offers
        ],
        "exact members kept": [f"{offer.candidate_share:.2%}" for offer in offers],
        "records that fall back to k": [f"{offer.fall_back:.0%}" for offer in offers],
        "median radius": [f"{offer.radius:.3g}" for offer in offers],
    }


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
