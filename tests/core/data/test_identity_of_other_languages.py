"""Names, dates and places of further languages and notations are asked about (finding T4)."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.identity import identity_doubts

ROWS = 400
RNG = np.random.default_rng(9)
BORN = pd.DatetimeIndex(
    pd.Timestamp("1935-01-01") + pd.to_timedelta(RNG.integers(0, 25_000, ROWS), "D")
)


def some(words: str) -> list[str]:
    """Draw a column of these words."""
    return RNG.choice(words.split(), ROWS).tolist()


DIGESTS = [hashlib.md5(str(i % 250).encode()).hexdigest()[:12] for i in range(ROWS)]
IDENTIFYING = {
    "v1": some("Małgorzata Paweł Stanisław Łukasz Bożena Wojciech Zofia Halina"),
    "v2": some("Sanne Daan Femke Bram Lotte Thijs Joost Maaike Jeroen"),
    "imie": some("Ania Kuba Gosia Staś"),
    "nazwisko": some("Lis Kot Sowa Wilk Dzik"),
    "имя": some("Иван Ольга Сергей Наталья"),
    "姓名": some("王伟 李娜 张敏 刘洋 陈静"),
    "signed": some("A.H. B.M. C.W. D.E. E.L. F.A. G.B. H.-P."),
    "initials": ["".join(RNG.choice(list("ABCDEFGHJK"), 2)) for _ in range(ROWS)],
    "handled_by": some("A.Lis B.Kot C.Sowa D.Wilk E.Dzik F.Jez G.Bobr"),
    "col": DIGESTS,
    "when": BORN.strftime("%d.%m.%y"),
    "day": BORN.strftime("%d%b%Y").str.upper(),
    "długość": RNG.uniform(20.8, 21.3, ROWS).round(5),
    "latitudine": RNG.uniform(41, 42, ROWS).round(5),
}
HARMLESS = {
    "stipendio": RNG.integers(15_000, 90_000, ROWS),
    "version": [f"{RNG.integers(1, 5)}.{RNG.integers(0, 30)}.{i % 60:02d}" for i in range(ROWS)],
    "customs_code": [f"{i % 97:02d}.{(7 * i) % 99:02d}.{(i * 31) % 99:02d}" for i in range(ROWS)],
    "chimie": some("acide base sel eau"),
    "part_of_day": some("a.m. p.m."),
    "comune": some("Siena Ferrara Messina Bergamo Lodi Monza Trento Padova Vicenza Verona Parma"),
    "nace": [f"{i % 96 + 1:02d}.{i % 9}" for i in range(ROWS)],
}


@pytest.mark.parametrize("name", list(IDENTIFYING))
def test_what_identifies_in_another_language_or_notation_is_asked_about(name: str) -> None:
    frame = pd.DataFrame({name: IDENTIFYING[name]})
    doubts = identity_doubts(frame, [name])
    assert [doubt.stops for doubt in doubts] == [True]
    values = {value for value in map(str, frame[name].unique()) if len(value) > 2}
    assert not any(value in doubts[0].sentence for value in values)


@pytest.mark.parametrize("name", list(HARMLESS))
def test_what_only_resembles_it_is_not(name: str) -> None:
    doubts = identity_doubts(pd.DataFrame({name: HARMLESS[name]}), [name])
    assert not any(doubt.stops for doubt in doubts)
