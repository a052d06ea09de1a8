"""Open questions on the table: names, codes for missing values, key variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.data.belonging import Finding
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.noun_of_table import guessed_noun, noun_of
from rwn_core.data.open_questions import Answer, OpenQuestion, asks_population, open_questions
from rwn_core.data.record_noun import RecordNoun, spoken_of
from rwn_core.data.role_guesses import (
    RoleGuess,
    StandardFile,
    guessed_roles,
    standard_file,
    with_roles,
)
from rwn_core.data.same_looks import pairs_of_levels
from rwn_core.data.units import people_in
from rwn_core.io.parse import with_levels_joined, without_missing_codes
from rwn_ui.background.opening import Opening
from rwn_ui.data import rows as of_rows
from rwn_ui.data.describe import describe_anew
from rwn_ui.data.file_layout import foot_of_table
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.widgets.upload import read_upload

_SELECTED = {
    rwn.Role.KEY: (
        "Who could be recognized? Variables that others may know of a person",
        "They become keys: what an intruder finds people by. With none, risks are counted as if "
        "everybody knew everything.",
    ),
    rwn.Role.CONFIDENTIAL: (
        "What is confidential? Variables that an intruder is after",
        "Their relations are what the file is for, and attribute risks are judged on them. "
        "Without any, nothing says what a release has to keep, and a limit on them is not judged.",
    ),
    rwn.Role.IDENTIFIER: (
        "What numbers people or strata? Left out of every release",
        "A number of a person, of a household's place or of replicate weights names records.",
    ),
    rwn.Role.SAMPLING_WEIGHT: (
        "Is it a sample? The weight of a record",
        "How many people a record stands for. Tables and risks of a population use it.",
    ),
    rwn.Role.HOUSEHOLD: (
        "Do people belong together? Their household or cluster",
        "It groups records and never reaches a release.",
    ),
    rwn.Role.PERSON: (
        "Do people have several rows? The number of the person",
        "Risk is counted in people then, and no release has it.",
    ),
}
_PAIRS = 20  # of levels that look the same, which are shown
_SEVERAL = (rwn.Role.KEY, rwn.Role.CONFIDENTIAL, rwn.Role.IDENTIFIER)  # of which a table has many


@dataclass(frozen=True, slots=True)
class _Asked:
    """The open questions of a table."""

    left: set[Any]
    roles: bool
    noun: RecordNoun  # what a record is, as stated or guessed
    official: StandardFile | None
    guesses: list[RoleGuess]
    questions: list[OpenQuestion]
    people: str | None
    rows: int  # at the end of the file, left out as no records
    foot: pd.DataFrame | None  # these rows
    together: Finding | None = None  # of rows that seem to belong together

    @classmethod
    def about(cls, session: Session, data: rwn.Microdata) -> _Asked:
        left: set[Any] = st.session_state.setdefault(f"data.left.{data.fingerprint}", set())
        held = {variable.role for variable in data.schema.variables}
        roles = not {rwn.Role.KEY, rwn.Role.CONFIDENTIAL} <= held and "roles" not in left
        guesses = (
            data.cached(
                ("guessed roles", data.schema), lambda: guessed_roles(data.frame, data.schema)
            )
            if roles
            else []
        )
        official = standard_file(variable.name for variable in data.schema.released)
        guessed = {guess.variable for guess in guesses}
        if official is None or "official" in left or guessed.isdisjoint(official.roles):
            official = None
        questions = [each for each in _found(data, guesses) if _name(each) not in left]
        people = asks_population(data.frame, with_roles(data.schema, guesses))
        people = None if "population" in left else people
        opening = session.user.work.opening
        rows = 0 if "rows" in left else _left_out(opening, data)
        foot = foot_of_table(opening, rows)
        together = of_rows.open_finding(data, with_roles(data.schema, guesses), left)
        noun = _noun_of(data)
        return cls(
            left=left,
            roles=roles,
            noun=noun,
            official=official,
            guesses=guesses,
            questions=questions,
            people=people,
            rows=rows,
            foot=foot,
            together=together,
        )

    @property
    def of_file(self) -> list[RoleGuess]:
        """The guesses that the official file's names give."""
        names = {} if self.official is None else self.official.roles
        return [guess for guess in self.guesses if guess.variable in names]

    def __bool__(self) -> bool:
        asks = self.roles or self.questions or self.people is not None or self.rows
        return bool(asks or self.together is not None)


def _noun_of(data: rwn.Microdata) -> RecordNoun:
    """What a record is, as stated or as guessed by names."""
    return guessed_noun(data.names) if data.schema.record is None else noun_of(data.schema)


def _left_out(opening: Opening | None, data: rwn.Microdata) -> int:
    """How many rows at the end of a file are left out by a guess."""
    if opening is None or not opening.proposed or opening.layout is None:
        return 0
    return opening.layout.below if opening.layout == data.schema.file else 0


def are_open(session: Session, data: rwn.Microdata) -> bool:
    """True if a table leaves anything open that was not answered or left."""
    return bool(_Asked.about(session, data))


def ask_roles(session: Session, data: rwn.Microdata) -> bool:
    """True if the form asks which variables are confidential."""
    return _Asked.about(session, data).roles


def ask(session: Session, data: rwn.Microdata) -> rwn.Microdata | None:
    """Ask all at once; the table as the answers describe it, once they are sent."""
    asked = _Asked.about(session, data)
    if not asked:
        return None
    # the same key before and after the ranking: choices that were not sent stay, but for those
    # that the names of an official file gave
    which = "other" if asked.official is None else "official"
    key = f"data.form.{hash(data.fingerprint) % 10**8}.{which}"
    # Enter confirms its field alone
    with st.form(key, enter_to_submit=False):
        st.markdown("#### Before you tune: what the table leaves open")
        records = bool(asked.rows) and _ask_for_last_rows(asked, key)
        noun = of_rows.ask_noun(data, key) if asked.roles else data.schema.record
        official = asked.official is not None and _ask_for_file(asked, key)
        roles = _ask_for_roles(data, asked, key) if asked.roles else {}
        population = None if asked.people is None else _ask_for_people(asked.people, data, key)
        answers = [(each, _ask_one(data, each, key)) for each in asked.questions]
        together = of_rows.ask_rows(asked.together, data.names, asked.noun, f"{key}.together")
        one, two, _ = st.columns([3, 3, 9])
        sent = one.form_submit_button("Use these answers", type="primary", width="stretch")
        later = two.form_submit_button("Leave them open", width="stretch")
    if later:
        # also the questions that the guesses answer; the Release page asks about identity
        asked.left.update(
            ("roles", "population", "rows", of_rows.LEFT),
            map(_name, asked.questions + _found(data, [])),
        )
        return data
    if not sent:
        return None
    if records:  # they are read again, and the table that has them is asked about anew
        read_upload(session, FileLayout())
        st.rerun()
    if asked.official is not None and not official:
        asked.left.add("official")
    changes = {guess.variable: guess.role for guess in asked.of_file} if official else {}
    given = _Given(official=changes, roles=roles, noun=noun, population=population, answers=answers)
    answered = partial(_answered, session, data, asked, given)
    return of_rows.completed(asked.together, together, answered)


def _ask_for_people(sentence: str, data: rwn.Microdata, key: str) -> int | None:
    """Ask how many people the population has."""
    words, field = st.columns([9, 6], vertical_alignment="center")
    words.markdown(escaped(sentence))
    return field.number_input(
        *("People in the population", people_in(data), 10**10, None),
        key=f"{key}.population",
        label_visibility="collapsed",
        placeholder="People",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The answers that the form was sent with."""

    official: Mapping[str, rwn.Role]  # roles by the names of the official file
    roles: Mapping[rwn.Role, list[str]]
    noun: RecordNoun | None  # what a record is
    population: float | None
    answers: list[tuple[OpenQuestion, Answer | None]]

    @property
    def pairs(self) -> list[tuple[str, rwn.Role]]:
        """Each variable that is given a role, and which."""
        pairs = [(name, role) for role, names in self.roles.items() for name in names]
        for question, answer in self.answers:
            if answer is not None and "role" in answer.changes:
                pairs.append((question.variable, answer.changes["role"]))
        return pairs

    @property
    def joins(self) -> bool:
        """True if levels that look the same become one."""
        return any(answer is not None and answer.joins for _, answer in self.answers)

    def of_roles(self, schema: rwn.Schema) -> rwn.Schema:
        """Return the schema with the roles; a variable that was taken out of a list has none."""
        unpicked = {v.name: rwn.Role.OTHER for v in schema.released if v.role in self.roles}
        for name, role in (unpicked | dict(self.official) | dict(self.pairs)).items():
            schema = schema.replace_variable(name, role=role)
        return replace(schema, record=self.noun)

    def refusal(self, schema: rwn.Schema) -> str:
        """Return why the answers cannot be taken, in one sentence; empty where they can."""
        role_of = dict(self.pairs)
        for name, role in self.pairs:
            if role_of[name] != role:
                return f"{name} has two answers; give it one."
        for question, answer in self.answers:
            if answer is None and _applies(question, schema):
                *words, last = (each.words for each in question.answers)
                choices = f"{', '.join(words)} or {last}"
                return f"{question.variable} has no answer yet; choose one: {choices}."
        return ""


def _answered(
    session: Session, data: rwn.Microdata, asked: _Asked, given: _Given
) -> rwn.Microdata | None:
    """Return the table under its answers; nothing where one is missing or two contradict."""
    schema = given.of_roles(data.schema)
    if refusal := given.refusal(schema):
        st.warning(escaped(refusal))
        return None
    left = {*asked.left, "rows"}
    if asked.roles and (asked.official is None or given.official):
        left.add("roles")
    steps: dict[str, float] = {}
    for question, answer in given.answers:
        if answer is None or not _applies(question, schema):
            continue
        schema = schema.replace_variable(question.variable, **answer.changes)
        if answer.step is not None:
            steps[question.variable] = answer.step
        if not answer.changes:
            left.add(_name(question))
    if given.population:
        schema = replace(schema, population=int(given.population))
    elif asked.people is not None:
        left.add("population")
    changed = (
        data if schema == data.schema else without_missing_codes(data.with_schema(schema), schema)
    )
    if given.joins:
        changed = with_levels_joined(changed)
    st.session_state[f"data.left.{changed.fingerprint}"] = left
    session.round_as_asked(data.fingerprint, changed.fingerprint, steps)
    return changed


def _applies(question: OpenQuestion, schema: rwn.Schema) -> bool:
    """True if the question still has a sense: one about a weight, of the weight that was chosen."""
    weighs = schema.variable(question.variable).role is rwn.Role.SAMPLING_WEIGHT
    return weighs or question.kind != "masked weight"


def _name(question: OpenQuestion) -> tuple[str, str]:
    return question.variable, question.kind


def _found(data: rwn.Microdata, guesses: list[RoleGuess]) -> list[OpenQuestion]:
    """Find what is open where the guesses are right, so that one form asks all."""
    schema = with_roles(data.schema, guesses)
    return data.cached(("open questions", schema), lambda: open_questions(data.frame, schema))


def asks(data: rwn.Microdata, notice: str) -> bool:
    """True if a question repeats a notice."""
    asked = {question.variable for question in _found(data, [])}
    remedy = notice.endswith(
        ("set its role to identifier.", "missing_codes in a schema.", "give it that role.")
    )
    return remedy and any(notice.startswith(f"{name} ") for name in asked)


def _ask_one(data: rwn.Microdata, question: OpenQuestion, key: str) -> Answer | None:
    """The answer that is given, of which the proposed one is chosen at first."""
    words, choice = st.columns([9, 6], vertical_alignment="center")
    said = spoken_of(question.sentence, _noun_of(data), data.names)
    words.markdown(escaped(said))
    options = {answer.words: answer for answer in question.answers}
    chosen = choice.radio(
        escaped(said),
        list(options),
        None if question.proposed is None else question.answers.index(question.proposed),
        key=f"{key}.{question.variable}.{question.kind}",
        horizontal=True,
        label_visibility="collapsed",
    )
    if question.kind == "same look":  # cells of the table: on this screen and nowhere else
        pairs = pd.DataFrame(pairs_of_levels(data.frame[question.variable])[:_PAIRS])
        pairs.columns = ["level", "looks like", "records", "they differ in"]
        st.dataframe(pairs, lazy=False, hide_index=True, height="content")
    return None if chosen is None else options[chosen]


def _choose(place: Any, label: str, options: tuple[str, str], key: str) -> bool:
    chosen = place.radio(
        escaped(label), options, key=key, horizontal=True, label_visibility="collapsed"
    )
    return bool(chosen == options[0])


def _ask_for_last_rows(asked: _Asked, key: str) -> bool:
    """True if the last rows of the file, which are left out and shown, are records."""
    words, choice = st.columns([9, 6], vertical_alignment="center")
    which = "row of the file is left out: it looks"
    if asked.rows > 1:
        which = f"{asked.rows:,} rows of the file are left out: they look"
    said = f"The last {which} like a total, a note or a source."
    words.markdown(said)
    options = ("Right, leave out", "No, read as records")
    right = _choose(choice, said, options, f"{key}.rows")
    if asked.foot is not None:
        st.dataframe(asked.foot, lazy=False, height="content")
    return not right


def _ask_for_file(asked: _Asked, key: str) -> bool:
    """True if the table is the official file that it looks like: one answer gives all roles."""
    assert asked.official is not None
    words, choice = st.columns([9, 6], vertical_alignment="center")
    words.markdown(f"**{escaped(asked.official.sentence)}**")
    options = ("Give all of them their roles", "It is another file")
    yes = _choose(choice, asked.official.sentence, options, f"{key}.official")
    by_role: dict[str, list[str]] = {}
    for guess in asked.of_file:
        by_role.setdefault(str(guess.role), []).append(guess.variable)
    said = "; ".join(f"{role}: {', '.join(names)}" for role, names in by_role.items())
    st.caption(escaped(f"{said[:1].upper()}{said[1:]}. Asked next are the other variables."))
    return yes


def _ask_for_roles(data: rwn.Microdata, asked: _Asked, key: str) -> dict[rwn.Role, list[str]]:
    """Ask for the roles that the official file does not give."""
    names = [variable.name for variable in data.schema.released]
    given = {v.name: v.role for v in data.schema.released if v.role is not rwn.Role.OTHER}
    guesses = [guess for guess in asked.guesses if guess not in asked.of_file]
    known = given | {guess.variable: guess.role for guess in guesses}
    chosen = {}
    columns = st.columns(2)
    for place, role in enumerate(_roles_to_ask(asked, known.values())):
        column = columns[place % 2]
        picked = [name for name in names if known.get(name) is role]
        chosen[role] = _ask_for_role(column, role, names, picked, asked.noun, f"{key}.roles.{role}")
    if guesses:
        said = "; ".join(f"{guess.variable} ({guess.reason})" for guess in guesses)
        st.caption(escaped(f"Guessed, to be corrected: {said}."))
    return chosen


def _roles_to_ask(asked: _Asked, known: Collection[rwn.Role]) -> list[rwn.Role]:
    """Return the roles of the form: not those of which the official file gives the one variable."""
    hidden = {guess.role for guess in asked.of_file}.difference(_SEVERAL)  # a table has one each
    hidden |= {rwn.Role.IDENTIFIER, rwn.Role.PERSON}.difference(known)
    return [role for role in _SELECTED if role not in hidden]


def _ask_for_role(
    column: DeltaGenerator,
    role: rwn.Role,
    names: list[str],
    picked: list[str],
    noun: RecordNoun,
    key: str,
) -> list[str]:
    """Ask which variables have a role, of which those that are known are picked at first."""
    words, why = (spoken_of(said, noun) for said in _SELECTED[role])
    if role in _SEVERAL:
        several: list[str] = column.multiselect(words, names, picked, key=key, help=why)
        return several
    index = names.index(picked[0]) if picked else None
    one = column.selectbox(words, names, index, placeholder="No", key=key, help=why)
    return [] if one is None else [one]


def order_levels(session: Session) -> None:
    """Let the levels of the ordered variables be put in order, the lowest first."""
    ordered = [v for v in session.data.schema.released if v.kind is rwn.Kind.ORDERED]
    if not ordered:
        return
    with st.expander("Order of the levels of ordered variables"):
        for variable in ordered:
            levels = list(variable.levels or ())
            text = st.text_area(
                f"{escaped(variable.name)}: one level a line, the lowest first",
                "\n".join(levels),
                key=f"data.{session.table_version}.levels.{variable.name}",
            )
            wanted = [line.strip() for line in text.splitlines() if line.strip()]
            if wanted != levels:
                missing = set(levels).difference(wanted)
                if missing:
                    raise rwn.ParameterError(
                        f"The order of {variable.name} lacks {len(missing)} of its levels; name "
                        "each level once."
                    )
                schema = session.data.schema.replace_variable(variable.name, levels=tuple(wanted))
                describe_anew(session, session.data.with_schema(schema))
