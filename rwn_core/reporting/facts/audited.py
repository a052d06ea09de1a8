"""Facts in the terms of auditors: technique by variable, initial and residual risk, attacks."""

from __future__ import annotations

from rwn_core.measures import MEASURES
from rwn_core.reporting.facts.fact import Content, Material, Table, written_table
from rwn_core.tuning.goal import number_words
from rwn_core.tuning.verdict import ends_words

_IDENTIFIERS = {
    "key": "indirect identifier",
    "confidential": "sensitive attribute",
    "sampling weight": "design variable",
    "time": "order within a person",
}
_REASONS = {"key": "an intruder may know it", "confidential": "an intruder may want to learn it"}
_HELPS = "it may help to recognize a person"
_REMOVED = ("direct identifier or household", "removed", "it names people or households")
MAXIMUM = "The limit on the largest linkage bounds the most exposed record."
NO_MAXIMUM = (
    "No limit of this policy bounds the most exposed record: means and shares of records may hide "
    "it."
)
_ATTACKS = ("red_team", "distance_linkage", "probabilistic_linkage", "true_matches")


def techniques(material: Material) -> Content:
    """List each variable with its kind of identifier, its technique and the reason."""
    table, setting = material.record["table"], material.record["setting"]
    changed = material.reading("cells_changed")
    shares = dict(zip(changed.get("names", ()), changed.get("share", ()), strict=True))
    alone, rows = table.get("left_alone", ()), []
    for name, role in zip(table["variables"], table["roles"], strict=True):
        technique, why = f"masked by {material.method.title}", _REASONS.get(role, _HELPS)
        if name in table["not_masked"]:
            technique, why = "kept", "the steward chose to release it as it is"
        elif name in alone:
            technique, why = "kept", "the method changes nothing in it at this setting"
        if name in setting.get("precision", {}):
            technique += " and rounded"
        share = f"{100 * shares[name]:.1f} %" if name in shares else "–"
        rows.append((name, _IDENTIFIERS.get(role, "other"), technique, why, share))
    rows += [(name, *_REMOVED, "–") for name in table["removed"]]
    columns = ("variable", "kind of identifier", "technique", "reason", "cells changed")
    return Content(table=Table(columns=columns, rows=tuple(rows)))


def risk(material: Material) -> Content:
    """Compare each limit with the risk of the unmasked file and of the release."""
    verdict, rows = material.record["verdict"], []
    for limit in material.record["limit"]:
        key = limit["measure"]
        initial = ends_words(key, verdict.get("ends", {}).get(key, {})) or "not known"
        value = verdict.get("judged", {}).get(key, {}).get("value")
        residual = (
            verdict["not_judged"].get(key, "–") if value is None else number_words(key, value)
        )
        rows.append((MEASURES[key].title, initial, residual, number_words(key, limit["at_most"])))
    columns = ("measure", "initial risk", "residual risk", "at most")
    bounded = any(limit["measure"] == "largest_linkage" for limit in material.record["limit"])
    line = MAXIMUM if bounded else NO_MAXIMUM
    return Content(lines=(line,), table=Table(columns=columns, rows=tuple(rows)) if rows else None)


def attacks(material: Material) -> Content:
    """List the attacks that were run on the release itself, and what came out."""
    rows = []
    for key in _ATTACKS:
        reading = material.reading(key)
        reason = material.record["readings"].get(key, {}).get("not_applicable", "It was not read.")
        rows.append((MEASURES[key].title, reading.get("words") or reason))
    return Content(table=written_table(("attack", "result"), rows))
