"""Whether any slices at all leave half of the loss of correlations under the usual policy.

``python benchmarks/slice_partitions.py pima 0.0735 10 --seconds 600`` takes the partitions of the
masked variables in random order. Each is tried once, at the largest of 40 radii at which its
expected loss of correlations is within the target, where it is hardest to attack: one release,
refused by the first limit that it passes by a quarter.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

import rwn_core as rwn
from rwn_core.data.slices import Slices, as_slices
from rwn_core.masking import lever_values
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey
from rwn_core.tuning import Policy
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_presets import masked_names

RECORDS, STEPS = 2_000, 40  # as many as a slice search looks at
BEYOND = 1.25
ORDER = ("true_matches", "attribute_gain", "bayes_linkage")  # the quickest first


def partitions(names: list[str]) -> Iterator[list[list[str]]]:
    """Every way to split some names."""
    if not names:
        yield []
        return
    first, *rest = names
    for parts in partitions(rest):
        yield [[first], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [first, *part], *parts[place + 1 :]]


def broken(data: rwn.Microdata, masked: rwn.Microdata, law: object) -> str:
    """The first limit that a release passes by far, or nothing."""
    policy, comparison = Policy(), Comparison(original=data, masked=masked, law=law)
    for key in ORDER:
        reading, limit = rwn.MEASURES[key].read(comparison), policy.limit(key)
        if not isinstance(reading, Reading) or limit.share(reading.value) > BEYOND:
            return key
    return ""


def main() -> None:
    """Read the command line and count what each partition breaks first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demo", choices=list(rwn.DEMOS))
    parser.add_argument("target", type=float, help="expected loss of correlations, at most")
    parser.add_argument("farthest", type=float, help="the largest radius")
    parser.add_argument("--seconds", type=float, default=600.0)
    chosen = parser.parse_args()
    data = rwn.load_demo(chosen.demo)
    if data.n > RECORDS:
        data = data.take(np.sort(np.random.default_rng(0).permutation(data.n)[:RECORDS]))
    radii = np.linspace(chosen.farthest / STEPS, chosen.farthest, STEPS).round(3).tolist()
    settings = [Setting(params=rwn.RWN(epsilon=radius, k=5)).resolved(data) for radius in radii]
    losses = SliceLoss.of(data, settings)
    prepared = settings[0].params.prepare(data, settings=[each.params for each in settings])
    every: list[Slices] = [
        as_slices(tuple(part) for part in parts if len(part) > 1)
        for parts in partitions(masked_names(data))
    ]
    start, counted = time.perf_counter(), Counter[str]()
    for place in np.random.default_rng(0).permutation(len(every)):
        if time.perf_counter() - start > chosen.seconds:
            break
        slices = every[place]
        near = np.flatnonzero(losses.loss(slices) <= chosen.target)
        if not near.size:
            counted["loss"] += 1
            continue
        sliced, params = data.with_slices(slices), settings[near[-1]].params
        moved = prepared.with_slices(sliced.schema.slices).at(**lever_values(params))
        made = moved.release(SecretKey.from_seed(1))
        first = broken(sliced, made.masked, made.law)
        counted[first or "nothing"] += 1
        if not first:
            sys.stdout.write(f"  breaks nothing by far: {slices} at {params.epsilon:g}\n")
    sys.stdout.write(f"{counted.total():,} of {len(every):,} partitions: {dict(counted)}\n")


if __name__ == "__main__":
    main()
