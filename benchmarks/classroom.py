"""Measure a class: pupils who move sliders of one server at the same time.

``python -m benchmarks classroom`` (test extra and a Chromium) opens a Tune page for each of 24
pupils, then posts a new position of epsilon or k for each every two seconds, as the page does, at
moments of its own. It prints the median and the 95th percentile of the time to the whole picture,
posts without an answer, and the memory of the server for each pupil; exit 1 above a limit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import orjson

from benchmarks.pages import say
from benchmarks.redraw import chromium, opened
from rwn_ui.server import launch
from rwn_ui.server.endpoint import ADDRESS

EVERY_S = 2.0
MEDIAN_MS, TAIL_MS, MOST_MB = 150.0, 500.0, 20.0


def moves(url: str, known: Mapping[str, Any], number: int, seconds: float) -> list[float]:
    """Post one pupil's moves; return milliseconds to each whole picture, infinite without one."""
    rng = np.random.default_rng(number)
    taken = []
    time.sleep(EVERY_S * rng.random())  # pupils do not move together
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        levers = {"epsilon": float(rng.uniform(0.5, 6.0)), "k": int(rng.integers(3, 40))}
        body = orjson.dumps({**known, "edits": [{"levers": levers}]})
        began = time.perf_counter()
        with urlopen(Request(f"{url}/{ADDRESS}", body, method="POST"), timeout=60) as answer:
            whole = answer.status == 200 and bool(orjson.loads(answer.read() or b"null"))
        taken.append(1000 * (time.perf_counter() - began) if whole else np.inf)
        time.sleep(max(0.0, EVERY_S - (time.perf_counter() - began)))
    return taken


def megabytes(pid: int) -> float:
    """Return the memory that a process holds (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def main() -> int:
    """Open the pages, post the moves, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pupils", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=40.0)
    given = parser.parse_args()
    with ExitStack() as stack:
        port = launch.choose_port()
        server = stack.enter_context(launch.serving(port))
        url = f"http://{launch.ADDRESS}:{port}"
        browser = stack.enter_context(chromium())
        users: list[dict[str, Any]] = []
        before = 0.0
        for _ in range(given.pupils):
            page = opened(browser, f"{url}/?demo=bodyfat&epsilon=2", "[data-stamp]")
            # the page's own first move tells the token that its posts carry
            with page.expect_request(lambda one: '"edits"' in (one.post_data or "")) as asked:
                page.get_by_role("slider").first.press("ArrowRight")
            sent = orjson.loads(asked.value.post_data or "")
            users.append({name: value for name, value in sent.items() if name != "edits"})
            before = before or megabytes(server.pid)
            page.wait_for_timeout(500)
        with ThreadPoolExecutor(given.pupils) as pool:
            each = [pool.submit(moves, url, u, i, given.seconds) for i, u in enumerate(users)]
            taken = np.concatenate([one.result() for one in each])
        grown = (megabytes(server.pid) - before) / max(given.pupils - 1, 1)
    lost = int(np.isinf(taken).sum())
    median, tail = np.percentile(taken, [50, 95])
    say(f"{given.pupils} pupils, {len(taken)} moves: median {median:.0f} ms (at most "
        f"{MEDIAN_MS:.0f}), 95 % within {tail:.0f} ms ({TAIL_MS:.0f}), {lost} without a picture, "
        f"{grown:.1f} MB for each pupil ({MOST_MB:.0f})")  # fmt: skip
    return int(median > MEDIAN_MS or tail > TAIL_MS or lost > 0 or grown > MOST_MB)


if __name__ == "__main__":
    sys.exit(main())
