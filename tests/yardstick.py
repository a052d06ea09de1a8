"""Work that is always the same: what tests cost is told in times of it, on any machine."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

FILE = Path(__file__).parent / "rules" / "seconds.toml"
MARGIN = 1.25
"""A tenth for what a test more costs, and what a busy machine adds."""
ROUNDS = 200


def yardstick() -> float:
    """Processor seconds of a piece of work in Python, in numpy and in a compiled kernel."""
    import numpy as np

    points = np.random.default_rng(0).normal(size=(1_500, 4))
    _in_a_kernel(points)  # its code is read before it is timed
    begun = time.process_time()
    _in_python()
    _in_numpy(points)
    _in_a_kernel(points)
    return time.process_time() - begun


def _in_python() -> None:
    for turn in range(ROUNDS):
        words = {f"{number}": (number, turn) for number in range(5_000)}
        sorted(words.values(), key=lambda each: each[0] % 97)


def _in_numpy(points: np.ndarray) -> None:
    import numpy as np

    for turn in range(3 * ROUNDS):
        column = points[:, turn % 4].round(2)
        np.unique(column, return_inverse=True)
        np.argsort(points[: 1 + turn % 300] @ points[:300].T, axis=1)


def _in_a_kernel(points: np.ndarray) -> None:
    from rwn_core.neighbors import find_neighborhoods

    for k in (3, 5):
        find_neighborhoods(points, k=k, epsilon=0.5)


def held() -> float:
    """The most that the day lane may cost, in times of the yardstick."""
    return MARGIN * float(tomllib.loads(FILE.read_text("utf-8"))["day lane"])


def verdict(seconds: float, unit: float) -> tuple[str, bool]:
    """What is said of the day lane's processor seconds, and whether they are held."""
    times = seconds / unit
    most = held()
    words = f"the day lane costs {times:,.0f} times the yardstick of {unit:.2f} s"
    return f"{words}, at most {most:,.0f} are held (tests/rules/seconds.toml)", times <= most
