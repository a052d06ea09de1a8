"""The Compare page: scenarios kept, loaded, set side by side, and decided upon."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

import streamlit as st

import rwn_core as rwn
from rwn_core.data.noun_of_table import spoken_for
from rwn_core.reporting.readable import decision_html, earlier_decisions, judged
from rwn_core.reporting.scenario import Decision, decisions_in, scenario_or_decision
from rwn_core.tuning.verdict import counted
from rwn_ui.compare import cards as compare_cards
from rwn_ui.features import analysis_plan_results, scenario_trial, watch_list
from rwn_ui.features.scenario_trial import MOST, take
from rwn_ui.panel import panel
from rwn_ui.server.messages import escaped, informed
from rwn_ui.state.kept_picture import show_picture
from rwn_ui.state.session import Session
from rwn_ui.widgets.buttons import file_button, link_to
from rwn_ui.widgets.limits import shown_as
from rwn_ui.widgets.upload import file_chooser, parsed, written_name

HIDDEN = "hidden"  # the candidates, until the meeting has drawn its line
DECISIONS_VARIABLE = "RWN_DECISIONS"
EARLIER = {
    "title": "Earlier decisions, the latest first",
    "columns": ["date", "setting", "verdict", "loss", "accepted by", "reason"],
    "caption": "Of the folder of decisions and of this table. Each verdict is the one of its day, "
    "by the limits and for the table of that meeting.",
}


def shelf(session: Session) -> None:
    """Keep the present setting, load a file, remove what is not needed."""
    st.markdown(
        f"**Present setting**  \n{escaped(session.name_of_setting)}", help=escaped(session.words)
    )
    name = st.text_input("Name", key=session.key("compare.name"), max_chars=60)
    note = st.text_area("Note", key=session.key("compare.note"), height=68)
    if st.button(
        "Save scenario",
        type="primary",
        width="stretch",
        disabled=scenario_trial.is_measuring(session),
        key=session.key("compare.save"),
    ):
        if name.strip():
            scenario_trial.save(session, name.strip(), note.strip())
            st.rerun()  # the button waits from now on
        else:
            st.warning("Give the scenario a name.")
    upload = file_chooser("Scenario or decision (TOML)", ["toml"], key=session.key("compare.file"))
    seen = session.key("compare.file.seen")
    if upload is not None and upload.file_id != st.session_state.get(seen):
        read = parsed(upload.getvalue(), scenario_or_decision, "scenario")
        st.session_state[seen] = upload.file_id
        if isinstance(read, Decision):
            _reopen(session, read)
        else:
            label = read.name or written_name(upload.name).removesuffix(".toml")
            _arrived(session, replace(read, name=label))


def _arrived(session: Session, scenario: rwn.Scenario) -> None:
    """Take up a scenario file; of another table the setting only, its readings wait for theirs."""
    if scenario.table not in ("", session.data.fingerprint):
        session.drafts(scenario.table).scenarios[scenario.name] = scenario
        informed(
            "This scenario was made for another table. Its setting is loaded; its readings are not "
            "of this table and show when that one is opened."
        )
    elif not scenario.table:  # meant for any: what was read elsewhere says nothing here
        scenario_trial.keep(session, replace(scenario, readings={}))
    else:
        scenario_trial.keep(session, scenario)
    take(session, scenario)


def _reopen(session: Session, decision: Decision) -> None:
    """Take up a decision of another day: its scenarios, and the setting that was chosen."""
    shelf = session.drafts(decision.table)
    if decision.hash not in {each.hash for each in shelf.decisions}:
        shelf.decisions.append(decision)
    outcome = f"“{decision.chosen}” was chosen" if decision.chosen else "nothing was chosen"
    words = f"Decision of {decision.date}: {outcome}."
    if decision.table not in ("", session.data.fingerprint):
        shelf.scenarios.update({each.name: each for each in decision.scenarios})
        words += " It was made on another table and shows when that one is opened."
        st.info(escaped(words), icon=":material/lock:")
        return
    for scenario in decision.scenarios:
        scenario_trial.keep(session, scenario if scenario.table else replace(scenario, readings={}))
        if scenario.name == decision.chosen:
            take(session, scenario)
    st.info(escaped(words), icon=":material/lock:")


def draw(session: Session) -> None:
    """Scenarios side by side, and what a meeting decides."""
    scenario_trial.open_compare(session)
    scenario_trial.keep_measured(session)
    if session.scenarios:
        _side_by_side(session)
    else:
        st.space("xxsmall")  # below the bar of pages
        st.markdown("#### Which release, and why")
        st.markdown(
            "This page is for choosing. Put up to six settings side by side as scenarios, with "
            "their risks, what they cost and whether they keep the policy, and freeze what a "
            "meeting decides."
        )
    if not session.scenarios and scenario_trial.JOB not in session.user.work.jobs:
        informed(
            "Save the present setting at the left, or load a scenario file: up to six can then be "
            "compared. The Find page looks for settings and compares methods at the same limits."
        )


def _side_by_side(session: Session) -> None:
    """Show the candidates, what was read of them, and, in a meeting, the decision."""
    names = list(session.scenarios)
    key = session.key("compare.chosen")
    shown = [name for name in st.session_state.get(key, names[:MOST]) if name in names]
    st.session_state[key] = shown
    bar = st.container(key="screen-only-bar")
    picked, trial, mode = bar.columns([5, 1.2, 1], vertical_alignment="bottom")
    meeting = mode.toggle(
        "Meeting",
        session.projector,
        key=session.key("compare.meeting"),
        help="One screen for a projector, without the sidebar, and the decision below.",
    )
    # several rows of names would take the room of the map
    place = picked.popover(counted(len(shown), "scenario")) if meeting else picked
    chosen = place.multiselect("Scenarios side by side", names, key=key, max_selections=MOST)
    line = session.key("compare.line")
    if st.session_state.get(line) == HIDDEN:
        _draw_line_first(session, line)
        return
    with trial.popover("What if …", width="stretch", help="Other limits, which change nothing."):
        st.button(
            "Draw the line first",
            key=session.key("compare.line.first"),
            on_click=lambda: st.session_state.update({line: HIDDEN}),
            help="Hides the scenarios until the meeting has stated its limits; the record "
            "of the decision holds them.",
        )
        policy = trial_policy(session)
    scenarios = [session.scenarios[name] for name in chosen]
    if not scenarios:
        return
    _offer_analyses(session, scenarios)
    marked = choice_key(session)
    candidates = compare_cards.screen(
        session, scenarios, policy, meeting=meeting, chosen=st.session_state.get(marked) or ""
    )
    show_picture(
        session,
        spoken_for(session.data.schema, candidates),
        key="compare.candidates",
        on_pick=lambda name: _mark(session, name),
    )
    with (
        st.container(key="screen-only-decision")
        if meeting
        else st.expander("Decide", key=session.key("compare.decide"))
    ):
        _decide(session, chosen)
    with st.expander("All readings, and the differences in words", expanded=not meeting):
        readings = compare_cards.table(session, scenarios, meeting)
        panel(spoken_for(session.data.schema, readings), key="compare.table")
    with (
        st.container(key="screen-only-files"),
        st.expander("Files of the scenarios", expanded=not meeting),
    ):
        _files(session, chosen)


def _draw_line_first(session: Session, line: str) -> None:
    """Ask a meeting for its limits, which show the scenarios once they are stated."""
    with st.form(session.key("compare.line.form"), enter_to_submit=False):
        st.markdown("#### Draw the line before the scenarios are seen")
        drawn = trial_policy(session)
        if st.form_submit_button("State these limits and show the scenarios", type="primary"):
            st.session_state[line] = drawn
            st.rerun()


def _offer_analyses(session: Session, scenarios: list[rwn.Scenario]) -> None:
    """Offer to run registered analyses, which take a while on scenarios of a large table."""
    missing = [each for each in scenarios if analysis_plan_results.missing(session, each)]
    if missing:
        st.button(
            f"Run the registered analyses on {escaped(', '.join(each.name for each in missing))}",
            key=session.key("compare.judge"),
            disabled=session.user.work.busy,
            on_click=scenario_trial.judge,
            args=(session, missing),
        )


def _decide(session: Session, chosen: list[str]) -> None:
    """Offer to freeze a decision, and show it with those of other days."""
    folder = os.environ.get(DECISIONS_VARIABLE)  # the institution's
    past = [*(decisions_in(Path(folder)) if folder else []), *session.decisions]
    _freeze(session, chosen)
    _frozen(session)
    if past:
        panel({"tables": [{**EARLIER, "rows": earlier_decisions(past)}]}, key="compare.earlier")


def _mark(session: Session, name: str) -> None:
    """Mark a candidate as chosen, or take the mark back."""
    key = choice_key(session)
    st.session_state[key] = None if st.session_state.get(key) == name else name


def trial_policy(session: Session) -> rwn.Policy:
    """The policy with the limits that a meeting tries; the policy of the session stays."""
    st.caption("Judges all scenarios by other limits. The policy does not change.")
    limits = []
    for limit in session.policy.limits:
        name, scale = shown_as(session, limit)
        shown = round(limit.at_most * scale, 10)
        tried = st.number_input(
            name,
            0.0,
            None if scale == 1 else scale,
            shown,
            format="%.4g",
            key=session.key(f"compare.trial.{limit.measure}.{shown:g}"),
        )
        changed = replace(limit, at_most=tried / scale)
        limits.append(limit if tried == shown else changed)
    return rwn.Policy(limits=tuple(limits))


def _files(session: Session, names: list[str]) -> None:
    """Take a scenario into Tune, write it to a file, remove it."""
    for name in names:
        scenario = session.scenarios[name]
        words, press, save, drop = st.columns([3, 1, 1, 1], vertical_alignment="center")
        words.text(name)
        press.button(
            "To Tune",
            key=session.key(f"compare.take.{name}"),
            width="stretch",
            on_click=take,
            args=(session, scenario),
            help=escaped(f"Load {name} into Tune"),
        )
        file_button(
            *("TOML", scenario.to_toml, "scenario.toml"),
            key=session.key(f"compare.toml.{name}"),
            help="A file without any data, for this page and the command line.",
            place=save,
            width="stretch",
        )
        if drop.button("Remove", key=session.key(f"compare.drop.{name}"), width="stretch"):
            session.scenarios.pop(name, None)
            st.rerun()


_NONE = "none of them"


def choice_key(session: Session) -> str:
    """Key of the field that says which candidate is chosen."""
    return session.key("compare.decision.chosen")


def _freeze(session: Session, names: list[str]) -> None:
    """Draw the fields of a decision, and freeze what they say."""
    st.markdown("#### Decision")
    if st.session_state.get(choice_key(session)) not in (*names, _NONE):
        st.session_state[choice_key(session)] = None  # the candidate is no longer shown
    chosen = st.selectbox(
        "Decision",
        [*names, _NONE],
        index=None,
        placeholder="Choose a scenario",
        key=choice_key(session),
    )
    with st.form(session.key("compare.decision"), enter_to_submit=False):
        left, right = st.columns(2)
        when = right.date_input("Date", date.today())
        reason = st.text_area("Reason", height=100)
        people = left.text_area("Participants, a line each", height=100)
        watched = right.text_area(
            "Watch list, a line each",
            "\n".join(map(watch_list.words, session.watched)),
            height=100,
            key=session.key(f"compare.decision.watched.{hash(session.watched)}"),
            help="What people want to keep an eye on: records, groups, results.",
        )
        accepted = st.text_input(
            "Who accepts limits that the scenario does not keep",
            help="Needed where the policy is broken, or a limit is not judged.",
        )
        dissent = st.text_input("Votes or dissent", help="Left empty where all agree.")
        frozen = st.form_submit_button("Freeze", type="primary")
    verdict = None
    if chosen in names:
        (verdict,) = judged([session.scenarios[str(chosen)]], session.policy)
    broken = "" if verdict is None or verdict.kept else verdict.sentence.removesuffix(".")
    parts = {
        "a decision": chosen is None,
        "a reason": not reason.strip(),
        "at least one participant": not _lines(people),
        f"who accepts this: {broken}": broken and not accepted.strip(),
    }
    missing = [part for part, lacks in parts.items() if lacks]
    if frozen and missing:
        st.error(f"Nothing is frozen. Missing: {'; '.join(missing)}.")
    elif frozen:
        stated = st.session_state.get(session.key("compare.line"))
        made = Decision(
            scenarios=tuple(session.scenarios[name] for name in names),
            chosen="" if chosen == _NONE else str(chosen),
            reason=reason.strip(),
            participants=_lines(people),
            date=when.isoformat(),
            watched=tuple(
                watch_list.minutes(session, session.scenarios.get(str(chosen)), _lines(watched))
            ),
            verdict="" if verdict is None else verdict.sentence,
            accepted_by=accepted.strip(),
            dissent=dissent.strip(),
            policy=session.policy,
            line=stated if isinstance(stated, rwn.Policy) else None,
        )
        session.decisions.append(made)
        st.session_state[session.key("compare.frozen")] = made.hash


def _frozen(session: Session) -> None:
    """The decision that was frozen last here, and its files."""
    shown = st.session_state.get(session.key("compare.frozen"))
    record = next((made for made in session.decisions if made.hash == shown), None)
    if record is not None:
        st.success(f"Frozen on {record.date}: SHA-256 {record.hash}", icon=":material/lock:")
        st.caption(
            "A release that carries it out (Release page) names it in its internal record. The "
            "file can be opened here again on another day."
        )
        title = f"decision-{record.hash[:12]}"
        key = session.key("compare.decision")
        minutes = partial(decision_html, record)
        with st.container(horizontal=True):
            file_button("Decision record (TOML)", record.frozen, f"{title}.toml", key=f"{key}.file")
            file_button("Minutes to print (HTML)", minutes, f"{title}.html", key=f"{key}.page")
            link_to("pages/release.py", "Carry it out", ":material/outbox:")


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
