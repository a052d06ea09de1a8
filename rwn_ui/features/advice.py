"""Suggested setting and quick verdict: computed for an uploaded table, or by a button."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.measures.sentence import percent
from rwn_core.tuning import SearchAnswer, Setting
from rwn_core.tuning.answer import Remedy
from rwn_core.tuning.point import short_setting
from rwn_core.tuning.recommend import leaves_more
from rwn_core.tuning.ways import WAYS, way_of
from rwn_ui.background.advising import find_advice
from rwn_ui.background.job import Job
from rwn_ui.features import repeated_draws
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import redescribe, set_setting, toasted
from rwn_ui.state.results import memo, policy_presets, presets_key, start_key, verdict_key
from rwn_ui.state.session import Session
from rwn_ui.widgets import limits
from rwn_ui.widgets.buttons import link_to

_SENT = "advice:"  # begins what a button of the panel sends


def is_wanted(session: Session) -> bool:
    """True if a table is uploaded, or after the button; a demo begins as in its lessons."""
    return session.demo is None or session.user.results.tune.advised


def start(session: Session) -> SearchAnswer | None:
    """The recommended start of the table; None while there is none."""
    if not is_wanted(session):
        return None
    found: SearchAnswer | None = memo(session, "starts", 4).get(start_key(session))
    return found


def verdict(session: Session) -> SearchAnswer | None:
    """The quick verdict on the present kind of setting; None while there is none."""
    found: SearchAnswer | None = memo(session, "quick verdicts", 8).get(verdict_key(session))
    return found


def pending(session: Session) -> list[str]:
    """Return what the picture waits for: ["advice"], then ["start"], ["presets"], at last none."""
    if not is_wanted(session):
        return []
    known = verdict(session) and start(session)
    if known and presets_key(session) in memo(session, "presets", 8):
        return []
    job = session.user.work.advice
    failed = job is not None and job.refusal and job.about == verdict_key(session)
    first = "start" if verdict(session) else "advice"
    return [] if failed else ["presets" if known else first]


def follow(session: Session) -> None:
    """Begin what is wanted, cancel what is no longer asked for, and keep what was found."""
    work = session.user.work
    about = verdict_key(session)
    job = work.advice
    found = None if job is None or job.about != about else job.result or job.so_far
    if job is not None and found is not None:
        if found[0] is not None:  # the verdict comes first
            memo(session, "starts", 4).keep(start_key(session), found[0])
            repeated_draws.note_answer(session, found[0])
        memo(session, "quick verdicts", 8).keep(about, found[1])
        repeated_draws.note_answer(session, found[1])
        if found[2] or not job.running:  # they come last
            memo(session, "presets", 8).keep(presets_key(session), found[2])
    if not pending(session) or work.closed or work.preparation is not None:
        return
    if job is not None and job.about != about:
        job.cancel()
        job = None
    if job is None:
        with suppress(rwn.RWNError):  # no room for another process: without advice
            work.advice = Job(
                session.name,
                find_advice,
                words="Looking for a start",
                about=about,
                microdata=session.data,
                policy=session.policy,
                setting=session.setting,
                known=start(session),
                presets=policy_presets(session),
            )


def adopt(session: Session) -> None:
    """Begin at the recommendation, or at the best that is attainable, while nothing was moved.

    An answer on the Data page, such as another role, changes what is recommended.
    """
    found = start(session)
    about = start_key(session)
    coming = session.user.work.preparation is not None
    if session.started is None and not coming:  # it has waited for its table
        session.record_undo()
        session.started = session.setting, len(session.history.settings)
    if session.demo is not None or found is None or coming or session.adopted == about:
        return
    known = found.confirmed or found.reached  # else nothing was read on all records
    if session.is_untouched and known:
        with toasted(session):
            set_setting(session, found.point.setting, undo=True)
        waits = session.user.work.preparation is not None
        session.started = None if waits else (session.setting, len(session.history.settings))
    session.adopted = about


def beyond(session: Session) -> tuple[Setting, float] | None:
    """A setting beyond epsilon and k that leaves at least a tenth more, and what it leaves."""
    if session.method != rwn.RWN.method:
        return None
    found = start(session)
    if found is not None:
        other = found.alternative
        return None if other is None else (other.setting, 1.0 - (other.loss or 0.0))
    if session.demo is None or session.policy != rwn.Policy() or not session.is_untouched:
        return None
    demo = rwn.DEMOS[session.demo]
    if not leaves_more(demo.left, demo.best_left):
        return None
    return Setting.from_dict(demo.best), demo.best_left


def offer_beyond(session: Session) -> None:
    """Name a setting that leaves more than epsilon and k can, with a button that goes to it."""
    known = beyond(session)
    if known is None:
        return
    setting, left = known
    edges = "Soft edges"
    if setting.method != rwn.SoftRWN.method:
        edges = WAYS[way_of(setting.params)].title
    st.button(
        f"{edges} would leave {percent(left)}: try",
        key=session.key("tune.advice.beyond"),
        on_click=_try,
        args=(session, setting),
        width="stretch",
        help=escaped(f"{short_setting(setting)}. Undo brings the present setting back."),
    )


def _try(session: Session, setting: Setting) -> None:
    with toasted(session):
        set_setting(session, setting, undo=True)


def offer(session: Session) -> None:
    """What is suggested, in one line above its strengths, and where to look further."""
    offer_beyond(session)
    found = start(session)
    if found is not None:
        called = _called(found)
        words = escaped(short_setting(found.point.setting))
        st.caption(f"**{called}**: {words}", help=escaped(found.reason))
        if not found.reached and found.point.setting.resolved(session.data) != session.setting:
            st.button(
                "Take the nearest",
                key=session.key("tune.advice.nearest"),
                on_click=_try,
                args=(session, found.point.setting),
                width="stretch",
                help="Undo brings the present setting back.",
            )
        link_to("pages/find.py", "Find others", ":material/search:")
    elif not is_wanted(session):
        st.button(
            "Suggest a setting",
            key=session.key("tune.advice.ask"),
            on_click=session.user.results.note,
            kwargs={"advised": True},
            width="stretch",
            help="Tries radius, neighbors and slices, and reads the best on all records. Then "
            "Standard goes to it and Strong beyond; what leaves more elsewhere is named.",
        )
    elif pending(session):
        st.caption(
            f"A suggestion is looked for on all {session.data.n:,} records; until then a usual "
            "start stands, or what you set."
        )
        link_to("pages/find.py", "See what was tried", ":material/search:")


def _called(found: SearchAnswer) -> str:
    """How a suggestion is called: it is none before it was read as every page judges a setting."""
    if not found.reached:
        return "Nearest, not all limits kept"
    if not found.confirmed:
        return "Best so far, not confirmed"
    return "Suggested, not all limits judged" if found.unread else "Suggested"


def panel_part(session: Session) -> dict[str, Any] | None:
    """The quick verdict with a button for each remedy; None where no advice is wanted."""
    if not is_wanted(session):
        return None
    found = verdict(session)
    if found is None:
        follows = (
            "Can any strength keep the policy? The answer follows." if pending(session) else ""
        )
        return {"text": follows, "steps": [], "caution": ""}
    steps = [
        {"title": remedy.words, "send": f"{_SENT}{number}"}
        for number, remedy in enumerate(found.remedies)
        if not _is_on_screen(session, remedy)
    ]
    return {"text": found.sentence, "steps": steps, "caution": found.caution}


def _is_on_screen(session: Session, remedy: Remedy) -> bool:
    """True if a remedy changes nothing any more."""
    same = remedy.setting.resolved(session.data) == session.setting
    return same and remedy.schema is None and remedy.policy is None


def take(session: Session, sent: str) -> None:
    """Take a remedy; anything else that was sent is no number of one."""
    found = verdict(session)
    number = sent.removeprefix(_SENT)
    if found is None or not sent.startswith(_SENT) or not number.isdigit():
        return
    if int(number) < len(found.remedies):
        take_remedy(session, found.remedies[int(number)])


def take_remedy(session: Session, remedy: Remedy) -> None:
    """Change what a remedy changes: the description of the table, the policy, the setting."""
    if remedy.schema is not None:
        redescribe(session, session.data.with_schema(remedy.schema), by_grid=False)
    if remedy.policy is not None:
        limits.judge_by(session, remedy.policy)
    if session.user.work.preparation is None:
        set_setting(session, remedy.setting, undo=True)
