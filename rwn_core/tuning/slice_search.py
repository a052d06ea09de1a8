"""Looks for slices: merges and moves of variables, by the expected loss, each tried on releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from rwn_core.data.slices import Slices, as_slices
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.search_processes import Crew
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.trials import Plan
from rwn_core.tuning.verdict import Verdict

_BROKEN = 1.5  # of a limit: one release is enough to refuse
_FAR = 0.5  # of a limit: one release is enough to go on; what is stated is read on fresh ones
FRESH = 1_000_000  # seeds between one set of releases and the next
_CHOOSING = 24  # releases that a trial's answer has to keep the limits on, too
_QUICK = ("true_matches",)  # by values alone, in a hundredth of the time of an intruder's beliefs

Blocks = tuple[tuple[str, ...], ...]
"""A partition with its lone variables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Slices with the weakest strength that keeps the policy on trial releases.

    Attributes
    ----------
    loss : float
        Expected.
    slices : Slices
    strength : int
        Which of the strengths.
    """

    loss: float
    slices: Slices
    strength: int


@dataclass(slots=True, kw_only=True)
class SliceSearch:
    """Tries slices under a policy and remembers those that keep it.

    Attributes
    ----------
    names : tuple of str
        The masked variables.
    settings : sequence of Setting
        One for each strength, weakest first; their slices do not count.
    losses : SliceLoss
    crew : Crew
    policy : Policy
    plan : Plan
        Releases and seed of a trial.
    tries : int
        Trials at most.
    only_starts : bool
        Whether nothing but the slices to begin with is tried.
    tick : callable
        Called with the share of the trials that is done.
    most : dict of str to float
        Share of a measure's limit that trial releases may use, less than 1 once they were too kind.
    shares : dict
        What each trial used of the limits, by measure, up to the first that it broke.
    confirmed : dict
        The same on more releases, of those that lead after their trial.
    seen : set
        Slices that are not looked at again.
    refused : str
        The measure whose limit the last refused trial broke.
    """

    names: tuple[str, ...]
    settings: Sequence[Setting]
    losses: SliceLoss
    crew: Crew
    policy: Policy
    plan: Plan
    tries: int
    only_starts: bool = False
    tick: Callable[[float], None] = lambda share: None
    found: list[Found] = field(default_factory=list)
    most: dict[str, float] = field(default_factory=dict)
    shares: dict[tuple[Slices, int], dict[str, float]] = field(default_factory=dict)
    confirmed: dict[tuple[Slices, int], dict[str, float]] = field(default_factory=dict)
    seen: set[Slices] = field(default_factory=set)
    refused: str = ""

    def of_starts(self) -> SliceSearch:
        """A search of given slices alone, which asks for no more room than the policy does.

        It knows the trials of this one, and has as many more as finding one strength takes.
        """
        tries = self.tries + 2 * len(self.settings).bit_length()
        return replace(self, only_starts=True, found=[], most={}, seen=set(), tries=tries)

    @property
    def order(self) -> list[str]:
        """The limits, what is read quickest first, then the one that refused last."""
        return sorted(
            self.policy.measures, key=lambda each: (each not in _QUICK, each != self.refused)
        )

    @property
    def best(self) -> Found | None:
        """The smallest expected loss of those that keep the policy."""
        return min(self.found, key=lambda each: each.loss, default=None)

    @property
    def here(self) -> Found:
        """The best; while nothing keeps all limits, what breaks them least."""
        if self.best is not None:
            return self.best
        slices, strength = min(
            self.shares, key=lambda each: (max(self.shares[each].values()), each)
        )
        loss = float(self.losses.loss(slices)[strength])
        return Found(loss=loss, slices=slices, strength=strength)

    @property
    def spent(self) -> bool:
        """Whether there are no trials left."""
        return len(self.shares) >= self.tries

    def run(self, starts: Sequence[Slices]) -> None:
        """Try some slices and those on the way to whole rows, then change the best by steps."""
        merged = () if self.only_starts else (*self.merged(2), *self.merged(len(self.names)))
        for slices in (*starts, *merged):
            self.look(slices)
        while not (self.only_starts or self.spent) and any(
            self.look(slices) for slices in self._steps(self.here)
        ):
            continue

    def tighten(self, judged: Verdict) -> None:
        """Ask for more room where fresh releases broke a limit; what has it is still found."""
        for key in judged.broken:
            share = min(max(judged.shares[key], 1.02), 2.0)
            self.most[key] = self.most.get(key, 1.0) / share
        self.found = [
            Found(loss=float(self.losses.loss(slices)[strength]), slices=slices, strength=strength)
            for slices, strength in self.confirmed
            if self.confirms(slices, strength)
        ]
        self.seen.clear()

    def merged(self, largest: int) -> Iterator[Slices]:
        """From each alone on, each time the two blocks that save most together, up to a size."""
        blocks = _blocks((), self.names)
        middle = len(self.settings) // 2
        while True:
            every = [
                _joined(blocks, (i, j))
                for i, j in combinations(range(len(blocks)), 2)
                if len(blocks[i]) + len(blocks[j]) <= largest
            ]
            if not every:
                return
            blocks = min(every, key=lambda each: self.losses.loss(_slices(each))[middle])
            yield _slices(blocks)

    def look(self, slices: Slices) -> bool:
        """Find the weakest strength under which slices keep the policy; whether they lead now.

        First at the strongest that would still be better than what is known: most slices need no
        second trial.
        """
        losses = self.losses.loss(slices)
        limit = np.inf if self.best is None else self.best.loss
        better = np.flatnonzero(losses < limit - 1e-9)
        if slices in self.seen or self.spent or not len(better):
            return False
        self.seen.add(slices)
        if not self.keeps(slices, int(better[-1])):
            return self.best is None and self.here.slices == slices
        high = self._weakest(slices, -1, int(better[-1]), self.keeps)
        if not self.confirms(slices, high):  # trials are few; more releases decide
            if not self.confirms(slices, int(better[-1])):
                return False
            high = self._weakest(slices, high, int(better[-1]), self.confirms)
        self.found.append(Found(loss=float(losses[high]), slices=slices, strength=high))
        return self.found[-1] == self.best

    def _weakest(
        self, slices: Slices, low: int, high: int, keeps: Callable[[Slices, int], bool]
    ) -> int:
        """The weakest strength above one that breaks a limit, up to one that keeps them all."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if keeps(slices, middle) else (middle, high)
        return high

    def confirms(self, slices: Slices, strength: int) -> bool:
        """Whether more releases than a trial's, and others, keep every limit."""
        shares = self.confirmed.get((slices, strength))
        if shares is None:
            shares, seed = {}, self.plan.seed + FRESH
            plan = replace(self.plan, releases=_CHOOSING, seed=seed)
            for measure in self.order:
                share = self._read(slices, strength, replace(plan, measures=(measure,)))
                shares[measure] = share
                if share > 1:
                    break
            self.confirmed[slices, strength] = shares
            self.shares[slices, strength] = shares  # they know better
        return all(share <= self.most.get(key, 1.0) for key, share in shares.items())

    def keeps(self, slices: Slices, strength: int) -> bool:
        """Whether trial releases keep every limit; the first that breaks one ends the trial."""
        shares = self.shares.get((slices, strength))
        if shares is None:
            shares = self.shares[slices, strength] = self._tried(slices, strength)
            self.tick(len(self.shares) / self.tries)
        return all(share <= self.most.get(key, 1.0) for key, share in shares.items())

    def _tried(self, slices: Slices, strength: int) -> dict[str, float]:
        """The share of each limit that is used; infinite where one was not read."""
        shares = {}
        for measure in self.order:
            once = self._read(slices, strength, replace(self.plan, measures=(measure,), releases=1))
            if once > _FAR and once <= _BROKEN:
                once = self._read(slices, strength, replace(self.plan, measures=(measure,)))
            shares[measure] = once
            if once > 1:
                self.refused = measure
                break
        return shares

    def _read(self, slices: Slices, strength: int, plan: Plan) -> float:
        (point,) = self.crew.points([self.at(slices, strength)], plan, lambda share: None)
        share = self.policy.judge_point(point).shares.get(plan.measures[0])
        return np.inf if share is None else share

    def at(self, slices: Slices, strength: int) -> Setting:
        """The setting of some slices at a strength."""
        return replace(self.settings[strength], slices=slices)

    def _steps(self, here: Found) -> list[Slices]:
        """Slices one step away: two blocks joined, or one variable in another; best first."""
        blocks = _blocks(here.slices, self.names)
        made = [_joined(blocks, pair) for pair in combinations(range(len(blocks)), 2)]
        made += [_moved(blocks, name, to) for name in self.names for to in range(len(blocks) + 1)]
        steps = list(dict.fromkeys(_slices(each) for each in made))
        return sorted(steps, key=lambda each: (self.losses.loss(each)[here.strength], each))


def _blocks(slices: Slices, names: Sequence[str]) -> Blocks:
    inside = {name for each in slices for name in each}
    return (*slices, *((name,) for name in names if name not in inside))


def _slices(blocks: Blocks) -> Slices:
    return as_slices(each for each in blocks if len(each) > 1)


def _joined(blocks: Blocks, pair: tuple[int, int]) -> Blocks:
    one, two = pair
    rest = tuple(each for number, each in enumerate(blocks) if number not in pair)
    return (*rest, (*blocks[one], *blocks[two]))


def _moved(blocks: Blocks, name: str, to: int) -> Blocks:
    """One variable in another block, or in a new one."""
    left = [tuple(other for other in each if other != name) for each in (*blocks, ())]
    left[to] = (*left[to], name)
    return tuple(each for each in left if each)
