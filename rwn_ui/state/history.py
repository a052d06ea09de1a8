"""Undo and redo without limit: the settings that a user has had, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rwn_core.data.rounding import Steps
from rwn_core.data.slices import Slices

Weights = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One setting as the sliders, the weights, the release precision and the slices have it."""

    method: str = "rwn"
    # positions of the sliders; None for a lever that is not used
    levers: tuple[tuple[str, float | None], ...]
    # parameters of the method that no slider moves, where they are not its defaults
    options: tuple[tuple[str, Any], ...] = ()
    weights: Weights  # those that are not 1
    precision: Steps = ()
    slices: Slices = ()  # which variables travel together


@dataclass(slots=True)
class History:
    """All choices; those after the present one were undone."""

    choices: list[Choice] = field(default_factory=list)
    present: int = -1

    def note(self, choice: Choice) -> None:
        """Take in the present choice; a new one takes the place of those that were undone."""
        if self.choices and self.choices[self.present] == choice:
            return
        del self.choices[self.present + 1 :]
        self.choices.append(choice)
        self.present = len(self.choices) - 1

    @property
    def can_undo(self) -> bool:
        """True if there is an earlier choice."""
        return self.present > 0

    @property
    def can_redo(self) -> bool:
        """True if there is an undone choice."""
        return self.present + 1 < len(self.choices)

    def undo(self) -> Choice:
        """Go back by one."""
        self.present -= 1
        return self.choices[self.present]

    def redo(self) -> Choice:
        """Go forward by one."""
        self.present += 1
        return self.choices[self.present]
