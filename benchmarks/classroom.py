"""Measure a class: pupils who move sliders of one server at the same time.

``python -m benchmarks classroom`` (test extra and a Chromium) opens a Tune page for each of 24
pupils, then posts a new position of epsilon or k for each every two seconds, as the page does, at
moments of its own. The pages paint nothing meanwhile: pupils have machines of their own. It prints
the median and the 95th percentile of the time to the picture, posts without an answer, pictures
that have their limits at once, and the memory of the server for each pupil; exit 1 above a limit.

The first line is the core's part of that memory: what the table, three releases and their readings
take for each further user of the same table, in a process without pages. ``--memory`` prints
nothing else.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import orjson

import rwn_core as rwn
from benchmarks.pages import say
from benchmarks.redraw import chromium, opened
from rwn_ui.server import launch
from rwn_ui.server.endpoint import ADDRESS
from rwn_ui.state.results import CurrentRelease, PreparedTable

EVERY_S = 2.0
MEDIAN_MS, TAIL_MS, MOST_MB = 150.0, 500.0, 20.0
MOST_CORE_MB = 4.0
FROZEN = {"state": "frozen"}
SETTINGS = tuple(rwn.RWN(epsilon=epsilon, k=5) for epsilon in (1.0, 2.0, 3.0))


def moves(
    url: str, known: Mapping[str, Any], number: int, seconds: float
) -> list[tuple[float, bool]]:
    """Post one pupil's moves; return milliseconds to each picture, and whether it has all limits.

    Infinite without one.
    """
    rng = np.random.default_rng(number)
    taken = []
    time.sleep(EVERY_S * rng.random())  # pupils do not move together
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        levers = {"epsilon": float(rng.uniform(0.5, 6.0)), "k": int(rng.integers(3, 40))}
        body = orjson.dumps({**known, "edits": [{"levers": levers}]})
        began = time.perf_counter()
        with urlopen(Request(f"{url}/{ADDRESS}", body, method="POST"), timeout=60) as answer:
            picture = orjson.loads(answer.read() or b"null") or {}
        milliseconds = 1000 * (time.perf_counter() - began) if picture else np.inf
        follow = any(each.startswith("first ") for each in picture.get("waits", ()))
        taken.append((milliseconds, bool(picture) and not follow))
        time.sleep(max(0.0, EVERY_S - (time.perf_counter() - began)))
    return taken


def megabytes(pid: int) -> float:
    """Return the memory that a process holds (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def read_table() -> list[CurrentRelease]:
    """Return what one user of a demo holds: releases, and readings of the page and the policy."""
    table = PreparedTable.prepare(rwn.load_demo("bodyfat"))
    releases = [table.release(setting, 1) for setting in SETTINGS]
    for release in releases:
        assert release.readings
        for measure in rwn.Policy().measures:
            read = partial(rwn.MEASURES[measure].read, release.comparison)
            release.comparison.cached_for_release(("read", measure), read)
    return releases


def core_megabytes(users: int) -> float:
    """Return the memory that each further user of the same table takes, without pages."""
    # the first two compile, and fill what is held once
    held = [read_table(), read_table()]
    gc.collect()
    before = megabytes(os.getpid())
    held += [read_table() for _ in range(users)]
    gc.collect()
    return (megabytes(os.getpid()) - before) / users


def main() -> int:
    """Open the pages, post the moves, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pupils", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--memory", action="store_true")
    given = parser.parse_args()
    core = core_megabytes(given.pupils)
    say(f"each further user of the same table: {core:.1f} MB without pages ({MOST_CORE_MB:.0f})")
    if given.memory:
        return int(core > MOST_CORE_MB)
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
            # pupils have machines of their own: here no page paints what the server answers
            page.context.new_cdp_session(page).send("Page.setWebLifecycleState", FROZEN)
        with ThreadPoolExecutor(given.pupils) as pool:
            each = [pool.submit(moves, url, u, i, given.seconds) for i, u in enumerate(users)]
            answers = [answer for one in each for answer in one.result()]
        taken = np.array([milliseconds for milliseconds, _ in answers])
        judged = sum(has_limits for _, has_limits in answers)
        grown = (megabytes(server.pid) - before) / max(given.pupils - 1, 1)
    lost = int(np.isinf(taken).sum())
    median, tail = np.percentile(taken, [50, 95])
    say(f"{given.pupils} pupils, {len(taken)} moves: median {median:.0f} ms (at most "
        f"{MEDIAN_MS:.0f}), 95 % within {tail:.0f} ms ({TAIL_MS:.0f}), {lost} without a picture, "
        f"{judged} with all limits, "
        f"{grown:.1f} MB for each pupil ({MOST_MB:.0f})")  # fmt: skip
    limits = [
        (median, MEDIAN_MS),
        (tail, TAIL_MS),
        (lost, 0),
        (grown, MOST_MB),
        (core, MOST_CORE_MB),
    ]
    return int(any(value > most for value, most in limits))


if __name__ == "__main__":
    sys.exit(main())
