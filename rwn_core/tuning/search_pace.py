"""How far a search of unknown length is: its work is readings of releases, made and ahead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_USUAL = 8.0  # readings of a trial
_TRIALS = 20  # that weigh as much as what is usual: the first ones, which lead, read more
_OPEN = 0.99  # nobody knows that a search ends before it has


@dataclass(slots=True, kw_only=True)
class Pace:
    """Count the readings of a search and tell what share they are of all it expects to make.

    Attributes
    ----------
    tell : callable
        Called with the share done, from 0 to 1; it never falls.
    tries : int
        Trials at most.
    check : int
        Readings of a check on fresh releases.
    checks : float
        Checks ahead.
    expected : int
        Trials ahead; as many as may be made while nothing says that there will be fewer.
    """

    tell: Callable[[float], None] = lambda share: None
    tries: int = 0
    check: int = 0
    checks: float = 0.0
    expected: int = 0
    _tried: int = 0
    _in_trials: int = 0
    _checked: float = 0.0
    _share: float = 0.0

    def expect(self, trials: int) -> None:
        """Take in how many trials are ahead as far as anybody knows."""
        self.expected = min(trials, max(self.tries - self._tried, 0))

    def tried(self) -> None:
        """Take in that a trial has ended."""
        self._tried += 1
        self.expected = max(self.expected - 1, 0)

    def read(self, releases: int) -> None:
        """Take in that a measure was read on some releases of a trial."""
        self._in_trials += releases
        self._report()

    def checking(self) -> Callable[[float], None]:
        """Begin a check; what is returned takes its own share done."""
        before, ahead = self._checked, self.checks

        def report(share: float) -> None:
            self._checked = before + share
            self.checks = max(ahead - share, 0.0)
            self._report()

        return report

    def _report(self) -> None:
        each = (self._in_trials + _USUAL * _TRIALS) / (self._tried + _TRIALS)
        made = self._in_trials + self._checked * self.check
        ahead = self.expected * each + self.checks * self.check
        self._share = max(self._share, min(made / max(made + ahead, 1.0), _OPEN))
        self.tell(self._share)
