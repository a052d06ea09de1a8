"""What a move of the slider of epsilon costs at every position, beyond the stored table too.

`python -m benchmarks.every_position [DEMO ...]` prints CPU milliseconds of finding neighborhoods
and drawing donors: by a search at each position, and with the donors that were looked up once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import rwn_core as rwn
from rwn_core.laws.donors import Draws, draw_donors, random_streams
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.metric import metric_of
from rwn_core.neighbors.preview import Preview, build_preview
from rwn_core.neighbors.source import Ball, search
from rwn_core.randomness import SecretKey

K = 5
SEARCHED = 8  # positions beyond the table that are searched


def milliseconds(work: Callable[[], object]) -> float:
    """CPU time of some work."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def moves(preview: Preview, positions: np.ndarray, drawing: Drawing) -> np.ndarray:
    """CPU milliseconds at each position."""
    draws = Draws(drawing.key, preview.records, drawing.streams)

    def move(epsilon: float) -> None:
        found, donors = preview.find(Ball(k=K, epsilon=epsilon), drawing)
        if donors is None:
            draw_donors(found, draws, drawing.q)

    return np.array([milliseconds(lambda at=at: move(at)) for at in positions.tolist()])


def line(name: str, spent: np.ndarray) -> str:
    """Median, 95th percentile and maximum."""
    if not spent.size:
        return f"  {name}: none\n"
    return (
        f"  {name}: median {np.median(spent):.1f}, 95th percentile "
        f"{np.quantile(spent, 0.95):.1f}, most {spent.max():.1f} ms\n"
    )


def costs(name: str) -> str:
    """What a demo's slider costs."""
    data = rwn.load_demo(name)
    points, streams = metric_of(data).coded(data), random_streams(data)
    start = time.process_time()
    preview = build_preview(points)
    built = time.process_time() - start
    ends, positions = preview.slider_range, preview.slider_range.positions
    drawing = Drawing(key=SecretKey.from_seed(1), streams=streams, q=np.ones(len(streams)))
    far = positions[positions > ends.stored]
    searched = [
        milliseconds(lambda at=at: search(points, Ball(k=K, epsilon=at), drawing))
        for at in far[:: max(1, len(far) // SEARCHED)].tolist()
    ]
    once = milliseconds(lambda: preview.find(Ball(k=K, epsilon=ends.epsilon), drawing))
    return (
        f"{name}, {data.n:,} records, {len(streams)} columns; slider to {ends.epsilon:g}, stored "
        f"to {ends.stored:g}; table {1000 * built:.0f} ms, looked up once for a key {once:.0f} ms\n"
        + line("searched, beyond the table", np.array(searched))
        + line("every position", moves(preview, positions, drawing))
        + line("those beyond the table", moves(preview, far, drawing))
    )


def main() -> None:
    """Print what each demo's slider costs."""
    for name in sys.argv[1:] or ("randhie", "cps1988"):
        sys.stdout.write(costs(name))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
