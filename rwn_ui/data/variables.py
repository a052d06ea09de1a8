"""The table of variables: what each is, how its values lie; an edit counts at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.edit_rules import as_edit_rules
from rwn_core.data.use import StatedRegression, Use
from rwn_core.measures.statistics.usual_use import use_of
from rwn_ui.background.opening import WIDE
from rwn_ui.data.describe import choose_variables, describe_anew
from rwn_ui.data.questions import ask_roles
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session

_BARS = 12  # of a small histogram
LONGEST_GROUP = 20  # letters of a group's word that the grid shows as it is
# the first that fits what is typed is taken, and "ident" is in "confidential", too
ROLES = (
    rwn.Role.IDENTIFIER,
    rwn.Role.KEY,
    rwn.Role.CONFIDENTIAL,
    rwn.Role.OTHER,
    rwn.Role.SAMPLING_WEIGHT,
    rwn.Role.STRATUM,
    rwn.Role.HOUSEHOLD,
    rwn.Role.PERSON,
    rwn.Role.TIME,
)
_NUMBERS = ("min", "mean", "max", "SD")
_READ_ONLY = ("variable", "label", "distribution", *_NUMBERS, "missing", "different")


def variables(session: Session) -> None:
    """Kind, role and group of each variable, and what the file is for; each edit counts."""
    st.markdown("#### Its variables, and what the file is for")
    if session.data.p > WIDE:
        with st.expander(f"{session.data.p - len(_listed(session.data.schema))} are left out"):
            narrowed = choose_variables(session.data, session.key("data.choose"))
        if narrowed is not None:
            describe_anew(session, narrowed)
    edited = st.data_editor(
        _start(session),
        hide_index=True,
        key=f"data.{session.grid_version}.edit",
        disabled=list(_READ_ONLY),
        placeholder="",
        column_config={
            **editor_columns(
                "A direct identifier never reaches a release; a key is what an intruder may "
                "know; a confidential variable is what they are after. Of surveys: how many people "
                "a record stands for (sampling weight), the stratum it was drawn from, the "
                "household or cluster it belongs to, the person whom several rows are of (neither "
                "reaches a release), and the time it is of."
            ),
            "label": st.column_config.TextColumn(width="medium"),
            "distribution": st.column_config.BarChartColumn(
                help="Of numbers and dates from the least to the most; of categories, the most "
                "frequent levels.",
                y_min=0,
            ),
            **{name: st.column_config.NumberColumn(format="%.6g") for name in _NUMBERS},
        },
    )
    confidential = _confidential(session)
    stated = _regressions(session)
    rules = st.text_area(
        "Edit rules, one a line",
        "\n".join(rule.text for rule in session.data.schema.edit_rules),
        key=f"data.{session.grid_version}.rules",
        placeholder='age >= 15 or employed == "no"',
        help="What holds of every believable record. The Utility page counts the records that "
        "break a rule; the variables of one rule may travel together.",
    )
    # the schema as the table and the lists below it say
    rows: dict[str, Any] = {row["variable"]: row for row in edited.to_dict("records")}
    old = session.data.schema
    groups = {short: word for word, short in short_groups(old).items()}
    changed = tuple(
        edited_variable(variable, rows[variable.name], groups)
        if variable.name in rows
        else variable
        for variable in old.variables
    )
    changed = tuple(_with_role(each, confidential) for each in changed)
    schema = replace(old, variables=changed, edit_rules=())
    if stated is not None:
        asked = stated.regressions[0].question if stated.regressions else None
        schema = replace(schema, question=asked, use=stated if asked else None)
    # rules are checked against the variables when they are read
    schema = replace(schema, edit_rules=as_edit_rules([*filter(str.strip, rules.splitlines())]))
    if schema != session.data.schema:
        # a role from below is not in the grid, which is made anew then
        described = session.data.with_schema(schema)
        describe_anew(session, described, by_grid=not confidential)


def editor_columns(role_help: str) -> dict[str, Any]:
    """Columns of an editor of variables, by name."""
    return {
        "kind": st.column_config.SelectboxColumn(options=list(rwn.Kind), required=True),
        "role": st.column_config.SelectboxColumn(
            options=list(ROLES), required=True, help=role_help
        ),
        "masked": st.column_config.CheckboxColumn(
            help="An unmasked variable keeps its values in the release."
        ),
        "group": st.column_config.TextColumn(
            help="Variables with the same group word take their values from one common "
            "donor, so that sums and ratios among them stay possible."
        ),
    }


def _start(session: Session) -> pd.DataFrame:
    """The editor's first content: made once a visit, or the editor would forget its edits."""
    key, editor = f"data.{session.grid_version}.start", f"data.{session.grid_version}.edit"
    if editor not in st.session_state:  # groups may have changed on another page
        data = session.data
        groups = short_groups(data.schema)
        rows = [_row(data, variable, groups) for variable in _listed(data.schema)]
        frame = pd.DataFrame(rows)
        labelled = any(variable.label for variable in data.schema.variables)
        st.session_state[key] = frame if labelled else frame.drop(columns="label")
    start: pd.DataFrame = st.session_state[key]
    return start


def _listed(schema: rwn.Schema) -> list[rwn.Variable]:
    """The variables of the grid; of a wide table those of a release."""
    if len(schema.variables) <= WIDE:
        return list(schema.variables)
    return [variable for variable in schema.variables if variable.is_released]


def _row(data: rwn.Microdata, variable: rwn.Variable, groups: Mapping[str, str]) -> dict[str, Any]:
    column = data.frame[variable.name]
    row: dict[str, Any] = {
        "variable": variable.name,
        "label": variable.label or "",
        "kind": str(variable.kind),
        "role": str(variable.role),
        "masked": variable.masked if variable.is_released else None,
        "group": groups.get(variable.group or "", ""),
        "distribution": [],
        **dict.fromkeys(_NUMBERS, None),
        "missing": int(column.isna().sum()),
        "different": int(column.nunique()),
    }
    if not variable.is_released:
        return row
    if variable.kind in (rwn.Kind.CATEGORICAL, rwn.Kind.ORDERED):
        if variable.kind is rwn.Kind.ORDERED:  # in their order
            counted = column.astype(str).value_counts()
            counts = [counted.get(level, 0) for level in variable.levels or ()]
        else:  # the most frequent ones
            counts = list(column.value_counts().iloc[:_BARS])
        row["distribution"] = [int(count) for count in counts]
        return row
    values = data.values(variable.name)
    known = values[~np.isnan(values)]
    row["distribution"] = np.histogram(known, bins=_bins(known))[0].tolist()
    if variable.kind is not rwn.Kind.DATE:
        row |= {name: float(getattr(known, name)()) for name in ("min", "mean", "max")}
        row["SD"] = float(known.std(ddof=1)) if len(known) > 1 else None
    return row


def _bins(known: NDArray[np.float64]) -> int | NDArray[np.float64]:
    """Bins of a small histogram; those of whole numbers hold equally many of them."""
    if (known != np.floor(known)).any():
        return _BARS
    low = known.min()
    high = known.max()
    width = max(1.0, np.ceil((high - low + 1) / _BARS))
    return np.arange(low, high + width + 1, width)[: _BARS + 1] - 0.5


def short_groups(schema: rwn.Schema) -> dict[str, str]:
    """Return the words of groups as the grid shows them: a word that lists its variables is long.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> names = ("abdomen", "circumference", "forearm")
    >>> group = "+".join(names)
    >>> made = tuple(rwn.Variable(name=n, kind="continuous", group=group) for n in names)
    >>> short_groups(rwn.Schema(variables=made))
    {'abdomen+circumference+forearm': 'group 1'}
    """
    groups = list(dict.fromkeys(v.group for v in schema.variables if v.group))
    short = {word: word for word in groups if len(word) <= LONGEST_GROUP}
    free = (name for number in count(1) if (name := f"group {number}") not in groups)
    return short | {word: next(free) for word in groups if word not in short}


def edited_variable(
    variable: rwn.Variable, row: Mapping[str, Any], groups: Mapping[str, str]
) -> rwn.Variable:
    """A variable as its row in the editor says; `groups` are the words behind short ones."""
    kind = rwn.Kind(row["kind"])
    group = "" if pd.isna(row["group"]) else str(row["group"]).strip()
    return replace(
        variable,
        kind=kind,
        role=row["role"],
        masked=variable.masked if pd.isna(row["masked"]) else bool(row["masked"]),
        # an emptied cell comes back as a missing value
        group=groups.get(group, group) or None,
        levels=variable.levels if kind is rwn.Kind.ORDERED else None,
    )


def _confidential(session: Session) -> list[str]:
    """Ask for the confidential variables where none is known; those that were chosen."""
    schema = session.data.schema
    use = use_of(session.data)
    if use.confidential:
        named = ", ".join(map(schema.called, use.confidential))
        st.markdown(
            f"**What the file is for**: the relations of {escaped(named)}, which the role "
            "*confidential* or a stated use names, and these regressions."
        )
        return []
    if ask_roles(session, session.data):
        return []  # the form above asks
    st.warning(
        "No variable is confidential, so nothing says what the file is for, and no limit on what "
        "an intruder learns can be judged. Say which is.",
        icon=":material/help:",
    )
    names = [v.name for v in schema.released if v.role is rwn.Role.OTHER]
    return st.multiselect(
        "What is confidential?",
        names,
        key=f"data.{session.grid_version}.confidential",
        placeholder="Choose what an intruder is after, and what the file is analyzed for",
        format_func=schema.called,
    )


def _with_role(variable: rwn.Variable, confidential: Sequence[str]) -> rwn.Variable:
    if variable.name not in confidential:
        return variable
    return replace(variable, role=rwn.Role.CONFIDENTIAL)


def _regressions(session: Session) -> Use | None:
    """The regressions as they are edited, guessed first; None where nothing was changed."""
    schema = session.data.schema
    shown = [each.line for each in use_of(session.data).regressions]
    text = st.text_area(
        "Regressions that its users will fit, one a line",
        "\n".join(shown),
        key=f"data.{session.grid_version}.regressions",
        placeholder="response ~ one + two",
        help="As in R: siri ~ age + square(age) + bmi:abdomen, with log, sqrt and square. A line "
        "that begins with “logistic:” or “poisson:” is such a model. An empty field brings the "
        "guess back: each confidential number on the keys and on what is most related to it.",
    )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines == shown:
        return None
    before = schema.use or Use()
    return replace(before, regressions=tuple(map(StatedRegression.of_line, lines)))
