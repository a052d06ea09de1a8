"""The command `rwn recommend`, and what `rwn mask` does without parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.file_option import Laid
from rwn_cli.terminal import say

_ROLES = ("key", "confidential")
_OWN = ("epsilon", "k", "q", "kernel", "width", "balance")  # options by their parameters


def recommend(
    source: options.Source,
    schema: options.SchemaFile = None,
    file: Laid = None,
    drop: options.Dropped = None,
    keep: options.Retained = None,
    only: options.Chosen = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    rows: options.WhatRows = None,
) -> None:
    """Recommend a setting for a table, with the command that masks with it.

    Variables that may identify people need an answer each: --drop, --keep, or a role in the schema;
    rows that look as if they belonged together need --rows-are.
    Where no setting keeps the usual policy, what helps is tried and named. `rwn find` is the same
    search, for limits of your own.
    """
    from rwn_core.data.open_questions import require_answers
    from rwn_core.tuning.remedies import with_remedies

    read, data, _ = options.load_chosen(source, schema, file or [], only, drop, keep)
    data = options.with_rows(options.under_roles(data, confidential, key), rows)
    for notice in read.notices:
        say(f"note: {notice}")
    require_answers(data)
    # of the table itself, as the user said it, with the roles that were guessed
    given: dict[str, Any] = {"schema": schema, "file": file, "drop": drop, "keep": keep}
    given |= {"only": only, "rows-are": rows}
    weighted = [each.name for each in data.schema.released if each.weight != 1]
    more = restated(options.new_roles(read, data), given)
    target = Path("OUT.csv")
    advice = rwn.recommend(data)
    typer.echo(f"recommended: {command(advice.point.setting, source, target, more, weighted)}")
    typer.echo(f"why: {advice.reason}")
    for each in (*advice.settings[1:], *([advice.alternative] if advice.alternative else ())):
        typer.echo(f"or: {command(each.setting, source, target, more, weighted)}")
    if not advice.reached:
        found = with_remedies(advice, data, advice.point.setting, rwn.Policy(), advice)
        for line in remedy_lines(found):
            typer.echo(line)
    for name, why in advice.unfit.items():
        typer.echo(f"not {name}: {why}")


def remedy_lines(answer: rwn.SearchAnswer) -> list[str]:
    """Write what helps where a policy is not kept, each remedy on a line; else that none does."""
    lines = [f"try: {each.words}" for each in answer.remedies]
    return [*lines, answer.caution] if answer.caution else lines


def restated(roles: Mapping[str, str], given: Mapping[str, Any]) -> list[str]:
    """Write the options that a command was given, and the roles, guessed ones among them."""
    stated = {each: [name for name, role in roles.items() if role == each] for each in _ROLES}
    words: list[str] = []
    for name, value in (*given.items(), *stated.items()):
        values = value if isinstance(value, list) else [value]
        for each in values:
            if each is not None:
                words += [f"--{name}", str(each)]
    return words


def start_of(data: rwn.Microdata, method: Any) -> Any:
    """Return a method's own start, at the weakest strength that keeps the usual policy; say so."""
    from rwn_core.masking import at_levers
    from rwn_core.masking.lever import neutral_levers
    from rwn_core.tuning.verdict import not_judged

    neutral = method(**neutral_levers(method))
    params = at_levers(neutral, dict(neutral.preview(data).presets["Standard"]))
    judged, unread = rwn.Policy().judgeable(data)
    space = rwn.Space(setting=rwn.Setting(params=params))
    answer = None if judged is None else rwn.search(data, space=space)
    if answer is None or not answer.settings:
        say(f"its usual start: {rwn.Setting(params=params).words}; no limit is checked for it.")
        return params
    found = answer.settings[0]
    keeps = "keeps the limits that can be judged" if unread else "keeps the usual policy"
    verb = keeps if found.kept else "is nearest to the usual policy"
    read = f"{found.releases} releases of all {data.n:,} records"
    words = f"its own start: {found.setting.words}; it {verb} ({read}). {found.left_words}."
    say(f"{words}{not_judged(unread)}")
    return found.setting.params


def command(
    setting: rwn.Setting,
    source: str,
    target: Path,
    more: Sequence[str] = (),
    weighted: Sequence[str] = (),
) -> str:
    """Write the command that masks with a setting, and with further options.

    `weighted`: the variables with a weight in the table, of which the setting knows its own only.
    """
    import shlex

    words = ["rwn", "mask", source, str(target), *more]
    soft = setting.method == rwn.SoftRWN.method
    own = _OWN if soft or setting.method == "rwn" else ()
    if not own:
        words += ["--method", setting.method]
    given = {"kernel": setting.params.kernel} if soft else {}
    for name, value in (given | setting.parameters).items():
        text = options.setting_text(value)
        words += [f"--{name}", text] if name in own else ["--set", f"{name}={text}"]
    for name, number in (dict.fromkeys(weighted, 1.0) | dict(setting.weights)).items():
        words += ["--weight", f"{name}={number:g}"]
    for name, number in setting.precision:
        words += ["--round", f"{name}={number:.10g}"]
    for names in setting.slices or ():
        words += ["--slice", ",".join(names)]
    return shlex.join(words if setting.slices or own == () else [*words, "--slice", "none"])
