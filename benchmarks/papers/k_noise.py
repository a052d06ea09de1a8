"""Replays the paper on k-PRAM and k-noise: its table of errors, and theorem 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.k_methods import TABLES, k_methods, table
from benchmarks.papers.replay import (
    Attempt,
    Found,
    Number,
    Replay,
    Request,
    mean_number,
)
from rwn_core.laws.noise_law import Noise

LOW, HIGH, LENGTH, N = 24, 79, 5, 659
RELEASES, FEW = 1000, 200
K = 10


def _noisy(ages: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    noise = Noise(shape="uniform", sd=LENGTH / 2 / np.sqrt(3))
    return np.asarray(noise.draw(rng.random(len(ages))))


def _resampled(ages: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Change of each age when it is drawn anew from those of its group."""
    group = ((ages - LOW) // LENGTH).astype(int)
    drawn = np.empty_like(ages)
    for each in np.unique(group):
        mine = group == each
        drawn[mine] = rng.choice(ages[mine], size=int(mine.sum()))
    return drawn - ages


def _k_noise(request: Request) -> Found:
    # as many ages as the paper has, spread evenly over its range
    ages, rng = np.resize(np.arange(LOW, HIGH), N).astype(np.float64), np.random.default_rng(1)
    numbers: dict[str, Number | str] = {}
    count, luck = request.repetitions(RELEASES, FEW), []
    for name, change in (("k-PRAM", _resampled), ("k-noise", _noisy)):
        moved = [change(ages, rng) for _ in range(count)]
        squares = np.array([(each**2).mean() for each in moved])
        bias = mean_number([each.mean() for each in moved])
        luck.append(f"{bias.spread:.2g} ({name})")
        numbers[f"{name}, bias"] = bias
        numbers[f"{name}, MSE"] = mean_number(squares)
        numbers[f"{name}, RMSE"] = mean_number(np.sqrt(squares))
    groups = f"groups of {LENGTH} years on [{LOW}, {HIGH}]"
    numbers[groups] = Number(value=(HIGH - LOW) // LENGTH)
    words = f"if the age {HIGH} alone is a group of its own"
    attempts = {groups: (Attempt(words=words, number=Number(value=(HIGH - LOW) // LENGTH + 1)),)}
    for name in TABLES:
        row = f"theorem 1: least share that stays near, {name}"
        numbers[row] = Number(value=k_methods(table(name), k=K).smallest)
    notes = (
        f"The paper's ages are not public: {N} ages spread evenly over [{LOW}, {HIGH}) stand in. "
        "Bias is the mean of released minus original, MSE that of its square, RMSE the root: the "
        "paper does not define them.",
        "The paper's numbers are of one draw each; the standard error of the bias of one draw is "
        f"{' and '.join(luck)}.",
    )
    return Found(numbers=numbers, attempts=attempts, notes=notes)


K_NOISE = Replay(key="k-noise-table", title="Errors of k-PRAM and k-noise", run=_k_noise)
