"""What is said of the paper's figures has the numbers that the replays hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from rwn_core.evaluation.paper_figures import PAPER_FIGURES

PUBLISHED = tomllib.loads(
    (Path(__file__).parents[3] / "benchmarks/papers/published.toml").read_text(encoding="utf-8")
)
_NUMBER = re.compile(r"(?<![\d.])−?\d*\.\d+|(?<![\d.])\d{2,3}(?![\d.])")


def unknown(number: int, text: str) -> list[str]:
    """Return the numbers of a text that no published value of its figure rounds to."""
    values = [
        float(each["value"])
        for each in PUBLISHED[f"rwn2022-figure-{number}"]["values"].values()
        if re.fullmatch(r"-?[\d.]+", each["value"])
    ]
    missing = []
    for said in _NUMBER.findall(text.replace("record 39", "").replace("241 records", "")):
        digits = len(said.partition(".")[2])
        stated, half = float(said.replace("−", "-")), 0.5000001 / 10**digits
        if not any(abs(value - stated) <= half for value in values):
            missing.append(said)
    return missing


@pytest.mark.parametrize("number", PAPER_FIGURES)
def test_each_number_of_a_caption_is_one_of_its_figure(number: int) -> None:
    text = PAPER_FIGURES[number].paper
    assert len(_NUMBER.findall(text)) >= 2
    assert unknown(number, text) == []
    assert unknown(number, f"{text} And it is .777 at last.") == [".777"]
