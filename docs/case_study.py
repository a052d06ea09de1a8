"""Writes the case study, with what its commands print: ``python -m docs.case_study``.

The secret of its release is fixed, so that the page comes out again; hashes and days are left out.
"""

from __future__ import annotations

import contextlib
import functools
import io
import math
import os
import re
import shlex
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

import rwn_core as rwn
from docs.plots import Plot, Scale
from rwn_cli import main as program
from rwn_core.datasets import key_file
from rwn_core.measures.drawing.style import NEUTRAL, ORIGINAL, RELEASED

HERE = Path(__file__).parent / "tutorial"
PAGE = HERE / "case-study.md"
TEMPLATE = Path(__file__).parent / "case_study.txt"
PICTURES = ("case-study-limits.svg", "case-study-relations.svg")
_SECRET = 20
_BLOCK = re.compile(r"```sh\n(.*?)```\n", flags=re.DOTALL)
_HASH = re.compile(r"\b[0-9a-f]{32,64}\b")
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ][\d:.+Z]+)?( \d\d:\d\d UTC)?")
WIDTH = 92
"""Characters of a line on the page."""
_wrap = textwrap.TextWrapper(WIDTH, subsequent_indent="  ", break_long_words=False)
_PAIRS = (("abdom", "siri"), ("chest", "hip"))
_POLICY = rwn.Policy()


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """Work in a new folder, with a fixed secret for each release, and as long as it takes."""
    before = Path.cwd()
    unhurried = functools.partial(rwn.recommend, within=math.inf)
    same = SimpleNamespace(token_hex=lambda count: f"{_SECRET:0{2 * count}x}")
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        try:
            with (
                patch.object(rwn.SecretKey, "fresh", lambda: rwn.SecretKey.from_seed(_SECRET)),
                patch.object(key_file, "secrets", same),  # of --key-file
                patch.object(rwn, "recommend", unhurried),
            ):
                yield Path(made)
        finally:
            os.chdir(before)


def printed(line: str) -> str:
    """Return what a command prints, without hashes and days."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = program.run(shlex.split(line)[1:])
    if code:
        raise RuntimeError(f"{line}: {output.getvalue()}")
    return shown(output.getvalue())


def shown(output: str) -> str:
    """Return an output without hashes, days and the note of a first run, in lines of the page."""
    lines = _DAY.sub("…", _HASH.sub("…", output)).strip().splitlines()
    lasting = [line for line in lines if "is compiled for this machine" not in line]
    return "\n".join("\n".join(_wrap.wrap(line)) if len(line) > WIDTH else line for line in lasting)


def page(template: str) -> str:
    """Return the page: the template with the output of each block of commands below it."""

    def with_output(found: re.Match[str]) -> str:
        said = "\n".join(
            filter(None, map(printed, found[1].replace("\\\n", " ").strip().splitlines()))
        )
        return f"{found[0]}\n```text\n{said}\n```\n" if said else found[0]

    return _BLOCK.sub(with_output, template)


def limits_picture(tables: Sequence[tuple[str, Path]]) -> str:
    """Draw the share of each limit that the first trial and the recommended setting use."""
    result = Plot(760, 250, "Risk over limit of two settings, for four limits")
    across = Scale(0.05, 200, 220, 700, log=True)
    for row, limit in enumerate(_POLICY.limits):
        top = 44 + 46 * row
        result.text(210, top + 18, rwn.MEASURES[limit.measure].title, at="end")
        for place, (name, record) in enumerate(tables):
            value = limit.share(_reading(record, limit.measure))
            color = (ORIGINAL, RELEASED)[place]
            end = float(across(max(value, 0.05)))
            result.box((220, top + 17 * place, end - 220, 14), color)
            result.text(end + 5, top + 17 * place + 12, f"{value:.3g}")
            if not row:
                result.box((220 + 200 * place, 12, 12, 12), color)
                result.text(238 + 200 * place, 23, name)
    at = float(across(1))
    result.line((at, 36, at, 226), NEUTRAL, ' stroke-dasharray="4 3"')
    result.text(at, 243, "risk ÷ limit = 1", at="middle")
    return result.svg()


def _reading(audit: Path, measure: str) -> float:
    """Return the value of a measure in the table that a command printed."""
    found = re.search(rf"^{measure} +(\S+)", audit.read_text("utf-8"), flags=re.MULTILINE)
    assert found, measure
    return float(found[1])


def relations_picture(original: Path, masked: Path) -> str:
    """Draw two pairs of variables before and after."""
    result = Plot(760, 300, "Two pairs of variables before and after masking")
    tables = [(rwn.read(path), color) for path, color in ((original, ORIGINAL), (masked, RELEASED))]
    for place, (x, y) in enumerate(_PAIRS):
        left = 60 + 380 * place
        ends = [np.asarray(tables[0][0].values(name)) for name in (x, y)]
        across = Scale(ends[0].min(), ends[0].max(), left, left + 300)
        up = Scale(ends[1].min(), ends[1].max(), 250, 50)
        result.axes(across, up, (x, y))
        words = []
        for table, color in tables:
            one, other = table.values(x), table.values(y)
            result.cloud(across(one), up(other), color)
            words.append(f"{np.corrcoef(one, other)[0, 1]:.2f}")
        result.text(left, 38, f"correlation {words[0]} before (blue), {words[1]} after (orange)")
    return result.svg()


def made() -> dict[str, str]:
    """Return the page and its pictures by file name."""
    template = TEMPLATE.read_text(encoding="utf-8")
    with empty_folder() as folder:
        text = page(template)
        blocks = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
        audits = [block for block in blocks if "bayes_linkage " in block]
        files = []
        for number, block in enumerate(audits):
            files.append(folder / f"audit-{number}.txt")
            files[-1].write_text(block, encoding="utf-8")
        names = ("first trial: ε = 2, k = 5", "recommended setting")
        limits = limits_picture(list(zip(names, files, strict=True)))
        relations = relations_picture(folder / "clinic.csv", folder / "trial.csv")
    return {PAGE.name: text, PICTURES[0]: limits, PICTURES[1]: relations}


def main() -> None:
    """Write the page and its pictures."""
    for name, text in made().items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
