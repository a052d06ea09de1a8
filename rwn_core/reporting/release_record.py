"""The internal record of a release: what was decided, what was made of it, and which file it is.

It stays in the house. It names no key, no donor and no value of a record; a seed is a key, so
only whether there was one is stated.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from math import isnan
from typing import Any, cast

import numpy as np

from rwn_core._version import __version__
from rwn_core.data.arrays import Integers
from rwn_core.data.derived import broken_relations
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.identity.gate import answers
from rwn_core.data.microdata import Microdata
from rwn_core.data.noun_of_table import noun_of
from rwn_core.data.schema import Schema
from rwn_core.data.units import number_units, unit_of
from rwn_core.data.use import StatedRegression, Use
from rwn_core.data.variable import Role, checks_form
from rwn_core.errors import InputError
from rwn_core.evaluation.audit import Audit, changed_shares, untouched
from rwn_core.evaluation.control_group import audit_attacked
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.evaluation.valid_intervals import valid_intervals
from rwn_core.evaluation.validity import slope_trust
from rwn_core.io import format_of_key
from rwn_core.laws.law import Law
from rwn_core.masking import Release
from rwn_core.masking.method import Rounded
from rwn_core.measures import CHANGED, MEASURES, USE
from rwn_core.measures.measure import Reading, plain
from rwn_core.measures.utility.use_left import UseLeft, stated_left
from rwn_core.neighbors.soft_lists import list_length
from rwn_core.parallel.threads import Progress, current_work, work
from rwn_core.reporting import public_words as words
from rwn_core.reporting.context import Context, with_context
from rwn_core.reporting.evidence import REPORTED, evidence, kept_detail
from rwn_core.reporting.scenario import Decision, frozen_text, thawed
from rwn_core.tuning import USUAL, Policy, Setting
from rwn_core.tuning.point import Point, too_few
from rwn_core.tuning.several_draws import verdict_of, with_file, words_with_file
from rwn_core.tuning.verdict import State, Verdict

FORMAT = "rwn internal record 2"
NOTE = "INTERNAL: stays in the house. It says how a release was made, and goes with no copy of it."
OF_EACH_RECORD = "a value for each record"
KEPT = "a fresh 256-bit secret, kept in a key file"
FORGOTTEN = "a fresh 256-bit secret, forgotten"
SEEDED = "a seed, which is no secret"
_LIBRARIES = ("numpy", "pandas", "scipy", "pyarrow", "numba")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedFile:
    """The marks of a written release by which no other file is taken for it.

    Attributes
    ----------
    format : str
        Key of a file format, such as "csv" or "parquet".
    order : {"shuffled", "original"}
    key : str
        Where its randomness came from, in words.
    size : int
        In bytes.
    sha256 : str
    """

    format: str
    order: str
    key: str
    size: int
    sha256: str

    @classmethod
    def of(
        cls,
        content: bytes,
        format: str,
        *,
        order: str = "shuffled",
        seeded: bool = False,
        kept: bool = False,
    ) -> ReleasedFile:
        """The file of these bytes.

        Parameters
        ----------
        content : bytes
        format : str
            Key of a file format, such as "csv" or "parquet".
        order : {"shuffled", "original"}
        seeded : bool
            Whether a seed drew it that any intruder can try.
        kept : bool
            Whether its secret is kept in a file.
        """
        key = KEPT if kept else FORGOTTEN
        if seeded:
            key = SEEDED
        digest = hashlib.sha256(content).hexdigest()
        size = len(content)
        return cls(format=format, order=order, key=key, size=size, sha256=digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The inputs of a record other than the release."""

    decision: Decision | None = None  # the decision that the release carries out
    # keys of the measures that are read on it, besides those of the policy
    measures: Sequence[str] = USUAL
    # the limits for the release; the usual ones by default
    policy: Policy = field(default_factory=Policy)
    # how to read the original again: "file", and where they were given "schema" and "dropped"
    source: Mapping[str, Any] = field(default_factory=dict)
    # its regressions are judged over further releases; the schema's question by default
    plan: AnalysisPlan | None = None
    # further draws of the setting, with which the release is judged, where they are known
    draws: Point | None = None
    # recipient, purpose, access and the other answers about the release
    context: Context = field(default_factory=Context)


@checks_form
def internal_record(
    microdata: Microdata,
    release: Release,
    file: ReleasedFile,
    *,
    decision: Decision | None = None,
    measures: Sequence[str] = USUAL,
    policy: Policy | None = None,
) -> str:
    """Write the record of a release.

    Parameters
    ----------
    microdata : Microdata
        The original.
    release : Release
        Made of it.
    file : ReleasedFile
        What was written of the release.
    decision : Decision, optional
        The decision that it carries out.
    measures : sequence of str
        Keys of the measures that are read on it, besides those of the policy.
    policy : Policy, optional
        The limits for the release; the usual ones by default.

    Returns
    -------
    str
        TOML with its hash in the last line. `read_record` refuses it after a change.

    Raises
    ------
    ParameterError
        A measure is unknown.
    """
    basis = Basis(decision=decision, measures=measures, policy=policy or Policy())
    measures = (*basis.policy.measures, *basis.measures)
    audited = audit_attacked(microdata, release, measures)
    return frozen_text(record_document(microdata, release, file, basis, audited))


def internal_files(
    microdata: Microdata,
    release: Release,
    file: ReleasedFile,
    basis: Basis,
    progress: Progress | None = None,
) -> tuple[str, bytes]:
    """Write the record of a release and the evidence for its report."""
    basis = replace(basis, measures=(*basis.measures, *REPORTED))
    with work(progress=progress):
        document, shown, _ = record_and_evidence(microdata, release, file, basis)
    return frozen_text(document), shown


def record_and_evidence(
    microdata: Microdata, release: Release, file: ReleasedFile, basis: Basis
) -> tuple[dict[str, Any], bytes, Audit]:
    """Return the record as plain data, the evidence that it names, and the readings of both."""
    audited = audit_attacked(microdata, release, (*basis.policy.measures, *basis.measures))
    with current_work().quiet():  # the readings are most of it
        shown = evidence(audited, release.id)
        document = record_document(microdata, release, file, basis, audited)
    document["evidence"] = {"sha256": hashlib.sha256(shown).hexdigest()}
    return document, shown, audited


def record_document(
    microdata: Microdata, release: Release, file: ReleasedFile, basis: Basis, audited: Audit
) -> dict[str, Any]:
    """The record as plain data."""
    setting = Setting(params=release.params, precision=release.precision).resolved(microdata)
    policy = basis.policy
    few = too_few(release.params, microdata, release.masked)
    # the verdict on this release, and what of it changed
    own = policy.judge(audited.readings, released=few, params=release.params)
    draws = basis.draws
    verdict = with_file(None if draws is None else verdict_of(microdata, policy, draws), own)
    changed = audited.readings.get(CHANGED)
    shares = changed_shares(plain(changed.detail)) if isinstance(changed, Reading) else {}
    # slopes of registered regressions are judged over fresh releases, rounded like the file
    drawn: Any = release.params
    if release.precision:
        drawn = Rounded(params=drawn, precision=release.precision)
    document: dict[str, Any] = {
        **record_head(FORMAT, release.id, setting, microdata.n),
        "table": _table_part(microdata, release, shares),
        "file": _file_part(release, file),
        "intervals": valid_intervals(microdata, release.law, release.published("original").n),
        "readings": plain_readings(audited, microdata.n),
        "slopes": list(slope_trust(microdata, drawn, plan=basis.plan)),
        "limit": policy.to_records(),
        "verdict": _verdict_part(verdict, own),
    }
    # doubts about identity with their answers, of the publication or of the schema
    rows = answers(release.find_doubts(), microdata.schema)
    given = release.answers
    document["identity"] = [
        row | {"answer": given.get(row["variable"], row["answer"])} for row in rows
    ]
    if basis.source:
        document["source"] = dict(basis.source)
    if basis.decision is not None:
        document["decision"] = decided(basis.decision, setting, microdata)
    return with_context(document, basis.context) if basis.context.to_dict() else document


def _table_part(
    microdata: Microdata, release: Release, shares: Mapping[str, float]
) -> dict[str, Any]:
    """Describe the table, and what every release and this one keep of it."""
    shown = [each.name for each in microdata.schema.released]
    unit = unit_of(microdata)
    steps = dict(release.precision)
    part = {
        "fingerprint": microdata.fingerprint,
        "records": microdata.n,
        "unit": unit.words if unit else "records",
        **described_variables(microdata.schema, release.params.masked_names(microdata)),
        "missing": [name for name in shown if microdata.frame[name].isna().any()],
        "keeps": release.params.invariants(microdata).rounded(steps).plain(),
        "untouched": untouched(microdata, release.params, shares),
        **shared_columns(microdata, release.masked),
    }
    derived = broken_relations(microdata, release.masked, steps)
    if derived:
        part["derived"] = derived
    return part | _predicted(release.law)


def _file_part(release: Release, file: ReleasedFile) -> dict[str, Any]:
    """Describe the file, and how a text has its fields and numbers, where it is not as usual."""
    units = [] if release.law is None else release.law.units()
    part = {
        **asdict(file),
        "key": SEEDED if release.seeded else file.key,
        "records": release.published("original").n,
        "slices": [list(unit) for unit in units if len(unit) > 1],  # what one donor gives together
    }
    layout = release.masked.schema.file or FileLayout()
    repeated = format_of_key(file.format).marks
    marks = {each: v for each, v in layout.changed().items() if each in repeated - {"dates"}}
    if marks:
        part["marks"] = marks
    if file.sha256 in release.second_readings:
        part["second_reading"] = release.second_readings[file.sha256].plain()
    return part


def _verdict_part(verdict: Verdict, own: Verdict) -> dict[str, Any]:
    """Describe the verdict on one more release and on the file."""
    standings = verdict.standings
    return {
        "kept": verdict.kept,
        "state": verdict.state,
        "words": words_with_file(verdict, own),
        "draws": verdict.draws,
        "shares": dict(verdict.shares),
        "judged": {
            key: {"title": verdict.title(key), "value": value, "standing": standings[key]}
            for key, value in verdict.values.items()
        },
        "not_judged": dict(verdict.unread),
        "ends": {k: dict(each.ends) for k, each in verdict.bounds.items() if each.ends},
    }


def _predicted(law: Law | None) -> dict[str, Any]:
    """What is said of slices that were drawn by prediction; nothing where none was."""
    # never coefficients, scores or weights
    said = [
        {
            "names": list(each.names),
            "regressors": list(each.regressors),
            "terms": list(each.terms),
            "later": each.later,
            **({} if isnan(each.kept) else {"kept": round(min(each.kept, 1.0), 2)}),
        }
        for each in (() if law is None else law.predicted)
    ]
    return {"predicted": said} if said else {}


def decided(decision: Decision, setting: Setting, microdata: Microdata) -> dict[str, Any]:
    """A decision as a record holds it, with whether a release of this setting follows it."""
    followed = follows(decision, setting, microdata)
    return {"hash": decision.hash, "followed": followed, "meeting": decision.to_dict()}


def read_record(text: str) -> dict[str, Any]:
    """Read what `internal_record` wrote, as plain data."""
    return thawed(text, "internal record", FORMAT)


def plain_readings(audited: Audit, n: int) -> dict[str, dict[str, Any]]:
    """Return the readings of this release; a measure without an answer has its reason."""
    result: dict[str, dict[str, Any]] = {}
    for key, reading in audited.readings.items():
        if not isinstance(reading, Reading):
            result[key] = {"not_applicable": reading.reason}
            continue
        measure = MEASURES[key]
        result[key] = {
            "value": reading.value,
            "baseline": reading.baseline,
            "title": measure.reading_title(reading),
            "words": measure.sentence(reading, n) if measure.sentence else None,
            "interval": list(reading.interval) if reading.interval else None,
            **kept_detail(key, reading),
        }
    return result


def follows(decision: Decision, setting: Setting, microdata: Microdata) -> bool:
    """True if the release is of the decided table and setting."""
    for scenario in decision.scenarios:
        if scenario.name == decision.chosen and scenario.setting is not None:
            same_table = scenario.table in ("", microdata.fingerprint)
            return same_table and scenario.setting.resolved(microdata).key == setting.key
    return False


def require_original(record: Mapping[str, Any], original: Microdata) -> None:
    """Refuse a table that the record was not made of."""
    if original.fingerprint != record["table"].get("fingerprint"):
        raise InputError(
            "The original is not the table that the record was made of; give the file that was "
            "masked, described in the same way."
        )


def recorded_state(verdict: Mapping[str, Any]) -> State:
    """Return the state of a record's verdict, also where a version before stated no state."""
    if "state" in verdict:
        return cast(State, verdict["state"])
    if not verdict.get("shares"):  # of which no share was written
        return "kept" if verdict["kept"] else "not judged"
    read = Verdict(shares=verdict["shares"], unread=verdict.get("not_judged", {})).state
    return "not judged" if read == "kept" and not verdict["kept"] else read


def recorded_left(record: Mapping[str, Any]) -> UseLeft | None:
    """Return what a record says is left of the use; None where it was not read."""
    reading = record["readings"].get(USE, {})
    if not reading.get("shares"):
        return None
    parts = dict(reading["shares"])
    if reading.get("worst_slope") is not None:
        parts["worst_slope"] = reading["worst_slope"]
    regressions = tuple(StatedRegression(formula=each) for each in reading["regressions"])
    use = Use(confidential=tuple(reading["confidential"]), regressions=regressions)
    return stated_left(use, parts)


def described_variables(schema: Schema, masked: Collection[str] | None = None) -> dict[str, Any]:
    """The variables of a table, and those that its release leaves out."""
    spared = [v.name for v in schema.released if v.masked and v.name not in (masked or ())]
    return {
        "variables": [variable.name for variable in schema.released],
        "kinds": [str(variable.kind) for variable in schema.released],
        "roles": [str(variable.role) for variable in schema.released],
        "not_masked": [variable.name for variable in schema.released if not variable.masked],
        "left_alone": [] if masked is None else spared,
        "removed": [v.name for v in schema.variables if v not in schema.released],
        **({} if schema.record is None else {"record": str(noun_of(schema))}),
    }


def shared_words(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Say which variables are one value in each household or person, and whether they stay so."""
    units = {"household": words.HOUSEHOLD, "person": words.PERSON}
    return tuple(
        units[unit][what].format(names=", ".join(names))
        for unit in units
        for what, names in table.get(unit, {}).items()
        if names
    )


def shared_columns(microdata: Microdata, masked: Microdata) -> dict[str, Any]:
    """Return the variables that are one value in each household or person, by what they stay."""
    found: dict[str, Any] = {}
    for role in (Role.HOUSEHOLD, Role.PERSON):
        name = microdata.schema.name_with_role(role)
        units = None if name is None else number_units(microdata.codes(name)[0])
        # each record may be a unit of its own
        if units is None or masked.n != microdata.n or len(np.unique(units)) == len(units):
            continue

        def is_one(table: Microdata, column: str, units: Integers = units) -> bool:
            by_unit = table.frame[column].groupby(units, observed=True)
            return int(by_unit.nunique(dropna=False).max()) == 1

        shared = [v.name for v in microdata.schema.released if is_one(microdata, v.name)]
        same = [each for each in shared if is_one(masked, each)]
        found[str(role)] = {"kept": same, "split": [each for each in shared if each not in same]}
    return found


def record_head(format: str, id: str, setting: Setting, n: int) -> dict[str, Any]:
    """Return what every record says first: the release, its setting, and the program."""
    # all parameters that are set, the usual ones, too; versions of Python and of the libraries
    known = {each.name: getattr(setting.params, each.name) for each in fields(setting.params)}
    parameters = {name: _plain_data(value) for name, value in known.items() if value is not None}
    program = {"rwn": __version__, "python": platform.python_version()}
    # the numbers of a soft kernel that its parameters leave open
    ball = getattr(setting.params, "ball", None)
    numbers = {}
    if ball is not None and not ball.kernel.has_edge:
        cap = float(ball.kernel.cap)
        rank = int(ball.kernel.bandwidth_k)
        listed = n if ball.kernel.weighs_all else list_length(n, ball.kernel.bandwidth_k)
        numbers = {"kernel": {"bandwidth_k": rank, "cap": cap, "listed": listed}}
    return {
        "format": format,
        "note": NOTE,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "release": {"id": id},
        "setting": {**setting.to_dict(), "parameters": parameters},
        "program": program | {name: version(name) for name in _LIBRARIES},
        **numbers,
    }


def _plain_data(node: object) -> Any:
    """Plain data; a radius for each record, say, is only named."""
    if isinstance(node, tuple | list):
        return [_plain_data(each) for each in node]
    return node if isinstance(node, bool | int | float | str) else OF_EACH_RECORD
