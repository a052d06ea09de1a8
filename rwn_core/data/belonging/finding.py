"""What is found of rows that belong together, and why, without a value of the table."""

from __future__ import annotations

from dataclasses import dataclass

from rwn_core.data.rows import Belong, Rows

_LOOKS = {
    Belong.PERSON: "several of one person or household",
    Belong.CLUSTER: "several of one cluster",
    Belong.SERIES: "a series",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A reason to believe that rows belong together."""

    of: Belong  # person (or household), cluster or series
    by: tuple[str, ...]  # the variables that say which rows; empty where none does
    reason: str  # what was seen
    only_numbers: bool = False  # whether the variable says nothing but which rows
    # whether the gate of identity asks about the variable, which has its answer there
    of_identity: bool = False

    @property
    def sentence(self) -> str:
        """Return the suspicion and its reason as one sentence."""
        return f"Rows look like {_LOOKS[self.of]}: {self.reason}."

    @property
    def proposal(self) -> Rows | None:
        """Return the answer that the finding proposes; None where no variable says which rows."""
        return Rows(of=self.of, by=self.by) if self.by else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """All that was found in a table of rows that belong together."""

    findings: tuple[Finding, ...] = ()

    @property
    def kinds(self) -> tuple[Belong, ...]:
        """Return what was found, each kind once."""
        return tuple(dict.fromkeys(finding.of for finding in self.findings))


def some_names(names: tuple[str, ...], most: int = 3) -> str:
    """Return the first names of a list, and how many more there are."""
    shown = ", ".join(names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown
