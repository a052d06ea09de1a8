"""A small file and a large table, and the panel of Tune, which asks until all is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pandas as pd

import rwn_core as rwn
from rwn_ui.state.results import CARDS, current_release
from rwn_ui.state.session import Session
from rwn_ui.tune import view as tune_view
from tests.waiting import until


def small_csv(rows: int = 60, mark: str = "c") -> bytes:
    lines = [f"{i * 7 % 31},{i * i % 29},{mark if i == 3 else 'ab'[i % 2]}" for i in range(rows)]
    return "\n".join(["x,y,g", *lines]).encode()


RECORDS = 2600


def large_frame(n: int = RECORDS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {"x": x, "y": x + rng.normal(size=n), "z": rng.integers(0, 9, n), "g": np.arange(n) % 3}
    )


def large_table(n: int = RECORDS, seed: int = 0) -> rwn.Microdata:
    question = rwn.Question(response="y", predictors=("x", "z"))
    data = rwn.Microdata.from_frame(large_frame(n, seed))
    return data.with_schema(rwn.Schema(variables=data.schema.variables, question=question))


def large_csv(n: int = RECORDS, seed: int = 0) -> bytes:
    return large_frame(n, seed).to_csv(index=False).encode()


CARDS_OF_TUNE = 1 + len(CARDS)
"""The map, and a card for each measure that has one on Tune."""


def shown(session: Session) -> dict[str, Any]:
    return tune_view.payload(session, current_release(session))


def match_map(payload: dict[str, Any]) -> dict[str, Any]:
    return orjson.loads(payload["cards"][0])


def followed(session: Session) -> dict[str, Any]:
    """What the panel gets in the end, asking again and again as it does."""

    def nothing_waits() -> bool:
        if not shown(session)["waiting"]:
            return True
        tune_view.follow(session)
        return False

    until(nothing_waits, pause=0.25)  # each look draws the whole picture
    return shown(session)
