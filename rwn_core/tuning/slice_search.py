"""Looks for slices and weights: steps by the expected loss, each tried on releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.slices import Slices
from rwn_core.tuning.evaluate_settings import Plan
from rwn_core.tuning.policy import QUICK, Policy
from rwn_core.tuning.search_pace import Pace
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.setting_pool import SettingPool
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_steps import (
    Choice,
    Found,
    Weights,
    blocks_of,
    joined,
    slice_steps,
    slices_of,
    weight_steps,
)
from rwn_core.tuning.verdict import Verdict

_BROKEN = 1.5  # of a limit: one release is enough to refuse
_FAR = 0.5  # of a limit: one release is enough to go on; what is stated is read on fresh ones
FRESH = 1_000_000  # seeds between one set of releases and the next
_CHOOSING = 24  # releases that a trial's answer has to keep the limits on, too
_ALONE = 0.25  # of the trials: weights of each variable alone, before any slices


@dataclass(slots=True, kw_only=True)
class SliceSearch:
    """Tries slices under a policy and remembers those that keep it.

    Attributes
    ----------
    names : tuple of str
        The masked variables.
    settings : sequence of Setting
        One for each strength, weakest first, with the weights to begin with; their slices do not
        count.
    losses : callable
        The expected losses under some weights.
    crew : SettingPool
    policy : Policy
    plan : Plan
        Releases and seed of a trial.
    tries : int
        Trials at most.
    only_starts : bool
        Whether no slices but those to begin with are tried.
    reweigh : bool
        Whether weights are moved.
    related : sequence of tuple of str
        Variables whose weights are moved together, too.
    cautious : bool
        Whether what leads after its trial has to keep all limits on more releases, too.
    pace : Pace
        What it has read and expects to read.
    most : dict of str to float
        Share of a measure's limit that trial releases may use, less than 1 once they were too kind.
    shares : dict
        What each trial used of the limits, by measure, up to the first that it broke.
    confirmed : dict
        The same on more releases, of those that lead after their trial.
    known : Found, optional
        What is known to keep all limits, whatever more room is asked of others.
    seen : set
        Choices that are not looked at again.
    refused : str
        The measure whose limit the last refused trial broke.
    """

    names: tuple[str, ...]
    settings: Sequence[Setting]
    losses: Callable[[Weights], SliceLoss]
    crew: SettingPool
    policy: Policy
    plan: Plan
    tries: int
    only_starts: bool = False
    reweigh: bool = False
    cautious: bool = True
    related: Sequence[tuple[str, ...]] = ()
    pace: Pace = field(default_factory=Pace)
    found: list[Found] = field(default_factory=list)
    most: dict[str, float] = field(default_factory=dict)
    shares: dict[tuple[Choice, int], dict[str, float]] = field(default_factory=dict)
    confirmed: dict[tuple[Choice, int], dict[str, float]] = field(default_factory=dict)
    known: Found | None = None
    seen: set[Choice] = field(default_factory=set)
    refused: str = ""

    def of_weights_alone(self, *, cautious: bool) -> SliceSearch:
        """A search of weights for the starts, with a part of the trials for itself."""
        tries = len(self.shares) + max(1, int(self.tries * _ALONE))
        return self._anew(only_starts=True, cautious=cautious, tries=tries)

    def of_given_weights(self) -> SliceSearch:
        """The same search without other weights; it knows the trials without them."""
        own = {each: used for each, used in self.shares.items() if each[0].weights == self.given}
        sure = {each: used for each, used in self.confirmed.items() if each in own}
        return self._anew(reweigh=False, shares=own, confirmed=sure)

    def _anew(self, **changes: Any) -> SliceSearch:
        """Another search, which knows the trials and asks for no more room than the policy does."""
        return replace(self, **changes, found=[], most={}, seen=set())

    @property
    def order(self) -> list[str]:
        """The limits, what is read quickest first, then the one that refused last."""
        return sorted(
            self.policy.measures, key=lambda each: (each not in QUICK, each != self.refused)
        )

    @property
    def best(self) -> Found | None:
        """The smallest expected loss of those that keep the policy."""
        known = () if self.known is None else (self.known,)
        return min((*known, *self.found), key=lambda each: each.loss, default=None)

    @property
    def here(self) -> Found:
        """The best; while nothing keeps all limits, what breaks them least."""
        if self.best is not None:
            return self.best
        choice, strength = min(
            self.shares, key=lambda each: (max(self.shares[each].values()), each)
        )
        return self._found(choice, strength)

    def _found(self, choice: Choice, strength: int) -> Found:
        return Found(loss=float(self._losses(choice)[strength]), choice=choice, strength=strength)

    def _losses(self, choice: Choice) -> NDArray[np.float64]:
        return self.losses(choice.weights).loss(choice.slices)

    @property
    def given(self) -> Weights:
        """The weights to begin with."""
        return self.settings[0].weights

    @property
    def spent(self) -> bool:
        """Whether there are no trials left."""
        return len(self.shares) >= self.tries

    def run(self, starts: Sequence[Choice]) -> None:
        """Try some choices and those on the way to whole rows, then change the best by steps."""
        merged = () if self.only_starts else (*self.merged(2), *self.merged(len(self.names)))
        for choice in (*starts, *(Choice(slices, self.given) for slices in merged)):
            self.look(choice)
        while any([self._step_slices(), self._step_weights()]):
            continue
        if not self.only_starts:
            self.pace.expect(0)

    def _step_slices(self) -> bool:
        """Join slices and move variables while that helps; whether it did."""
        helped = False
        while not (self.only_starts or self.spent):
            if not any(self.look(choice) for choice in self._steps(self.here)):
                break
            helped = True
        return helped

    def _step_weights(self) -> bool:
        """Halve or double the weights of several, then of each, where it helps; whether it did."""
        helped = False
        several = (*self.here.choice.slices, *self.related)
        for names in (*several, *((name,) for name in self.names)) if self.reweigh else ():
            slices, weights = self.here.choice
            moved = (Choice(slices, each) for each in weight_steps(weights, names))
            helped |= any(self.look(choice) for choice in moved)
        return helped

    def tighten(self, judged: Verdict) -> None:
        """Ask for more room where fresh releases broke a limit; what has it is still found."""
        for key in judged.broken:
            share = min(max(judged.shares[key], 1.02), 2.0)
            self.most[key] = self.most.get(key, 1.0) / share
        self.found = [
            self._found(choice, strength)
            for choice, strength in self.confirmed
            if self.confirms(choice, strength)
        ]
        self.seen.clear()

    def merged(self, largest: int) -> Iterator[Slices]:
        """From each alone on, each time the two blocks that save most together, up to a size."""
        losses, middle = self.losses(self.given), len(self.settings) // 2
        blocks = blocks_of((), self.names)
        while True:
            every = [
                joined(blocks, (i, j))
                for i, j in combinations(range(len(blocks)), 2)
                if len(blocks[i]) + len(blocks[j]) <= largest
            ]
            if not every:
                return
            blocks = min(every, key=lambda each: losses.loss(slices_of(each))[middle])
            yield slices_of(blocks)

    def look(self, choice: Choice) -> bool:
        """Find the weakest strength at which a choice keeps the policy; whether it leads now.

        First at the strongest that would still be better than what is known: most slices need no
        second trial.
        """
        if choice in self.seen or self.spent:
            return False
        losses = self._losses(choice)
        limit = np.inf if self.best is None else self.best.loss
        better = np.flatnonzero(losses < limit - 1e-9)
        if not len(better):
            return False
        self.seen.add(choice)
        if not self.keeps(choice, int(better[-1])):
            return self.best is None and self.here.choice == choice
        high = self._weakest(choice, -1, int(better[-1]), self.keeps)
        if self.cautious and not self.confirms(choice, high):
            if not self.confirms(choice, int(better[-1])):
                return False
            high = self._weakest(choice, high, int(better[-1]), self.confirms)
        self.found.append(self._found(choice, high))
        return self.found[-1] == self.best

    def _weakest(
        self, choice: Choice, low: int, high: int, keeps: Callable[[Choice, int], bool]
    ) -> int:
        """The weakest strength above one that breaks a limit, up to one that keeps them all."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if keeps(choice, middle) else (middle, high)
        return high

    def confirms(self, choice: Choice, strength: int) -> bool:
        """Whether more releases than a trial's, and others, keep every limit."""
        shares = self.confirmed.get((choice, strength))
        if shares is None:
            shares, seed = {}, self.plan.seed + FRESH
            plan = replace(self.plan, releases=_CHOOSING, seed=seed)
            for measure in self.order:
                share = self._read(choice, strength, replace(plan, measures=(measure,)))
                shares[measure] = share
                if share > 1:
                    break
            self.confirmed[choice, strength] = shares
            self.shares[choice, strength] = shares  # they know better
        return all(share <= self.most.get(key, 1.0) for key, share in shares.items())

    def keeps(self, choice: Choice, strength: int) -> bool:
        """Whether trial releases keep every limit; the first that breaks one ends the trial."""
        shares = self.shares.get((choice, strength))
        if shares is None:
            shares = self.shares[choice, strength] = self._tried(choice, strength)
            self.pace.tried()
        return all(share <= self.most.get(key, 1.0) for key, share in shares.items())

    def _tried(self, choice: Choice, strength: int) -> dict[str, float]:
        """The share of each limit that is used; infinite where one was not read."""
        shares = {}
        for measure in self.order:
            once = self._read(choice, strength, replace(self.plan, measures=(measure,), releases=1))
            if once > _FAR and once <= _BROKEN:
                once = self._read(choice, strength, replace(self.plan, measures=(measure,)))
            shares[measure] = once
            if once > 1:
                self.refused = measure
                break
        return shares

    def _read(self, choice: Choice, strength: int, plan: Plan) -> float:
        (point,) = self.crew.points([self.at(choice, strength)], plan, lambda share: None)
        self.pace.read(plan.releases)
        share = self.policy.judge_point(point).shares.get(plan.measures[0])
        return np.inf if share is None or point.few else share

    def at(self, choice: Choice, strength: int) -> Setting:
        """The setting of a choice at a strength."""
        return replace(self.settings[strength], slices=choice.slices, weights=choice.weights)

    def _steps(self, here: Found) -> list[Choice]:
        """Choices whose slices are one step away, best first."""
        losses, weights = self.losses(here.choice.weights), here.choice.weights
        steps = slice_steps(here.choice.slices, self.names)
        steps.sort(key=lambda each: (losses.loss(each)[here.strength], each))
        if not self.reweigh:  # weights may be moved as long as there are trials
            left = (each for each in steps if Choice(each, weights) not in self.seen)
            self.pace.expect(sum(losses.loss(each).min() < here.loss for each in left))
        return [Choice(slices, weights) for slices in steps]
