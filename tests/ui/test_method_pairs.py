"""Folded sections of the Learn page: k-PRAM against k-noise, NBRS 2015 against RWN."""

from __future__ import annotations

from typing import Any

import pytest

from rwn_ui.learn import method_pairs


def press(screen: Any, label: str) -> None:
    next(each for each in screen.test.button if each.label == label).click().run()
    assert screen.errors == []


def shown(screen: Any) -> str:
    return "\n".join(each.value for each in (*screen.test.markdown, *screen.test.caption))


def test_the_folded_sections_answer(open_page, at_once, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_pairs, "Job", at_once)
    screen = open_page("learn", lesson="k_methods")
    tables: list[dict[str, Any]] = []
    monkeypatch.setattr(
        method_pairs, "panel", lambda payload, key: tables.extend(payload["tables"])
    )
    press(screen, f"Draw {method_pairs.RELEASES} releases")
    assert "standard errors from 0" in shown(screen)
    press(screen, "Compare the laws")
    titles = [each["title"] for each in tables]
    assert f"{screen.session.variable}, k = 10" in titles
    record = next(each for each in tables if each["title"].startswith("Record 1, ε = "))
    assert record["columns"][1:] == [
        "per cell (2022)",
        "per record (2015)",
        "fixed count of records (2015)",
    ]
    intact = next(row for row in record["rows"] if row[0] == "the row stays intact")
    assert intact[2].startswith("50 %")
    assert float(intact[1].removesuffix(" %")) < 1
