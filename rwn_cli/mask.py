"""The command `rwn mask`: the same bytes as in Python and in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.file_option import Laid, description
from rwn_cli.options import read_text
from rwn_cli.recommend import command, remedy_lines, restated, start_of
from rwn_cli.record_file import (
    ProjectFile,
    evidence_path,
    original_file,
    read_context,
    source_facts,
)
from rwn_cli.terminal import (
    Count,
    File,
    Overwrite,
    least,
    option,
    output_format,
    progress,
    refuse_existing,
    require_toml,
    say,
    size_words,
    write_all,
)
from rwn_core.errors import InputError, ParameterError, ReleaseError

if TYPE_CHECKING:
    from rwn_core.reporting.context import Context
    from rwn_core.reporting.release_record import Basis
    from rwn_core.reporting.scenario import Decision
    from rwn_core.tuning import Point, Verdict


Target = Annotated[Path, typer.Argument(metavar="OUT", help=options.ENDS_IN)]
_ORDERS = {
    "shuffled": "in secret order",
    "original": "as they were\nnote: the row order names each record; keep this file inside.",
}
UNREAD = "No limit was read: on a table of this size it takes long."
_WARNING = "WARNING: "  # before a verdict that is not "kept"
Threads = Annotated[
    Count,
    least(1, "RWN_THREADS or all processors by default; never changes the release."),
]


def mask(
    source: options.Source,
    target: Target,
    epsilon: options.Radius = None,
    k: options.LeastSize = None,
    q: options.Modified = None,
    kernel: options.Shaped = None,
    width: options.Wide = None,
    balance: options.BalanceShare = None,
    weight: options.Weighted = None,
    slice_: options.Sliced = None,
    round_: options.Precision = None,
    scenario: Annotated[
        File,
        option(
            "FILE.toml",
            "A scenario whose setting is used; the other options change parts of it. Its "
            "seed is not: give --seed to repeat a trial.",
        ),
    ] = None,
    seed: options.TeachingSeed = None,
    key_file: Annotated[
        File,
        option(
            "FILE",
            "Keep the secret in this new file, for rwn reproduce. Whoever has it can undo "
            "the release: keep it sealed.",
        ),
    ] = None,
    method: options.MethodKey = None,
    set_: options.Parameters = None,
    order: Annotated[
        Literal["shuffled", "original"], typer.Option(help="The original order names each record.")
    ] = "shuffled",
    record: Annotated[
        File, option("FILE.toml", "Write the internal record of the release there.")
    ] = None,
    meeting: Annotated[
        File, option("FILE.toml", "The frozen decision that the record names.")
    ] = None,
    project: ProjectFile = None,
    ledger: Annotated[File, option("LEDGER", "Refuse what reads a person.")] = None,
    schema: options.SchemaFile = None,
    file: Laid = None,
    drop: options.Dropped = None,
    keep: options.Retained = None,
    only: options.Chosen = None,
    confidential: options.Confidential = None,
    key: options.Key = None,
    as_is: options.AsIs = None,
    rows: options.WhatRows = None,
    threads: Threads = None,
    overwrite: Overwrite = False,
) -> None:
    """Mask a table and write the release.

    Without parameters, slices or a --scenario the recommended setting is used, and said; with a
    --method alone the weakest strength of it that keeps the usual policy, or the nearest.
    Without --seed a fresh 256-bit secret is used and forgotten, unless --key-file keeps it.
    Variables that may identify people need an answer each: --drop, --keep, or a role in the schema;
    rows that look as if they belonged together need --rows-are. Roles that are not stated are
    guessed by name. It prints the verdict of the limits on OUT.
    """
    from rwn_core.data.open_questions import require_answers
    from rwn_core.masking.second_reading import second_reading
    from rwn_core.reporting.release_record import Basis

    schema = description(source, schema)
    form = output_format(target, source, schema, scenario)
    loaded = options.read_scenario(scenario)
    decided = read_decision(record, meeting, (target, source, schema, scenario, meeting))
    options.require_one_key(seed, key_file)
    refuse_existing(overwrite, target, record, record and evidence_path(record))
    own = {"epsilon": epsilon, "k": k, "q": q, "kernel": kernel, "width": width, "balance": balance}
    stated = _stated(own, options.settings(set_))
    params = _parameters(loaded, method, stated, sliced=bool(slice_))
    _, read, gone = options.load_chosen(source, schema, file or [], only, drop, keep)
    data = options.with_rows(options.under_roles(read, confidential, key, as_is), rows)
    roles = options.new_roles(read, data)
    data = options.working_table(data, loaded, weight, slice_)
    refuse_other_table(decided, data)
    context = _context(project, record, data)
    require_answers(data)
    before = dict(loaded.setting.precision) if loaded and loaded.setting else None
    precision = options.steps(data, round_, before)
    given: dict[str, Any] = {"schema": schema, "file": file, "drop": drop, "keep": keep}
    given |= {"only": only, "as-is": as_is, "round": round_, "rows-are": rows}
    given["order"] = order if order == "original" else None
    data, params, advice = _ready(data, params, source, target, restated(roles, given))
    secret, text = _secret(seed, key_file, (target, record))
    with progress("masking") as report:
        release = rwn.mask(
            data, params, precision=precision, seed=secret, threads=threads, progress=report
        )
    changes = _said_of_changes(data, release, form, leaves=order == "shuffled" and seed is None)
    content = release.to_bytes(form, order)
    if ledger is not None:
        from rwn_core.reporting.ledger import refuse_readable

        refuse_readable(ledger, data, release, (target.name, content))
    looked_up = second_reading(release, content, form, original_file(source), (), order)
    released = rwn.ReleasedFile.of(
        content, form, order=order, seeded=seed is not None, kept=key_file is not None
    )
    # the key with the release, or not at all
    files = {target: content} if key_file is None else {key_file: text, target: content}
    policy = (loaded and loaded.policy) or rwn.Policy()
    if record is not None:
        more = {"dropped": gone, "as_is": as_is, "released": str(target.absolute())}
        basis = Basis(
            decision=decided,
            policy=policy,
            source=source_facts(source, schema, file, roles=roles, **more),
            plan=None if loaded is None else loaded.analysis_plan,
            context=context,
            draws=_further_draws(data, release, policy),
        )
        files = _internal(record, data, release, released, basis) | files
    made = None if record is None else (record, files[record])
    words = _words_unless_broken(advice, data, release, policy, made)
    write_all(files, overwrite=overwrite)  # the record first: no release stands there without it
    where = f"written to {target}, rows {_ORDERS[order]}\nSHA-256 {released.sha256}"
    say("\n".join([*changes, where, looked_up.words]))
    say(options.in_shell(words or _verdict_words(data, release, policy, made)))
    options.say_of_key(seed, key_file, "keep it sealed")


def said_of_limits(data: rwn.Microdata, release: rwn.Release) -> str:
    """Say the verdict of the usual policy on a release without a record."""
    return options.in_shell(_verdict_words(data, release, rwn.Policy(), None))


def _context(project: Path | None, record: Path | None, data: rwn.Microdata) -> Context:
    """Return the context for the internal record."""
    from rwn_core.reporting.context import Context

    if project is not None and record is None:
        raise ParameterError("--project goes into the internal record; give --record FILE, too.")
    return read_context(project, data.fingerprint) or Context()


def _verdict_words(
    data: rwn.Microdata, release: rwn.Release, policy: rwn.Policy, record: tuple[Path, bytes] | None
) -> str:
    """Say the verdict on a release: of its record, and where that is; or of its limits alone."""
    from rwn_core.neighbors import LARGEST_DENSE
    from rwn_core.reporting.release_record import read_record, recorded_state
    from rwn_core.tuning.verdict import counted, not_judged

    if record is not None:
        path = record[0]
        document = read_record(record[1].decode("utf-8"))
        warned = recorded_state(document["verdict"]) != "kept"
        words = [_WARNING * warned + document["verdict"]["words"]]
        if not document.get("decision", {}).get("followed", True):
            words.append(
                "note: the release does not follow the decision of --meeting; the record says so."
            )
        evidence = f"its charts to {evidence_path(path).name}; both stay in the house"
        return "\n".join([*words, f"internal record written to {path}, {evidence}"])
    if data.n > LARGEST_DENSE:  # the limits take longer than masking
        left, unread = policy.judgeable(data)
        said = f"{UNREAD}{not_judged(unread)}"
        count = len(left.limits) if left else 0
        return f"{said} --record FILE.toml reads {counted(count, 'limit')}." if count else said
    return _said_verdict(data, release, *_read_verdict(data, release, policy))


def _further_draws(data: rwn.Microdata, release: rwn.Release, policy: rwn.Policy) -> Point | None:
    """Read further draws of the setting of a release; None of a table where that takes long."""
    from rwn_core.neighbors import LARGEST_DENSE
    from rwn_core.tuning.several_draws import read_draws

    if data.n > LARGEST_DENSE:
        return None
    setting = rwn.Setting(params=release.params, precision=release.precision)
    with progress("reading further draws") as report:
        return read_draws(data, setting, policy, report)


def _read_verdict(
    data: rwn.Microdata, release: rwn.Release, policy: rwn.Policy
) -> tuple[Verdict, Verdict]:
    """Hold one more release of the setting against a policy, and the release itself."""
    from rwn_core.parallel.threads import work
    from rwn_core.reporting.judged_release import judged
    from rwn_core.tuning.several_draws import verdict_of, with_file

    draws = _further_draws(data, release, policy)
    with progress("reading the limits") as report, work(progress=report):
        own = judged(data, release, policy)
    return with_file(None if draws is None else verdict_of(data, policy, draws), own), own


def _said_verdict(data: rwn.Microdata, release: rwn.Release, verdict: Verdict, own: Verdict) -> str:
    """Say the verdict on a release, and what it leaves of what the file is for."""
    from rwn_core.measures import MEASURES, USE
    from rwn_core.tuning.several_draws import words_with_file

    compared = rwn.Comparison(original=data, masked=release.masked, law=release.law)
    reading = MEASURES[USE].read(compared, bare=True)
    left = f" {reading.detail.sentence}." if isinstance(reading, rwn.Reading) else ""
    warned = "" if verdict.kept else _WARNING
    return f"{warned}{words_with_file(verdict, own)}{left}"


def _recorded_break(record: bytes) -> str:
    """Return the words of the verdict in a record where a limit is broken; nothing otherwise."""
    from rwn_core.reporting.release_record import read_record, recorded_state

    document = read_record(record.decode("utf-8"))
    broken = recorded_state(document["verdict"]) == "broken"
    return str(document["verdict"]["words"]) if broken else ""


def _words_unless_broken(
    advice: rwn.SearchAnswer | None,
    data: rwn.Microdata,
    release: rwn.Release,
    policy: rwn.Policy,
    record: tuple[Path, bytes] | None,
) -> str:
    """Refuse a release beyond a limit that its search found kept; say the verdict on another one.

    Nothing is said of a setting that no search found to keep the limits, or that a record judges.
    """
    if advice is None or not advice.reached:
        return ""
    if record is not None:
        said = ""
        broken = _recorded_break(record[1])
    else:
        verdict, own = _read_verdict(data, release, policy)
        said = _said_verdict(data, release, verdict, own)
        broken = verdict.sentence if verdict.broken else ""
    if broken:
        raise ReleaseError(
            f"Nothing was written: this release is beyond a limit that other releases of the "
            f"setting keep. {broken} Run the command again for another release, or take a stronger "
            f"setting (rwn recommend).{_what_helps(advice, data, release, policy)}"
        )
    return said


def _what_helps(
    advice: rwn.SearchAnswer, data: rwn.Microdata, release: rwn.Release, policy: rwn.Policy
) -> str:
    """Name what helps where the setting breaks the policy; nothing where this file alone does."""
    from rwn_core.tuning.remedies import with_remedies
    from rwn_core.tuning.several_draws import verdict_of

    draws = _further_draws(data, release, policy)
    if draws is None or not verdict_of(data, policy, draws).broken:
        return ""
    setting = rwn.Setting(params=release.params, precision=release.precision)
    with progress("trying what helps"):
        found = with_remedies(advice, data, setting, policy, advice)
    return "".join(f"\n{line}" for line in remedy_lines(found))


def _secret(
    seed: int | None, file: Path | None, others: tuple[Path | None, ...]
) -> tuple[int | rwn.SecretKey | None, bytes]:
    """Return the secret that a release is drawn with, and the content of its key file, if any."""
    if file is None:
        return seed, b""
    if file in others:
        raise ParameterError("--key-file must be a file of its own; give another name.")
    from rwn_core.datasets.key_file import fresh_key

    return fresh_key(file)


def _internal(
    record: Path, data: rwn.Microdata, release: rwn.Release, file: rwn.ReleasedFile, basis: Basis
) -> dict[Path, bytes]:
    """The internal record and its evidence, by the files that they go to."""
    from rwn_core.reporting.release_record import internal_files

    with progress("reading the measures") as report:
        text, evidence = internal_files(data, release, file, basis, report)
    return {record: text.encode("utf-8"), evidence_path(record): evidence}


def _stated(named: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Parameters that have an option of their own, and those of --set."""
    given = {name: value for name, value in named.items() if value is not None}
    if twice := given.keys() & others.keys():
        name = min(twice)
        raise ParameterError(f"--{name} and --set {name} say the same; give one of them.")
    return given | others


def _parameters(
    loaded: rwn.Scenario | None, method: str | None, stated: dict[str, Any], *, sliced: bool
) -> Any:
    """The parameters of scenario and command line; None or a method where no more is said."""
    if loaded is None:
        if not stated and not sliced and method in (None, "rwn"):
            return None
        if method is not None and not stated and not sliced and method in rwn.METHODS:
            return rwn.METHODS[method]
        return options.parameters(method or "rwn", **stated)
    if loaded.setting is None:
        raise ParameterError(
            "The scenario has no setting; give --epsilon or --k in place of --scenario."
        )
    if method not in (None, loaded.setting.method):
        return options.parameters(str(method), **stated)
    return options.parameters(loaded.setting.method, **{**loaded.setting.parameters, **stated})


def _ready(
    data: rwn.Microdata, params: Any, source: str, target: Path, more: list[str]
) -> tuple[rwn.Microdata, Any, rwn.SearchAnswer | None]:
    """Return the table and the parameters: recommended ones with why, or a method's own start."""
    # The whole search is compiled before the first large table of a machine, and not in parts.
    from rwn_core.neighbors import LARGEST_DENSE
    from rwn_core.parallel.kernel_cache import is_ready

    for notice in data.notices:
        say(f"note: {notice}")
    uses_weights = params is None or params.uses_weights
    if uses_weights and data.n > LARGEST_DENSE and not is_ready():
        from rwn_core.compile_ahead import warm

        warm()
    if params is None:
        # the recommended setting, with its slices and weights
        advice = rwn.recommend(data)
        say(f"recommended: the best of {advice.tried:,} settings; rwn recommend says why.")
        weighted = [each.name for each in data.schema.released if each.weight != 1]
        say(f"the same as: {command(advice.point.setting, source, target, more, weighted)}")
        setting = advice.point.setting
        return setting.applied_to(data), setting.params, advice
    return data, start_of(data, params) if isinstance(params, type) else params, None


def _said_of_changes(
    data: rwn.Microdata, release: rwn.Release, form: str, *, leaves: bool
) -> list[str]:
    """Return what is said of changed cells; refuse a file that leaves and shows true values."""
    from rwn_core.data.schema import verbatim_words
    from rwn_core.evaluation.audit import changed_shares, untouched, untouched_words, weakly_masked
    from rwn_core.masking.release import notes_on_file
    from rwn_core.measures import CHANGED
    from rwn_core.measures.measure import plain
    from rwn_core.reporting.release_record import shared_columns, shared_words

    said = [f"{release.params.title}: {size_words(release.masked, data)}"]
    changed = rwn.audit(data, release, measures=[CHANGED])[CHANGED]
    if isinstance(changed, rwn.Reading):
        shares = changed_shares(plain(changed.detail))
        none = untouched(data, release.params, shares)
        if none and leaves:
            raise ReleaseError(f"{untouched_words(none)} (--as-is NAME).")
        said[0] += f", {changed.value:.1%} of cells changed"
        if changed.value == 0:
            said.append("note: no cell differs from the original; this file protects nobody.")
        if none:
            said.append(f"WARNING: {untouched_words(none)}.")
        said += [
            f"WARNING: {name} changed in {shares[name]:.1%} of cells: it is almost unmasked."
            for name in weakly_masked(data, release.params, shares)
            if name not in none
        ]
    if unmasked := [variable.name for variable in data.schema.released if not variable.masked]:
        said.append(f"released unmasked, as stated: {', '.join(unmasked)}")
    if release.precision:
        rounding = (f"{name} in steps of {step:.10g}" for name, step in release.precision)
        said.append(f"rounded: {', '.join(rounding)}")
    own = (*shared_words(shared_columns(data, release.masked)), *verbatim_words(data.schema.slices))
    return [*said, *(f"note: {each}" for each in own), *notes_on_file(release, data, form)]


def read_decision(
    record: Path | None, meeting: Path | None, others: tuple[str | Path | None, ...]
) -> Decision | None:
    """Return the meeting of the decision that is carried out."""
    from rwn_core.reporting.scenario import Decision

    require_toml(record, "--record", *others)
    if meeting is None:
        return None
    if record is None:
        raise ParameterError("--meeting goes into the internal record; give --record FILE, too.")
    return Decision.thaw(read_text(meeting, "decision"))


def refuse_other_table(decided: Decision | None, data: rwn.Microdata) -> None:
    """A decision about another table decides nothing about this one."""
    if decided is not None and decided.table not in ("", data.fingerprint):
        raise InputError(
            "The decision of --meeting was made on another table: its fingerprint is another one. "
            "Give the decision about this table, mask the table that it is about (with the same "
            "--drop), or leave --meeting out."
        )
