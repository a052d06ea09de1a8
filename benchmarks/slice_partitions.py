"""Whether any slices at all leave half of the loss of relations under the usual policy.

``python -m benchmarks.slice_partitions pima 0.0735 10`` goes through every partition of the masked
variables, each at the largest of 40 radii at which its expected loss of relations is within the
target, where it is hardest to attack. What an intruder reads of one confidential variable depends
only on how that variable and those that he knows are split. So a few partitions that hold every
such split, at some radii, tell of all the others: attribute gain is the largest of those of the
confidential variables, and true matches of those of the known sets. A radius between
two that were read counts as the larger. What is left is drawn, once each.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.rounding import steps_of
from rwn_core.data.slices import Slices, as_slices
from rwn_core.errors import NotApplicable
from rwn_core.masking import lever_values
from rwn_core.measures.attacks.true_match import KnownTable, Secret, count
from rwn_core.measures.attacks.value_match import Columns
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk import true_matches
from rwn_core.randomness import SecretKey
from rwn_core.tuning import Policy
from rwn_core.tuning.seek_slices import LARGEST_SEARCHED
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_presets import masked_names

STEPS = 40
BEYOND = 1.25  # of a limit
RADII = 5  # that are read, of those at which partitions are tried
ORDER = ("true_matches", "attribute_gain", "bayes_linkage")  # the quickest first

Split = tuple[int, ...]


def partitions(count: int) -> Iterator[Split]:
    """Every way to split some variables, as the number of each one's slice."""

    def longer(start: Split) -> Iterator[Split]:
        if len(start) == count:
            yield start
            return
        for number in range(max(start, default=-1) + 2):
            yield from longer((*start, number))

    return longer(())


def restricted(split: Split, places: Sequence[int]) -> Split:
    """How some of the variables are split."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(split[place], len(numbers)) for place in places)


class Table:
    """One table under a policy: its partitions, their losses and what an intruder may know.

    Parameters
    ----------
    data : Microdata
    settings : list of Setting
        Ascending radii.
    """

    def __init__(self, data: rwn.Microdata, settings: list[Setting]) -> None:
        self.data, self.settings, self.names = data, settings, masked_names(data)
        self.losses = SliceLoss.from_settings(data, settings)
        params = [each.params for each in settings]
        self.prepared: Any = params[0].prepare(data, settings=params)
        roles = {v.name: v.role for v in data.schema.variables}
        self.secrets = tuple(n for n in self.names if roles[n] is rwn.Role.CONFIDENTIAL)
        self.keys = tuple(n for n in self.names if roles[n] is rwn.Role.KEY)
        whole, _ = self.drawn(tuple(0 for _ in self.names), 0, 1)
        self.known = rwn.MEASURES["true_matches"].read(whole).detail["sets"]["names"]

    def slices(self, split: Split) -> Slices:
        """The slices of a split."""
        parts = defaultdict(list)
        for name, number in zip(self.names, split, strict=True):
            parts[number].append(name)
        return as_slices(tuple(part) for part in parts.values() if len(part) > 1)

    def drawn(self, split: Split, radius: int, seed: int) -> tuple[Comparison, Slices]:
        """A release of some slices, beside its original."""
        slices, setting = self.slices(split), self.settings[radius]
        sliced = self.data.with_slices(slices)
        moved = self.prepared.with_slices(sliced.schema.slices).at(**lever_values(setting.params))
        made = moved.release(SecretKey.from_seed(seed)).rounded(dict(setting.precision))
        return Comparison(original=sliced, masked=made.masked, law=made.law), slices

    def items(self, split: Split) -> list[tuple[Any, ...]]:
        """What of a partition the readings depend on: known sets and keys, with each secret."""
        place = {name: number for number, name in enumerate(self.names)}
        sets = [tuple(each) for each in self.known]
        asked = [("match", each, s) for each in sets for s in self.secrets]
        asked += [("gain", self.keys, s) for s in self.secrets]
        return [
            (what, names, secret, restricted(split, [place[n] for n in (*names, secret)]))
            for what, names, secret in asked
        ]

    def matches(self, comparison: Comparison) -> dict[tuple[Any, ...], NDArray[np.float64]]:
        """Of each known set and secret, the shares of people read truly and by chance."""
        precision = comparison.law.precision if comparison.law else {}
        steps = true_matches.steps_by_name(precision)
        table = self.data.once(("table", steps), lambda: KnownTable(self.data, steps))
        place = {name: number for number, name in enumerate(table.names)}
        chosen = tuple(tuple(place[n] for n in names) for names in self.known)
        columns = self.data.once(("columns", steps), lambda: Columns(table.codes, chosen))
        released = table.numbered(comparison.original, comparison.masked)
        found = count(columns, released, [Secret(comparison, name) for name in self.secrets])
        least = max(true_matches.FEW, true_matches.SMALL * table.n)
        return {
            ("match", tuple(names), secret): np.array(
                [found.read[i, j], found.chance[i, j]]
            ) / columns.people[i]
            for i, names in enumerate(self.known)
            for j, secret in enumerate(self.secrets)
            if columns.people[i] >= least
        }  # fmt: skip


def gains(comparison: Comparison, keys: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
    """Of each secret, how much more is named rightly."""
    read = rwn.MEASURES["attribute_gain"].read(comparison)
    if isinstance(read, NotApplicable):
        raise SystemExit(read.reason)
    named = zip(read.detail["secrets"], read.detail["gains"], strict=True)
    return {("gain", keys, secret): np.array([gain["value"], 0.0]) for secret, gain in named}


def covering(every: list[Split], items: list[list[tuple[Any, ...]]]) -> list[int]:
    """Some partitions that hold all that any of them holds, a few at each look."""
    left = {item for some in items for item in some}
    generator, chosen = np.random.default_rng(0), []
    while left:
        looked = generator.integers(0, len(every), 400).tolist()
        one = max(looked, key=lambda number: len(left.intersection(items[number])))
        if left.intersection(items[one]):
            chosen.append(one)
            left.difference_update(items[one])
    return chosen


def tables(
    table: Table, chosen: list[tuple[Split, list[tuple[Any, ...]]]], radii: list[int], releases: int
) -> dict[tuple[Any, ...], NDArray[np.float64]]:
    """The mean reading of each item at each radius."""
    read = defaultdict(list)
    for radius in radii:
        for split, items in chosen:
            split_of = {item[:3]: item for item in items}
            for seed in range(1, releases + 1):
                comparison, _ = table.drawn(split, radius, seed)
                found = table.matches(comparison)
                if seed == 1:
                    found |= gains(comparison, table.keys)
                for item, value in found.items():
                    read[radius, split_of[item]].append(value)
    return {item: np.mean(values, axis=0) for item, values in read.items()}


def refusal(items: list[tuple[Any, ...]], radius: int, read: dict[tuple[Any, ...], Any]) -> str:
    """The limit that a partition passes by far, as its parts tell; nothing where none."""
    policy, gain, best = Policy(), [], {}
    for item in items:
        value = read.get((radius, item))
        if value is None:
            continue
        if item[0] == "gain":
            gain.append(value[0])
        elif value[0] >= best.get(item[1], (0.0, 0.0))[0]:
            best[item[1]] = value
    most = max((each[0] - each[1] for each in best.values()), default=0.0)
    for key, value in (("true_matches", most), ("attribute_gain", max(gain, default=0.0))):
        if policy.limit(key).share(value) > BEYOND:
            return key
    return ""


def broken(comparison: Comparison) -> tuple[str, float]:
    """The first limit that a release passes by far, or nothing and the largest share."""
    policy, most = Policy(), 0.0
    for key in ORDER:
        reading, limit = rwn.MEASURES[key].read(comparison), policy.limit(key)
        share = limit.share(reading.value) if isinstance(reading, Reading) else np.inf
        most = max(most, share)
        if share > BEYOND:
            return key, share
    return "", most


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def settings_of(data: rwn.Microdata, chosen: argparse.Namespace) -> list[Setting]:
    """The radii, weakest first."""
    precision = tuple(steps_of(data, chosen.round).items()) if chosen.round else ()
    radii = np.linspace(chosen.farthest / STEPS, chosen.farthest, STEPS).round(3).tolist()
    made = (rwn.RWN(epsilon=radius, k=chosen.k, q=chosen.q) for radius in radii)
    return [Setting(params=each, precision=precision).resolved(data) for each in made]


def main() -> None:
    """Read the command line and count what each partition breaks first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demo", choices=list(rwn.DEMOS))
    parser.add_argument("target", type=float, help="expected loss of relations, at most")
    parser.add_argument("farthest", type=float, help="the largest radius")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--q", type=float, default=1.0)
    parser.add_argument("--round", type=float, default=0.0, help="share of a standard deviation")
    parser.add_argument("--releases", type=int, default=3, help="for true matches")
    parser.add_argument("--drawn", type=int, default=400, help="of those left, at most")
    chosen = parser.parse_args()
    start = time.process_time()
    data = rwn.load_demo(chosen.demo)
    if data.n > LARGEST_SEARCHED:
        taken = np.random.default_rng(0).permutation(data.n)[:LARGEST_SEARCHED]
        data = data.take(np.sort(taken))
    table = Table(data, settings_of(data, chosen))
    every = list(partitions(len(table.names)))
    near = [np.flatnonzero(table.losses.loss(table.slices(e)) <= chosen.target) for e in every]
    best = [int(each[-1]) if each.size else -1 for each in near]
    counted = Counter({"loss": best.count(-1)})
    places = [number for number, radius in enumerate(best) if radius >= 0]
    say(f"{chosen}: {len(every):,} partitions, {len(places):,} within the loss at some radius")
    items = [table.items(each) for each in every]
    used = np.unique([best[number] for number in places])
    radii = sorted({int(used[i]) for i in np.linspace(0, len(used) - 1, RADII).round().astype(int)})
    cover = covering(every, items)
    used_up = f"{time.process_time() - start:.0f} s"
    say(f"{len(cover)} partitions hold all parts; radii {radii}; {used_up}")
    read = tables(table, [(every[i], items[i]) for i in cover], radii, chosen.releases)
    left = []
    for number in places:
        above = radii[int(np.searchsorted(radii, best[number]))]
        first = refusal(items[number], above, read)
        counted[first] += bool(first)
        left += [] if first else [number]
    say(f"refused by their parts: {dict(counted)}; left {len(left):,}; "
        f"{time.process_time() - start:.0f} s")  # fmt: skip
    drawn: Counter[str] = Counter()
    nearest = (np.inf, "")
    for number in np.random.default_rng(0).permutation(left)[: chosen.drawn].astype(int).tolist():
        comparison, slices = table.drawn(every[number], best[number], 1)
        first, share = broken(comparison)
        drawn[first or "nothing"] += 1
        words = f"{slices} at {table.settings[best[number]].params.epsilon:g}, {first} {share:.2f}"
        nearest = min(nearest, (share, words))
        if not first:
            say(f"  breaks nothing by far: {words}")
    say(f"of those left {drawn.total():,} drawn: {dict(drawn)}; nearest {nearest[1]}; "
        f"{time.process_time() - start:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
