"""Run every method on every demo table as a steward would: by command, on Tune, in a match.

``python -m benchmarks.every_method`` masks each demo table with each method by ``rwn mask``, shows
nine cards of it on Tune, and tunes it in the match of the Compare page. It prints a table of what
was done in how many CPU seconds, those of worker processes included, and ends with 1 where anything
failed. ``--write`` keeps the table in the documentation; ``--method`` and ``--table`` choose.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_cli import main as command_line
from rwn_core.tuning import Policy
from rwn_core.tuning.match import Loss, Refused, match
from rwn_ui.compare import matching

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "explanation" / "every-method.md"
TABLES = ("bodyfat", "pima", "cps1988")
LOSS = 0.05  # mean absolute change of correlations
CARDS = 9
PATIENCE = 1800  # seconds that a page may take


class Outcome(NamedTuple):
    """What became of one method on one table: "done", "refused" or "failed", and its cost."""

    what: str
    seconds: float
    words: str = ""


class Refusal(Exception):
    """The method says by name why it cannot mask the table."""


def by_command(key: str, table: str) -> str:
    """Mask by ``rwn mask demo:TABLE``."""
    with tempfile.TemporaryDirectory() as folder:
        target, said = Path(folder) / "masked.csv", io.StringIO()
        arguments = ["mask", f"demo:{table}", str(target), "--method", key, "--seed", "1"]
        preset = _standard(key, rwn.load_demo(table))
        arguments += [f"--set={name}={value}" for name, value in preset.items()]
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            code = command_line.run(arguments)
        if code:
            raise Refusal(said.getvalue().strip())
        assert target.stat().st_size > 0
        return f"{len(target.read_text().splitlines()) - 1:,} rows"


def _standard(key: str, data: rwn.Microdata) -> dict[str, float]:
    kind = rwn.METHODS[key]
    return dict(kind(**kind.start).preview(data).presets["Standard"])


def opened(key: str, table: str) -> AppTest:
    """The Tune page of a method at its first setting."""
    page = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE)
    page.query_params["demo"] = table
    page.run()
    _arrived(page)
    box = next(each for each in page.selectbox if each.label == "Method")
    if box.value != key:
        box.set_value(key).run()
        _arrived(page)
    return page


def on_tune(key: str, table: str) -> str:
    """Choose the method in Tune's sidebar, and count the cards."""
    page = opened(key, table)
    if page.exception:
        raise RuntimeError(page.exception[0].value)
    if page.error:
        raise Refusal(page.error[0].value)
    session, shown = page.session_state["rwn.session"], page.session_state["rwn.results"].last
    assert session.method == key
    cards = len(shown["tune"]["cards"])
    assert cards == CARDS, f"{cards} cards"
    return f"{cards} cards"


def _arrived(page: AppTest) -> None:
    end = time.monotonic() + PATIENCE
    while page.session_state["rwn.work"].preparation is not None:
        assert time.monotonic() < end, "The table was not ready in time."
        time.sleep(0.1)
        page.run()


def by_match(key: str, table: str) -> str:
    """Tune it to a loss of correlations, with all that the Compare page asks for."""
    data = rwn.load_demo(table)
    to = Loss(measure="correlation", value=LOSS)
    (found,) = match(data, [key], to, **matching.asked_for(data, Policy(), to, seed=1))
    if isinstance(found, Refused):
        raise Refusal(found.reason)
    assert set(found.point.spreads)
    return found.point.setting.words.removeprefix(f"{key} · ")


PLACES: dict[str, Callable[[str, str], str]] = {
    "rwn mask": by_command,
    "Tune": on_tune,
    "match": by_match,
}


def cpu() -> float:
    """CPU seconds of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def outcome(place: Callable[[str, str], str], key: str, table: str) -> Outcome:
    """Try one method on one table in one place."""
    start = cpu()
    try:
        words = place(key, table)
    except Refusal as refusal:
        return Outcome("refused", cpu() - start, str(refusal))
    except Exception as error:
        traceback.print_exc()
        return Outcome("failed", cpu() - start, f"{type(error).__name__}: {error}")
    return Outcome("done", cpu() - start, words)


def page_of(found: dict[tuple[str, str, str], Outcome]) -> str:
    """The table as a page of the documentation."""
    tables = list(dict.fromkeys(table for _, table, _ in found))
    heads = [f"{table}: {place}" for table in tables for place in PLACES]
    lines = ["| method | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for key in dict.fromkeys(key for key, _, _ in found):
        cells = [found[key, table, place] for table in tables for place in PLACES]
        told = " | ".join(f"{each.what} {each.seconds:.1f}" for each in cells)
        lines.append(f"| {rwn.METHODS[key].title} | {told} |")
    others = [
        f"- {rwn.METHODS[key].title} on {table}, {place}: {each.words}"
        for (key, table, place), each in found.items()
        if each.what != "done"
    ]
    return "\n".join([*lines, *([""] if others else []), *others])


def main(arguments: list[str]) -> int:
    """Try what is asked for, and say what became of it."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--method", choices=tuple(rwn.METHODS), nargs="*", default=rwn.METHODS)
    told.add_argument("--table", choices=TABLES, nargs="*", default=TABLES)
    told.add_argument("--write", action="store_true")
    asked = told.parse_args(arguments)
    found: dict[tuple[str, str, str], Outcome] = {}
    for table in asked.table:
        for key in asked.method:
            for name, place in PLACES.items():
                each = found[key, table, name] = outcome(place, key, table)
                line = f"{table:8} {key:18} {name:9} {each.what:8} {each.seconds:7.1f} s"
                sys.stdout.write(f"{line}  {each.words}\n")
                sys.stdout.flush()
    sys.stdout.write(f"\n{page_of(found)}\n")
    if asked.write:
        head, _, _ = FILE.read_text(encoding="utf-8").partition("| method |")
        FILE.write_text(f"{head}{page_of(found)}\n", encoding="utf-8")
    return int(any(each.what == "failed" for each in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
