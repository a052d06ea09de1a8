"""Labelled files of SPSS and Stata: codes whose labels sound like missing, and none is declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat

PEOPLE = 120
Labels = dict[str, dict[Any, str]]

WEIGHTS = ("gewichtung", "pspwght", "wt", "dweight")
SCHOOL = {1: "none", 2: "primary", 3: "secondary", 4: "tertiary"}
ANSWERS = {1: "yes", 2: "no", 8: "refused", 9: "no answer"}
AMOUNTS = {-9: "no answer", -8: "not known", 99999: "refused"}  # of some values only
WORDS = {1: "n/a", 2: "unknown", 3: "missing", 4: "-", 5: "none"}


def survey(kind: str, weight: str, seed: int) -> tuple[pd.DataFrame, Labels]:
    """Make a labelled survey: codes of which the labels sound like missing, and none is declared.

    The `kind` says what it has beside age, school, answer, income and weight.
    """
    rng = np.random.default_rng(seed)
    income = rng.lognormal(8, 0.5, PEOPLE).round()
    income[:6] = -9
    income[6:9] = -8
    income[9:12] = 99999
    columns: dict[str, np.ndarray | pd.DatetimeIndex] = {
        "age": rng.integers(18, 90, PEOPLE).astype(float),
        "edu": rng.integers(1, 5, PEOPLE).astype(float),
        "votes": rng.choice([1.0, 2.0, 8.0, 9.0], PEOPLE),
        "income": income,
    }
    labels: Labels = {"edu": SCHOOL, "votes": ANSWERS, "income": AMOUNTS}
    # one weight a household; those of `wt` count people
    scale = 250.0 if weight == "wt" else 0.25
    columns[weight] = np.repeat(scale * (rng.gamma(4, 1, PEOPLE // 3) + 0.1), 3).round(4)
    if kind == "numbers":  # of people, of strata and of a household
        columns["caseid"] = rng.permutation(PEOPLE) + 10_001.0
        columns["strata"] = rng.integers(1, 7, PEOPLE).astype(float)
        columns["hid"] = np.repeat(np.arange(PEOPLE // 3) + 501.0, 3)
    elif kind == "words":  # every label sounds like missing
        columns["ground"] = rng.integers(1, 6, PEOPLE).astype(float)
        columns["ill"] = (np.arange(PEOPLE) == 7).astype(float)
        labels |= {"ground": WORDS, "ill": {0: "none", 1: "refused"}}
    elif kind == "dates":
        days = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 90, PEOPLE), "D")
        columns["interview"] = days
    return pd.DataFrame(columns), labels


def write_spss(frame: pd.DataFrame, labels: Labels, path: Path) -> None:
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)


def write_stata(frame: pd.DataFrame, labels: Labels, path: Path) -> None:
    pyreadstat.write_dta(frame, path, variable_value_labels=labels)
