"""Show the code behind a card: the Python lines that give its number at the present setting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

import streamlit as st

import rwn_core as rwn
from rwn_core.measures import UTILITY
from rwn_core.measures.statistics.association import is_mixed
from rwn_ui.server.messages import escaped
from rwn_ui.state.results import CARDS, MIXED
from rwn_ui.state.session import Session

MAP = "risk_utility_map"
_READING = """\
reading = rwn.audit(data, release, measures=["{measure}"]{question})["{measure}"]
value = reading.value"""
_SPECIAL: Mapping[str, str] = MappingProxyType(
    {
        MAP: f"""\
policy = {{policy}}
audit = rwn.audit(data, release, measures=["{UTILITY}", *policy.measures])
value = audit["{UTILITY}"].value
risk = policy.judge_readings(audit.readings).largest""",
        "distribution": """\
reading = rwn.audit(data, release, measures=["marginals"])["marginals"]
value = reading.detail["variables"][{variable!r}]["difference"]""",
    }
)
"""The last lines of cards that show something else than the value of their measure."""


def cards(session: Session) -> dict[str, str]:
    """Return the title of each card, by key."""
    shown = [MIXED if key == "correlation" and is_mixed(session.data) else key for key in CARDS]
    titles = {key: rwn.MEASURES["marginals" if key == "distribution" else key] for key in shown}
    return {MAP: "Risk-utility map"} | {key: each.title for key, each in titles.items()}


def code(session: Session, card: str) -> str:
    """Return the lines that give a card's number as `value`, of the full table."""
    policy = "rwn.Policy()"
    if session.policy != rwn.Policy():
        policy = f"rwn.Policy.from_records({session.policy.to_records()!r})"
    last = _SPECIAL.get(card, _READING)
    given = {"measure": card, "variable": session.variable, "policy": policy}
    last = last.format(**given, question=_question(session))
    return f"import rwn_core as rwn\n\n{_table(session)}\n{_release(session)}\n{last}"


def _table(session: Session) -> str:
    """Return the lines that read the table, without the path of a file."""
    data = session.data
    name = PurePath(session.name.replace("\\", "/")).name
    read = f"rwn.load_demo({session.demo!r})"
    if session.demo is None:
        read = f'rwn.read({name!r}, schema="schema.toml")'
    lines = [f"data = {read}"]
    weights = {v.name: v.weight for v in data.schema.released if v.weight != 1.0}
    if weights:
        lines.append(f"data = data.with_weights({weights!r})")
    if session.slices != session.own_slices:
        lines.append(f"data = data.with_slices({[list(names) for names in session.slices]!r})")
    return "\n".join(lines)


def _question(session: Session) -> str:
    """Return the argument that names the regression, where the table itself has another one."""
    asked = session.data.schema.question
    own = rwn.load_demo(session.demo).schema.question if session.demo else None
    if asked is None or asked == own:
        return ""
    words = f"response={asked.response!r}, predictors={asked.predictors!r}"
    return f", question=rwn.Question({words})"


def _release(session: Session) -> str:
    setting = rwn.Setting(params=session.params)
    given = ", ".join(f"{name}={value!r}" for name, value in setting.parameters.items())
    rounded = f", precision={dict(session.precision)!r}" if session.precision else ""
    method = f"rwn.{type(session.params).__name__}({given})"
    return f"release = rwn.mask(data, {method}{rounded}, seed={session.seed})"


def offer(session: Session) -> None:
    """Offer the code; a dialog holds it, so that no slider moves while it is read."""
    if st.button("Code of a card", key="tune.code", width="stretch"):
        _show(session)


@st.dialog("Code of a card", width="large")
def _show(session: Session) -> None:
    """Show the lines of the card that the user chooses."""
    titles = cards(session)
    card = st.selectbox("Card", titles, key="tune.code.card", format_func=titles.__getitem__)
    st.caption(escaped(f"Number of this card at {session.words} · seed {session.seed}"))
    st.code(code(session, card), language="python")
    if session.demo is None:
        st.caption(
            "Save the schema on the Data page as schema.toml, next to your file. The code reads "
            "all records, also where the charts show some of them."
        )
