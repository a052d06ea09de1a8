"""How long the server takes for a slider move of every method, as a ratio to the 2022 method's.

``python -m benchmarks.moves [--write]`` chooses each method in Tune's sidebar and moves its
strength from one end to the other. It counts the processor time of the whole page with its nine
cards, methods in turn in one process; ``--write`` keeps the table in the documentation. Tables of
up to 2,000 records promise the speed of a slider; larger ones show progress.
"""

from __future__ import annotations

import logging
import statistics
import sys
import time

import orjson
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from benchmarks.every_method import FILE, opened

TABLES = ("bodyfat", "pima")
MOVES = 20
FIRST = "rwn"
HEAD = "| method, a move |"


def moved(page: AppTest, stamp: int) -> float:
    """Milliseconds of processor time that a move of the strength takes, further at each stamp."""
    session = page.session_state["rwn.session"]
    key, strength = f"tune.{session.table_version}.levers", rwn.METHODS[session.method].strength
    (drawn,) = (e.proto for e in page.get("bidi_component") if e.proto.id.endswith(f"-{key}"))
    slider = next(e for e in orjson.loads(drawn.bytes)["sliders"] if e["name"] == strength)
    steps = round((slider["high"] - slider["low"]) / slider["step"])
    there = slider["low"] + slider["step"] * (stamp * steps // (MOVES + 3))
    move = {"stamp": str(stamp), "values": {strength: there}, "dragging": False}
    page.session_state[key] = {"move": move}
    start = time.process_time()
    page.run()
    took = 1000 * (time.process_time() - start)
    assert abs(session.levers[strength] - there) < 1e-9
    return took


def measure(table: str) -> dict[str, float]:
    """The median of each method's moves, one method after the other in each round."""
    pages = {key: opened(key, table) for key in rwn.METHODS}
    took: dict[str, list[float]] = {key: [] for key in pages}
    for stamp in range(1, MOVES + 3):
        for key, page in pages.items():
            each = moved(page, stamp)
            if stamp > 2:  # the first ones look up what later ones find
                took[key].append(each)
    return {key: statistics.median(each) for key, each in took.items()}


def main(arguments: list[str]) -> None:
    """Measure, print the table, and write it where that is asked for."""
    logging.disable(logging.WARNING)  # a page without a browser
    found = {table: measure(table) for table in TABLES}
    lines = [f"{HEAD} {' | '.join(TABLES)} |", "|---|" + "---:|" * len(TABLES)]
    for key, method in rwn.METHODS.items():
        cells = (f"{each[key]:.0f} ms ({each[key] / each[FIRST]:.2f})" for each in found.values())
        lines.append(f"| {method.title} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")
    if "--write" in arguments:
        text = FILE.read_text(encoding="utf-8")
        own = next(part for part in text.split("\n\n") if part.startswith(HEAD))
        FILE.write_text(text.replace(own, "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
