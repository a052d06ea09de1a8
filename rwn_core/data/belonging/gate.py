"""The gate: no file leaves before it is said what its rows are, where they seem to belong together.

Two readers ask: what is still open, and whether the rows are an independent sample.
"""

from __future__ import annotations

from rwn_core.data.belonging import Finding, belonging
from rwn_core.data.microdata import Microdata
from rwn_core.data.rows import Belong
from rwn_core.data.units import unit_of
from rwn_core.data.variable import Role
from rwn_core.errors import ReleaseError

SHARED = 0.1  # of the records, from which on equal identifiers are those of one person
_BY_ROLE = {
    Role.HOUSEHOLD: (Belong.HOUSEHOLD, 0.0),
    Role.PERSON: (Belong.PERSON, 0.0),
    Role.IDENTIFIER: (Belong.CLUSTER, SHARED),
}
OTHERS = {
    Belong.PERSON: (Belong.PERSON, Belong.HOUSEHOLD),
    Belong.CLUSTER: (Belong.CLUSTER, Belong.HOUSEHOLD),
    Belong.SERIES: (Belong.SERIES,),
}
"""The answers that a finding proposes, besides separate rows."""


def open_findings(microdata: Microdata) -> tuple[Finding, ...]:
    """Return what was found of rows together, unless the schema says what they are.

    It says so of all rows, or by the role of a variable: a person or household that has several
    rows, a time of a series.
    """
    schema = microdata.schema
    if schema.rows is not None or unit_of(microdata) is not None:
        return ()
    timed = schema.name_with_role(Role.TIME) is not None
    found = [each for each in belonging(microdata).findings if not each.of_identity]
    return tuple(each for each in found if not (timed and each.of is Belong.SERIES))


def refuse_together(microdata: Microdata) -> None:
    """Refuse rows that seem to belong together, until the schema says what they are."""
    findings = open_findings(microdata)
    if not findings:
        return
    first, *others = findings
    refusal = ReleaseError(
        f"{first.sentence.rstrip('.')}; say what they are: {answer_words(first)} where each is a "
        "person of its own, independent of the others (in Python rows=, in a schema [rows])."
    )
    for each in others:
        refusal.add_note(each.sentence)
    raise refusal


def answer_words(finding: Finding) -> str:
    """Return the options of a command that answer a finding, in a list."""
    return f"{', '.join(_options(finding))}, or --rows-are separate"


def _options(finding: Finding) -> list[str]:
    """Return the options of a command that say which rows belong together."""
    if not finding.by:
        return ["--rows-are series", "--rows-are cluster", "--rows-are person=NAME"]
    names = ",".join(finding.by)
    # a number of people, which says nothing else, is left out of the release
    leaves = f" --drop {names}" if finding.only_numbers else ""
    return [f"--rows-are {of}={names}{leaves}" for of in OTHERS[finding.of]]


def dependence(microdata: Microdata) -> Belong | None:
    """Return what makes the rows no independent sample, as stated or as found; None if nothing."""
    schema = microdata.schema
    rows = schema.rows
    if rows is not None and rows.of is not Belong.SEPARATE:
        return rows.of
    if schema.name_with_role(Role.TIME) is not None:
        return Belong.SERIES
    for variable in schema.variables:
        of, most = _BY_ROLE.get(variable.role, (None, 1.0))
        if of is None or (rows is not None and variable.role is Role.IDENTIFIER):
            continue
        if _repeated(microdata, variable.name) > most:
            return of
    if rows is not None:
        return None
    return next(iter(belonging(microdata).kinds), None)


def _repeated(microdata: Microdata, name: str) -> float:
    """Return the share of the rows that share their value of a variable with others."""
    known = microdata.frame[name].dropna().astype(str)
    return float(known.duplicated(keep=False).mean()) if len(known) else 0.0
