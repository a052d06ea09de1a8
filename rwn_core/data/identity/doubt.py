"""One reason to believe that a variable identifies people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Confidence(StrEnum):
    """Degrees of trust in a rule; a low one gives a notice and stops no release."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityDoubt:
    """State that a variable may identify people."""

    variable: str
    looks_like: str  # what the variable looks like, in plain words
    reason: str  # what the rule saw, without a value
    confidence: Confidence = Confidence.HIGH

    @property
    def stops(self) -> bool:
        """True if no release leaves before the doubt is answered."""
        return self.confidence is not Confidence.LOW

    @property
    def sentence(self) -> str:
        """Return the suspicion and its reason as one sentence."""
        return f"{self.variable} looks like {self.looks_like}: {self.reason}."


@dataclass(frozen=True, slots=True)
class Found:
    """Finding of one rule about one column."""

    looks_like: str
    reason: str
    confidence: Confidence = Confidence.HIGH
