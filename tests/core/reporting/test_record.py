"""The internal record: true of its file, tied to its decision, and silent about the data."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.errors import InputError
from rwn_core.reporting import ReleasedFile, internal_record, read_record
from rwn_core.reporting.release_record import follows
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning import Setting

PARAMS = rwn.RWN(epsilon=2.5, k=6)
MEASURES = ("correlation", "bayes_linkage", "prediction")


@pytest.fixture(scope="module")
def bodyfat() -> rwn.Microdata:
    return rwn.load_demo("bodyfat").with_weights({"age": 2.0})


def decision(setting: Setting | None, **more: object) -> Decision:
    one = Scenario(name="Careful", setting=setting, **more)
    return Decision(
        scenarios=(one,), chosen="Careful", reason="Keeps the limit.", date="2026-03-31"
    )


def record(
    data: rwn.Microdata,
    decided: Decision | None = None,
    measures: tuple[str, ...] = ("correlation",),
    **more: object,
) -> tuple[str, bytes]:
    release = rwn.mask(data, PARAMS, precision={"age": 5.0}, **more)
    content = release.to_bytes("csv")
    file = ReleasedFile.of(content, "csv", seeded="seed" in more)
    about = {"decision": decided, "measures": measures, "policy": rwn.Policy(limits=())}
    return internal_record(data, release, file, **about), content


def test_it_is_true_of_its_file(bodyfat) -> None:
    text, content = record(bodyfat, measures=MEASURES)
    told = read_record(text)
    assert told["file"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert told["file"]["size"] == len(content)
    assert told["file"]["records"] == told["table"]["records"] == 241
    assert told["table"]["fingerprint"] == bodyfat.fingerprint
    assert told["setting"] == {
        "method": "rwn",
        "parameters": {
            name: getattr(PARAMS, name)
            for name in told["setting"]["parameters"]
            if getattr(PARAMS, name) is not None
        },
        "weights": {"age": 2.0},
        "precision": {"age": 5.0},
        "slices": [],
    }
    assert {"epsilon", "k", "q"} <= set(told["setting"]["parameters"])
    assert (
        told["readings"]["bayes_linkage"]["value"] > told["readings"]["bayes_linkage"]["baseline"]
    )
    assert "held-out" in told["readings"]["prediction"]["not_applicable"]
    assert told["program"]["numpy"] == np.__version__
    assert "decision" not in told
    assert "stays in the house" in told["note"]


def test_it_carries_the_decision_and_says_whether_it_was_followed(bodyfat) -> None:
    chosen = Setting(params=PARAMS, weights=(("age", 2.0),), precision=(("age", 5.0),))
    decided = decision(chosen, table=bodyfat.fingerprint)
    told = read_record(record(bodyfat, decided)[0])["decision"]
    assert follows(decided, chosen.resolved(bodyfat), bodyfat)
    assert told["hash"] == decided.hash
    assert told["followed"] is True
    assert told["meeting"]["reason"] == "Keeps the limit."
    assert told["meeting"]["scenario"][0]["name"] == "Careful"
    others = [
        decision(Setting(params=rwn.RWN(epsilon=2.5, k=5), precision=(("age", 5.0),))),
        decision(chosen, table="ab" * 32),
        decision(None),
        Decision(scenarios=decided.scenarios, reason="Not yet."),
    ]
    for other in others:
        assert not follows(other, chosen.resolved(bodyfat), bodyfat)


def test_it_names_no_seed_no_donor_and_no_value(bodyfat) -> None:
    text, _ = record(bodyfat, seed=4711)
    assert not re.search(r"(?<![\w.])4711(?!\w)", text)  # digits of a number or a hash may be so
    assert "a seed, which is no secret" in text
    values = {f"{v:g}" for v in bodyfat.matrix(bodyfat.numeric_names).ravel() if v % 1}
    words = set(
        re.sub(r"[0-9.]+( to [0-9.]+)? %", " ", text).replace(",", " ").replace('"', " ").split()
    )
    assert not (values - {"2.5", "0.5"}) & words
    assert "seed" not in read_record(text)["setting"]["parameters"]


def test_the_verdict_of_the_limits_is_in_the_record(bodyfat) -> None:
    release = rwn.mask(bodyfat, rwn.RWN(k=5), seed=1)
    file = ReleasedFile.of(release.to_bytes("csv"), "csv", seeded=True)

    def verdict(**limits: float) -> dict[str, object]:
        made = tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits.items())
        policy = rwn.Policy(limits=made)
        told = read_record(
            internal_record(bodyfat, release, file, measures=("correlation",), policy=policy)
        )
        assert [each["measure"] for each in told["limit"]] == list(limits)
        assert set(limits) <= set(told["readings"])
        found: dict[str, object] = told["verdict"]
        return found

    assert verdict(attribute_gain=0.9, distance_linkage=0.9)["kept"] is True
    broken = verdict(bayes_linkage=0.05, distance_linkage=0.9)
    assert broken["kept"] is False
    assert "most of all Worst-case linkage" in str(broken["words"])
    # the planted wrong case: what could be read holds, and something could not
    some = verdict(distance_linkage=0.9, prediction=1.0)
    assert some["kept"] is False
    assert set(some["not_judged"]) == {"prediction"}
    told = read_record(internal_record(bodyfat, release, file, measures=("correlation",)))
    assert {each["measure"] for each in told["limit"]} == set(rwn.Policy().measures)


def test_a_change_anywhere_is_seen(bodyfat) -> None:
    text, _ = record(bodyfat)
    assert read_record(text)
    with pytest.raises(InputError, match="changed after it was frozen"):
        read_record(text.replace("age = 5.0", "age = 4.0"))
    with pytest.raises(InputError, match="no internal record"):
        read_record(decision(None).frozen())
