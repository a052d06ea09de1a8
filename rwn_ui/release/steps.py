"""The five steps of a release: which are done, and what is missing at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rwn_core.data.belonging.gate import open_findings
from rwn_core.data.identity import IdentityDoubt
from rwn_core.data.identity.gate import open_doubts
from rwn_core.data.open_questions import table_doubts
from rwn_ui.state.results import setting_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import Drawn

_CALLED = {"one draw": "kept by this draw"}
POLICY, DECISION, FILES, LEDGER = 2, 3, 4, 5  # numbers of steps
_TO_DO = (
    "Nothing is left to do: the release is made, and its entry in the ledger is signed.",
    "Look at the kind and the role of each variable, and say whether they are right.",
    "Draw the file that leaves, and have that very file judged.",
    "Say who answers for this release.",
    "Make the files that go with the release: notice, codebook, reports and record.",
    "Sign the ledger, which warns when the same records are released again.",
)
TITLES = ("Data checked", "Policy", "Decision recorded", "Files written", "Ledger signed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: its title, and what is missing; nothing where it is done."""

    title: str
    missing: str = ""
    exception: bool = False  # done although not every limit is kept: a person is responsible

    @property
    def done(self) -> bool:
        """True if nothing is missing."""
        return not self.missing


def description(session: Session) -> tuple[tuple[str, ...], ...]:
    """Description to check: name, kind, role and masking of each variable."""
    return tuple(
        (v.name, str(v.kind), str(v.role), "yes" if v.masked else "no")
        for v in session.data.schema.variables
    )


def is_checked(session: Session) -> bool:
    """True if the description was found right, and no doubt about identity is open."""
    if still_asked(session):
        return False
    return session.release.checked == description(session)


def unanswered_doubts(session: Session) -> list[IdentityDoubt]:
    """Variables that may identify people, and have no answer yet."""
    return open_doubts(table_doubts(session.data), session.data.schema)


def still_asked(session: Session) -> str:
    """Say what the Data page asks before a release is drawn; empty where nothing."""
    if waiting := ", ".join(doubt.variable for doubt in unanswered_doubts(session)):
        return f"The Data page asks whether these identify people: {waiting}."
    if open_findings(session.data):
        return "The Data page asks what the rows are: they seem to belong together."
    return ""


def about(session: Session) -> tuple[Any, ...]:
    """The choices that a release is drawn under: table, setting and policy."""
    return *setting_key(session), session.policy


def drawn(session: Session) -> Drawn | None:
    """The release that was drawn last, if it is of the present choices."""
    last = session.user.work.drawn
    return last if last is not None and last.about == about(session) else None


def _not_decided(last: Drawn | None) -> str:
    """Say what is missing until somebody answers for the release."""
    if last is None:
        return "It waits for step 2: there is no release yet to decide upon."
    return "" if last.approval is not None else "Nobody answers for the release."


def _not_judged(last: Drawn | None) -> str:
    """Say what is missing until the release keeps its policy, or somebody answers for it."""
    if last is None:
        return "No release of the present setting was drawn."
    verdict = last.judged.verdict
    return "" if verdict.kept or last.approval is not None else verdict.sentence


def _not_written(last: Drawn | None, *, checked: bool) -> str:
    """Say what is missing until the files are in somebody's hands."""
    if last is None or last.approval is None or not checked:
        return "It waits for step 3."
    if not last.files:
        return "The files are not made."
    return "" if last.left else "The files are made, and nobody took them."


def _not_signed(last: Drawn | None) -> str:
    """Say what is missing until the release is in the ledger."""
    if last is None or not last.files:
        return "It waits for step 4."
    return "" if last.entry is not None else "The release is not in the ledger."


def next_number(found: Sequence[Step]) -> int:
    """Number of the first step that is not done, from 1 on; 0 where all are."""
    return next((number for number, step in enumerate(found, start=1) if not step.done), 0)


def to_do(session: Session, number: int) -> str:
    """Say what the step of this number asks for, in one sentence; 0 is none."""
    last = drawn(session)
    if number == 1 and still_asked(session):
        return "Answer what the Data page asks."
    if number == POLICY and last is not None:
        if last.judged.verdict.state == "broken":
            return "Change the setting: this file breaks a limit."
        return "Change the setting or the limits: not every limit can be read of this file."
    if number == FILES and last is not None and last.files:
        return "Take the files."
    if number == DECISION and last is not None:
        return f"{_policy_title(last)}: say who answers for this release."
    return _TO_DO[number]


def _policy_title(last: Drawn) -> str:
    """Say what became of the policy in the file that was drawn."""
    mark = last.judged.verdict.mark
    return f"Policy {_CALLED.get(mark, mark)}"


def steps(session: Session) -> tuple[Step, ...]:
    """All five, in order."""
    last = drawn(session)
    checked = is_checked(session)
    unchecked = "" if checked else "Nobody has said that kinds and roles are right."
    missing = (
        still_asked(session) or unchecked,
        _not_judged(last),
        _not_decided(last) if checked else "It waits for step 1.",
        _not_written(last, checked=checked),
        _not_signed(last),
    )
    state = "" if last is None else last.judged.verdict.state
    excepted = last is not None and last.approval is not None and state != "kept"
    return tuple(
        Step(
            title=_policy_title(last) if number == 1 and last is not None else title,
            missing=each,
            exception=excepted and number == 1,
        )
        for number, (title, each) in enumerate(zip(TITLES, missing, strict=True))
    )
