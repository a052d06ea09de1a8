"""The Find page: a target and what may change, then one map and one list of what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, serialise
from rwn_core.data.schema import slices_words
from rwn_core.masking import SHORT_NAMES, fixed_options
from rwn_core.measures import USE, UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import percent
from rwn_core.measures.utility.use_left import UseLeft
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.places_on_map import POLICY, axis
from rwn_core.tuning import FoundSetting, SearchAnswer, Setting, Space, Spread
from rwn_core.tuning.goal import undominated
from rwn_core.tuning.point import short_setting
from rwn_core.tuning.seek_slices import kernels_refused
from rwn_core.tuning.several_draws import verdict_of
from rwn_core.tuning.slice_presets import PRESETS, preset_key
from rwn_core.tuning.verdict import share_words
from rwn_ui.background.advising import find_settings
from rwn_ui.background.job import CANCELLED, Job
from rwn_ui.background.progress import bar, polled
from rwn_ui.features import advice, limit_queue, repeated_draws, scenario_trial
from rwn_ui.server.messages import escaped, informed
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.kept_picture import guarded_picture, show_picture
from rwn_ui.state.results import Snapshot, current_release, is_drawn, memo, release_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import FIND
from rwn_ui.widgets import limits

SOON, LONG = 60.0, 300.0  # seconds of a search, and of one that goes on
MOST = 40  # settings in the list
KEEP, LOSE = "Keep the policy", "Lose at most"
_CHOICES = {
    "slices": "Slices",
    "kernels": "Kernel and balance",
    "by_prediction": "Slices by prediction",
    "tie": "Tied slices",
    "methods": "Method",
}


def form(session: Session) -> Space:
    """The target, what may change, and the button that begins the search of this space."""
    key = session.key("find")
    target = st.radio(
        "Target",
        [KEEP, LOSE],
        key=f"{key}.target",
        persist_state="session",
        help="The setting that keeps all limits and loses least of the relations; or the one that "
        "uses least of the limits among those that lose no more than you say.",
    )
    most = None
    if target == LOSE:
        lost = st.number_input(
            *("Lost of each part of the use at most, %", 0.0, 100.0, 20.0, 1.0),
            key=f"{key}.lose",
            persist_state="session",
        )
        most = lost / 100
    offered = may_change(session)
    chosen = st.pills(
        "What may change besides the strength",
        list(offered),
        selection_mode="multi",
        default=[each for each in offered if each in ("slices", "kernels")],
        format_func=offered.__getitem__,
        key=f"{key}.may.{session.method}",
        persist_state="session",
        help="What is not chosen stays as on Tune. With “Method” each method is read at its best "
        "strength, so that all are compared at the same limits, or at the same loss.",
    )
    space = space_of(session, chosen, most)
    if space.setting:
        stays = f"Stays as on Tune, where not chosen: {session.name_of_setting}"
        st.caption(escaped(stays), help=escaped(session.words))
    else:
        st.caption("Everything of RWN may change but q and k.")
    with st.popover("Limits", width="stretch", help="The policy, by which all pages judge."):
        limits.edit(session, "find")
    st.button(
        "Find",
        type="primary",
        width="stretch",
        key=f"{key}.begin",
        disabled=session.user.work.busy or not session.policy.limits,
        help=f"Looks for {SOON:g} seconds of processor time in the background: more by the clock, "
        "where others use the machine. The best so far is always shown. Where none keeps the "
        f"limits, what helps is tried for {SOON / 2:g} more.",
        on_click=begin,
        args=(session, space, SOON),
    )
    scenario_trial.keep_measured(session)
    return space


def may_change(session: Session) -> dict[str, str]:
    """What a search may change for the method on Tune, in words by key."""
    params = session.params
    lacks = session.policy.unjudged(rwn.SoftRWN(by_prediction=True))
    kernels = not kernels_refused(params)
    fits = {
        "slices": type(params).uses_slices,
        "kernels": kernels,
        "by_prediction": session.of_rwn and not lacks,
        "tie": session.of_rwn,
    }
    levers = [x.name for x in params.levers if x.off is None and x.name != params.strength]
    words = {name: SHORT_NAMES.get(name, name) for name in levers}
    return words | {key: each for key, each in _CHOICES.items() if fits.get(key, True)}


def space_of(session: Session, chosen: Sequence[str], most: float | None) -> Space:
    """What the search may change; everything of RWN where nothing on Tune has to stay."""
    setting = session.setting
    own = (setting.weights or setting.precision) and not session.is_untouched
    held = own or fixed_options(setting.params)
    free = session.of_rwn and not held and {*chosen} == {"slices", "kernels"}
    return Space(
        setting=None if free and most is None else setting,
        levers=tuple(each for each in chosen if each not in _CHOICES),
        lose_at_most=most,
        slices="slices" in chosen,
        kernels="kernels" in chosen,
        by_prediction="by_prediction" in chosen,
        tie="tie" in chosen,
        methods="methods" in chosen,
    )


def begin(session: Session, space: Space, seconds: float) -> None:
    """Begin a search in the background, as the button says, in the place of the last one."""
    st.session_state.pop(session.key("find.picked.own"), None)
    session.user.work.jobs[FIND] = Job(
        "Search",
        find_settings,
        words=f"Looking for settings, {seconds:g} seconds of processor time at most; if none is "
        "found, half as many for what helps",
        about=(session.data.fingerprint, session.policy, space),
        microdata=session.data,
        policy=session.policy,
        space=space,
        seconds=seconds,
    )


def draw(session: Session) -> None:
    """What was found; while the search runs, this part of the page draws itself again and again."""
    job = session.user.work.jobs.get(FIND)
    if job is None or job.about[0] != session.data.fingerprint:
        _opening(session)
        return
    running = job.running

    def area() -> None:
        if running and not job.running:
            st.rerun()  # the page around this part learns that the work has ended
        with guarded_picture(session, "find"):  # it is drawn without the page, too
            _found(session, job)

    polled(area, again=running)


def _opening(session: Session) -> None:
    """What is known before a search: what the start has tried, or the present setting alone."""
    _before_an_answer()
    answer = _known_before(session)
    if answer is not None:
        st.caption(_known_words(answer))
        with guarded_picture(session, "find"):
            _map_and_list(session, None, answer, session.policy)
        return
    if session.data.n <= LARGEST_DENSE:  # its limits are read with the picture
        limit_queue.readings(session, current_release(session))
    if is_drawn(session):
        with guarded_picture(session, "find"):
            _show_map(session, [], None, session.policy)
    if repeated_draws.are_coming(session):
        st.caption("One release of the present setting; its further draws are being read.")
    repeated_draws.follow_on_page(session)


def _known_before(session: Session) -> SearchAnswer | None:
    """The search for the start of the table, else the draws of the present setting."""
    started = advice.start(session)
    if started is not None and any(each.loss is not None for each in started.settings):
        return started
    drawn = repeated_draws.judged_draws(session)
    if drawn is None or drawn[0] is None:
        return None
    n = session.data.n
    answer = SearchAnswer.of_point(
        session.policy,
        drawn[0],
        reached=drawn[1].kept,
        confirmed=True,
        records=n,
        of=n,
        tried=1,
    )
    lost, left = _lost_at_present(session)
    spread = Spread(measure=UTILITY, values=(lost,))
    point = replace(drawn[0], spreads={**drawn[0].spreads, UTILITY: spread})
    loss = None if left is None or left.least is None else 1.0 - left.least
    present = replace(
        answer.settings[0],
        point=point,
        verdict=drawn[1],
        loss=loss,
        left=left,
        confirmed=True,
    )
    return replace(answer, settings=(present,))


def _lost_at_present(session: Session) -> tuple[float, UseLeft | None]:
    """The relations that the release on Tune has lost, and what it leaves of the use."""
    release = current_release(session).comparison
    relations = rwn.MEASURES[UTILITY].read(release, bare=True)
    use = rwn.MEASURES[USE].read(release, bare=True)
    return (
        relations.value if isinstance(relations, Reading) else 1.0,
        use.detail if isinstance(use, Reading) else None,
    )


def _known_words(answer: SearchAnswer) -> str:
    """Say what is known before a search."""
    if answer.tried > 1:
        return f"Known already: {answer.tried} settings, which the search for the start has tried."
    return "Known already: the present setting, whose further draws were read."


def _before_an_answer() -> None:
    """What the page answers, and how."""
    st.space("xxsmall")  # below the bar of pages
    st.markdown("#### Which setting keeps the policy at the least cost")
    st.markdown(
        "State a target and what may change, and press *Find*. Each setting that is tried is "
        "a point of a map, further right with less loss, lower with less risk, and a line of a "
        "list. After a minute of processor time the best so far is read on all records, and is the "
        "answer; go on if you want more."
    )


def _found(session: Session, job: Job) -> None:
    """Draw the progress of the search, its answer in words, the map and the list."""
    st.space("xxsmall")  # below the bar of pages
    _, policy, space = job.about
    answer: SearchAnswer | None = job.result or job.so_far
    if job.running:
        bar(job, session.key("find.cancel"), wide=True)
    elif job.refusal:
        informed(f"Search: {job.refusal}")
    if answer is None or not answer.settings:
        _before_an_answer()
        if answer is not None:
            st.warning(escaped(answer.sentence))
        return
    show = _show_of(answer)
    attainable = answer.attainable
    best = answer.settings[0]
    if attainable:
        headline = judged_words(session, policy, best)
        show(escaped(" ".join(filter(None, [headline, attainable, f"{best.left_words}."]))))
    else:
        show("No setting was read in time.")
    if policy == session.policy:
        repeated_draws.note_answer(session, answer)
        _remedies(session, job, answer)
    if policy != session.policy:
        st.caption("The limits have changed since; press *Find* to look within the present ones.")
    if not job.running and (answer.late or job.refusal == CANCELLED):
        st.button(
            f"Go on for {LONG / 60:g} minutes",
            key=session.key("find.on"),
            disabled=session.user.work.busy,
            on_click=begin,
            args=(session, replace(space, known=answer), LONG),
        )
    _map_and_list(session, job, answer, policy)
    st.caption(escaped(answer.sentence))
    if answer.unfit:
        with st.expander("Methods that are not in the list"):
            for method, why in answer.unfit.items():
                st.caption(f"{rwn.METHODS[method].title}: {escaped(why)}")


def _map_and_list(
    session: Session, job: Job | None, answer: SearchAnswer, policy: rwn.Policy
) -> None:
    """Draw every setting of an answer on the map and in the list."""
    other = (answer.alternative,) if answer.alternative else ()
    found = [*answer.settings, *other][:MOST]
    by_key = {each.setting.key: each for each in found}
    key = session.key("find.picked")
    own = st.session_state.get(f"{key}.own")  # what the user chose; else the best so far
    st.session_state[key] = own if own in by_key else next(iter(by_key))
    left, right = st.columns([1.3, 1], gap="small")
    with right:
        _list(session, job, by_key, key)
    with left:
        _show_map(session, found, by_key[st.session_state[key]], policy)


def _show_map(
    session: Session,
    found: Sequence[FoundSetting],
    chosen: FoundSetting | None,
    policy: rwn.Policy,
) -> None:
    key = session.key("find.picked")
    keys = [each.setting.key for each in found]
    picked = None if chosen is None else chosen.setting.key
    shown = {
        "stamp": f"{keys}|{picked}|{session.words}|{policy}",
        "single": True,
        "projector": session.projector,
        "cards": [serialise(draw_map(session, found, chosen))],
    }
    show_picture(session, shown, key="find", on_pick=partial(_pick, key))


def _remedies(session: Session, job: Job, answer: SearchAnswer) -> None:
    """What helps where no setting keeps the limits: a button for each remedy, which goes to Tune.

    Each was tried on all records.
    """
    for number, remedy in enumerate(answer.remedies):
        if st.button(escaped(remedy.words), key=session.key(f"find.remedy.{number}")):
            job.cancel()
            advice.take_remedy(session, remedy)
            st.switch_page("pages/tune.py")
    if answer.caution:
        st.caption(escaped(answer.caution))


def judged_words(session: Session, policy: rwn.Policy, found: FoundSetting) -> str:
    """Write the verdict on a setting as every page does; empty while it was not read so."""
    if not found.confirmed:
        return ""
    return f"{verdict_of(session.data, policy, found.point).headline}."


def _show_of(answer: SearchAnswer) -> Callable[..., Any]:
    """How an answer is shown: nothing is green where a part of the use is below a half.

    Nor is it before the answer was read on all draws of a verdict.
    """
    costly = answer.left is not None and answer.left.below_half
    sure = bool(answer.settings) and answer.settings[0].confirmed
    if answer.kept and sure and not costly:
        return st.success
    return st.info if answer.reached and not costly else st.warning


def _pick(key: str, picked: str | None = None) -> None:
    """Choose a setting on the map, or in the list."""
    st.session_state[f"{key}.own"] = picked or st.session_state[key]


def _list(session: Session, job: Job | None, known: dict[str, FoundSetting], key: str) -> None:
    """The settings by loss, those that keep the policy first; the chosen one goes to Tune."""
    with st.container(height=430 if len(known) > 5 else "content", border=False):
        chosen = st.radio(
            "Settings found (✓ keeps the limits, ▲ does not, ? not judged or not confirmed)",
            list(known),
            key=key,
            on_change=_pick,
            args=(key,),
            format_func=lambda each: escaped(line(known[each])),
            captions=[
                escaped(f"{title(session, each.setting)}. {each.left_words}")
                for each in known.values()
            ],
        )
    use, keep = st.columns(2)
    if use.button(
        "Use on Tune",
        type="primary",
        key=session.key("find.use"),
        width="stretch",
        help="Ends the search and loads this setting; Undo on Tune brings the present one back.",
    ):
        if job is not None:
            job.cancel()
        set_setting(session, known[chosen].setting, undo=True)
        st.switch_page("pages/tune.py")
    if keep.button(
        "Save as scenario",
        key=session.key("find.keep"),
        width="stretch",
        disabled=scenario_trial.is_measuring(session),
        help="Measures further draws of this setting in the background, and keeps it for Compare; "
        "the search goes on.",
    ):
        name = scenario_trial.next_name(session)
        scenario_trial.save(session, name, "Found by a search.", known[chosen].setting)
        st.toast(f"{name} is being measured for Compare.")


def line(found: FoundSetting) -> str:
    """A line of the list: whether limits are kept, what is left, how much a limit is used."""
    used = found.used
    if found.loss is None and used is None:
        return "? not read"
    mark = {"kept": "✓", "broken": "▲"}.get(found.mark, "?")
    words = "not judged" if used is None else f"uses {share_words(used)} a limit"
    if found.mark == "one draw":
        words = f"{words} so far, not confirmed"
    if found.loss is None:
        return f"{mark} {words}"
    return f"{mark} {percent(1.0 - found.loss)} left · {words}"


def title(session: Session, setting: Setting) -> str:
    """A setting in few words, its slices by the name of their preset where they have one."""
    slices = setting.slices
    words = short_setting(replace(setting, slices=None))
    if not slices:
        return words
    preset = preset_key(session.data, slices)
    return (
        f"{words} · {slices_words(slices, short=True) if preset is None else PRESETS[preset].title}"
    )


def draw_map(session: Session, found: Sequence[FoundSetting], chosen: FoundSetting | None) -> Chart:
    """Every setting that was found at its loss and its use of the limits, and the present one."""
    lost = {each.setting.key: each.point.median(UTILITY) for each in found}
    placed = undominated((lost[each.setting.key], each.used, each.point) for each in found)
    best = {point.setting.key for point in placed}
    spots = [
        {
            "key": each.setting.key,
            "text": each.setting.words,
            "x": lost[each.setting.key],
            "y": each.used,
            "x_interval": None,
            "y_interval": None,
            "frontier": each.setting.key in best,
            "released": each.point.released,
            "kept": each.kept,
        }
        for each in found
    ]
    marks = list[dict[str, Any]]()
    if chosen is not None and chosen.setting.key != session.setting.key:
        place = {"x": lost[chosen.setting.key], "y": chosen.used}
        marks.append({"label": "chosen", "text": chosen.setting.words, **place})
    present = _present_mark(session)
    if present is not None:
        marks.append(present)
    return CHARTS["sweep_map"](
        spots,
        axis(UTILITY, session.data.n, risk=False),
        axis(POLICY, session.data.n, risk=True) | {"map": "Risk–utility map of what was tried"},
        limit=1.0,
        marks=marks,
    )


def _present_mark(session: Session) -> dict[str, Any] | None:
    """The present setting at what Tune says of it; None while its limits were not all read."""
    if not is_drawn(session):
        return None
    current = current_release(session)
    limits_read = memo(session, "limits", 8).get(release_key(session)) or {}
    known = {**current.readings, **limits_read}
    loss = known[UTILITY]
    unread = any(known.get(key) is None for key in session.policy.measures)
    if unread or not isinstance(loss, Reading):
        return None
    now = Snapshot.take(session, current, known, **repeated_draws.verdict_parts(session))
    which = "one release" if now.of_setting is None else "one more release"
    words = f"{now.words}, {which}"
    return {"label": "now", "text": words, "x": loss.value, "y": now.verdict.largest}
