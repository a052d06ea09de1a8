"""The claim table of the release's setting: judged in the background, shown in words."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rwn_core.evaluation.claims import (
    LEAST_DRAWS,
    Claim,
    ClaimTable,
    bound_words,
    claim_table,
)
from rwn_core.reporting.public_words import CLAIM_TABLE, CLAIMS_FILE
from rwn_ui.background.job import Job
from rwn_ui.background.progress import taken
from rwn_ui.release.steps import drawn
from rwn_ui.server.messages import escaped
from rwn_ui.state.results import memo, setting_key
from rwn_ui.state.session import Session

JOB = "claims"
DRAWS, MOST_DRAWS = 200, 2_000
_KEPT = 4  # settings with stored claims, for one user
COLUMNS = ("analysis", "result", "sign", "difference", "standard error", "note")
_NOTHING = "do not use"


def draw(session: Session) -> None:
    """Offer the claim table, follow its computation, and show it."""
    key = session.key("release.claims")
    last = drawn(session)
    fixed = last is not None and last.entry is not None
    st.markdown(f"**{CLAIM_TABLE}**")
    st.caption(
        "It compares each registered analysis and each pair of numbers with the original, over "
        "many releases of this setting. A claim is a statement that holds in at least nine of ten "
        "of them. It concerns the sign, the difference from the original (in its standard errors) "
        "or the factor for the standard error."
    )
    if not (session.analysis_plan.analyses or session.data.schema.question):
        st.caption(
            "No analysis is registered, so it judges pairs only. Register analyses on the Utility "
            "page."
        )
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    draws = left.number_input(
        "Releases to draw", LEAST_DRAWS, MOST_DRAWS, DRAWS, key=f"{key}.draws", disabled=fixed
    )
    right.button(
        "Judge the claims" if present_claims(session) is None else "Judge the claims again",
        key=f"{key}.judge",
        disabled=fixed or session.user.work.busy,
        on_click=_begin_claims,
        args=(session, int(draws)),
    )
    # progress and Cancel while claims are judged; then they are kept, or say why there are none
    jobs = session.user.work.jobs
    cancel = session.key("release.claims.cancel")
    job = taken(jobs, JOB, cancel, before="No claim table: ")
    if job is not None:
        memo(session, "claims", _KEPT).keep(job.about, job.result)
        st.rerun()
    table = present_claims(session)
    if table is not None:
        _shown(session, table, fixed)


def present_claims(session: Session) -> ClaimTable | None:
    """The claims of the setting on screen, where the user has asked for them."""
    table: ClaimTable | None = memo(session, "claims", _KEPT).get(_about(session))
    return table


def published(session: Session) -> ClaimTable | None:
    """The claims that join the files for users."""
    return present_claims(session) if session.release.claims else None


def _about(session: Session) -> tuple[Any, ...]:
    """All that claims depend on."""
    return *setting_key(session), session.data.schema.question, session.analysis_plan


def _begin_claims(session: Session, draws: int) -> None:
    session.user.work.jobs[JOB] = Job(
        session.words,
        claim_table,
        words=f"Judging claims over {draws:,} releases",
        about=_about(session),
        microdata=session.data,
        params=session.masking,
        plan=session.analysis_plan,
        draws=draws,
    )


def _shown(session: Session, table: ClaimTable, fixed: bool) -> None:
    """The claims in words, and whether they join the files."""
    st.caption(escaped(summary(table)))
    rows = claim_rows(table)
    st.dataframe(
        {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)},
        lazy=False,
        hide_index=True,
    )
    session.release.claims = st.checkbox(
        f"Put it with the files for users ({CLAIMS_FILE}, with readers for Python and R)",
        session.release.claims,
        key=session.key("release.claims.join"),
        disabled=fixed,
    )


def summary(table: ClaimTable) -> str:
    """Count the analyses and pairs that have a claim."""
    parts = [
        f"{sum(each.usable for each in judged)} of {len(judged)} {what}"
        for what, judged in (("analyses", table.analyses), ("pairs of numbers", table.pairs))
    ]
    return f"{' and '.join(parts)} have a claim, judged over {table.draws:,} releases."


def claim_rows(table: ClaimTable) -> list[tuple[str, ...]]:
    """Return one row of `COLUMNS` for each claim, as a reader sees it."""
    rows = list[tuple[str, ...]]()
    for each in table.analyses:
        name = f"{each.analysis.kind}: {each.analysis.name}"
        if each.refusal:
            why = f"{each.refusal[0].lower()}{each.refusal[1:]}".rstrip(".")
            rows.append((name, "all", "–", "–", "–", f"{_NOTHING}: {why}"))
        else:
            rows += [(name, claim.term, *_conclusions(claim)) for claim in each.claims]
    if table.refusal:
        rows.append(("pair", "all", "–", "–", "–", f"{_NOTHING}: {table.refusal}"))
    return [*rows, *(("pair", claim.term, *_conclusions(claim)) for claim in table.pairs)]


def _conclusions(claim: Claim) -> tuple[str, ...]:
    """Write the columns after the result."""
    return (
        "as in the original" if claim.sign else "–",
        bound_words(claim) or "–",
        "–" if claim.factor is None else f"multiply by {claim.factor:g}",
        "" if claim.usable else _NOTHING,
    )
