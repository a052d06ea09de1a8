"""Sentences on which of the matched methods is better, from readings alone."""

from __future__ import annotations

from collections.abc import Sequence

import rwn_core as rwn
from rwn_core.tuning import Point
from rwn_core.tuning.match import Loss, Matched, Refused
from rwn_core.tuning.paired_comparison import PairedComparison, compare_pair
from rwn_ui.features.setting_sentences import value_words

Found = Sequence[Matched | Refused]


def method(key: str) -> str:
    """Title of a method, or of RWN with a soft kernel."""
    key, _, kernel = key.partition(" ")
    return f"RWN, {kernel}" if kernel else str(rwn.METHODS[key].title)


def setting(point: Point) -> str:
    """A setting in words, after the title of its method."""
    return point.setting.words.removeprefix(f"{point.setting.params.title} · ")


def title(measure: str, records: int) -> str:
    """Title of a measure."""
    return rwn.MEASURES[measure].title_for(records)


def aim(to: Loss | rwn.Policy) -> str:
    """The value that all methods were tuned to."""
    if isinstance(to, Loss):
        words = value_words(to.measure, to.value)
        side = "at least" if rwn.MEASURES[to.measure].better == "higher" else "at most"
        return f"{rwn.MEASURES[to.measure].title}: {side} {words}"
    limits = "; ".join(f"{limit.title} at most {100 * limit.at_most:g} %" for limit in to.limits)
    return f"the policy: {limits}"


def sentences(found: Found, to: Loss | rwn.Policy, records: int) -> list[str]:
    """All sentences: the winners, the first method against each other, the methods left out."""
    matched = [each for each in found if isinstance(each, Matched)]
    rivals = [each for each in matched if each.reached]
    told = [] if isinstance(to, Loss) else [_keeps(each) for each in rivals]
    told += [*_outright(rivals, to, records), *_first_against(rivals, to, records)]
    told += [_unreached(each, to) for each in matched if not each.reached]
    refused = [each for each in found if isinstance(each, Refused)]
    return told + [
        f"{method(each.method)} cannot mask this table: {each.reason}" for each in refused
    ]


def _measures(rivals: Sequence[Matched], to: Loss | rwn.Policy) -> list[str]:
    """Measures that are compared: all but the matched loss."""
    keys = dict.fromkeys(key for each in rivals for key in each.point.spreads)
    return [key for key in keys if not (isinstance(to, Loss) and key == to.measure)]


def _outright(rivals: Sequence[Matched], to: Loss | rwn.Policy, records: int) -> list[str]:
    """Which method is better than every other one, measure by measure."""
    if len(rivals) < 3:
        return []
    told = []
    for one in rivals:
        others = [each for each in rivals if each is not one]
        measures = _measures(rivals, to)
        won = [
            key
            for key in measures
            if all(key in compare_pair(one, o, [key]).better for o in others)
        ]
        if won:
            names = listed([title(key, records) for key in won])
            told.append(
                f"{method(one.method)} is better than every other matched method on {names}."
            )
    return told or ["No method is better than every other one on any measure."]


def _first_against(rivals: Sequence[Matched], to: Loss | rwn.Policy, records: int) -> list[str]:
    """RWN, or the first method, against each other one: where it wins and where it loses."""
    if len(rivals) < 2:
        return []
    first = next((each for each in rivals if each.method == rwn.RWN.method), rivals[0])
    others = [each for each in rivals if each is not first]
    measures = _measures(rivals, to)
    return [
        _against(first, other, compare_pair(first, other, measures), records) for other in others
    ]


def _against(one: Matched, other: Matched, outcome: PairedComparison, records: int) -> str:
    parts = []
    for words, keys in (("better on", outcome.better), ("worse on", outcome.worse)):
        if keys:
            parts.append(f"{words} {listed([_both(one, other, key, records) for key in keys])}")
    compared = len(outcome.better) + len(outcome.worse) + len(outcome.open)
    if not compared:
        parts.append("no measure has an answer for both")
    elif outcome.open:
        parts.append(f"on {len(outcome.open)} of {compared} measures releases overlap")
    return f"{method(one.method)} against {method(other.method)}: {'; '.join(parts)}."


def _both(one: Matched, other: Matched, key: str, records: int) -> str:
    mine, others = (value_words(key, each.point.median(key)) for each in (one, other))
    return f"{title(key, records)} ({mine} against {others})"


def _keeps(each: Matched) -> str:
    words = setting(each.point)
    return f"{method(each.method)} keeps all limits at {words}; nothing weaker that was tried does."


def _unreached(each: Matched, to: Loss | rwn.Policy) -> str:
    """Why a method is not compared: its strength does not reach the aim."""
    name, words = method(each.method), setting(each.point)
    if not isinstance(to, Loss):
        verdict = to.judge_point(each.point)
        return (
            f"{name} keeps the policy at no strength that was tried; at {words}: {verdict.sentence}"
        )
    return f"{name} {_short(each.point, to, words)}"


def _short(point: Point, to: Loss, words: str) -> str:
    value = point.median(to.measure)
    if value is None:
        return f"has no answer for {rwn.MEASURES[to.measure].title}: {_why(point, to.measure)}"
    stated, asked = value_words(to.measure, value), value_words(to.measure, to.value)
    if to.accepts(point):
        return (
            f"never loses so much: at its strongest, {words}, it reads {stated} and not {asked}. "
            "It is in the table and not among those compared."
        )
    return (
        f"loses more at every strength that was tried: at {words} it reads {stated} and not "
        f"{asked}. "
        "It is in the table and not among those compared."
    )


def _why(point: Point, measure: str) -> str:
    return point.spreads[measure].reason or "it was not read."


def unread(matched: Sequence[Matched], records: int) -> list[str]:
    """Which measures have no answer, of which methods, and why; a sentence for each reason."""
    about: dict[tuple[str, str], list[str]] = {}
    for each in matched:
        for key, spread in each.point.spreads.items():
            if spread.reason:
                about.setdefault((each.method, spread.reason), []).append(title(key, records))
    return [
        f"{method(key)} has no answer for {listed(titles)}: {reason}"
        for (key, reason), titles in about.items()
    ]


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence, the last after an and."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
