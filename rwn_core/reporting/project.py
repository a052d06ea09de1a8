"""A project: all that was chosen for a table, as a file that holds none of its records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from rwn_core.data.edit_rules import as_edit_rules
from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import read_plain, toml_text
from rwn_core.data.record_noun import RecordNoun
from rwn_core.data.schema import Question, Schema
from rwn_core.data.use import Use
from rwn_core.data.variable import Kind, Role
from rwn_core.errors import InputError, RWNError
from rwn_core.reporting.context import Context
from rwn_core.reporting.scenario import Decision, Scenario, in_file, read_toml

FORMAT = "rwn project 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """The description of a variable without its levels, which are data."""

    name: str
    kind: Kind
    role: Role
    masked: bool = True
    group: str = ""  # empty where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A user's choices for a table."""

    file_format: ClassVar[str] = FORMAT
    table: str  # its fingerprint
    saved: str  # the day, as ISO 8601
    variables: tuple[Described, ...] = field(metadata={"in_file": "variable"})
    edit_rules: tuple[str, ...] = ()  # what holds of every believable record
    population: int | None = None  # how many people the table is a sample of
    record: RecordNoun | None = None  # what a record is, where it was stated
    # the setting with its weights, rounding and slices; seed, limits, registered analyses, sweep
    present: Scenario
    scenarios: tuple[Scenario, ...] = field(default=(), metadata={"in_file": "scenario"})
    decisions: tuple[Decision, ...] = field(default=(), metadata={"in_file": "decision"})
    context: Context = field(default_factory=Context)  # of its releases
    question: Question | None = None  # the regression to keep
    use: Use | None = None  # what the file is for, where it was stated

    @classmethod
    def from_table(cls, microdata: Microdata, present: Scenario, saved: str) -> Project:
        """A project of a table, without scenarios and decisions."""
        schema = microdata.schema
        variables = tuple(
            Described(name=v.name, kind=v.kind, role=v.role, masked=v.masked, group=v.group or "")
            for v in schema.variables
        )
        return cls(
            table=microdata.fingerprint,
            saved=saved,
            variables=variables,
            question=schema.question,
            use=schema.use,
            edit_rules=tuple(rule.text for rule in schema.edit_rules),
            population=schema.population,
            record=schema.record,
            present=present,
        )

    def describe(self, microdata: Microdata) -> Schema:
        """The table's schema as the project has it."""
        # Levels are the table's own. A variable without an order in the table keeps its kind:
        # a guessed order would be another one.
        said = {each.name: each for each in self.variables}
        if microdata.fingerprint != self.table or said.keys() != set(microdata.names):
            raise InputError("The project is of another table; open the one that it was saved of.")
        changed = []
        for variable in microdata.schema.variables:
            each = said[variable.name]
            unknown = each.kind == Kind.ORDERED and variable.kind != Kind.ORDERED
            kind = variable.kind if unknown else each.kind
            levels = variable.levels if kind == variable.kind else None
            one = replace(variable, kind=kind, levels=levels, role=each.role)
            changed.append(replace(one, masked=each.masked, group=each.group or None))
        return replace(
            microdata.schema,
            variables=tuple(changed),
            question=self.question,
            use=self.use,
            edit_rules=as_edit_rules(self.edit_rules),
            population=self.population,
            record=self.record,
        )

    def to_toml(self) -> str:
        """The file's text; the same for the same project."""
        document = {"format": FORMAT, **in_file(self)}
        return toml_text({name: value for name, value in document.items() if value not in ([], {})})

    @classmethod
    def from_toml(cls, text: str) -> Project:
        """Read what `to_toml` wrote."""
        document = read_toml(text, "project", FORMAT)
        try:
            project: Project = read_plain(cls, document, "project")
        except RWNError as refusal:
            raise InputError(f"The project file cannot be used. {refusal}") from None
        return project
