"""The Compare page: scenarios kept, loaded, set side by side, and decided upon."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.errors import InputError
from rwn_core.figures import CHARTS, serialise
from rwn_core.meeting import FORMAT, Meeting
from rwn_core.scenario import Scenario
from rwn_core.tuning import USUAL, Plan, Point, Trials
from rwn_ui import meeting_view, sweep_form, watch_view
from rwn_ui.compare_words import differences, reading_words
from rwn_ui.day_pass_results import standing_words, standings
from rwn_ui.loading import load
from rwn_ui.panel import panel
from rwn_ui.session import Session
from rwn_ui.show import plain

MOST = 3  # scenarios side by side
RISKS = ("bayes_linkage", "distance_linkage")  # the worst case first, an ordinary intruder beside


def _key(session: Session, what: str) -> str:
    return f"compare.{session.generation}.{what}"


def scenario_of(session: Session, name: str, note: str, point: Point | None = None) -> Scenario:
    """The present setting, or a point of the sweep, as a scenario with its readings."""
    plan = Plan(measures=USUAL, seed=session.seed)
    if point is None:
        setting = session.setting
        with st.spinner("Measuring eight releases"):
            point = Trials(session.data, [setting], plan).run(setting)
    readings = {}
    for key, spread in point.spreads.items():
        if spread.median is not None:
            ends = spread.interval
            reach = {} if ends is None else {"low": ends[0], "high": ends[1]}
            readings[key] = {"median": spread.median, **reach}
    return Scenario(
        name=name,
        note=note,
        table=session.data.fingerprint,
        setting=point.setting,
        seed=session.seed,
        search=session.search,
        limits={RISKS[0]: session.policy.linkage, **session.limits},
        readings=readings,
        day_pass=session.day_pass,
        watch=session.watched.predicates,
    )


def shelf(session: Session) -> None:
    """Keep the present setting, load a file, remove what is not needed."""
    st.markdown(f"**Present setting** \n{plain(session.words)}")
    name = st.text_input("Name", key=_key(session, "name"), max_chars=60)
    note = st.text_area("Note", key=_key(session, "note"), height=68)
    watch_view.told(session)
    if st.button("Save scenario", type="primary", width="stretch", key=_key(session, "save")):
        if name.strip():
            _keep(session, scenario_of(session, name.strip(), note.strip()))
        else:
            st.warning("Give the scenario a name.")
    upload = st.file_uploader(
        "Scenario or decision (TOML)", type=["toml"], key=_key(session, "file")
    )
    seen = _key(session, "file.seen")
    if upload is not None and upload.file_id != st.session_state.get(seen):
        read = _read(upload.getvalue())
        st.session_state[seen] = upload.file_id
        if isinstance(read, Meeting):
            _reopen(session, read)
        else:
            kept = read.name or upload.name.removesuffix(".toml")
            _keep(session, replace(read, name=kept))
            take(session, read)


def _keep(session: Session, scenario: Scenario) -> None:
    """Put a scenario on the shelf, and beside the others while there is room."""
    session.scenarios[scenario.name] = scenario
    shown = st.session_state.get(_key(session, "chosen"))
    if shown is not None and scenario.name not in shown and len(shown) < MOST:
        st.session_state[_key(session, "chosen")] = [*shown, scenario.name]


def _read(content: bytes) -> Scenario | Meeting:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("The scenario file is not UTF-8 text.") from None
    frozen = f'format = "{FORMAT}"' in text.splitlines()
    return Meeting.thaw(text) if frozen else Scenario.from_toml(text)


def _reopen(session: Session, meeting: Meeting) -> None:
    """Take up a decision of another day: its scenarios, and the setting that was chosen."""
    if meeting.hash not in {each.hash for each in session.meetings}:
        session.meetings.append(meeting)
    for scenario in meeting.scenarios:
        _keep(session, scenario)
        if scenario.name == meeting.chosen:
            take(session, scenario)
    told = f"“{meeting.chosen}” was chosen" if meeting.chosen else "nothing was chosen"
    st.info(plain(f"Decision of {meeting.date}: {told}."), icon=":material/lock:")


def take(session: Session, scenario: Scenario) -> None:
    """Go over to a scenario: its setting, seed, limits and sweep."""
    if scenario.table and scenario.table != session.data.fingerprint:
        st.warning("This scenario was made for another table; its readings are not of this one.")
    session.seed = scenario.seed
    session.limits |= scenario.limits
    if scenario.day_pass.analyses:
        session.day_pass = scenario.day_pass
    watch_view.take(session, scenario)
    if scenario.search is not None:
        sweep_form.refill(session, scenario.search)
    if scenario.setting is not None:
        load(session, scenario.setting)


def draw(session: Session) -> None:
    """Two or three scenarios side by side, their differences in words, and the meeting."""
    names = list(session.scenarios)
    if not names:
        st.info(
            "Save the present setting at the left, save one on the Sweep page, or load a scenario "
            "file: two or three can then be compared.",
            icon=":material/info:",
        )
        return
    picked, mode = st.columns([5, 1.4], vertical_alignment="bottom")
    key = _key(session, "chosen")
    shown = [name for name in st.session_state.get(key, names[:MOST]) if name in names]
    st.session_state[key] = shown
    chosen = picked.multiselect("Scenarios side by side", names, key=key, max_selections=MOST)
    meeting = mode.toggle(
        "Meeting",
        session.projector,
        key=_key(session, "meeting"),
        help="Large type for a projector, the watch list, and the decision.",
    )
    scenarios = [session.scenarios[name] for name in chosen]
    if not scenarios:
        return
    panel(_cards(session, scenarios, meeting), key="compare.cards")
    left, right = st.columns([1, 1], gap="small")
    with left:
        panel(_picture(session, scenarios, meeting), key="compare.map")
    with right:
        panel(_table(session, scenarios, meeting), key="compare.table")
    _files(session, chosen)
    if meeting:
        meeting_view.draw(session, chosen)


def _cards(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    return {
        "stamp": f"{[s.name for s in scenarios]}|{meeting}|{session.generation}",
        "projector": meeting,
        "stacked": True,
        "summary": {"text": session.name},
        "tiles": [_tile(session, scenario) for scenario in scenarios],
    }


def _picture(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    return {"projector": meeting, "single": True, "cards": [serialise(_map(session, scenarios))]}


def _table(session: Session, scenarios: list[Scenario], meeting: bool) -> dict[str, Any]:
    """The readings side by side, then the differences in words."""
    keys = list(dict.fromkeys(key for s in scenarios for key in s.readings if key in rwn.MEASURES))
    rows = [
        ["setting", *(s.setting.words if s.setting else "–" for s in scenarios)],
        ["note", *(s.note or "–" for s in scenarios)],
    ]
    for key in keys:
        readings = [reading_words(key, s.readings.get(key)) for s in scenarios]
        rows.append([f"{rwn.MEASURES[key].title} {_arrow(key)}", *readings])
    rows += _day_pass_rows(session, scenarios)
    side_by_side = {
        "title": "Side by side",
        "columns": ["", *(scenario.name for scenario in scenarios)],
        "rows": rows,
        "caption": "Median over the releases, and between which values one more release falls 9 "
        "times in 10. ↓ lower is better, ↑ higher is better.",
    }
    words = [_words(scenarios[0], other) for other in scenarios[1:]]
    followed = watch_view.side_by_side(session, scenarios) if meeting else None
    return {
        "projector": meeting,
        "tables": [side_by_side, *([followed] if followed else []), *words],
    }


def _day_pass_rows(session: Session, scenarios: list[Scenario]) -> list[list[str]]:
    """A row for each registered analysis: whether it passes on several releases."""
    found = [
        {one.analysis.name: standing_words(one) for one in standings(session, scenario) or ()}
        for scenario in scenarios
    ]
    names = dict.fromkeys(name for each in found for name in each)
    return [[f"Day pass: {name}", *(each.get(name, "–") for each in found)] for name in names]


def _arrow(key: str) -> str:
    return {"lower": "↓", "higher": "↑", "neutral": ""}[rwn.MEASURES[key].better]


def _tile(session: Session, scenario: Scenario) -> dict[str, Any]:
    """A scenario as a card: its setting, whether it keeps its limits and its day pass."""
    over = [
        rwn.MEASURES[key].title
        for key, limit in scenario.limits.items()
        if key in scenario.readings and _exceeds(key, scenario.readings[key], limit)
    ]
    passed = standings(session, scenario) or ()
    over += [f"day pass: {one.analysis.name}" for one in passed if not one.always]
    return {
        "label": scenario.name,
        "released": scenario.setting.words if scenario.setting else "–",
        "state": "over" if over else "ok",
        "limit": ", ".join(over),
        "against": [
            {"pin": key, "text": f"{rwn.MEASURES[key].title} {value}", "better": None}
            for key in (*RISKS, "correlation")
            if (value := reading_words(key, scenario.readings.get(key))) != "–"
        ]
        + ([{"pin": "note", "text": scenario.note, "better": None}] if scenario.note else []),
        "help": scenario.note,
    }


def _exceeds(key: str, reading: Any, limit: float) -> bool:
    """Whether some of the releases, not just half of them, would lie beyond the limit."""
    if rwn.MEASURES[key].better == "higher":
        return bool(reading.get("low", reading["median"]) < limit)
    return bool(reading.get("high", reading["median"]) > limit)


def _map(session: Session, scenarios: list[Scenario]) -> Any:
    risk = next((key for key in RISKS if all(key in s.readings for s in scenarios)), RISKS[-1])
    points = [
        {
            "label": scenario.name,
            "utility": 1 - scenario.readings["correlation"]["median"],
            "risk": scenario.readings[risk]["median"],
            "text": scenario.setting.words if scenario.setting else "",
        }
        for scenario in scenarios
        if {"correlation", risk} <= set(scenario.readings)
    ]
    chart = CHARTS["risk_utility_map"](points, session.policy.linkage)
    chart["layout"]["yaxis"]["title"]["text"] = f"risk: {rwn.MEASURES[risk].title.lower()}"
    return chart


def _words(first: Scenario, other: Scenario) -> dict[str, Any]:
    return {
        "title": f"{other.name}, compared with {first.name}",
        "columns": ["difference"],
        "rows": [[sentence] for sentence in differences(first, other)],
    }


def _files(session: Session, names: list[str]) -> None:
    """Take a scenario into Tune, write it to a file, remove it."""
    for name in names:
        scenario = session.scenarios[name]
        words, press, save, drop = st.columns([4, 1, 1, 1], vertical_alignment="center")
        words.text(name)
        press.button(
            "To Tune",
            key=_key(session, f"take.{name}"),
            width="stretch",
            on_click=take,
            args=(session, scenario),
            help=plain(f"Load {name} into Tune"),
        )
        save.download_button(
            "TOML",
            scenario.to_toml,
            file_name="scenario.toml",
            on_click="ignore",
            key=_key(session, f"toml.{name}"),
            width="stretch",
            help="A file without any data, for this page and for rwn sweep --scenario.",
        )
        drop.button(
            "Remove",
            key=_key(session, f"drop.{name}"),
            width="stretch",
            on_click=session.scenarios.pop,
            args=(name, None),
        )
