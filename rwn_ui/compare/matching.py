"""Match methods on the Compare page: several are tuned to one loss or to the policy, then shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise
from rwn_core.measures import UTILITY
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.readable import verdict_words
from rwn_core.tuning import USUAL, Plan, Point
from rwn_core.tuning.match import Matched, MatchedLoss, Unmatched, best_methods, match
from rwn_core.tuning.point import ranges_words
from rwn_core.tuning.slice_presets import PRESETS
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.compare import match_sentences
from rwn_ui.compare.match_sentences import method, title
from rwn_ui.features.scenario_trial import as_scenario
from rwn_ui.features.setting_sentences import arrow, reading_words
from rwn_ui.panel import panel
from rwn_ui.server.messages import escaped
from rwn_ui.state.results import current_release, memo, release_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.widgets.buttons import load_button

JOB = "match"
METHODS = (
    "rwn",
    "rwn keys_together",
    "rwn related_3",
    "soft_rwn balanced",
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
    *(f"soft_rwn {kernel}" for kernel in ("balanced", "exponential", "exponential balanced")),
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
    to: MatchedLoss | rwn.Policy
    across: str


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
        draw_results(session, job.result, job.about[0].to, job.about[0].across)


def _form(session: Session) -> None:
    key = session.key("compare.match")
    methods = st.multiselect(
        "Methods", CANDIDATES, METHODS, key=f"{key}.methods", format_func=match_sentences.method
    )
    aim, measure, value, releases = st.columns([1.2, 2, 1, 1], vertical_alignment="bottom")
    kind = aim.selectbox("Tune to", [LOSS, POLICY], key=f"{key}.aim", help=_HELP)
    with measure:
        across = _measure(session, blocked=kind == POLICY)
    with value:
        accepted = _value(session, across, blocked=kind == POLICY)
    drawn = releases.number_input(
        "Releases",
        2,
        100,
        _releases(session.data),
        key=f"{key}.releases",
        help="Drawn at every setting that is tried; the intervals come from them.",
    )
    if st.button(
        "Match",
        type="primary",
        key=f"{key}.begin",
        disabled=user_work().busy or not methods or (kind == POLICY and not session.policy.limits),
        help=None if methods else "Choose at least one method.",
    ):
        to = session.policy if kind == POLICY else MatchedLoss(measure=across, value=accepted)
        asked = Asked(
            fingerprint=session.data.fingerprint,
            to=to,
            across=UTILITY if kind == POLICY else across,
        )
        user_work().jobs[JOB] = Job(
            "Match",
            match,
            words=f"Tuning {len(methods)} methods",
            about=(asked,),
            microdata=session.data,
            methods=methods,
            to=to,
            **asked_for(session.data, session.policy, to, int(drawn), seed=session.seed),
        )
        st.rerun()


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

    def read() -> rwn.Reading | rwn.NotApplicable:
        return rwn.MEASURES[measure].read(current_release(session).comparison, bare=True)

    reading = memo("present loss", 16).get_or_make((*release_key(session), measure), read)
    return reading.value if isinstance(reading, rwn.Reading) else session.aims.relations


def asked_for(
    data: rwn.Microdata,
    policy: rwn.Policy,
    to: MatchedLoss | rwn.Policy,
    releases: int | None = None,
    *,
    seed: int,
) -> dict[str, Any]:
    """Plan of a match, and the measures along each strength."""
    small = data.n <= LARGEST_DENSE  # of a large table the worst case takes minutes
    across = to.measure if isinstance(to, MatchedLoss) else UTILITY
    measures = tuple(dict.fromkeys((*USUAL, across, *policy.measures)))
    plan = Plan(measures=measures, releases=releases or _releases(data), seed=seed)
    return {"plan": plan, "along": (across, *([WORST] if small else []), ORDINARY)}


def _releases(data: rwn.Microdata) -> int:
    return 8 if data.n <= LARGEST_DENSE else 3


BEST = "★"
PICTURES = {
    "Correlations": "correlation",
    "Coefficients": "regression",
    "Distributions": "distribution",
}
"""What is shown of one release of each matched setting, and by which chart."""


def draw_results(
    session: Session,
    found: Sequence[Matched | Unmatched],
    to: MatchedLoss | rwn.Policy,
    across: str,
) -> None:
    """Everything about the methods that could be tuned, and why others could not."""
    matched = [each for each in found if isinstance(each, Matched)]
    st.markdown(escaped(f"Tuned to {match_sentences.aim(to)}"))
    left, right = st.columns([1.15, 1], gap="small")
    with right:
        lines = match_sentences.sentences(found, to, session.data.n)
        st.markdown("\n".join(f"- {escaped(each)}" for each in lines))
        with st.expander("RWN against each of the others"):
            st.caption(
                "Better or worse is said only where the intervals of one more release do not meet."
            )
            pairs = match_sentences.pairs(found, to, session.data.n)
            st.markdown("\n".join(f"- {escaped(each)}" for each in pairs) or "Nothing to compare.")
    if not matched:
        return
    with left:
        _map(session, matched, to, across)
    panel(match_table(session, matched, to), key="compare.match.table")
    for reason in match_sentences.unread(matched, session.data.n):
        st.caption(escaped(reason))
    with st.container(key="screen-only-matched"):
        _settings(session, matched)
    _pictures(session, matched)


def _map(
    session: Session, matched: Sequence[Matched], to: MatchedLoss | rwn.Policy, across: str
) -> None:
    """The map over the risks that were read along the curves."""
    read = dict.fromkeys(key for each in matched for point in each.path for key in point.spreads)
    risks = [key for key in read if rwn.MEASURES[key].side == "risk"]
    up = st.selectbox(
        "Up: risk",
        risks,
        key=session.key("compare.matched.up"),
        format_func=lambda key: match_sentences.title(key, session.data.n),
    )
    panel(match_map(session, matched, to, across, up), key="compare.match.map")
    absent = [each for each in matched if not _is_read(each.at_loss, across, up)]
    if absent:
        names = match_sentences.listed([match_sentences.method(each.method) for each in absent])
        st.caption(escaped(f"Not on this map, for want of an answer: {names}."))


def _settings(session: Session, matched: Sequence[Matched]) -> None:
    """Take a matched setting to Tune, or save it as a scenario."""
    key = session.key("compare.matched")
    if any(each.beyond for each in matched):
        st.caption("A setting to take is the strongest that loses no more than the aim.")
    for each in matched:
        words, press, keep = st.columns([4, 1, 1], vertical_alignment="center")
        name = match_sentences.method(each.method)
        words.text(f"{name}: {each.point.setting.words}")
        load_button(
            *(session, "Open on Tune", each.point.setting),
            key=f"{key}.open.{each.method}",
            place=press,
            width="stretch",
            help=escaped(f"Load the matched setting of {name} into Tune"),
        )
        keep.button(
            "Keep as scenario",
            key=f"{key}.keep.{each.method}",
            width="stretch",
            on_click=_keep,
            args=(session, each),
            help=escaped(f"Put {name} on the shelf of scenarios, with these readings"),
        )


def _keep(session: Session, each: Matched) -> None:
    base = f"{match_sentences.method(each.method)}, matched"
    names = (base, *(f"{base} {number}" for number in range(2, 1000)))
    name = next(name for name in names if name not in session.scenarios)
    session.scenarios[name] = as_scenario(session, name, "", each.point)
    st.toast(escaped(f"Scenario {name} is kept."))


def _pictures(session: Session, matched: Sequence[Matched]) -> None:
    """Correlation maps, coefficients, or the distribution of one variable, method by method."""
    key = session.key("compare.matched")
    choose, which = st.columns([2, 1], vertical_alignment="bottom")
    what = choose.segmented_control(
        "Of one release of each", list(PICTURES), default="Correlations", key=f"{key}.picture"
    )
    released = [variable.name for variable in session.data.schema.released]
    variable = session.variable
    if what == "Distributions":
        variable = which.selectbox(
            "Variable", released, released.index(variable), key=f"{key}.variable"
        )
    if what is not None:
        pictures = [serialise(_picture(each, what, variable)) for each in matched]
        panel({"cards": pictures}, key="compare.match.pictures")


def match_map(
    session: Session, matched: Sequence[Matched], to: MatchedLoss | rwn.Policy, x: str, y: str
) -> dict[str, Any]:
    """The map with a curve for each method."""
    limit = session.policy.limit(y)
    drawn = CHARTS["method_map"](
        [
            {
                "name": method(each.method),
                "points": [_spot(point, x, y) for point in each.path if _is_read(point, x, y)],
                "matched": {**_spot(each.at_loss, x, y), "text": each.words},
            }
            for each in matched
        ],
        _axis(x, session.data.n, risk=False),
        _axis(y, session.data.n, risk=True),
        aim=to.value if isinstance(to, MatchedLoss) and to.measure == x else None,
        limit=None if limit is None else limit.at_most,
    )
    return {"single": True, "cards": [serialise(drawn)]}


def _is_read(point: Point, x: str, y: str) -> bool:
    """True if both have a reading: a limit is not read if a quicker one is broken."""
    return None not in (point.median(x), point.median(y))


def _spot(point: Point, x: str, y: str) -> dict[str, Any]:
    made: dict[str, Any] = {"text": point.setting.words}
    for side, measure in (("x", x), ("y", y)):
        spread = point.spreads.get(measure)
        made[side] = point.median(measure)
        made[f"{side}_interval"] = spread.interval if spread and spread.values else None
    return made


def _axis(measure: str, records: int, *, risk: bool) -> dict[str, Any]:
    about = rwn.MEASURES[measure]
    riskier = "lower" if about.better == "higher" else "higher"
    return {
        "title": about.title_for(records),
        "unit": about.unit,
        "falls": riskier == "lower" if risk else about.better == "lower",
        "share": about.is_share,
    }


def match_table(
    session: Session, matched: Sequence[Matched], to: MatchedLoss | rwn.Policy
) -> dict[str, Any]:
    """Every measure of every method, the best of the compared ones marked."""
    points = [each.at_loss for each in matched]
    stated = [point.stated() for point in points]
    rows = [["setting", *(each.words for each in matched)]]
    rows.append(["compared", *("yes" if m.reached else "no" for m in matched)])
    rows.append(["records released", *(f"{100 * point.released:.1f} %" for point in points)])
    for key in dict.fromkeys(key for point in points for key in point.spreads):
        equal = isinstance(to, MatchedLoss) and key == to.measure
        leading = [] if equal else best_methods(matched, key)
        cells = [
            f"{reading_words(key, one.get(key))}{f' {BEST}' if each.method in leading else ''}"
            for each, one in zip(matched, stated, strict=True)
        ]
        rows.append([f"{title(key, session.data.n)} {arrow(key)}".strip(), *cells])
    verdicts = [verdict_words(session.policy.judge(point)) for point in points]
    rows.append(["policy: limits that are broken", *verdicts])
    most = max(len(spread.values) for point in points for spread in point.spreads.values())
    brackets = ranges_words({"": {"releases": float(most)}})
    return {
        "tables": [
            {
                "title": "Every measure of every method",
                "columns": ["measure", *(method(each.method) for each in matched)],
                "rows": rows,
                "file": "matched-methods.csv",
                "caption": f"Median over the releases; in brackets the {brackets}. Between two "
                "steps of a strength, readings lie on the line between both. ↓ lower is better, "
                f"↑ higher is better, {BEST} best median of the compared methods.",
            }
        ]
    }


def _picture(each: Matched, what: str, variable: str) -> Chart:
    """One picture of one release of a matched setting."""
    chart = PICTURES[what]
    reading = each.pictures["marginals" if chart == "distribution" else chart]
    name = method(each.method)
    if not isinstance(reading, rwn.Reading):
        return draw_reason(name, str(reading), chart)
    more = (variable,) if chart == "distribution" else ()
    drawn = CHARTS[chart](reading, *more)
    return {**drawn, "title": name}
