"""One reason to believe that a variable identifies people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Confidence(StrEnum):
    """How far a rule is trusted; a low one is a notice and stops no release."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityDoubt:
    """State that a variable may identify people.

    Attributes
    ----------
    variable : str
    looks_like : str
        What the variable looks like, in plain words.
    reason : str
        What the rule saw, without a value.
    confidence : Confidence
    """

    variable: str
    looks_like: str
    reason: str
    confidence: Confidence = Confidence.HIGH

    @property
    def stops(self) -> bool:
        """True if no release leaves before the doubt is answered."""
        return self.confidence is not Confidence.LOW

    @property
    def sentence(self) -> str:
        """What is suspected, and why."""
        return f"{self.variable} looks like {self.looks_like}: {self.reason}."


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule answers of a column."""

    looks_like: str
    reason: str
    confidence: Confidence = Confidence.HIGH
