"""Facts that stay in the house: every number of the release, its judgement and its charts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from rwn_core.measures import MEASURES, measures_of
from rwn_core.reporting.context import QUESTIONS
from rwn_core.reporting.facts.fact import (
    Audience,
    Content,
    Entry,
    Material,
    Table,
    pairs,
    written_table,
)
from rwn_core.reporting.release_record import recorded_left, recorded_state, shared_words
from rwn_core.tuning.policy import Limit
from rwn_core.tuning.verdict import ends_words, share_words

_IDENTIFIERS = {
    "key": "indirect identifier",
    "confidential": "sensitive attribute",
    "sampling weight": "design variable",
    "time": "order within a person",
}
_REASONS = {"key": "an intruder may know it", "confidential": "an intruder may want to learn it"}
_HELPS = "it may help to recognize a person"
_REMOVED = ("direct identifier or household", "removed", "it names people or households")
_DATA = ("variable", "kind", "role", "kind of identifier", "technique", "reason", "changed")
_LIMITS = (
    "measure",
    "initial risk",
    "residual risk",
    "at most",
    "uses",
    "source of the limit",
    "set by",
)
MAXIMUM = "The limit on the largest linkage bounds the most exposed record."
_RARE_KEY = "A masked key is no proof of identity where it is rare."
NO_MAXIMUM = (
    "No limit of this policy bounds the most exposed record: means and shares of records may hide "
    "it."
)


def decision(material: Material) -> Content:
    """Return the decision that the record of a release holds."""
    about = material.record.get("decision")
    if about is None:
        return Content(lines=("No decision of a meeting was given with this release.",))
    followed = "The release follows it." if about["followed"] else "The release does NOT follow it."
    # The parts of a meeting's decision by title.
    meeting = about["meeting"]
    named = {
        "chosen": meeting["chosen"] or "none",
        "policy": meeting.get("verdict", "") or "not recorded",
        "accepted by": meeting.get("accepted_by", "") or "–",
        "reason": meeting["reason"],
        "participants": ", ".join(meeting["participants"]),
        **({"votes, dissent": meeting["dissent"]} if meeting.get("dissent") else {}),
        "date": meeting["date"],
        "watched": "; ".join(meeting["watched"]),
        "scenarios": ", ".join(each.get("name", "") for each in meeting["scenario"]),
        "hash": about["hash"],
    }
    return Content(lines=(followed,), table=pairs(named))


def _data(material: Material) -> Content:
    """List each variable with its kinds and role, its technique, the reason, and what changed."""
    table, setting = material.record["table"], material.record["setting"]
    shares = material.changed
    alone = table.get("left_alone", ())
    rows = []
    # where no key is declared, the measures take other variables as keys
    keys = material.reading("k_anonymity").get("names", ())
    for name, kind, role in zip(table["variables"], table["kinds"], table["roles"], strict=True):
        known = "key" if role == "other" and name in keys else role
        technique = f"masked by {material.method.title}"
        why = _REASONS.get(known, _HELPS)
        changed = f"{100 * shares[name]:.1f} % of cells" if name in shares else "not measured"
        if name in table["not_masked"]:
            technique, why = "kept", "the steward chose to release it unmasked"
        elif name in alone:
            technique, why = "kept", "the method changes nothing in it at this setting"
        if technique == "kept":
            changed = "no"
        if name in setting.get("precision", {}):
            technique += " and rounded"
        rows.append((name, kind, role, _IDENTIFIERS.get(known, "other"), technique, why, changed))
    rows += [(name, "–", "–", *_REMOVED, "–") for name in table["removed"]]
    lines = [f"{table['records']:,} records; the file has {material.records:,}."]
    removed = ", ".join(table["removed"])
    lines.append(f"Left out, as identifiers or households: {removed or 'none'}.")
    lines += shared_words(material.record["table"])
    return Content(lines=tuple(lines), table=Table(columns=_DATA, rows=tuple(rows)))


def _measured(place: str, columns: tuple[str, ...], material: Material, line: str = "") -> Content:
    """List the measures of a place: their titles, and of each what the columns name."""
    rows = []
    for key in measures_of(place):
        about = MEASURES[key]
        words = material.words(key)
        title = str(material.reading(key).get("title", about.title))
        known = {"question": about.question, "computed by": about.source}
        rows.append((title, *(known.get(column, words) for column in columns[1:])))
    return Content(lines=((line,) if line else ()), table=written_table(columns, rows))


def _parameters(material: Material) -> Content:
    setting = material.record["setting"]
    named = {f"parameter {name}": value for name, value in setting["parameters"].items()}
    named |= {f"weight of {name}": value for name, value in setting.get("weights", {}).items()}
    named |= {f"step of {name}": value for name, value in setting.get("precision", {}).items()}
    slices = setting.get("slices", [])
    named |= {f"slice {i}": ", ".join(names) for i, names in enumerate(slices, start=1)}
    method = {"method": f"{material.method.title} ({setting['method']})"}
    return Content(lines=(material.setting.words,), table=pairs(method | named))


def _anonymity(material: Material) -> Content:
    reading = material.reading("k_anonymity")
    if not reading:
        return Content(lines=(material.reason("k_anonymity"),))
    n = material.record["table"]["records"]
    parts = (reading[name] for name in ("limits", "violations_original", "violations_released"))
    rows = [
        (f"{limit}-anonymity", *(f"{c:,} ({100 * c / n:.1f} %)" for c in counts))
        for limit, *counts in zip(*parts, strict=True)
    ]
    keys = ", ".join(reading["names"])
    line = f"Records that break it, by the key variables: {keys}. {_RARE_KEY}"
    return Content(lines=(line,), table=written_table(("", "original", "released"), rows))


def _origin(limit: Mapping[str, Any]) -> str:
    return Limit(measure=limit["measure"], at_most=limit["at_most"]).origin


def _limits(material: Material) -> Content:
    """Compare each limit with the risk of the unmasked file and of the release."""
    verdict = material.record["verdict"]
    rows = []
    for limit in material.record["limit"]:
        key = limit["measure"]
        share = verdict["shares"].get(key)
        judged = verdict.get("judged", {}).get(key)
        judged = material.reading(key) if judged is None else judged
        used = verdict["not_judged"].get(key, "")
        if share is not None:
            more = share > 1 and limit["at_most"] == 0
            used = f"{'more than' if more else share_words(share)} it"
        initial = ends_words(key, verdict.get("ends", {}).get(key, {})) or "not known"
        value = judged.get("value")
        most = MEASURES[key].words(limit["at_most"])
        residual = "–" if value is None else MEASURES[key].words(value)
        source = limit.get("source") or "not stated"
        by = limit.get("set_by") or ("not stated" if limit.get("source") else _origin(limit))
        title = judged.get("title", MEASURES[key].title)
        rows.append((title, initial, residual, most, used, source, by))
    words = {"kept": "Kept.", "broken": "NOT KEPT.", "not judged": "NOT JUDGED."}
    bounded = any(limit["measure"] == "largest_linkage" for limit in material.record["limit"])
    left = recorded_left(material.record)
    said = f"{verdict['words']} {left.sentence}." if left else verdict["words"]
    lines = (words[recorded_state(verdict)], said, MAXIMUM if bounded else NO_MAXIMUM)
    return Content(lines=lines, table=Table(columns=_LIMITS, rows=tuple(rows)) if rows else None)


def _side(side: str, material: Material) -> Content:
    rows = []
    for key, reading in material.record["readings"].items():
        about = MEASURES[key]
        if about.side != side:
            continue
        if "value" not in reading:
            rows.append((about.title, reading["not_applicable"], "–", "–", ""))
            continue
        numbers = (reading["value"], reading.get("baseline"))
        rows.append((reading.get("title", about.title), *numbers, about.better, about.unit))
    return Content(table=written_table(("measure", "value", "baseline", "better", "unit"), rows))


def _charts(material: Material) -> Content:
    charts = tuple(material.evidence.get("charts", ()))
    if not charts:
        return Content(lines=("The evidence file of the record is missing.",))
    line = "Blue and hollow is the original, vermillion and filled the release. CONFIDENTIAL."
    return Content(lines=(line,), charts=charts)


def _hashes(material: Material) -> Content:
    record = material.record
    named = {
        "original (fingerprint of the table)": record["table"]["fingerprint"],
        "released file (SHA-256)": record["file"]["sha256"],
        "released file (bytes)": f"{record['file']['size']:,}",
        "format and row order": f"{record['file']['format']}, {record['file']['order']}",
        "randomness": record["file"]["key"],
        "evidence (SHA-256)": record.get("evidence", {}).get("sha256", "none"),
        "original read from": record.get("source", {}).get("file", "not stated"),
    }
    return Content(table=pairs(named))


def approval(material: Material) -> Content:
    """State the responsible person, the reason, and the number of earlier draws."""
    about = material.record.get("approval")
    if about is None:
        return Content(lines=("Nobody's name was given with this release.",))
    lines = ("EXCEPTION: the release does not keep every limit of its policy.",)
    named = {"name": about["by"], "reason": about["reason"] or "none given"}
    draws = material.record.get("draws", {})
    if draws:
        named["drawn of this setting"] = f"{draws['number']}, of which this is the last"
    if draws and draws["further"]:
        met = f"{draws['further_kept']} of {draws['further']}"
        named["other fresh releases that keep the policy"] = met
    return Content(lines=lines * bool(about["exception"]), table=pairs(named))


def context(material: Material) -> Content:
    """List every question about the context with its answer."""
    about = material.context
    rows = [(each.question, about.stated(each.name)) for each in QUESTIONS]
    lines = [f"Not stated: {', '.join(about.missing)}."] if about.missing else []
    return Content(lines=tuple(lines), table=written_table(("question", "answer"), rows))


def identity(material: Material) -> Content:
    """List the doubts about identity with the answers that were given."""
    rows = material.record.get("identity")
    if rows is None:
        return Content(lines=("The record is older than this question.",))
    if not rows:
        return Content(lines=("No variable of the original looks as if it identified people.",))
    columns = ("variable", "looks like", "reason", "confidence", "answer")
    listed = (tuple(row[name.replace(" ", "_")] for name in columns) for row in rows)
    line = "Variables that may identify people, and the answer for each."
    return Content(lines=(line,), table=written_table(columns, listed))


_ATTACK = ("attack", "question", "answer")
_WORST = ("worst case", "what it says and assumes", "computed by")
_TRIED = (
    "Intruders who might try, what they are after, and what came out on this release. Read a risk "
    "against its baseline and the worst case."
)
_scenarios = partial(_measured, "scenarios", _ATTACK, line=_TRIED)
INSIDE = tuple(
    Entry(key=key, title=title, audience=Audience.INTERNAL, make=make)
    for key, title, make in (
        ("data", "Variables and techniques", _data),
        ("identity", "What may identify people", identity),
        ("decision", "Decision", decision),
        ("approval", "Who answers for it", approval),
        ("context", "Context of the release", context),
        ("limits", "Limits, initial and residual risk", _limits),
        ("attacks", "Attacks that were run", partial(_measured, "attacks", ("attack", "result"))),
        ("parameters", "Parameters", _parameters),
        ("scenarios", "Scenarios of disclosure", _scenarios),
        ("worst", "Worst cases and what they assume", partial(_measured, "worst cases", _WORST)),
        ("guesses", "Singling out, linkability, inference", partial(_measured, "guesses", _ATTACK)),
        ("anonymity", "k-anonymity", _anonymity),
        ("risks", "Risk, all readings", partial(_side, "risk")),
        ("utility", "Utility, all readings", partial(_side, "utility")),
        ("cautions", "Cautions", lambda made: Content(lines=tuple(made.setting.params.cautions()))),
        ("charts", "Charts", _charts),
        ("versions", "Versions", lambda made: Content(table=pairs(made.record["program"]))),
        ("hashes", "Files and hashes", _hashes),
    )
)
"""In the order of the internal report."""

WITHHELD = tuple(
    Entry(key=key, title=title, audience=Audience.NEVER)
    for key, title in (
        ("secret", "the key, or a seed"),
        ("order", "the secret row order"),
        ("donors", "who gave each cell its value"),
    )
)
"""What no report says."""
