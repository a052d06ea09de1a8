"""Draw a release to publish, and judge that very file by the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.data.open_questions import require_answers
from rwn_core.datasets.key_file import fresh_key
from rwn_core.errors import ReleaseError
from rwn_core.evaluation.audit import untouched_words
from rwn_core.evaluation.control_group import audit_attacked
from rwn_core.evaluation.registered_analysis import AnalysisPlan
from rwn_core.io.write import write_atomically
from rwn_core.masking import Method, Release, mask
from rwn_core.masking.second_reading import second_reading
from rwn_core.parallel.threads import Progress, work
from rwn_core.reporting.context import Context, with_context
from rwn_core.reporting.evidence import REPORTED
from rwn_core.reporting.ledger import refuse_readable
from rwn_core.reporting.release_record import Basis, ReleasedFile, decided, record_and_evidence
from rwn_core.reporting.scenario import Decision, frozen_text
from rwn_core.tuning import USUAL, Policy, Setting, Verdict
from rwn_core.tuning.point import Point, too_few
from rwn_core.tuning.several_draws import kept_draws, read_draws, verdict_of, with_file

_SHARES = (0.1, 0.35)
"""Of the work: masking, then further releases of the setting; the rest is reading the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """The person responsible for a release, and the reason to publish it."""

    by: str  # a person's name
    reason: str = ""  # needed where the release does not keep its policy or follows no decision
    decision: Decision | None = None  # of a meeting, which the release carries out
    # of the release; the reports say which of its answers are not stated
    context: Context = field(default_factory=Context)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedRelease:
    """A file with its readings. Its donors and law are forgotten, as is its key."""

    id: str  # the release's random number, 128 bits in hex
    content: bytes = field(repr=False)  # the file as it may leave the house, rows in secret order
    format: str  # key of its format
    # its internal record, before a person was responsible for it
    document: dict[str, Any] = field(repr=False)
    # charts and the riskiest combinations of keys; holds values of the original
    evidence: bytes = field(repr=False)
    setting: Setting
    own: Verdict  # what the policy says of this file
    # further draws of the setting, where they were read
    draws: Point | None = None
    # what the policy says of the file and of one more release of its setting
    verdict: Verdict = field(default_factory=lambda: Verdict(shares={}, unread={}))
    further: tuple[bool, ...] = ()  # whether each of those draws keeps the policy
    # how many texts of a variable begin as a formula and got an apostrophe
    guarded: Mapping[str, int] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """SHA-256 of the file."""
        return str(self.document["file"]["sha256"])

    @property
    def untouched(self) -> tuple[str, ...]:
        """The variables that were to be masked and of which no cell changed."""
        return tuple(self.document["table"]["untouched"])

    def lacks(self, approval: Approval, microdata: Microdata) -> str:
        """Say what is missing before the release may leave; empty where nothing is."""
        if self.untouched:
            return untouched_words(self.untouched)
        if not approval.by.strip():
            return "Nobody answers for the release; give a name."
        # why a reason is needed
        why = ""
        decision = approval.decision
        if not self.verdict.kept:
            why = "The release does not keep every limit of its policy"
        elif decision is None:
            why = "The release follows no decision of a meeting"
        elif not decided(decision, self.setting, microdata)["followed"]:
            why = "The release is not what the meeting chose"
        if why and not approval.reason.strip():
            return f"{why}; give the reason for which it leaves all the same."
        return ""

    def record(self, microdata: Microdata, approval: Approval, number: int = 1) -> str:
        """Write the internal record of the release, with the responsible person."""
        if missing := self.lacks(approval, microdata):
            raise ReleaseError(missing)
        signed = {"by": approval.by.strip(), "reason": approval.reason.strip()}
        draws = {"number": number, "further": len(self.further), "further_kept": sum(self.further)}
        document = self.document | {
            "approval": signed | {"exception": not self.verdict.kept},
            "draws": draws,
        }
        if approval.context.to_dict():
            document = with_context(document, approval.context)
        if approval.decision is not None:
            document["decision"] = decided(approval.decision, self.setting, microdata)
        return frozen_text(document)


def judge_release(  # noqa: PLR0913 - what is not needed is given by its name
    microdata: Microdata,
    params: Method,
    format: str,
    policy: Policy,
    *,
    further: bool = False,
    known: Point | None = None,
    key_file: Path | None = None,
    plan: AnalysisPlan | None = None,
    ledger: Path | None = None,
    progress: Progress | None = None,
) -> JudgedRelease:
    """Draw a release with a fresh secret and hold that very file against a policy.

    Parameters
    ----------
    microdata : Microdata
    params : Method
    format : str
        Key of a file format.
    policy : Policy
    further : bool
        Also judge further draws of the setting, by where one more release falls: the verdict is
        that on the setting, unless the file itself breaks a limit.
    known : Point, optional
        Those draws, where they were read before (`read_draws`).
    key_file : Path, optional
        A new file for the release's secret, so that it can be drawn again; forgotten otherwise.
    plan : AnalysisPlan, optional
        Its regressions are judged over releases, for the notice; by default the schema's question.
    ledger : Path, optional
        A release that reads a person, subtracted from one in this ledger, is refused.
    progress : callable, optional
        Called with the share done, from 0 to 1.
    """
    require_answers(microdata)
    key, secret = (None, b"") if key_file is None else fresh_key(key_file)
    begin = _SHARES[further]
    door = work(progress=progress)
    with door.part(0.0, _SHARES[0]):
        release = mask(microdata, params, seed=key)
    content = release.to_bytes(format)
    second_reading(release, content, format)
    if ledger is not None:
        refuse_readable(ledger, microdata, release, (f"release.{format}", content))
    file = ReleasedFile.of(content, format, kept=key is not None)
    setting = Setting(params=release.params, precision=release.precision).resolved(microdata)
    with door.part(_SHARES[0], begin):
        draws = read_draws(microdata, setting, policy) if further and known is None else known
    basis = Basis(policy=policy, measures=(*USUAL, *REPORTED), plan=plan, draws=draws)
    with door.part(begin, 1.0):
        document, shown, audited = record_and_evidence(microdata, release, file, basis)
    few = too_few(release.params, microdata, release.masked)
    own = policy.judge(audited.readings, released=few, params=release.params)
    of_setting = None if draws is None else verdict_of(microdata, policy, draws)
    if key_file is not None:  # a release that was cancelled leaves no key
        write_atomically(key_file, secret)
    return JudgedRelease(
        id=release.id,
        content=content,
        format=format,
        document=document,
        evidence=shown,
        setting=setting,
        own=own,
        draws=draws,
        verdict=with_file(of_setting, own),
        further=() if draws is None else kept_draws(policy, draws),
        guarded=release.guarded(format),
    )


def judged(microdata: Microdata, release: Release, policy: Policy) -> Verdict:
    """Hold a release against a policy, with the simple attacks of the red team."""
    readings = audit_attacked(microdata, release, policy.measures).readings
    few = too_few(release.params, microdata, release.masked)
    return policy.judge(readings, released=few, params=release.params)
