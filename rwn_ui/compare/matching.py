"""Match methods on the Compare page: several are tuned to one loss or to the policy, then shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.measures import UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.tuning import USUAL, Plan
from rwn_core.tuning.match import Loss, match
from rwn_core.tuning.slice_presets import PRESETS
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.compare import match_results, match_sentences
from rwn_ui.state.results import current_release, memo, release_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

JOB = "match"
SOFT = ("gaussian", "exponential")
METHODS = (
    "rwn",
    "rwn keys_together",
    "rwn related_3",
    "rwn gaussian balanced",
    "nbrs2015",
    "row_copy",
    "additive_noise",
    "rank_swapping",
    "pram",
    "microaggregation",
)
"""Methods that are compared at first."""
CANDIDATES = (
    *rwn.METHODS,
    *(f"rwn {kernel}{balance}" for kernel in SOFT for balance in ("", " balanced")),
    *(f"rwn {preset}" for preset in PRESETS),
)
"""Every method, RWN with soft kernels and RWN with the usual slices."""
LOSS, POLICY = "the same loss", "the policy"
WORST, ORDINARY = "bayes_linkage", "distance_linkage"
_SLOW = ("prediction",)  # fits models to every release
_HELP = (
    "Each method is moved along its strength: to the same loss, or to the weakest setting that "
    "keeps all limits. Its other levers stay at its standard preset. Weights stay as on Tune, and "
    "slices where the method names none; nothing is rounded."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Choices that a match was started with."""

    fingerprint: str
    to: Loss | rwn.Policy
    across: str
    releases: int


def draw(session: Session) -> None:
    """The form, the work under way, and what it found."""
    with st.container(key="screen-only-match"):
        st.markdown("#### Match methods")
        st.caption(
            "Tunes several methods to the same loss, or to the policy, so that the rest can be "
            "compared fairly."
        )
        _form(session)
    job = user_work().jobs.get(JOB)
    if job is None or job.about[0].fingerprint != session.data.fingerprint:
        return
    if is_done(job, session.key("compare.match.cancel")):
        match_results.draw(session, job.result, job.about[0].to, job.about[0].across)


def _form(session: Session) -> None:
    methods = st.multiselect(
        "Methods",
        CANDIDATES,
        METHODS,
        key=session.key("compare.match.methods"),
        format_func=match_sentences.method,
    )
    aim, measure, value, releases = st.columns([1.2, 2, 1, 1], vertical_alignment="bottom")
    kind = aim.selectbox(
        "Tune to", [LOSS, POLICY], key=session.key("compare.match.aim"), help=_HELP
    )
    with measure:
        across = _measure(session, blocked=kind == POLICY)
    with value:
        accepted = _value(session, across, blocked=kind == POLICY)
    drawn = releases.number_input(
        "Releases",
        2,
        100,
        _releases(session.data),
        key=session.key("compare.match.releases"),
        help="Drawn at every setting that is tried; the intervals come from them.",
    )
    if st.button(
        "Match",
        type="primary",
        key=session.key("compare.match.begin"),
        disabled=user_work().busy or not methods or (kind == POLICY and not session.policy.limits),
        help=None if methods else "Choose at least one method.",
    ):
        to = session.policy if kind == POLICY else Loss(measure=across, value=accepted)
        asked = Asked(
            fingerprint=session.data.fingerprint,
            to=to,
            across=UTILITY if kind == POLICY else across,
            releases=int(drawn),
        )
        _begin(session, methods, asked)


def _measure(session: Session, *, blocked: bool) -> str:
    """Choose the loss that is matched."""
    losses = [
        key
        for key, one in rwn.MEASURES.items()
        if one.side == "utility" and one.better != "neutral" and key not in _SLOW
    ]
    chosen: str = st.selectbox(
        "Loss",
        losses,
        losses.index(UTILITY),
        key=session.key("compare.match.measure"),
        format_func=lambda key: f"{rwn.MEASURES[key].title} ({rwn.MEASURES[key].unit})",
        disabled=blocked,
    )
    return chosen


def _value(session: Session, measure: str, *, blocked: bool) -> float:
    """The worst value that is accepted; at first that of the present setting."""
    present = _present(session, measure)
    share = rwn.MEASURES[measure].is_share
    value = st.number_input(
        "At worst, %" if share else "At worst",
        value=float(f"{present * (100 if share else 1):.3g}"),
        key=session.key(f"compare.match.value.{measure}.{session.words}"),
        format="%.4g",
        disabled=blocked,
        help="At first what the present setting on Tune loses.",
    )
    return float(value) / (100 if share else 1)


def _present(session: Session, measure: str) -> float:
    """Reading of the release on Tune; the aim if that takes too long."""
    if session.data.n > LARGEST_DENSE:
        return session.aims.relations

    def read() -> Reading | rwn.NotApplicable:
        return rwn.MEASURES[measure].read(current_release(session).comparison, bare=True)

    reading = memo("present loss", 16).get_or_make((*release_key(session), measure), read)
    return reading.value if isinstance(reading, Reading) else session.aims.relations


def _begin(session: Session, methods: list[str], asked: Asked) -> None:
    """Start the search in a process of its own."""
    user_work().jobs[JOB] = Job(
        "Match",
        match,
        words=f"Tuning {len(methods)} methods",
        about=(asked,),
        microdata=session.data,
        methods=methods,
        to=asked.to,
        **asked_for(session.data, session.policy, asked.to, asked.releases, seed=session.seed),
    )
    st.rerun()


def asked_for(
    data: rwn.Microdata,
    policy: rwn.Policy,
    to: Loss | rwn.Policy,
    releases: int | None = None,
    *,
    seed: int,
) -> dict[str, Any]:
    """Plan of a match, and the measures along each strength."""
    small = data.n <= LARGEST_DENSE  # of a large table the worst case takes minutes
    across = to.measure if isinstance(to, Loss) else UTILITY
    measures = tuple(dict.fromkeys((*USUAL, across, *policy.measures)))
    plan = Plan(measures=measures, releases=releases or _releases(data), seed=seed)
    return {"plan": plan, "along": (across, *([WORST] if small else []), ORDINARY)}


def _releases(data: rwn.Microdata) -> int:
    return 8 if data.n <= LARGEST_DENSE else 3
