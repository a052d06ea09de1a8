"""The internal record of a release: what was decided, what was made of it, and which file it is.

It stays in the house. It names no key, no donor and no value of a record; a seed is a key, so
only whether there was one is stated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from rwn_core.data.derived import broken_relations
from rwn_core.data.identity.gate import answers
from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.audit import Audit, audit
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.masking import Release
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import Reading
from rwn_core.parallel.threads import Progress
from rwn_core.reporting.context import Context, with_context
from rwn_core.reporting.decision import Decision, frozen_text, thawed
from rwn_core.reporting.evidence import REPORTED, evidence, kept_detail
from rwn_core.reporting.record_parts import (
    FORGOTTEN,
    KEPT,
    SEEDED,
    all_parameters,
    described_variables,
    judged_slopes,
    kernel_numbers,
    program_versions,
    shared_columns,
    slices_of_law,
    untouched_names,
    with_missing,
)
from rwn_core.tuning import USUAL, Policy, Setting, Verdict
from rwn_core.tuning.point import too_few
from rwn_core.tuning.verdict import RED_TEAM

FORMAT = "rwn internal record 2"
_NOTE = "INTERNAL: stays in the house. It says how a release was made, and goes with no copy of it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedFile:
    """Tell a written release apart from every other file.

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
    def of(  # words: public name
        cls,
        content: bytes,
        format: str,
        *,
        order: str = "shuffled",
        seeded: bool = False,
        kept: bool = False,  # words: public name
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
        return cls(
            format=format,
            order=order,
            key=SEEDED if seeded else key,
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """Hold the inputs of a record other than the release."""

    decision: Decision | None = None  # the decision that the release carries out
    # keys of the measures that are read on it, besides those of the policy
    measures: Sequence[str] = USUAL
    # the limits for the release; the usual ones by default
    policy: Policy = field(default_factory=Policy)
    # how to read the original again: "file", and where they were given "schema" and "dropped"
    source: Mapping[str, Any] = field(default_factory=dict)
    # its regressions are judged over further releases; the schema's question by default
    plan: AnalysisPlan | None = None
    # recipient, purpose, access and the other answers about the release
    context: Context = field(default_factory=Context)


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
    audited = read_measures(microdata, release, basis)
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
    document, shown, _ = record_and_evidence(microdata, release, file, basis, progress)
    return frozen_text(document), shown


def record_and_evidence(
    microdata: Microdata,
    release: Release,
    file: ReleasedFile,
    basis: Basis,
    progress: Progress | None,
) -> tuple[dict[str, Any], bytes, Audit]:
    """Return the record as plain data, the evidence that it names, and the readings of both."""
    audited = read_measures(microdata, release, basis, progress)
    shown = evidence(microdata, release, audited, release.id)
    document = record_document(microdata, release, file, basis, audited)
    document["evidence"] = {"sha256": hashlib.sha256(shown).hexdigest()}
    return document, shown, audited


def read_measures(
    microdata: Microdata, release: Release, basis: Basis, progress: Progress | None = None
) -> Audit:
    """Read the measures of a basis on a release, and try the simple attacks of the red team."""
    wanted = tuple(dict.fromkeys((*basis.policy.measures, *basis.measures, RED_TEAM)))
    return audit(microdata, release, measures=wanted, progress=progress)


def record_document(
    microdata: Microdata, release: Release, file: ReleasedFile, basis: Basis, audited: Audit
) -> dict[str, Any]:
    """The record as plain data."""
    setting = Setting(params=release.params, precision=release.precision).resolved(microdata)
    policy, few = basis.policy, too_few(release.params, microdata, release.masked)
    derived = broken_relations(microdata, release.masked, dict(release.precision))
    document: dict[str, Any] = {
        "format": FORMAT,
        "note": _NOTE,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "release": {"id": release.id},
        "table": {
            "fingerprint": microdata.fingerprint,
            "records": microdata.n,
            **described_variables(microdata.schema, release.params.masked_names(microdata)),
            "missing": with_missing(microdata),
            "keeps": release.params.invariants(microdata).rounded(dict(release.precision)).plain(),
            "untouched": untouched_names(microdata, release, audited),
            **shared_columns(microdata, release.masked),
            **({"derived": derived} if derived else {}),
        },
        "setting": {**setting.to_dict(), "parameters": all_parameters(release.params)},
        **kernel_numbers(release.params, microdata.n),
        "file": {
            **asdict(file),
            "key": SEEDED if release.seeded else file.key,
            "records": release.published("original").n,
            "slices": slices_of_law(release.law),
        },
        "readings": plain_readings(audited, microdata.n),
        "slopes": judged_slopes(microdata, release, basis.plan),
        "limit": policy.to_records(),
        "verdict": _verdict(policy.judge(audited.readings, released=few)),
        "program": program_versions(),
    }
    if file.sha256 in release.second_readings:
        document["file"]["second_reading"] = release.second_readings[file.sha256].plain()
    document["identity"] = _answers(microdata, release)
    if basis.source:
        document["source"] = dict(basis.source)
    if basis.decision is not None:
        document["decision"] = decided(basis.decision, setting, microdata)
    return with_context(document, basis.context) if basis.context.to_dict() else document


def _answers(microdata: Microdata, release: Release) -> list[dict[str, str]]:
    """Doubts about identity with their answers, of the publication or of the schema."""
    rows, given = answers(release.find_doubts(), microdata.schema), release.answers
    return [row | {"answer": given.get(row["variable"], row["answer"])} for row in rows]


def decided(decision: Decision, setting: Setting, microdata: Microdata) -> dict[str, Any]:
    """A decision as a record holds it, with whether a release of this setting follows it."""
    return {
        "hash": decision.hash,
        "followed": follows(decision, setting, microdata),
        "meeting": decision.to_dict(),
    }


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


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict of the limits on this release."""
    return {
        "kept": verdict.kept,
        "state": verdict.state,
        "words": verdict.sentence,
        "shares": dict(verdict.shares),
        "judged": {
            key: {"title": verdict.title(key), "value": value}
            for key, value in verdict.values.items()
        },
        "not_judged": dict(verdict.unread),
        "ends": {key: dict(each) for key, each in verdict.ends.items()},
    }


def follows(decision: Decision, setting: Setting, microdata: Microdata) -> bool:
    """True if the release is of the decided table and setting."""
    for scenario in decision.scenarios:
        if scenario.name == decision.chosen and scenario.setting is not None:
            same_table = scenario.table in ("", microdata.fingerprint)
            return same_table and scenario.setting.resolved(microdata).key == setting.key
    return False
