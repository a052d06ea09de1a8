"""A verdict: the number that decides each limit, how much is used, and what was not judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rwn_core.data.summary import Summarized, Summary
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.red_team import Finding
from rwn_core.measures.measure import UNMASKED, UNRELATED, Detail, Reading, with_parts
from rwn_core.measures.risk.red_team import RedTeam
from rwn_core.measures.sentence import percent
from rwn_core.tuning.point import Spread, known_ends


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict(Summarized):
    """The verdict of a policy on some readings.

    Attributes
    ----------
    shares : mapping of str to float
        By measure, how much of its limit is used; 1 is all of it.
    unread : mapping of str to str
        The measures without a number, and why.
    values : mapping of str to float
        By measure, the number that was compared with its limit.
    bounds : mapping of str to Spread
        By measure, all that was known of it.
    standings : mapping of str to str
        By measure, what its number is where it is no worst case: "at least", "an estimate" or
        "estimated at most".
    released : float, optional
        Share of the records that is released, where it is too small for limits to be kept.
    unreachable : tuple of str
        The broken limits that a file without any relation breaks, too.
    none_allowed : tuple of str
        The measures with a limit of 0, of which a share says nothing.
    draws : int
        How many releases each judged limit was read on, at least; 0 where that is not known.
    """

    shares: Mapping[str, float]
    unread: Mapping[str, str]
    values: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, Spread] = field(default_factory=dict)
    standings: Mapping[str, str] = field(default_factory=dict)
    released: float | None = None
    unreachable: tuple[str, ...] = ()
    none_allowed: tuple[str, ...] = ()
    draws: int = 0

    def _summary(self) -> Summary:
        read = ((key, MEASURES[key].words(value)) for key, value in self.values.items())
        rows = [(key, self.title(key), value, self.uses(key)) for key, value in read]
        rows += [(key, self.title(key), "not judged", why) for key, why in self.unread.items()]
        columns = ("measure", "title", "value", "share of the limit")
        return Summary(title=self.sentence, columns=columns, rows=rows)

    @property
    def state(self) -> State:
        """State of the policy: kept, broken, or not judged where a limit has no number.

        Without limits, or with too few records released, nothing is judged.
        """
        if max(self.shares.values(), default=0.0) > 1:
            return "broken"
        if self.unread or not self.shares or self.released is not None:
            return "not judged"
        return "kept"

    @property
    def states(self) -> dict[str, State]:
        """The same of each limit, by its measure."""
        kept: dict[str, State] = dict.fromkeys(self.shares, "kept")
        kept |= dict.fromkeys(self.broken, "broken")
        return kept | dict.fromkeys(self.unread, "not judged")

    @property
    def first(self) -> str | None:
        """The measure furthest beyond its limit, or nearest to it where all were judged."""
        known = not self.unread or bool(self.broken)
        return max(self.shares, key=self.shares.__getitem__, default=None) if known else None

    @property
    def largest(self) -> float | None:
        """The largest share of a limit that is used.

        None where a limit was not judged, unless another is broken: the missing one may use more.
        """
        return None if self.first is None else self.shares[self.first]

    @property
    def broken(self) -> tuple[str, ...]:
        """The measures beyond their limits."""
        return tuple([key for key, share in self.shares.items() if share > 1])

    @property
    def kept(self) -> bool:
        """True if every limit was read and is met, on enough records; False without limits."""
        return self.state == "kept"

    def uses(self, measure: str) -> str:
        """Write how much of a limit is used, to stand before "its limit"."""
        share = self.shares[measure]
        return "more than" if share > 1 and measure in self.none_allowed else share_words(share)

    def title(self, measure: str) -> str:
        """Return the title of a judged value: a worst case only if it is one."""
        return MEASURES[measure].title_as(self.standings.get(measure, ""))

    @property
    def mark(self) -> Mark:
        """The state as every page and command shows it: of one draw alone nothing is kept."""
        state = self.state
        return "one draw" if state == "kept" and self.draws == 1 else state

    @property
    def headline(self) -> str:
        """The verdict in few words, the same wherever it stands.

        Of several draws it is about one more release, 9 times in 10.
        """
        broken = len(self.broken)
        if broken or self.kept:
            return self._counted(broken)
        count = len(self.shares) + len(self.unread)
        if not count:
            return "Not judged: the policy has no limits"
        if self.unread:
            return f"Not judged: {len(self.unread)} of {counted(count, 'limit')} cannot be judged"
        return f"Not releasable: only {100 * (self.released or 0.0):.3g} % of the records are left"

    def _counted(self, broken: int) -> str:
        """Say how many limits are kept or broken, and whether that is known of one draw only."""
        count = len(self.shares) + len(self.unread)
        verb = "breaks" if broken else "keeps"
        if count == 1:
            words = f"{verb} its limit"
        else:
            how_many = f"{broken} of" if broken else "all"
            words = f"{verb} {how_many} {counted(count, 'limit')}"
        return f"This draw {words}" if self.draws == 1 else f"{words[:1].upper()}{words[1:]}"

    @property
    def sentence(self) -> str:
        """The verdict in words: which limit is nearest or most broken, and what was not judged."""
        if not self.states:
            return "The policy has no limits, so that nothing is judged."
        missing = not_judged(self.unread, self.title)
        if self.first is not None:
            missing = self._nearest(self.first) + missing
        else:
            count = len(self.shares)
            others = "the other is kept" if count == 1 else f"the other {count} are kept"
            missing = f"{self.headline}{f'; {others}' if count else ''}.{missing}"
        parts = [missing]
        for key in self.unreachable:
            parts.append(
                f" Even without any relation left {self.title(key)} is beyond its limit; coarsen "
                "values or raise the limit."
            )
        if self.released is not None:
            parts.append(f" But only {100 * self.released:.3g} % of the records are released.")
        for key, known in self.bounds.items():
            if known.scope and key in self.broken:  # after another limit "this" would be that one
                parts.append(f" {known.scope.replace('This is', f'{self.title(key)} is', 1)}")
        return "".join(parts).strip()

    def _nearest(self, first: str) -> str:
        """Say how many limits are broken or kept, and how much of one is used."""
        # the simple attack that reached a value beyond what the measure states
        known = self.bounds.get(first)
        by = f", {percent(self.values[first])} by {known.by}" if known and known.by else ""
        title = self.title(first)
        plain = title.removesuffix(", at least")
        least = "at least " if plain != title else ""  # of a lower bound
        where = f"{ONE_MORE} " if self.draws > 1 else ""
        what = f"{plain}{by}, which {where}uses {least}{self.uses(first)} its limit."
        broken = len(self.broken)
        said = self._counted(broken)
        if len(self.shares) + len(self.unread) == 1:
            return f"{said}: {what}"
        return f"{said}{', most of all ' if broken else '; nearest is '}{what}"


def not_judged(unread: Mapping[str, str], title: Callable[[str], str] | None = None) -> str:
    """Say which limits could not be judged and why, once for each reason; nothing where all were.

    >>> not_judged({"attribute_gain": "No variable is confidential. Say which is."})
    ' Attribute gain not judged: no variable is confidential. Say which is.'
    """
    titles: dict[str, list[str]] = {}
    for key, why in unread.items():
        titles.setdefault(why, []).append(title(key) if title else MEASURES[key].title_as(""))
    return "".join(
        f" {', '.join(named)} not judged: {_lowered(why)}" for why, named in titles.items()
    )


def _lowered(words: str) -> str:
    """Return a sentence as a part of another one; an abbreviation stays."""
    return words if words[1:2].isupper() else words[:1].lower() + words[1:]


def ends_words(measure: str, ends: Mapping[str, float]) -> str:
    """Write what a measure reads at both ends of a table; nothing where neither is known.

    >>> ends_words("uniqueness", {"unmasked": 1.0, "unrelated": 0.004})
    'unmasked 100 %, no relation left 0.4 %'
    """
    called = {UNMASKED: "unmasked", UNRELATED: "no relation left"}
    share = MEASURES[measure].is_share
    read = {called[name]: ends[name] for name in called if name in ends}
    numbers = [f"{100 * v:.3g} %" if share else f"{v:.3g}" for v in read.values()]
    return ", ".join(map(" ".join, zip(read, numbers, strict=True)))


def counted(count: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "setting"), counted(2000, "limit")
    ('1 setting', '2,000 limits')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def share_words(share: float, least: float | None = None) -> str:
    """Write how much of a limit is used, or between what ends, to stand before "its limit".

    >>> share_words(0.8), share_words(2.44), share_words(1.28, 0.4), share_words(0.9, 0.4)
    ('80 % of', '2.4 times', '0.4 to 1.3 times', '40 to 90 % of')
    """
    if least is not None:
        if share <= 1:
            return f"{100 * least:.0f} to {100 * share:.0f} % of"
        return f"{least:.1f} to {max(share, 1.06):.1f} times"
    if share <= 1:
        return f"{100 * share:.0f} % of"
    if share < 1.05:
        return "just over"
    return f"{share:.1f} times" if share < 10 else f"{share:,.0f} times"


State = Literal["kept", "broken", "not judged"]
Mark = Literal["kept", "broken", "not judged", "one draw"]
ONE_MORE = "in one more release"
COMING = "further draws are being read"
"""Behind the headline of one draw, while a page reads others."""
MISSING = "It was not read."
_BETWEEN = "Only two bounds are known on a table of this size, and the limit lies between them."
_NO_LAW = "Without a law only the nearest rows were tried, inside and outside of the file."
_NO_UPPER = "Only a lower bound is known on a table of this size, and it is below the limit."


def empty_end(
    measure: str, ends: Mapping[str, float | None], share: Callable[[float], float]
) -> str | None:
    """Say why a limit cannot be broken on a table; None where it can be, or nothing is known.

    >>> empty_end("uniqueness", {"unmasked": 0.022}, lambda value: value / 0.05)
    'This limit cannot be broken on this table: the unmasked file reads 2.2 %. Lower the limit, \
choose other keys, or remove it.'
    """
    about = MEASURES[measure]
    risk = about.side == "risk"
    value = ends.get(UNMASKED if risk else UNRELATED)
    if value is None or share(value) > 1:
        return None
    words = f"{100 * value:.3g} %" if about.is_share else f"{value:.3g}"
    file = "the unmasked file" if risk else "a file without any relation"
    return (
        f"This limit cannot be broken on this table: {file} reads {words}. "
        f"Lower the limit, choose other {'keys' if risk else 'variables'}, or remove it."
    )


def decided(
    measure: str, known: Spread, share: Callable[[float], float]
) -> tuple[float | None, str, str]:
    """Decide a limit: by which number, what that is, and why by none if there is one."""
    value = known.high
    standing = "at least" if known.is_bound else ""
    if value is None or math.isnan(value):
        return None, standing, ""
    # of a value between two bounds the lower one or its estimate breaks, the upper one keeps
    if standing and share(value) <= 1:
        if known.estimate is not None and share(known.estimate) > 1:
            return known.estimate, "an estimate", ""
        if known.at_most is None:
            return None, standing, known.scope or _NO_UPPER
        if share(known.at_most) > 1:
            return None, standing, _BETWEEN
        value = known.at_most
        standing = "estimated at most"
    # an upper end of few releases is no evidence against what the unmasked file reads
    read = value if known.median is None else min(known.median, value)
    why = None if share(read) > 1 else empty_end(measure, known.ends, share)
    if why is not None:
        return None, standing, why
    return value, standing, ""


def spread_of(
    measure: str,
    given: Spread | NotApplicable | Reading[Any] | Mapping[str, Any] | float | None,
) -> Spread:
    """Return what is known of a measure: by a setting, a release, a file, or a number."""
    if isinstance(given, Spread):
        return given
    if isinstance(given, NotApplicable):
        return Spread(measure=measure, reason=given.reason)
    if isinstance(given, Reading):  # of one release
        detail = given.detail
        bound = given.detail.standing == "at least"
        return Spread(
            measure=measure,
            values=(given.value,),
            is_bound=bound,
            upper=(detail.at_most,) if bound and detail.at_most is not None else (),
            estimate=detail.estimate,
            by=detail.attacked_by,
            scope=detail.scope.strip(),
            ends=given.ends,
        )
    if not isinstance(given, Mapping):
        return Spread(measure=measure, values=() if given is None else (given,))
    if "median" not in given:  # of a file that a person wrote
        return Spread(measure=measure)
    upper = given.get("at_most")  # with it the value of a scenario is a lower bound
    return Spread(
        measure=measure,
        values=(given["median"],),
        # older files state an upper end without the number of releases that it is of
        stated_draws=int(given.get("releases", 2 if "high" in given else 0)),
        stated_high=given.get("high"),
        is_bound=upper is not None,
        upper=() if upper is None else (upper,),
        ends=known_ends(given),
    )


RED_TEAM = "red_team"
_RAISED_BY = {measure.raised_by: key for key, measure in MEASURES.items() if measure.raised_by}
RAISED = (_RAISED_BY["identity"], _RAISED_BY["attribute"])
"""Measures that state a worst case; a link may be worse than the first, a name than the other."""


def attacked(readings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raise stated worst cases to what the red team achieved, where these readings have one."""
    team = readings.get(RED_TEAM)
    if not isinstance(team, Reading):
        return readings
    raised = dict(readings)
    tried = team.detail
    attacks = tried.identity, _only_inside(tried), tried.difference
    for key, found in zip((*RAISED, RAISED[1]), attacks, strict=True):
        stated = raised.get(key)
        if found is None or stated is None:
            continue
        if not isinstance(stated, Reading):
            if found is tried.difference:  # of any method, with a law or without
                detail = Detail(standing="at least", attacked_by=found.words, scope=_NO_LAW)
                raised[key] = Reading(value=found.certain, baseline=0.0, detail=detail)
            continue
        value = found.certain
        by = found.words
        scope = stated.detail.scope
        if found is tried.difference:  # a limit that no file breaks stays one that says nothing
            value = min(value, stated.ends.get(UNMASKED, value))
        if value > stated.value:
            most = stated.detail.at_most
            most = None if most is None else max(most, value)
            more = with_parts(stated, scope="", attacked_by=by, at_most=most)
            raised[key] = replace(more, value=value, interval=None)
        elif scope:
            inside = " more inside the file than outside it" if found is tried.difference else ""
            scope += f" Simple attacks reach {percent(value)}{inside}, by {by}."
            raised[key] = with_parts(stated, scope=scope)
    return raised


def _only_inside(tried: RedTeam) -> Finding | None:
    """Return the best name by an attack that was not tried on people outside, too."""
    if tried.difference is None:
        return tried.attribute
    both = tried.difference.ways
    names = [each for each in tried.findings if each.secret is not None]
    return next((each for each in names if (each.attack, each.secret) not in both), None)
