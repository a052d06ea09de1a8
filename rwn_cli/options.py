"""Read the options of commands: tables, weights, precision, scenarios, parameters, small files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rwn_core as rwn
from rwn_cli.file_option import description, named_texts, read_file, refuse_better_layout
from rwn_cli.terminal import Count, File, Number, Text, Texts, flag, least, option, say
from rwn_core.errors import ParameterError, SchemaError
from rwn_core.io import endings, titles

DEMO = "demo:"
_OWN_OPTIONS = ("epsilon", "k", "q")

Source = Annotated[str, typer.Argument(metavar="IN", help=f"{titles()} file, or demo:NAME.")]
ENDS_IN = f"Ends in {endings()}."
SchemaFile = Annotated[File, option("FILE.toml", "Describes the variables of the table.")]
Dropped = Annotated[Texts, option("NAME", "A direct identifier, left out; repeatable.")]
Retained = Annotated[
    Texts,
    option("NAME", "A variable that looks as if it identified people, and does not; repeatable."),
]
Chosen = Annotated[
    Texts,
    option("NAME,NAME", "Variables to release; all others are left out. Repeatable."),
]
Confidential = Annotated[
    Texts, option("NAME", "What an intruder is after; guessed by name if none. Repeatable.")
]
Key = Annotated[
    Texts, option("NAME", "What an intruder may know; guessed by name if none. Repeatable.")
]
AsIs = Annotated[Texts, option("NAME", "A variable that is not masked; repeatable.")]
Radius = Annotated[
    Number, typer.Option(help="Radius in standard deviations; not that of differential privacy.")
]
LeastSize = Annotated[Count, typer.Option(help="Least size of a neighborhood.")]
Modified = Annotated[
    Number, typer.Option(help="Modification probability of a cell, 0 to 1; 1 if left out.")
]
Shaped = Annotated[
    Literal["even", "gaussian", "exponential"] | None,
    typer.Option(help="How likely each neighbor gives; even if left out."),
]
Wide = Annotated[Number, typer.Option(help="Of a gaussian or exponential kernel; 1 if left out.")]
BalanceShare = Annotated[
    Number, typer.Option(help="1: all records give equally often; 0 if left out.")
]
TeachingSeed = Annotated[Count, least(0, "Repeats a release; for teaching, and no secret.")]
Response = Annotated[Text, option("NAME", "Response of the regression to keep.")]
Predictors = Annotated[Texts, option("NAME", "Predictor of it; repeatable.")]
Measures = Annotated[Texts, option("KEY", "Measure to read; repeatable.")]
MethodKey = Annotated[Text, option("KEY", "The masking method; rwn if left out.")]
Parameters = Annotated[
    Texts,
    option("NAME=VALUE", "A parameter of the method, such as scale=range; repeatable.", "--set"),
]
Precision = Annotated[
    Texts,
    option(
        "NAME=STEP",
        "Release precision: values are multiples of the step. A number alone, such as 0.25: "
        "about this share of a standard deviation for all numbers. Repeatable.",
        "--round",
    ),
]
AsJson = Annotated[bool, flag("--json", "Write JSON.")]
Weighted = Annotated[
    Texts,
    option(
        "NAME=W", "Weight of a variable in the distance, by its name or number from 1; repeatable."
    ),
]
Sliced = Annotated[
    Texts,
    option(
        "NAME,NAME",
        "Variables that travel together, from one donor; repeatable, all others stand alone. "
        "none: each stands alone.",
        "--slice",
    ),
]
Limits = Annotated[
    Texts,
    option(
        "MEASURE=V or NAME",
        "The most that is tolerated of a measure, such as bayes_linkage=0.05, or a policy by its "
        "name, such as 'Public file'; repeatable. In place of the limits of the scenario, or of "
        "the usual ones.",
    ),
]
Workers = Annotated[Count, least(1, "Processes; one for each processor if left out.")]
WhatRows = Annotated[
    Text,
    option(
        "KIND=NAME,NAME",
        "What the rows are: separate (each a person of its own), person=NAME, household=NAME "
        "(rows of one have equal values), cluster=NAME, or series=NAME.",
        "--rows-are",
    ),
]
NO_SLICE = "none"


def load(
    source: str,
    schema: Path | None = None,
    layout: Texts = None,
    *,
    finds: bool = True,
    only: Texts = None,
    drop: Texts = None,
) -> rwn.Microdata:
    """Read a table by its path, or a demo table as demo:NAME; the layout is what --file says."""
    # `finds`: a description that lies with the file is used where no schema is given
    if source.startswith(DEMO):
        from rwn_core.io.demo import demo_path

        if layout:
            raise ParameterError("A demo table has its own layout; leave --file out.")
        name = source.removeprefix(DEMO)
        return rwn.load_demo(name) if schema is None else read_file(str(demo_path(name)), schema)
    schema = description(source, schema) if finds else schema
    for path in (source, schema):
        if path is not None:
            require_openable(Path(path))
    return read_file(source, schema, layout, only=chosen_names(only), drop=drop)


def load_chosen(
    source: str,
    schema: Path | None,
    layout: Texts = None,
    only: Texts = None,
    drop: Texts = None,
    keep: Texts = None,
) -> tuple[rwn.Microdata, rwn.Microdata, list[str]]:
    """Read a table to mask or judge it: whole, as it is chosen, and the columns left out.

    One that reads better in another layout is refused until --file says which one it has.
    """
    read, chosen, gone = load_in_any_layout(source, schema, layout, only, drop, keep)
    refuse_better_layout(read, layout)
    return read, chosen, gone


def load_in_any_layout(
    source: str,
    schema: Path | None,
    layout: Texts = None,
    only: Texts = None,
    drop: Texts = None,
    keep: Texts = None,
) -> tuple[rwn.Microdata, rwn.Microdata, list[str]]:
    """Read a table: whole, as --drop, --keep and --only leave it, and the columns left out."""
    from rwn_core.io.limits import READ

    read = load(source, schema, layout, only=only, drop=drop)
    gone = drop or []
    if any(READ in notice for notice in read.notices):  # what is dropped was not read
        gone = [name for name in gone if name in read.names]
    if only:
        with _blaming_the_parameters():
            released = read.schema.releasing(chosen_names(only)).released
        left = {variable.name for variable in released}
        gone = [*gone, *(v.name for v in read.schema.released if v.name not in left)]
    return read, described(read, identifiers=gone, retained=keep), gone


def require_openable(path: Path) -> None:
    """Open a file for a moment; a pipe without a writer is not waited for."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))


@contextmanager
def _blaming_the_parameters() -> Iterator[None]:
    """Refuse an option, not the input, when the two do not fit."""
    try:
        yield
    except SchemaError as refusal:
        raise ParameterError(str(refusal)) from None


def described(data: rwn.Microdata, **answers: Texts) -> rwn.Microdata:
    """Give the table what the command line says; see `described_schema`."""
    schema = described_schema(data.schema, **answers)
    return data if schema == data.schema else data.with_schema(schema)


def described_schema(
    schema: rwn.Schema,
    *,
    weights: Texts = None,
    identifiers: Texts = None,
    retained: Texts = None,
    slices: Texts = None,
) -> rwn.Schema:
    """A schema with what the command line says: weights, identifiers, answers and slices."""
    from rwn_core.data.identity.gate import with_answers

    with _blaming_the_parameters():
        parts = [text.rpartition("=") for text in weights or ()]
        schema = schema.with_weights({name: _number(text, _WEIGHT) for name, _, text in parts})
        schema = with_answers(schema, drop=identifiers or (), keep=retained or ())
        if slices:
            schema = schema.with_slices([] if slices == [NO_SLICE] else map(names_in, slices))
    return schema


def under_roles(
    data: rwn.Microdata, confidential: Texts, keys: Texts, as_is: Texts = None
) -> rwn.Microdata:
    """The table under the roles of the command line; under guessed ones, which are said."""
    from rwn_core.data.role_guesses import complete_roles, in_roles

    with _blaming_the_parameters():
        roles, guessed = complete_roles(data.frame, data.schema, confidential or (), keys or ())
        schema = in_roles(data.schema, roles, as_is or ())
    if guessed:
        say(f"roles guessed: {guessed}. --confidential and --key state others.")
    return data.with_schema(schema)


def with_rows(data: rwn.Microdata, rows: str | None) -> rwn.Microdata:
    """The table with what the command line says of its rows."""
    return data if rows is None else data.with_schema(schema_of_rows(data.schema, rows))


def schema_of_rows(schema: rwn.Schema, rows: str | None) -> rwn.Schema:
    """The schema with what the command line says of its rows."""
    with _blaming_the_parameters():
        return schema if rows is None else schema.with_rows(rows)


def new_roles(read: rwn.Microdata, data: rwn.Microdata) -> dict[str, str]:
    """Name the variables with a role that the table as it was read does not give them."""
    both = zip(read.schema.variables, data.schema.variables, strict=True)
    return {new.name: str(new.role) for old, new in both if new.role != old.role}


def in_shell(words: str) -> str:
    """Words of the program with the option that does what they ask."""
    return words.replace("Say which is.", "Say which is (--confidential NAME).")


def chosen_names(only: Texts) -> list[str]:
    """The names that --only gives."""
    return [name for text in only or () for name in names_in(text)]


def names_in(text: str) -> list[str]:
    """The names of a list with commas."""
    return [name.strip() for name in text.split(",")]


def _number(text: str, refusal: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(refusal) from None


def read_text(path: Path, what: str) -> str:
    """Read a small text file: a scenario, a decision, a record, a card."""
    from rwn_core.io.parse import file_text

    path.stat()  # an OSError where it is not there
    return file_text(path, what)


def read_scenario(path: Path | None) -> rwn.Scenario | None:
    """Read a scenario file; None without one."""
    return None if path is None else rwn.Scenario.from_toml(read_text(path, "scenario"))


def working_table(
    data: rwn.Microdata,
    scenario: rwn.Scenario | None,
    weights: Texts = None,
    slices: Texts = None,
) -> rwn.Microdata:
    """Take the table that a command works on under its scenario and then its own options."""
    if scenario is not None and scenario.table not in ("", data.fingerprint):
        say("note: the scenario was made for another table; its readings are not of this one.")
    if scenario is not None and scenario.use is not None:
        data = data.with_schema(data.schema.used_for(scenario.use))
    if scenario is not None and scenario.setting is not None:
        known = dict(scenario.setting.weights)
        if scenario.table:  # written by the program, which states every weight that is not 1
            known = {variable.name: 1.0 for variable in data.schema.released} | known
        data = described(data, weights=[f"{name}={weight}" for name, weight in known.items()])
        own = scenario.setting.slices
        data = data if own is None else data.with_slices(own)
    return described(data, weights=weights, slices=slices)


def limits(loaded: rwn.Scenario | None, texts: Texts) -> rwn.Policy:
    """The policy of the command line, else of the scenario, else the usual one."""
    if not texts:
        return rwn.Policy() if loaded is None or loaded.policy is None else loaded.policy
    named = dict[str, rwn.Limit]()
    stated = list[rwn.Limit]()
    for text in texts:
        key, sign, number = text.rpartition("=")
        if sign or text in rwn.MEASURES:
            stated.append(rwn.Limit(measure=key, at_most=_number(number if sign else "", _LIMIT)))
        else:  # the name of a policy, of which a stated limit takes the place of one
            named |= {limit.measure: limit for limit in rwn.policy_called(text).limits}
    for limit in stated:
        named.pop(limit.measure, None)
    return rwn.Policy(limits=(*named.values(), *stated))


def stated_question(response: str | None, predictors: Texts) -> rwn.Question | None:
    """The regression of the command line; None where it names none."""
    if response is None and not predictors:
        return None
    if response is None or not predictors:
        raise ParameterError("Give --response and at least one --predictor, or neither.")
    with _blaming_the_parameters():
        return rwn.Question(response=response, predictors=tuple(predictors))


def asked(data: rwn.Microdata, response: str | None, predictors: Texts) -> rwn.Microdata:
    """Give the table the regression of the command line, if it names one."""
    question = stated_question(response, predictors)
    if question is None:
        return data
    with _blaming_the_parameters():
        return data.with_schema(replace(data.schema, question=question))


def say_of_key(seed: int | None, file: Path | None, advice: str) -> None:
    """Say what a release leaves to keep or to delete, or that its seed is no secret."""
    if file is not None:
        say(f"note: {file.name} holds the secret of this release; {advice}.")
    if seed is not None:
        say("note: a seed is for teaching: it is no secret.")


def require_one_key(seed: int | None, file: Path | None) -> None:
    """Refuse two sources of the randomness of a release."""
    if seed is not None and file is not None:
        raise ParameterError("--seed and --key-file both give the key; give one of them.")


def key_of(seed: int | None, file: Path | None) -> rwn.SecretKey:
    """The secret of a dataset's release: of a seed, of its file, which is made if new, or fresh."""
    from rwn_core.datasets.key_file import read_or_make_key

    require_one_key(seed, file)
    if file is not None:
        return read_or_make_key(file)
    return rwn.SecretKey.fresh() if seed is None else rwn.SecretKey.from_seed(seed)


def parameters(method: str, /, **options: Any) -> Any:
    """A method's parameter record, from the options that were given (not None)."""
    from rwn_core.masking import in_present_names

    given = {name: value for name, value in options.items() if value is not None}
    method, given = in_present_names(method, given)
    for field in fields(rwn.METHODS[method]):
        name = field.name
        if field.default is MISSING and field.default_factory is MISSING and name not in given:
            option = f"--{name}" if name in _OWN_OPTIONS else f"--set {name}=VALUE"
            raise ParameterError(f"The method {method} needs {name}; give {option}.")
    return rwn.METHODS[method](**given)


def settings(texts: Texts) -> dict[str, Any]:
    """Read parameters that are given as NAME=VALUE: numbers, true and false, words, or none."""
    from rwn_core.tuning.sweep import typed_value

    named = named_texts(texts, "--set", "scale=range", may_be_empty=True)
    return {name: typed_value(value) for name, value in named.items()}


def setting_text(value: object) -> str:
    """Write the value of a parameter as `settings` and the method's record read it.

    >>> setting_text(True), setting_text(("age", "siri")), setting_text(0.5)
    ('true', 'age,siri', '0.5')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)


AS_IS = "none"
LARGEST_SHARE = 10.0  # standard deviations; more is a step that was meant for one variable
_WEIGHT = "--weight must be NAME=W, W a number of at least 0."
_LIMIT = "--limit must be MEASURE=V, V a number of at least 0, or the name of a policy."
_STEP = (
    "--round must be NAME=STEP, such as age=5, or a share of a standard deviation for all "
    "numbers, such as 0.25; none rounds nothing."
)


def steps(
    data: rwn.Microdata, texts: Texts, before: Mapping[str, float] | None = None
) -> dict[str, float]:
    """The release precision of a command line."""
    from rwn_core.data.rounding import given_steps

    chosen: dict[str, float | None] = dict(before or {})
    parts = [text.rpartition("=") for text in texts or ()]
    for name, sign, value in sorted(parts, key=lambda part: bool(part[1])):  # names count more
        if sign and not name:
            raise ParameterError(_STEP)
        number = None if value == AS_IS else _number(value, _STEP)
        if name:
            chosen[name] = number
            continue
        # a share of a standard deviation for all numbers
        if number is not None and not 0 < number <= LARGEST_SHARE:
            raise ParameterError(
                "A share of a standard deviation in --round must be a number above 0, and at most "
                f"{LARGEST_SHARE:g}; NAME=STEP gives one variable a step in its own unit."
            )
        chosen = {} if number is None else {**given_steps(data, number)}
    return {name: step for name, step in chosen.items() if step is not None}
