"""One release at each of a few strengths of a setting, read as far as a quick answer needs."""

from __future__ import annotations

from dataclasses import replace

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.ends import unmasked
from rwn_core.masking import LeverRange, Masked, at_levers, lever_values
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey
from rwn_core.tuning.point import too_few
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.verdict import Verdict

PLACES = 16  # parts between the ends of a strength
_ORDER = ("bayes_linkage", "linked_over_half", "true_matches")  # cheap ones before a slow one


class StrengthTrial:
    """A setting along its strength: its loss, and its limits up to the first one broken.

    Parameters
    ----------
    microdata : Microdata
    setting : Setting
        Its levers but the strength stand at the usual positions.
    policy : Policy
    places : int
        Parts between the ends of the strength.
    within : LeverRange, optional
        Range of the strength; the table's by default.
    """

    def __init__(
        self,
        microdata: Microdata,
        setting: Setting,
        policy: Policy,
        *,
        places: int = PLACES,
        within: LeverRange | None = None,
    ) -> None:
        self.policy = policy
        setting = setting.resolved(microdata)
        table = setting.applied_to(microdata)
        self._start = setting.params.prepare(table)
        usual = at_levers(setting.params, dict(self._start.presets["Standard"]))
        self._setting = replace(setting, params=usual)
        self._comparison = Comparison(original=table, masked=table)
        self.range: LeverRange = within or self._start.ranges[usual.strength]
        steps = round((self.range.high - self.range.low) / self.range.step)
        self.last = max(min(places, steps), 0)
        self._losses: dict[int, float] = {}
        self._verdicts: dict[int, Verdict] = {}
        self._released: tuple[int, Masked] | None = None

    def at(self, place: int) -> Setting:
        """Return the setting at a place, from 0, the weakest, to `last`."""
        ends, params = self.range, self._setting.params
        steps = round(place * (ends.high - ends.low) / ends.step / max(self.last, 1))
        value = round(ends.low + steps * ends.step, 10)
        return replace(self._setting, params=at_levers(params, {params.strength: value}))

    def _compared(self, place: int) -> Comparison:
        """Return the comparison of a place's release; the last one drawn is remembered."""
        if self._released is None or self._released[0] != place:
            moved = self._start.with_levers(**lever_values(self.at(place).params))
            drawn = moved.release(SecretKey.from_seed(1), threads=1)
            self._released = place, drawn.rounded(dict(self._setting.precision))
            made = self._released[1]
            self._comparison = self._comparison.with_masked(made.masked, made.law)
        return self._comparison

    def loss(self, place: int) -> float:
        """Return the share of relations that is lost; 1 where none can be read."""
        if place not in self._losses:
            found = MEASURES[UTILITY].read(self._compared(place), bare=True)
            self._losses[place] = found.value if isinstance(found, Reading) else 1.0
        return self._losses[place]

    def verdict(self, place: int) -> Verdict:
        """Return the verdict on the limits up to the first that is not kept."""
        if place not in self._verdicts:
            self._verdicts[place] = self._judged(place)
        return self._verdicts[place]

    def _judged(self, place: int) -> Verdict:
        compared = self._compared(place)
        few = too_few(self._setting.params, compared.original, compared.masked)
        verdicts = []
        for limit in sorted(self.policy.limits, key=_turn):
            verdicts.append(self._against(limit, compared))
            if verdicts[-1].broken:
                break
        return Verdict(
            shares={key: share for each in verdicts for key, share in each.shares.items()},
            unread={key: why for each in verdicts for key, why in each.unread.items()},
            values={key: value for each in verdicts for key, value in each.values.items()},
            standing={key: words for each in verdicts for key, words in each.standing.items()},
            released=few,
        )

    @staticmethod
    def _against(limit: Limit, compared: Comparison) -> Verdict:
        """Hold one limit; a lower bound that keeps it is read to its upper bound."""
        about, policy = MEASURES[limit.measure], Policy(limits=(limit,))
        for begin in (True, False):
            reading = about.read(compared, begin=begin, bare=True)
            verdict = policy.judge_readings({limit.measure: reading})
            if verdict.shares or isinstance(reading, NotApplicable):
                break
        return verdict

    def keeps(self, place: int) -> bool:
        """True if the release of a place keeps every limit."""
        return self.verdict(place).kept

    def weakest(self, most: float = 1.0) -> int | None:
        """Find by halves the weakest place that keeps all limits and loses at most so much."""
        high = self.last
        if self.loss(high) > most:
            low = 0
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if self.loss(middle) <= most else (low, middle)
            high = low
        if self.loss(high) > most or not self.keeps(high):
            return None
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.keeps(middle) else (middle, high)
        return high


def _turn(limit: Limit) -> int:
    return _ORDER.index(limit.measure) if limit.measure in _ORDER else len(_ORDER)


def judgeable(microdata: Microdata, policy: Policy) -> tuple[Policy | None, dict[str, str]]:
    """Set apart the limits that the unmasked file keeps or that have no answer on this table."""
    masked, law = unmasked(microdata)
    compared = Comparison(original=microdata, masked=masked, law=law)
    apart = {}
    for limit in policy.limits:
        reading = MEASURES[limit.measure].read(compared, begin=True, bare=True)
        if isinstance(reading, NotApplicable):
            apart[limit.measure] = reading.reason
        elif limit.share(reading.value) <= 1:
            apart[limit.measure] = "The unmasked file keeps this limit."
    left = tuple(limit for limit in policy.limits if limit.measure not in apart)
    return (replace(policy, limits=left) if left else None), apart
