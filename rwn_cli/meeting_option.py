"""The option --meeting: a frozen decision, of this table, and whether a release follows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rwn_cli.text_file import read_text
from rwn_core.errors import InputError, ParameterError, ReleaseError, RWNError

if TYPE_CHECKING:
    from rwn_core.data.microdata import Microdata
    from rwn_core.masking import Release
    from rwn_core.reporting.decision import Decision


def read_decision(
    record: Path | None, meeting: Path | None, others: tuple[str | Path | None, ...]
) -> Decision | None:
    """Return the meeting of the decision that is carried out."""
    from rwn_core.reporting.decision import Decision

    if record is not None:
        if record.suffix.lower() != ".toml":
            raise ParameterError("--record must name a file that ends in .toml.")
        if not record.parent.is_dir():
            raise RWNError(f"The folder {record.parent} does not exist; create it first.")
        if any(record.resolve() == Path(other).resolve() for other in others if other):
            raise ReleaseError("--record names another file of this command; choose a new one.")
    if meeting is None:
        return None
    if record is None:
        raise ParameterError("--meeting goes into the internal record; give --record FILE, too.")
    return Decision.thaw(read_text(meeting, "decision"))


def refuse_other_table(decided: Decision | None, data: Microdata) -> None:
    """A decision about another table decides nothing about this one."""
    if decided is not None and decided.table not in ("", data.fingerprint):
        raise InputError(
            "The decision of --meeting was made on another table: its fingerprint is another one. "
            "Give the decision about this table, mask the table that it is about (with the same "
            "--drop), or leave --meeting out."
        )


def unlike(decided: Decision | None, data: Microdata, release: Release) -> list[str]:
    """Say where the release is not what was decided on."""
    from rwn_core.reporting.release_record import follows
    from rwn_core.tuning import Setting

    if decided is None:
        return []
    setting = Setting(params=release.params, precision=release.precision).resolved(data)
    if follows(decided, setting, data):
        return []
    return ["note: the release does not follow the decision of --meeting; the record says so."]
