"""The Risk page's choices: key variables, release precision, population."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.rounding import Steps
from rwn_core.measures.comparison import Sampling, usable_weights
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.widgets import precision

Sets = tuple[tuple[str, ...], ...]
"""Sets of variables that an intruder may know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """The assumptions on the intruder and the release."""

    keys: tuple[str, ...]
    precision: Steps = ()  # release precision of the setting that is attacked
    sampling: Sampling = field(default_factory=Sampling)
    key_sets: Sets = ()  # sets of variables that an intruder may know
    # the two sets of variables of linkability; none: taken in turn
    halves: Sets = ()

    def usual(self, data: rwn.Microdata) -> bool:
        """True if nothing beyond the table's own keys is assumed."""
        sampling = Sampling.of_schema(data)
        plain = Attack(keys=tuple(usual_keys(data)), precision=self.precision, sampling=sampling)
        return self == plain


def usual_keys(data: rwn.Microdata) -> list[str]:
    """The key variables of a table; all released ones where it has none."""
    released = data.schema.released
    keys = [v.name for v in released if v.role is rwn.Role.KEY]
    return keys or [v.name for v in released if v.role is not rwn.Role.SAMPLING_WEIGHT]


def attack(session: Session) -> Attack:
    """Draw the choices and read them; they outlive a visit to another page."""
    schema = session.data.schema
    names = [v.name for v in schema.released]
    several: dict[str, Any] = {"format_func": schema.called, "persist_state": "session"}
    chosen = st.multiselect(
        *("What the intruder knows of everybody", names, usual_keys(session.data)),
        key=session.key("risk.keys"),
        help="The key variables of all measures on this page but the whole-file worst case.",
        **several,
    )
    if not chosen:
        raise rwn.ParameterError("Choose at least one variable that the intruder knows.")
    further, halves = _further(session, names, several)
    precision.draw(session, "risk")
    return Attack(
        keys=tuple(chosen),
        precision=session.precision,
        sampling=_sampling(session),
        key_sets=further,
        halves=halves,
    )


def _further(session: Session, names: list[str], several: dict[str, Any]) -> tuple[Sets, Sets]:
    """Sets of variables that an intruder may know, entered one by one, and two halves."""
    stored, half = session.key("risk.sets"), session.key("risk.half.one")
    stored_sets: Sets = st.session_state.get(stored, ())
    opened = bool(stored_sets or st.session_state.get(half))
    with st.expander("What else somebody may know", expanded=opened):
        chosen = st.multiselect(
            "A further set of variables",
            names,
            key=session.key("risk.set.widget"),
            format_func=session.data.schema.called,
            help="Sample uniques on these variables are searched for in the release, in addition "
            "to those on the key variables, on slices with a confidential variable, and on any "
            "few variables.",
        )
        if st.button("Add this set", key=session.key("risk.set.add"), disabled=not chosen):
            stored_sets = tuple(dict.fromkeys((*stored_sets, tuple(chosen))))
        if stored_sets:
            st.caption("; ".join(escaped(", ".join(each)) for each in stored_sets))
            if st.button("Clear the sets", key=session.key("risk.set.clear")):
                stored_sets = ()
        one = st.multiselect(
            *("Linkability: one half of the variables", names),
            key=half,
            placeholder="every second one",
            help="Linkability asks whether two sets of facts about a person lead to the same row.",
            **several,
        )
        two = st.multiselect(
            *("Linkability: the other half", names),
            key=session.key("risk.half.two"),
            placeholder="all others",
            disabled=not one,
            **several,
        )
        if one and (len(one) == len(names) or set(one) & set(two)):
            raise rwn.ParameterError(
                "The halves of linkability must not overlap; take variables out of one of them."
            )
    st.session_state[stored] = stored_sets
    return stored_sets, tuple(tuple(half) for half in (one, two if one else ()) if half)


def _sampling(session: Session) -> Sampling:
    """Sampling of the file from its population: by weights, by its size, or none."""
    usable = [
        variable.name
        for variable in session.data.schema.variables
        if usable_weights(session.data, variable.name)
    ]
    said = Sampling.of_schema(session.data).weights
    weights = st.selectbox(
        "Sampling weights",
        usable,
        index=usable.index(said) if said in usable else None,
        placeholder="none",
        key=session.key("risk.weights"),
        disabled=not usable,
        persist_state="session",
        help="A variable that says for each record how many people it stands for; for individual "
        "and log-linear risk, and uniqueness in the population. Offered are numbers of at least 1 "
        "without missing values.",
    )
    population = st.number_input(
        *("People in the population (0: the file is all)", 0, 10**10),
        session.data.schema.population or 0,
        key=session.key("risk.population"),
        disabled=weights is not None,
        persist_state="session",
        help="How many people the file is a sample of, where it has no weights.",
    )
    if weights is not None:
        return Sampling(weights=weights)
    found = Sampling(population=float(population) or None)
    found.check(session.data)
    return found
