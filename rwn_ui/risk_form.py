"""The Risk page's choices: key variables, release precision, population, watch list."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from rwn_core.disclosure import steps_of, with_keys
from rwn_core.errors import ParameterError
from rwn_core.intruder.search import lone_members
from rwn_core.intruder.watch import WatchList
from rwn_core.schema import Role
from rwn_ui.session import Session

SHARES = {"exact": 0.0, "0.1 SD": 0.1, "0.25 SD": 0.25, "0.5 SD": 0.5, "1 SD": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What the page assumes of the intruder and of the release.

    Attributes
    ----------
    keys : tuple of str
    precision : dict of str to float
        Release precision of each rounded variable.
    population : float or None
    """

    keys: tuple[str, ...]
    precision: dict[str, float] = field(default_factory=dict)
    population: float | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """What results are kept under."""
        return (self.keys, tuple(sorted(self.precision.items())), self.population)


def key(session: Session, what: str) -> str:
    """The name of a widget that belongs to one table."""
    return f"risk.{session.generation}.{what}"


def watched(session: Session) -> WatchList:
    """What the user has pinned."""
    found: WatchList = st.session_state.setdefault(key(session, "watched"), WatchList())
    return found


def levers(session: Session) -> None:
    """Epsilon, k and q: the setting of the Tune page, moved from here too."""
    reach = session.bench().reach
    for what, label, low, high, step in (
        ("epsilon", "Radius ε (standard deviations)", 0.0, reach.epsilon, reach.step),
        ("k", "Minimum neighbors k", 1, reach.k, 1),
        ("q", "Modification probability q", 0.0, 1.0, 0.05),
    ):
        if low == high:
            continue
        # widgets of this page: one of the same name on another page would start at its low end
        place = key(session, what)
        ends = st.session_state.get(f"{place}.ends")
        if place not in st.session_state or ends != (low, high):
            st.session_state[f"{place}.ends"] = (low, high)
            st.session_state[place] = min(max(getattr(session, what), low), high)
        digits = 0 if step == 1 else max(0, -math.floor(math.log10(step)))
        form = f"%.{digits}f" if digits else "%d"
        value = st.slider(label, low, high, step=step, key=place, format=form)
        setattr(session, what, round(value, 10) if isinstance(value, float) else value)


def attack(session: Session) -> Attack:
    """Draw the choices and read them.

    Raises
    ------
    ParameterError
    """
    names = [v.name for v in session.data.schema.released]
    keys = [v.name for v in session.data.schema.released if v.role is Role.KEY] or names
    chosen = st.multiselect(
        "What the intruder knows of everybody",
        names,
        _kept(session, "keys", keys),
        key=key(session, "keys.widget"),
        help="The key variables of all measures on this page but the whole-file worst case.",
    )
    if not chosen:
        raise ParameterError("Choose at least one variable that the intruder knows.")
    st.session_state[key(session, "keys")] = chosen
    precision = _precision(session)
    population = st.number_input(
        "People in the population (0: the file is all)",
        0,
        10**10,
        _kept(session, "population", 0),
        key=key(session, "population.widget"),
        help="How many people the file is a sample of; for individual and log-linear risk.",
    )
    st.session_state[key(session, "population")] = population
    if 0 < population < session.data.n:
        raise ParameterError(
            f"The population must have at least the file's {session.data.n:,} records, or 0."
        )
    return Attack(keys=tuple(chosen), precision=precision, population=float(population) or None)


def _kept(session: Session, what: str, start: Any) -> Any:
    """A choice that outlives a visit to another page, which drops the widget's own state."""
    return st.session_state.get(key(session, what), start)


def _precision(session: Session) -> dict[str, float]:
    words = list(SHARES)
    chosen = st.select_slider(
        "Release precision of numbers",
        words,
        _kept(session, "precision", words[0]),
        key=key(session, "precision.widget"),
        help="Rounds every released number to a readable step of about this many standard "
        "deviations. It changes this page's numbers, not the file of the Tune page.",
    )
    st.session_state[key(session, "precision")] = chosen
    steps = steps_of(session.data, SHARES[chosen])
    names = list(session.data.numeric_names)
    if not names:
        return {}
    with st.expander("Steps by variable"):
        edited = st.data_editor(
            pd.DataFrame({"variable": names, "step": [steps.get(name, 0.0) for name in names]}),
            hide_index=True,
            disabled=["variable"],
            key=key(session, f"steps.{chosen}"),
            width="stretch",
            column_config={"step": st.column_config.NumberColumn(min_value=0.0, required=True)},
        )
        st.caption("0 releases the values as they are.")
    pairs = zip(edited["variable"].tolist(), edited["step"].tolist(), strict=True)
    return {name: float(step) for name, step in pairs if step and step > 0}


def watch(session: Session) -> None:
    """Pin records and questions, to follow them over settings; internal."""
    with st.expander("Watch list (internal)"):
        record = st.number_input("Record", 1, session.data.n, 1, key=key(session, "watch.record"))
        if st.button("Watch this record", key=key(session, "watch.add"), width="stretch"):
            _pin(session, watched(session).with_record(int(record) - 1, session.data.n))
        keys = st.session_state.get(key(session, "keys"), [])
        found = session.looks.once(
            ("lone members", session.data.fingerprint, tuple(keys)),
            lambda: lone_members(with_keys(session.data, keys), keys) if keys else [],
        )
        words = {predicate.words: predicate for predicate, _ in found}
        if words:
            question = st.selectbox("Question", list(words), key=key(session, "watch.question"))
            if st.button("Watch this question", key=key(session, "watch.ask"), width="stretch"):
                _pin(session, watched(session).with_predicate(words[question]))
        if st.button("Clear the list", key=key(session, "watch.clear"), width="stretch"):
            _pin(session, WatchList())


def _pin(session: Session, pinned: WatchList) -> None:
    st.session_state[key(session, "watched")] = pinned
