"""Facts of the public notice and of each report that may leave: words, orders of magnitude."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from rwn_core.data.derived import listed
from rwn_core.evaluation.validity import misses, turns
from rwn_core.laws.invariants import Invariants
from rwn_core.masking.option import method_words
from rwn_core.measures import CHANGED, MARGINALS, MEASURES, USE, UTILITY
from rwn_core.reporting import public_words as words
from rwn_core.reporting.dots import STEPS, step_of
from rwn_core.reporting.facts.fact import (
    Audience,
    Content,
    Entry,
    Material,
    Table,
    interval_facts,
    written_table,
)
from rwn_core.reporting.release_record import shared_words

(IDENTITY,) = (key for key, each in MEASURES.items() if each.raised_by == "identity")
"""The measure that states the worst case of links."""
_INVENTED = 0.05  # of the original's relations, beyond which new ones are said
_NEAR = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_CHANGED = (0.1, 0.4, 0.6, 0.9)
_SHARES = (0.01, *_CHANGED)
_LEFT = (0.1, 0.5, 0.8, 0.95)


def label(material: Material) -> Content:
    """Say on half a page what was judged of the release: it never says more than the record."""
    about = words.LABEL
    verdict = material.record.get("verdict", {})
    limits = about["limits"]
    judged = verdict.get("judged", {})
    policy = [limit["measure"] for limit in material.record.get("limit", ())]
    feared, bounded, unbounded = list[str](), list[str](), list[str]()
    for key in policy:
        who, risk, proof = limits.get(key, ("release", about["other"], about["measured"]))
        if key in judged:
            feared.append(about["intruders"][who])
        if key not in judged or key in verdict["not_judged"] or verdict["shares"].get(key, 2) > 1:
            unbounded.append(risk)
            continue
        standing = judged[key].get("standing", "unknown")
        proof = {"": proof, "at least": about["attacked"]}.get(standing, about["estimated"])
        bounded.append(f"{risk} ({proof})")
    lost = material.reading(UTILITY).get("value")
    amount = None if lost is None else _amount(UTILITY, lost)
    relations = about["not_measured"] if amount is None else about["faded"].format(amount=amount)
    relations = " ".join([relations, *_left(material)])
    if amount is not None and "judged" in material.record:
        relations += f" {about['sampled']}"
    rows = {
        "unit": about["units"].get(material.record["table"].get("unit"), about["unknown_unit"]),
        "feared": "; ".join(dict.fromkeys(feared)) or about["nobody"],
        "bounded": "; ".join(bounded) or about["nothing"],
        "open": f"{'; '.join(dict.fromkeys(unbounded))}. {about['always']}".removeprefix(". "),
        "relations": relations,
        "releases": _earlier_releases(material.earlier),
    }
    said = tuple((about[key], text[:1].upper() + text[1:]) for key, text in rows.items())
    table = Table(columns=tuple(about["columns"]), rows=said)
    return _with_picture(Content(lines=(about["head"],), table=table), judged)


def _with_picture(content: Content, judged: Mapping[str, Any]) -> Content:
    """Add how many of a hundred people the best intruder names, where that is known."""
    step = _named_step(judged)
    if step is None:
        return content
    shown = words.IN_A_HUNDRED.format(count=words.HUNDREDTHS[step])
    return replace(content, lines=(*content.lines, shown), filled=STEPS[step])


def _earlier_releases(earlier: int | None) -> str:
    """Say how many releases of the same people the ledger knows; None is no ledger."""
    if earlier is None:
        return str(words.LABEL["no_ledger"])
    counts = words.COUNTS
    known = counts[min(earlier, len(counts) - 1)]
    return str(words.LABEL["ledger"].format(count=known))


def _named_step(judged: Mapping[str, Any]) -> int | None:
    """How many of a hundred people the best intruder names, as a step; None where not known."""
    worst = judged.get(IDENTITY)
    if worst is None or worst.get("standing", "unknown"):  # a lower bound, or an estimate
        return None
    return step_of(worst["value"])


def _left(material: Material) -> list[str]:
    """Say in words how much is left of each part of the use; nothing where it was not read."""
    shares = material.reading(USE).get("shares", {})
    said = []
    for name, sentence in words.LEFT.items():
        if name in shares:
            amount = words.LEFT_AMOUNTS[bisect(_LEFT, shares[name])]
            said.append(sentence.format(amount=amount))
    return said


def _treated(material: Material) -> Content:
    about = method_words(material.method)
    first, method, what, where, closed = words.TREATED
    named = method.format(method=about["name"], title=material.method.title)
    lines = [first, named, what.format(words=material.does)]
    if about["source"]:
        lines.append(where.format(source=about["source"]))
    # what an earlier version recorded does not say which variables lack values
    lacking = material.record["table"].get("missing", material.variables)
    if material.method.moves_missing and not _unmasked(material).issuperset(lacking):
        lines.append(words.MISSING)
    return Content(lines=(*lines, closed))


def _unmasked(material: Material) -> set[str]:
    """The variables that the method may not change at this setting, whatever was drawn."""
    # What this draw left as it is stays unsaid: it would tell that all its values are true.
    table = material.record["table"]
    return {*table["not_masked"], *table.get("left_alone", ())}


def treatments(material: Material) -> dict[str, str]:
    """Describe the treatment of each released variable."""
    unmasked = _unmasked(material)
    rounded = set(material.record["setting"].get("precision", {}))
    return {
        name: (words.KEPT if name in unmasked else words.MASKED) + words.ROUNDED * (name in rounded)
        for name in material.variables
    }


def _variables(material: Material) -> Content:
    unmasked = _unmasked(material)
    shares = material.changed
    rows = []
    for name, treatment in treatments(material).items():
        much = words.NOT_MEASURED
        if name in unmasked:
            much = words.NONE_CHANGED
        elif name in shares:  # a share of 0 stays unsaid: it would tell that all values are true
            much = words.CHANGED_SHARES[bisect(_SHARES, shares[name])]
        rows.append((name, treatment, much))
    table = Table(columns=words.VARIABLE_COLUMNS, rows=tuple(rows))
    lines = [words.VARIABLES, *shared_words(material.record["table"])]
    for each in material.record["table"].get("derived", ()):
        much = words.CHANGED_SHARES[bisect(_SHARES, each["share"])]
        parts = listed(each["parts"])
        lines.append(words.DERIVED.format(name=each["name"], parts=parts, share=much))
    return Content(lines=tuple(lines), table=table)


def _amount(measure: str, value: float) -> str:
    """Say how much a measure's value is, in one of `public_words.AMOUNTS`."""
    amount: str = words.AMOUNTS[bisect(MEASURES[measure].steps, value)]
    return amount


def _loss(material: Material) -> Content:
    read = {key: material.reading(key).get("value") for key in words.LOST}
    rows = [(words.LOST[key], _amount(key, v)) for key, v in read.items() if v is not None]
    lines = [words.LOSS[0]] + ([words.SAMPLED] if "judged" in material.record else [])
    if len(rows) < len(words.LOST):
        lines.append(words.LOSS[1])
    lines += _left(material)
    # which relations faded, which of them are gone, and whether others appeared
    relations = material.reading(UTILITY)
    for faded, key in ((words.FADED, "faded"), (words.GONE, "gone")):
        named = "; ".join(words.PAIR.format(one=a, other=b) for a, b in relations.get(key, ()))
        if named:
            lines.append(faded.format(names=named))
    if relations.get("invented", 0.0) > _INVENTED:
        lines.append(words.INVENTED)
    changed = material.reading(CHANGED).get("value")
    if changed is not None:
        said = ("few", "a part", "about half", "most", "nearly all")[bisect(_CHANGED, changed)]
        lines.append(words.CHANGED[said])
    destroyed = method_words(material.method)["destroys"]
    if destroyed:
        lines.append(words.DESTROYED.format(words=destroyed))
    table = Table(columns=words.LOSS_COLUMNS, rows=tuple(rows)) if rows else None
    return Content(lines=tuple(lines), table=table)


def _intervals(material: Material) -> Content:
    about = interval_facts(material.record)
    looked = _together(about)
    if about["refusal"]:
        return Content(lines=(about["sentence"], *looked))
    table = written_table(words.INTERVALS_COLUMNS, ([", ".join(e)] for e in about["slices"]))
    return Content(lines=(about["sentence"], *words.INTERVALS_HOW, *looked), table=table)


def _together(about: Mapping[str, Any]) -> list[str]:
    """Say what was looked for and found of rows together, and what the makers state of them."""
    if "found" not in about:  # of an earlier version
        return []
    said = [words.TOGETHER[of] for of in about["found"] or ["none"]]
    if about["stated"]:
        said.append(words.STATED[about["stated"]])
    return said


def _errors(material: Material) -> Content:
    lines = ([words.ACROSS] if not interval_facts(material.record)["refusal"] else []) + list(
        words.ERRORS
    )
    judged = material.record.get("slopes", [])
    for slopes in judged:
        # Sentences about the slopes of one regression; never their size.
        missed = misses(slopes)
        turned = turns(slopes)
        held = [name for name in slopes["names"] if name not in {*missed, *turned}]
        first = words.JUDGED if slopes["drawn"] > 1 else words.SINGLE
        lines.append(first.format(response=slopes["response"]))
        named = ((words.MISSED, missed), (words.TURNED, turned), (words.HELD, held))
        lines += [said.format(names=", ".join(names)) for said, names in named if names]
    lines += [] if judged else [words.UNJUDGED]
    contact = material.context.contact
    lines.append(words.ASK.format(contact=contact) if contact else words.NOBODY)
    return Content(lines=tuple(lines))


def _totals(material: Material) -> Content:
    reading = material.reading(MARGINALS)
    lines = _invariants(material)
    shifts = (
        ("mean_shift", words.MEANS, words.FAR_MEANS),
        ("share_shift", words.SHARES, words.FAR_SHARES),
    )
    for name, near, far in shifts:
        moved = [abs(shift) for shift in reading.get(name, {}).values()]
        if moved:
            at = bisect(_NEAR, max(moved))
            lines.append(near.format(near=words.NEAR[at]) if at < len(_NEAR) else far)
    return Content(lines=tuple(lines))


def _invariants(material: Material) -> list[str]:
    """Say what every release of the method keeps, and that other totals are not exact."""
    plain = material.record.get("table", {}).get("keeps")
    if plain is None:  # of an earlier version, or of a dataset
        exact = any(each.what in ("rows", "values", "totals") for each in material.method.keeps)
        return [] if exact else [words.TOTALS]
    keeps = Invariants.from_plain(plain)
    shown = material.variables
    values = [name for name in shown if name in keeps.values]
    totals = [name for name in shown if name in keeps.totals and name not in values]
    lines = []
    for what, names in _kept(keeps, shown, values, totals):
        if names:
            lines.append(words.KEEPS[what].format(names=", ".join(names)))
    if len(values) + len(totals) < len(shown):
        lines.append(words.OTHER_TOTALS if values or totals else words.TOTALS)
    if keeps.fixed:
        lines.append(words.KEEPS["fixed"])
    return lines


def _kept(
    keeps: Invariants, shown: Sequence[str], values: Sequence[str], totals: Sequence[str]
) -> list[tuple[str, Sequence[str]]]:
    """Return what a method keeps, and of which columns, in the order in which it is said."""
    together = [unit for unit in keeps.rows if len(unit) > 1]
    order = [name for name in keeps.order if name not in keeps.records]
    supported = set(chain.from_iterable(keeps.support)) - set(values)
    support = [name for name in shown if name in supported]
    rows = [("rows", unit) for unit in together]
    return [("values", values), *rows, ("totals", totals), ("order", order), ("support", support)]


def _use(material: Material) -> Content:
    context = material.context
    lines = list(words.USE)
    if context.contact:
        lines.append(words.REPORT.format(contact=context.contact))
    if context.access:
        lines.insert(0, words.ACCESS[context.access])
    if context.purpose:
        lines.insert(0, words.PURPOSE.format(purpose=context.purpose.rstrip(".")))
    return Content(lines=tuple(lines))


def _file(material: Material) -> Content:
    file = material.record["file"]
    made = material.made
    id = material.record["release"]["id"]
    about = {"made": made, "records": f"{material.records:,}", "id": id, "sha256": file["sha256"]}
    about["files"] = f"{len(file.get('parts', ())):,}"
    lines = words.FILES if "parts" in file else words.FILE
    said = [line.format(**about) for line in lines]
    return Content(lines=tuple(said))


def _review(material: Material) -> Content:
    day = material.context.review
    return Content(lines=(words.REVIEW.format(review=day) if day else words.NO_REVIEW,))


_TO_BOTH = ("treated", "intervals", "errors", "use", "file", "review")
_WHO = (Audience.PUBLIC, Audience.BOTH)
_MAKERS = (label, _treated, _variables, _loss, _intervals, _errors, _totals, _use, _file, _review)
OUTSIDE = tuple(
    Entry(key=key, title=title, audience=_WHO[key in _TO_BOTH], make=make)
    for title, make in zip(words.TITLES, _MAKERS, strict=False)
    for key in [make.__name__.lstrip("_")]
)
"""In the order of the notice; each fact has the name of what makes it."""
