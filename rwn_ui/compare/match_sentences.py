"""Sentences on which of the matched methods is better, from readings alone."""

from __future__ import annotations

from collections.abc import Sequence

import rwn_core as rwn
from rwn_core.tuning.match import Matched, MatchedLoss, PairedComparison, Unmatched, compare_pair
from rwn_core.tuning.slice_presets import PRESETS
from rwn_ui.features.setting_sentences import value_words

Found = Sequence[Matched | Unmatched]


def method(key: str) -> str:
    """Title of a method, of RWN with its kernel and its preset of slices."""
    name, *words = key.split()
    if not words:
        return str(rwn.METHODS[name].title)
    kernel = " ".join(word for word in words if word not in PRESETS)
    slices = [PRESETS[word].title for word in words if word in PRESETS]
    more = [kernel] * bool(kernel) + [each[:1].lower() + each[1:] for each in slices]
    return ", ".join((str(rwn.METHODS[name].title).partition(",")[0], *more))


def title(measure: str, records: int) -> str:
    """Title of a measure."""
    return rwn.MEASURES[measure].title_for(records)


def aim(to: MatchedLoss | rwn.Policy) -> str:
    """The value that all methods were tuned to."""
    if isinstance(to, MatchedLoss):
        words = value_words(to.measure, to.value)
        side = "at least" if rwn.MEASURES[to.measure].better == "higher" else "at most"
        return f"{rwn.MEASURES[to.measure].title}: {side} {words}"
    limits = "; ".join(f"{limit.title} at most {100 * limit.at_most:g} %" for limit in to.limits)
    return f"the policy: {limits}"


def sentences(found: Found, to: MatchedLoss | rwn.Policy, records: int) -> list[str]:
    """Say which method is better than all, which lose records, and which are not compared."""
    matched = [each for each in found if isinstance(each, Matched)]
    rivals = compared(found)
    lines = [
        f"{method(each.method)} keeps all limits at {each.words}; nothing weaker that was tried "
        "does."
        for each in (() if isinstance(to, MatchedLoss) else rivals)
    ]
    lines += _outright(rivals, to, records)
    lines += [
        f"{method(each.method)} releases {100 * each.at_loss.released:.1f} % of the records; its "
        "risks are shares of these."
        for each in matched
        if each.at_loss.released < 1
    ]
    lines += [_unreached(each, to) for each in matched if not each.reached]
    refused = [each for each in found if isinstance(each, Unmatched)]
    return lines + [f"{method(each.method)} is not compared: {each.reason}" for each in refused]


def compared(found: Found) -> list[Matched]:
    """Return the methods that are compared: their strength reaches the aim."""
    return [each for each in found if isinstance(each, Matched) and each.reached]


def pairs(found: Found, to: MatchedLoss | rwn.Policy, records: int) -> list[str]:
    """Say where RWN, or the first method, is better and worse than each other one."""
    rivals = compared(found)
    if len(rivals) < 2:
        return []
    first = next((each for each in rivals if each.method == rwn.RWN.method), rivals[0])
    others = [each for each in rivals if each is not first]
    measures = _measures(rivals, to)
    return [
        _against(first, other, compare_pair(first, other, measures), records) for other in others
    ]


def _measures(rivals: Sequence[Matched], to: MatchedLoss | rwn.Policy) -> list[str]:
    """Measures that are compared: all but the matched loss."""
    keys = dict.fromkeys(key for each in rivals for key in each.point.spreads)
    return [key for key in keys if not (isinstance(to, MatchedLoss) and key == to.measure)]


def _outright(rivals: Sequence[Matched], to: MatchedLoss | rwn.Policy, records: int) -> list[str]:
    """Which method is better than every other one with an answer, measure by measure."""
    if len(rivals) < 3:
        return []
    won: dict[str, list[str]] = {}
    for key in _measures(rivals, to):
        able = [each for each in rivals if each.at_loss.median(key) is not None]
        for one in able:
            others = [each for each in able if each is not one]
            if len(others) > 1 and all(key in compare_pair(one, o, [key]).better for o in others):
                won.setdefault(one.method, []).append(title(key, records))
    return [
        f"{method(each.method)} is better than every other compared method on "
        f"{listed(won[each.method])}."
        for each in rivals
        if each.method in won
    ] or ["No method is better than every other one on any measure."]


def _against(one: Matched, other: Matched, outcome: PairedComparison, records: int) -> str:
    parts = []
    for words, keys in (("better on", outcome.better), ("worse on", outcome.worse)):
        if keys:
            parts.append(f"{words} {listed([_both(one, other, key, records) for key in keys])}")
    count = len(outcome.better) + len(outcome.worse) + len(outcome.open)
    if not count:
        parts.append("no measure has an answer for both")
    elif outcome.open:
        parts.append(f"no clear difference on {len(outcome.open)} of {count} measures")
    return f"{method(one.method)} against {method(other.method)}: {'; '.join(parts)}."


def _both(one: Matched, other: Matched, key: str, records: int) -> str:
    mine, others = (value_words(key, each.at_loss.median(key)) for each in (one, other))
    return f"{title(key, records)} ({mine} against {others})"


def _unreached(each: Matched, to: MatchedLoss | rwn.Policy) -> str:
    """Why a method is not compared: its strength does not reach the aim."""
    name, words = method(each.method), each.words
    if not isinstance(to, MatchedLoss):
        verdict = to.judge(each.point)
        return (
            f"{name} keeps the policy at no strength that was tried; at {words}: {verdict.sentence}"
        )
    return f"{name} {_short(each, to, words)}"


def _short(each: Matched, to: MatchedLoss, words: str) -> str:
    point = each.point
    value = point.median(to.measure)
    if value is None:
        why = point.spreads[to.measure].reason or "it was not read."
        return f"has no answer for {rwn.MEASURES[to.measure].title}: {why}"
    stated, asked = value_words(to.measure, value), value_words(to.measure, to.value)
    read = f"it reads {stated} and not {asked}"
    if to.accepts(point) and each.path and each.path[-1].setting != point.setting:
        why = f"has no answer at the step after {words}, so that no loss of {asked} lies between"
    elif to.accepts(point):
        why = f"never loses so much: at its strongest, {words}, {read}"
    else:
        why = f"loses more at every strength that was tried: at {words} {read}"
    return f"{why}. It is in the table and not among those compared."


def unread(matched: Sequence[Matched], records: int) -> list[str]:
    """Which measures have no answer, of which methods, and why; a sentence for each reason."""
    about: dict[tuple[str, str], list[str]] = {}
    for each in matched:
        for key, spread in each.at_loss.spreads.items():
            if spread.reason:
                about.setdefault((each.method, spread.reason), []).append(title(key, records))
    return [
        f"{method(key)} is not ranked on {listed(titles)}: {reason}"
        for (key, reason), titles in about.items()
    ]


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence, the last after an and."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
