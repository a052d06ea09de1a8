"""A schema: what every column of a table is, in their order, and which travel together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, pairwise
from typing import Any, ClassVar

from rwn_core.data.edit_rules import EditRule, as_edit_rules
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.plain import read_plain, toml_document, toml_text
from rwn_core.data.record_noun import RecordNoun, as_record_noun
from rwn_core.data.regression import Question
from rwn_core.data.rows import Rows
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.use import Use
from rwn_core.data.variable import (
    NUMBERS,
    Kind,
    NamedParameters,
    Role,
    Variable,
    check_forms,
    refuse_repeats,
)
from rwn_core.errors import ParameterError, SchemaError

Slices = tuple[tuple[str, ...], ...]
"""Sets of two or more variables that share a donor; every other variable has its own."""

_NAMED = 2  # variables of a long slice that are named in a short line
_LONG = 4
_COUNTS = ("one", "two", "three")  # variables; their values nearly always name one person


def as_slices(slices: Iterable[Sequence[str]]) -> Slices:
    """Sort slices by name, so that the same partition is always written in the same way.

    >>> as_slices([["weight", "age"], ["b", "a"]])
    (('a', 'b'), ('age', 'weight'))
    """
    given = [*slices] if isinstance(slices, Iterable) and not isinstance(slices, str) else [slices]
    lists = all(isinstance(each, Sequence) and not isinstance(each, str) for each in given)
    if not lists or not all(isinstance(name, str) for name in chain.from_iterable(given)):
        raise ParameterError(
            'Slices must be lists of names of variables, such as [["age", "weight"]].'
        )
    made = [tuple(sorted(each)) for each in given]
    if any(len(each) < 2 for each in made):
        raise ParameterError(
            "A slice must have two variables or more; one that stands alone needs no slice."
        )
    names = sorted(chain.from_iterable(made))
    twice = next((one for one, two in pairwise(names) if one == two), None)
    if twice is not None:
        raise ParameterError(f"The slices name the variable {twice} twice; name it once.")
    return tuple(sorted(made))


def slices_words(slices: Slices, *, short: bool = False) -> str:
    """Say which variables travel together; empty where each stands alone.

    >>> slices_words((("age", "weight"), ("a", "b", "c", "d", "e")), short=True)
    'age + weight travel together, a + b + 3 more travel together'
    """
    return ", ".join(f"{slice_words(each, short=short)} travel together" for each in slices)


def verbatim_words(slices: Slices) -> list[str]:
    """Describe the values that a row shows of one respondent, a sentence for each slice.

    >>> verbatim_words((("age", "weight"),))[0].split("; ")[0]
    'A row shows age and weight of one person verbatim'
    """
    sentences = []
    for names in slices:
        known = min(len(names) - 1, len(_COUNTS))
        others = "other" if len(names) - known == 1 else "others"
        first = names[:-1] if len(names) <= _LONG else names[:_NAMED]
        last = names[-1] if len(names) <= _LONG else f"{len(names) - _NAMED} more"
        sentences.append(
            f"A row shows {', '.join(first)} and {last} of one person verbatim; who knows "
            f"{_COUNTS[known - 1]} of them may read the {others}."
        )
    return sentences


def slice_words(names: Sequence[str], *, short: bool = False) -> str:
    """The variables of one slice; of many the first ones only, where `short` asks for it."""
    if short and len(names) > _LONG:
        return f"{' + '.join(names[:_NAMED])} + {len(names) - _NAMED} more"
    return " + ".join(names)


__all__ = ["Kind", "Question", "Role", "Schema", "Variable"]


_WRITTEN = (
    "weight",
    "group",
    "masked",
    "levels",
    "label",
    "decimals",
    "notation",
    "value_labels",
    "missing_codes",
)
_FIELDS = ("name", "kind", "role", *_WRITTEN)
_TABLES = {"variable", "question", "use", "file", "edit_rules", "population", "rows", "record"}
_USUAL = {field.name: field.default for field in fields(Variable)}


def _slices_of_groups(released: Sequence[Variable]) -> Slices:
    """Return the slices of a table: masked variables of one group, if there are several."""
    groups = dict[str, list[str]]()
    for v in released:
        if v.group is not None and v.masked:
            groups.setdefault(v.group, []).append(v.name)
    shared = [names for names in groups.values() if len(names) > 1]
    return as_slices(shared) if shared else ()


def _variable_of(entry: object) -> Variable:
    """Return the variable that one [[variable]] table of a schema file describes."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or "kind" not in entry:
        raise SchemaError("Every [[variable]] of the schema file needs a name and a kind.")
    odd = sorted(set(entry) - set(_FIELDS))
    if odd:
        raise SchemaError(
            f"Variable {entry['name']} of the schema file has the unknown field {odd[0]}; "
            f"known are {', '.join(_FIELDS)}."
        )
    described = dict(entry)
    if isinstance(entry.get("levels"), list):
        described["levels"] = [str(level) for level in entry["levels"]]
    # a person wrote the role: nothing asks whether the variable identifies people
    return Variable(**described, confirmed=entry.get("role") == Role.OTHER)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Schema(NamedParameters, Summarized):
    """All variables of a table, in the order of its columns, with the regression to keep.

    Parameters
    ----------
    variables : tuple of Variable
    question : Question, optional
    file : FileLayout, optional
        How the table lies in its file, where the user had to say so.
    edit_rules : tuple of EditRule
        What holds of every believable record; texts are read (`rwn_core.data.edit_rules`).
    population : int, optional
        How many people the table is a sample of, where no sampling weight counts them.
    use : Use, optional
        What the file is for, where it is stated; the usual use otherwise.
    rows : Rows, optional
        What the rows are, where it is stated: separate people, or rows that belong together.
    record : {"person", "household", "firm", "school", "visit"}, optional
        What a record is, in whose noun pages, notices and reports speak; a person if left out.

    Attributes
    ----------
    names : tuple of str
        Of the columns, in order.
    released : tuple of Variable
        Those that a release holds: all but direct identifiers and households.
    numeric_names : tuple of str
        The continuous and count variables of these.
    by_name : mapping of str to Variable
    slices : tuple of tuple of str
        The masked variables of a release that share a donor, two or more each, sorted.

    Raises
    ------
    SchemaError
        A name occurs twice, the question, the use, the rows or an edit rule names an unknown
        variable, or the population is no number of people.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> schema = rwn.load_demo("bodyfat").schema
    >>> [variable.name for variable in schema.variables if variable.role == rwn.Role.KEY]
    ['age', 'weight', 'height']
    """

    checks_itself: ClassVar[bool] = True
    variables: tuple[Variable, ...]
    question: Question | None = None
    file: FileLayout | None = None
    edit_rules: tuple[EditRule, ...] = ()
    population: int | None = None
    use: Use | None = None
    rows: Rows | None = None
    record: RecordNoun | None = None
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    released: tuple[Variable, ...] = field(init=False, repr=False, compare=False)
    numeric_names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    by_name: Mapping[str, Variable] = field(init=False, repr=False, compare=False)
    slices: Slices = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def _summary(self) -> Summary:
        return Summary(
            title=f"Schema({len(self.variables)} variables)",
            columns=("variable", "kind", "role", "weight", "masked"),
            rows=[
                (v.name, v.kind.value, v.role.value, f"{v.weight:g}", "yes" if v.masked else "no")
                for v in self.variables
            ],
        )

    def __post_init__(self) -> None:
        """Check names against each other."""
        check_forms({"variables": self.variables}, {"variables": Sequence[Variable]})
        variables = tuple(self.variables)
        names = [v.name for v in variables]
        refuse_repeats(names, "in the schema")
        released = tuple([v for v in variables if v.is_released])
        for name, value in {
            "variables": variables,
            "names": tuple(names),
            "released": released,
            "numeric_names": tuple([v.name for v in released if v.kind in NUMBERS]),
            "by_name": dict(zip(names, variables, strict=True)),
            "slices": _slices_of_groups(released),
            "edit_rules": as_edit_rules(self.edit_rules),
            "record": as_record_noun(self.record),
            "_hash": hash(tuple([v.weight for v in variables])),
        }.items():
            object.__setattr__(self, name, value)
        self._refuse_mixed_groups()
        self._refuse_second_roles()
        self._refuse_odd_rules()
        number = self.population
        if number is not None and (type(number) is not int or number < 1):
            raise SchemaError("The population of a schema must be a whole number of people.")
        self._refuse_unknown_names()

    def _refuse_mixed_groups(self) -> None:
        """Refuse a group of which some variables are masked and others are not."""
        masked: dict[str, bool] = {}
        for v in self.variables:
            if v.group is not None and masked.setdefault(v.group, v.masked) != v.masked:
                raise SchemaError(
                    f"Group {v.group} has masked and unmasked variables; mask all of them or none."
                )

    def _refuse_second_roles(self) -> None:
        """Refuse two variables of a role that a table has once."""
        for role in (Role.SAMPLING_WEIGHT, Role.HOUSEHOLD):
            both = [v.name for v in self.variables if v.role is role]
            if len(both) > 1:
                raise SchemaError(
                    f"Variables {both[0]} and {both[1]} both have the role {role}; a table has "
                    "one, so give the other another role."
                )

    def _refuse_odd_rules(self) -> None:
        """Refuse an edit rule of what no release has."""
        shown = {v.name for v in self.released}
        for rule in self.edit_rules:
            for name in rule.names:
                if name not in shown:
                    lacks = "a release" if name in self.names else "the table"
                    raise SchemaError(
                        f"The edit rule {rule.text} names the column {name}, which {lacks} does "
                        "not have; correct its name or take the rule out."
                    )

    def _refuse_unknown_names(self) -> None:
        """Refuse a regression, a use or rows that name what the table does not have."""
        asked = self.question
        named = () if asked is None else (asked.response, *asked.predictors)
        used = () if self.use is None else self.use.names
        by = () if self.rows is None else self.rows.by
        stated = (("regression", named), ("use of the file", used), ("statement of rows", by))
        for what, names in stated:
            if odd := [name for name in names if name not in self.names]:
                raise SchemaError(
                    f"The {what} names the variable {odd[0]}, which the table does not have; "
                    "choose one of its columns."
                )

    def __hash__(self) -> int:
        """Hash the weights alone, which tell most schemas of a table apart."""
        return self._hash

    def name_with_role(self, role: Role) -> str | None:
        """The first variable of a role, None without any."""
        return next((v.name for v in self.variables if v.role is role), None)

    def require_columns(self, names: Sequence[str]) -> None:
        """Refuse a table that lacks a variable.

        Raises
        ------
        SchemaError
        """
        there = set(names)
        lacking = next((name for name in self.names if name not in there), None)
        if lacking is not None:
            raise SchemaError(
                f"The schema has a variable {lacking} that the table lacks; take it out."
            )

    def require_names(self, names: Sequence[str]) -> None:
        """Refuse a table unless its columns are these variables in this order.

        Raises
        ------
        SchemaError
        """
        if lacking := [name for name in names if name not in self.by_name]:
            raise SchemaError(f"The schema lacks column {lacking[0]}; add it as a variable.")
        self.require_columns(names)
        if self.names != tuple(names):
            raise SchemaError(
                "The schema has the variables in another order than the table; reorder them."
            )

    def variable(self, name: str) -> Variable:
        """The variable of this name."""
        if name in self.by_name:
            return self.by_name[name]
        raise SchemaError(f"There is no variable {name}; the table has: {', '.join(self.names)}.")

    def called(self, name: str) -> str:
        """Name a variable for people: with its label, where it has one."""
        label = self.variable(name).label
        return f"{name} · {label}" if label else name

    def replace_variable(self, name: str, **changes: object) -> Schema:
        """This schema with some fields of one variable changed."""
        return self.replace_variables({name: changes})

    def replace_variables(self, changes: Mapping[str, Mapping[str, Any]]) -> Schema:
        """This schema with some fields of these variables changed."""
        changed = {name: replace(self.variable(name), **each) for name, each in changes.items()}
        return replace(self, variables=tuple({**self.by_name, **changed}.values()))

    def asking(self, response: str | None, predictors: str | Sequence[str] = ()) -> Schema:
        """This schema with a regression to keep; without predictors, on all other numbers.

        Raises
        ------
        SchemaError
        """
        if response is None:
            if predictors:
                raise SchemaError("A regression with predictors needs a response, too; name it.")
            return self
        names = [predictors] if isinstance(predictors, str) else [*predictors]
        names = names or [name for name in self.numeric_names if name != response]
        return replace(self, question=Question(response=response, predictors=tuple(names)))

    def used_for(self, use: Use | None) -> Schema:
        """This schema with another stated use of the file; the usual one for None.

        Raises
        ------
        SchemaError
            The use names a variable that the table does not have.
        """
        return replace(self, use=use)

    def with_rows(self, rows: Rows | str | None) -> Schema:
        """This schema with another statement of what the rows are, such as "person=height".

        Raises
        ------
        SchemaError
            There is no such kind of rows, or they name a variable that the table does not have.
        """
        return replace(self, rows=Rows.from_text(rows) if isinstance(rows, str) else rows)

    def with_weights(self, weights: Mapping[str | int, float] | Mapping[str, float]) -> Schema:
        """This schema with other weights of variables, by name or by number from 1."""
        if not isinstance(weights, Mapping):
            raise ParameterError('Weights must be a dict of numbers by names, such as {"age": 2}.')
        # a number counts only in a table without names that are numbers
        names = [each.name for each in self.released]
        named = any(map(str.isdecimal, self.names))
        changes = {}
        for name, weight in weights.items():
            text = str(name)
            if text.isdecimal() and not named:
                if not 1 <= int(text) <= len(names):
                    raise SchemaError(f"A variable's number must be from 1 to {len(names)}.")
                text = names[int(text) - 1]
            changes[text] = {"weight": weight}
        return self.replace_variables(changes)

    def releasing(self, names: Sequence[str]) -> Schema:
        """This schema with these variables in a release, and every other one left out of it.

        Raises
        ------
        SchemaError
            A name is not of the table.
        """
        chosen = {self.variable(name).name for name in names}

        def described(variable: Variable) -> Variable:
            if variable.name in chosen:
                out = variable.role is Role.IDENTIFIER
                return replace(variable, role=Role.OTHER) if out else variable
            left_out = Role.IDENTIFIER if variable.is_released else variable.role
            return replace(variable, role=left_out, group=None)

        asked = self.question
        complete = asked is not None and {asked.response, *asked.predictors} <= chosen
        return replace(
            self,
            variables=tuple(map(described, self.variables)),
            question=asked if complete else None,
            use=None if self.use is None else self.use.of_variables(chosen),
            edit_rules=tuple(rule for rule in self.edit_rules if set(rule.names) <= chosen),
        )

    def with_slices(self, slices: Iterable[Sequence[str]]) -> Schema:
        """This schema with exactly these variables sharing donors, and every other one alone.

        Raises
        ------
        ParameterError
            A slice is refused, or names no masked variable of the release.
        """
        wanted = as_slices(slices)
        free = [variable.name for variable in self.released if variable.masked]
        if odd := [name for name in chain.from_iterable(wanted) if name not in free]:
            raise ParameterError(
                f"The slices name {odd[0]}, which is no masked variable of the release; choose "
                f"from: {', '.join(free)}."
            )
        if wanted == self.slices:
            return self
        group_of: dict[str, str] = {}
        for names in wanted:
            group_of |= dict.fromkeys(names, "+".join(names))
        variables = tuple(replace(v, group=group_of.get(v.name)) for v in self.variables)
        return replace(self, variables=variables)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read the TOML form: ``[[variable]]`` and other tables, as `to_toml` writes them."""
        return cls.from_dict(toml_document(text, "schema file", SchemaError))

    def to_toml(self) -> str:
        """Write the TOML form that `from_toml` reads."""
        return toml_text(self.to_dict())

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Schema:
        """Read what `to_dict` made; one with a [file] table alone has no variables."""
        unknown = set(document) - _TABLES
        if unknown:
            raise SchemaError(f"The schema file has the unknown table {sorted(unknown)[0]}.")
        entries = [] if set(document) == {"file"} else document.get("variable")
        if not isinstance(entries, list) or not (entries or set(document) == {"file"}):
            raise SchemaError("The schema file has no [[variable]] table; add one a column.")
        file = document.get("file")
        question = document.get("question")
        if question is not None:
            question = read_plain(
                Question, question, "schema file", path="question", refusal=SchemaError
            )
        use = document.get("use")
        if use is not None:
            use = read_plain(Use, use, "schema file", path="use", refusal=SchemaError)
        rows = document.get("rows")
        return cls(
            variables=tuple(map(_variable_of, entries)),
            question=question,
            file=None if file is None else FileLayout.from_dict(file),
            edit_rules=as_edit_rules(document.get("edit_rules", ())),
            population=document.get("population"),
            use=use,
            rows=None if rows is None else Rows.from_dict(rows),
            record=document.get("record"),
        )

    def _of_records(self) -> dict[str, Any]:
        """Return what is stated of all records: what each is, and of how many people."""
        stated: dict[str, Any] = {}
        if self.population is not None:
            stated["population"] = self.population
        if self.record is not None:
            stated["record"] = str(self.record)
        return stated

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: texts, numbers, truth values, lists and mappings."""
        document: dict[str, Any] = self._of_records()
        # of each variable the fields that are not the usual ones
        for variable in self.variables:
            changed: dict[str, Any] = {"name": variable.name, "kind": str(variable.kind)}
            if variable.is_answered:  # a role in a file is an answer
                changed["role"] = str(variable.role)
            for name in _WRITTEN:
                value = getattr(variable, name)
                if value != _USUAL[name]:
                    changed[name] = list(value) if isinstance(value, tuple) else value
            if variable.value_labels:
                changed["value_labels"] = [list(pair) for pair in variable.value_labels]
            document.setdefault("variable", []).append(changed)
        if self.edit_rules:
            document["edit_rules"] = [rule.text for rule in self.edit_rules]
        if self.question is not None:
            predictors = list(self.question.predictors)
            document["question"] = {"response": self.question.response, "predictors": predictors}
        if self.use is not None:
            document["use"] = self.use.to_dict()
        if self.rows is not None:
            document["rows"] = self.rows.to_dict()
        if self.file is not None and self.file.changed():
            document["file"] = self.file.changed()
        return document
