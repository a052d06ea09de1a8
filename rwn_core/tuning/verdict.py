"""A verdict: how much of each limit is used, which is nearest or broken, what was not judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from rwn_core.data.summary import Summarized, Summary
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import UNMASKED, UNRELATED
from rwn_core.measures.sentence import percent


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict(Summarized):
    """Hold what a policy says of some readings.

    Attributes
    ----------
    shares : mapping of str to float
        By measure, how much of its limit is used; 1 is all of it.
    unread : mapping of str to str
        The measures without a number, and why.
    values : mapping of str to float
        By measure, the number that was held against its limit.
    standing : mapping of str to str
        Of the measures whose worst case is not known, what that number is: "at least",
        "estimated at most" or "an estimate".
    by : mapping of str to str
        Of the measures that a simple attack went beyond, which one.
    released : float, optional
        Share of the records that is released, where it is too small for limits to be kept.
    ends : mapping of str to mapping of str to float
        By measure, what it reads on the unmasked file ("unmasked") and where no relation is left
        ("unrelated"), as far as that is known.
    unreachable : tuple of str
        The broken limits that a file without any relation breaks, too.
    """

    shares: Mapping[str, float]
    unread: Mapping[str, str]
    values: Mapping[str, float] = field(default_factory=dict)
    standing: Mapping[str, str] = field(default_factory=dict)
    by: Mapping[str, str] = field(default_factory=dict)
    released: float | None = None
    ends: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unreachable: tuple[str, ...] = ()

    def _summary(self) -> Summary:
        read = [
            (key, self.title(key), MEASURES[key].words(self.values[key]), f"{100 * share:.0f} %")
            for key, share in self.shares.items()
        ]
        unread = [(key, self.title(key), "not judged", why) for key, why in self.unread.items()]
        return Summary(
            title=self.sentence,
            columns=("measure", "title", "value", "share of the limit"),
            rows=[*read, *unread],
        )

    @property
    def first(self) -> str | None:
        """The measure that is nearest to its limit or furthest beyond; None without a number."""
        return max(self.shares, key=self.shares.__getitem__, default=None)

    @property
    def largest(self) -> float | None:
        """The largest share of a limit that is used; None without a number."""
        return max(self.shares.values(), default=None)

    @property
    def broken(self) -> tuple[str, ...]:
        """The measures beyond their limits."""
        return tuple([key for key, share in self.shares.items() if share > 1])

    @property
    def kept(self) -> bool:  # words: public name
        """True if every limit was read and is met, on enough records; False without limits."""
        read = bool(self.shares) and not self.unread
        return read and not self.broken and self.released is None

    def title(self, measure: str) -> str:
        """Return the title of a judged value: a worst case only if it is one."""
        return MEASURES[measure].title_as(self.standing.get(measure, ""))

    def _by(self, measure: str) -> str:
        """Name the simple attack that reached a value beyond what the measure states."""
        by = self.by.get(measure)
        return "" if by is None else f", {percent(self.values[measure])} by {by}"

    @property
    def sentence(self) -> str:
        """The verdict in words: which limit is nearest or most broken, and what was not judged."""
        first, broken = self.first, self.broken
        if first is None and not self.unread:
            return "The policy has no limits, so that nothing is judged."
        parts = []
        if first is not None:
            what = self.title(first) + self._by(first)
            what += f", which uses {share_words(self.shares[first])} its limit."
            count = len(self.shares) + len(self.unread)
            limits = counted(count, "limit")
            if broken:
                verb = "is" if len(broken) == 1 else "are"
                parts.append(
                    f"{len(broken)} of {limits} {verb} broken, most of all {what}"
                    if count > 1
                    else f"The limit is broken: {what}"
                )
            elif self.unread:
                parts.append(f"The judged ones of {limits} are kept; nearest is {what}")
            else:
                kept = f"All {limits} are kept; nearest is" if count > 1 else "The limit is kept:"
                parts.append(f"{kept} {what}")
        for key in self.unreachable:
            parts.append(
                f" Even without any relation left {self.title(key)} is beyond its limit; "
                "coarsen values or raise the limit."
            )
        if self.released is not None:
            parts.append(f" But only {100 * self.released:.3g} % of the records are released.")
        return "".join([*parts, not_judged(self.unread, self.standing)]).strip()


def not_judged(unread: Mapping[str, str], standing: Mapping[str, str] | None = None) -> str:
    """Say which limits could not be judged and why; nothing where all were."""
    named = {key: MEASURES[key].title_as((standing or {}).get(key, "")) for key in unread}
    return "".join(f" Not judged: {named[key]}. {why}" for key, why in unread.items())


def ends_words(measure: str, ends: Mapping[str, float]) -> str:
    """Write what a measure reads at both ends of a table; nothing where neither is known.

    >>> ends_words("bayes_linkage", {"unmasked": 1.0, "unrelated": 0.004})
    'unmasked 100 %, no relation left 0.4 %'
    """
    called = {UNMASKED: "unmasked", UNRELATED: "no relation left"}
    share = MEASURES[measure].is_share
    words = [
        f"{called[name]} {f'{100 * ends[name]:.3g} %' if share else f'{ends[name]:.3g}'}"
        for name in called
        if name in ends
    ]
    return ", ".join(words)


def counted(count: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "setting"), counted(2000, "limit")
    ('1 setting', '2,000 limits')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def share_words(share: float) -> str:
    """Write how much of a limit is used, to stand before "its limit".

    >>> share_words(0.8), share_words(2.44), share_words(math.inf)
    ('80 % of', '2.4 times', 'infinitely many times')
    """
    if math.isinf(share):
        return "infinitely many times"
    if share <= 1:
        return f"{100 * share:.0f} % of"
    if share < 1.05:
        return "just over"
    return f"{share:.1f} times" if share < 10 else f"{share:,.0f} times"
