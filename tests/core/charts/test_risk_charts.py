"""The charts of the Risk page draw what their readings say, and keep what every chart keeps."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from rwn_core.charts import Chart, serialise
from rwn_core.charts.measures import (
    extreme_values,
    guessing_attacks,
    key_classes,
    linkage_attacks,
    precision_recall,
    queries,
    record_risk,
    repeated_releases,
    true_matches,
)
from rwn_core.charts.parts.style import NEUTRAL, ORIGINAL, RELEASED
from rwn_core.charts.tuning import rounding_effect
from rwn_core.errors import NotApplicable
from tests.core.charts.hand_made_readings import HOSTILE, reading

REASON = NotApplicable("There is no law.")


def bayes(n: int = 50) -> Any:
    truth = np.linspace(0, 1, n)
    return reading(
        value=0.9, truth=truth, above_half=0.5, above_nine_tenths=0.1, sampled=n > 40, of=2 * n
    )


def attacks() -> list[dict[str, Any]]:
    return [
        {"words": "guessing", "success": 0.004, "worst": False},
        {"words": HOSTILE, "success": 0.12, "worst": False},
        {"words": "whole file", "success": None, "worst": True, "reason": "Too many records."},
        {"words": "worst", "success": 0.999, "worst": True},
    ]


def shares(value: float, baseline: float) -> Any:
    return reading(value=value, baseline=baseline)


def classes() -> dict[str, Any]:
    readings: dict[str, Any] = {key: shares(0.4, 0.6) for key in key_classes.NAMES}
    return readings | {"t_closeness": REASON}


def guesses() -> dict[str, Any]:
    one = reading(value=0.2, baseline=0.0, attack=0.3, control=0.1, guess=0.02)
    alone = reading(value=0.2, baseline=0.0, attack=0.3, control=None, guess=0.02)
    return {
        "singling_out": one,
        "linkability": alone,
        "inference": REASON,
        "attribute_inference": reading(
            value=0.5, baseline=0.3, ignorant=[0.1, 0.3], control=[0.2, 0.4], worst=1
        ),
    }


def asked(count: int = 12) -> Any:
    steps = np.linspace(0, 1, count).tolist()
    return reading(
        value=0.3,
        words=[HOSTILE, *(f"x ≥ {i}" for i in range(1, count))],
        none=steps,
        one=steps,
        one_and_target=steps[::-1],
        disclosed=[None, *steps[1:]],
        matches=list(range(count)),
        same_person=[True] * count,
    )


def ends(variables: int = 3) -> Any:
    names = [name for i in range(variables) for name in [f"v{i}" if i else HOSTILE] * 2]
    count = len(names)
    return reading(
        value=0.5,
        name=names,
        side=["largest", "smallest"] * variables,
        survival=[0.5] * count,
        copies=[1.0] * (count - 1) + [None],
        own_row=[0.0] * count,
        released=[1] * count,
    )


def releases(standing: str = "worst") -> Any:
    same = np.linspace(0.1, 1, 5)
    return reading(
        value=0.9, releases=[1, 2, 3, 4, 5], same_order=same, shuffled=0.1, standing=standing
    )


def tried(loss: float = 0.1, *, earned: bool = True) -> list[dict[str, float]]:
    return [
        {"share": share, "risk": 1 - share, "earned": earned, "correlation": loss}
        for share in (0.0, 0.25, 0.5, 1.0)
    ]


def matches(secret: str | None = "siri", sets: int = 12) -> Any:
    steps = np.linspace(0, 1, sets)
    return reading(
        value=1.0,
        baseline=0.1,
        secret=secret,
        stated=2,
        level=None if secret is None else {"secret": secret, "level": HOSTILE},
        sets={
            "names": [[HOSTILE, "age"], *([f"v{i}", "b", "c"] for i in range(1, sets))],
            "people": np.arange(sets),
            "found": steps,
            "read": steps / 2,
            "secret": [secret] * sets,
            "expected": [None, *steps[1:].tolist()],
            "chance": steps / 10,
        },
    )


def sure(points: int = 5) -> Any:
    curve = {
        "tau": np.linspace(1, 0.2, points),
        "precision": np.linspace(1, 0.4, points),
        "recall": np.linspace(0.1, 0.9, points),
        "at_sure": 0.1,
    }
    return reading(value=0.1, sure=0.95, sampled=False, all=curve, keys=curve)


CHARTS = {
    "true_matches": lambda: true_matches.draw(matches()),
    "true_matches without a secret": lambda: true_matches.draw(matches(None, 3)),
    "precision_recall": lambda: precision_recall.draw(sure()),
    "precision_recall of one point": lambda: precision_recall.draw(sure(1)),
    "linkage_attacks": lambda: linkage_attacks.draw(attacks()),
    "record_risk": lambda: record_risk.draw(bayes()),
    "repeated_releases": lambda: repeated_releases.draw(releases()),
    "repeated_releases of a bound": lambda: repeated_releases.draw(releases("at least")),
    "rounding_effect": lambda: rounding_effect.draw(tried()),
    "rounding_effect without loss": lambda: rounding_effect.draw(tried(math.nan)),
    "key_classes": lambda: key_classes.draw(classes()),
    "guessing_attacks": lambda: guessing_attacks.draw(guesses()),
    "queries": lambda: queries.draw(asked()),
    "extreme_values": lambda: extreme_values.draw(ends()),
}


@pytest.fixture(params=CHARTS)
def shown(request) -> tuple[str, Chart]:
    return request.param.split(" ")[0], CHARTS[request.param]()


def strings(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [s for value in node.values() for s in strings(value)]
    if isinstance(node, list):
        return [s for value in node for s in strings(value)]
    return [node] if isinstance(node, str) else []


def test_key_words_and_plain_json(shown) -> None:
    key, chart = shown
    assert chart["key"] == key
    assert len(chart["alt"].split()) >= 5
    assert not chart["alt"].endswith(".")
    parsed = json.loads(serialise(chart), parse_constant=lambda name: pytest.fail(name))
    assert parsed["data"]
    rows = json.loads(parsed["table"])["rows"]
    assert rows
    assert {len(row) for row in rows} == {len(chart["table"]["columns"])}


def test_names_reach_plotly_as_text(shown) -> None:
    parsed = json.loads(serialise(shown[1]))
    assert not [text for text in strings([parsed["data"], parsed["layout"]]) if "<img" in text]


def test_everything_is_stated_and_nothing_measured(shown) -> None:
    layout = shown[1]["layout"]
    assert layout["showlegend"] is False
    for name in ("xaxis", "yaxis"):
        axis = layout[name]
        assert axis["automargin"] is False
        assert len(axis["range"]) == 2
        assert len(axis["tickvals"]) == len(axis["ticktext"]) > 0


def test_colors_mean_what_they_mean_elsewhere(shown) -> None:
    for trace in shown[1]["data"]:
        marker = trace.get("marker")
        if marker and trace["type"] == "scatter":
            assert marker["color"] in {ORIGINAL, RELEASED, NEUTRAL}
            assert marker["symbol"].endswith("-open") == (marker["color"] != RELEASED)


def test_attacks_without_an_answer_stand_in_the_table_only() -> None:
    chart = linkage_attacks.draw(attacks())
    assert sum(len(trace["x"]) for trace in chart["data"]) == 3
    assert chart["table"]["rows"][2] == [
        "whole file",
        "knows the method",
        None,
        "Too many records.",
    ]
    assert chart["note"] == "ordinary 12 % · worst case 100 %"


def test_a_lower_bound_is_no_worst_case_on_the_charts() -> None:
    listed = [{**attack, "at_least": attack["worst"]} for attack in attacks()]
    for chart in (linkage_attacks.draw(listed), rounding_effect.draw(tried(earned=False))):
        assert "worst case" not in str(chart).replace("-", " ").lower()
        assert "at least" in str(chart)
    assert "≥ 100 %" in str(linkage_attacks.draw(listed)["layout"]["annotations"])
    assert "worst-case linkage" in str(rounding_effect.draw(tried()))


def test_the_bars_of_records_add_up() -> None:
    chart = record_risk.draw(bayes(60))
    assert sum(row[2] for row in chart["table"]["rows"]) == 60
    assert "sample" in chart["note"]


def test_only_the_most_telling_questions_are_drawn() -> None:
    chart = queries.draw(asked())
    assert len(chart["data"][1]["x"]) == 9
    assert chart["data"][1]["x"][0] == 1.0
    assert len(chart["table"]["rows"]) == 12


def test_a_tiny_share_is_not_nothing() -> None:
    chart = key_classes.draw({key: shares(0.0001, 0.5) for key in key_classes.NAMES})
    assert {note["text"] for note in chart["layout"]["annotations"]} == {"&lt; 0.1 %"}
