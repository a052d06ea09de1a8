"""The command `rwn describe`: what a table's variables seem to be, as a schema to correct."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import rwn_core as rwn
from rwn_cli.file_option import Laid
from rwn_cli.options import Chosen, Dropped, load_in_any_layout
from rwn_cli.terminal import File, Overwrite, option, refuse_existing, say, size_words, write

if TYPE_CHECKING:
    from rwn_core.data.open_questions import Answer, OpenQuestion
    from rwn_core.data.record_noun import RecordNoun

_QUESTIONS = (
    ("key", "Who could be recognized: variables that others may know"),
    ("confidential", "What is confidential"),
    ("sampling weight", "Is it a sample: how many people a record stands for"),
    ("household", "Do people belong together: household or cluster"),
    ("person", "Do people have several rows: the number of the person"),
)


_NOUNS = "person, household, firm, school or visit"


def describe(
    source: Annotated[str, typer.Argument(metavar="FILE", help="The table.")],
    schema: Annotated[File, option("FILE", "A schema that says a part of it.")] = None,
    output: Annotated[File, option("FILE", "Write the schema (TOML).", "--output", "-o")] = None,
    file: Laid = None,
    drop: Dropped = None,
    only: Chosen = None,
    overwrite: Overwrite = False,
) -> None:
    """Guess kinds and roles of the variables, with reasons, and list the open questions.

    Nothing is decided: correct the schema that is written, and give it to the other commands.
    """
    from rwn_core.data.derived import derived_variables
    from rwn_core.data.open_questions import asks_population, open_questions
    from rwn_core.data.record_noun import spoken_of
    from rwn_core.data.role_guesses import guessed_roles, with_roles

    refuse_existing(overwrite, output)
    _, data, _ = load_in_any_layout(source, schema, file or [], only, drop)
    say(f"{Path(source).name}: {size_words(data, data)}")
    derived = (f"{each.words} in every record." for each in derived_variables(data))
    guesses = guessed_roles(data.frame, data.schema)
    # a household or a person is left out by that role, and needs no other
    units = with_roles(data.schema, [g for g in guesses if g.role in ("household", "person")])
    for notice in filter(None, (*data.with_schema(units).notices, data.looks_like, *derived)):
        say(f"note: {notice}")
    record = _said_record(data)
    described = replace(with_roles(data.schema, guesses), record=record)
    reasons = {guess.variable: f" (guessed: {guess.reason})" for guess in guesses}
    for role, words in _QUESTIONS:
        names = [v.name for v in described.variables if v.role == role]
        words = spoken_of(words, record)
        typer.echo(f"{words}: {', '.join(n + reasons.get(n, '') for n in names) or 'none known'}")
    for question in open_questions(data.frame, described):
        typer.echo(f"open: {question.sentence} {_answers(question)}")
    _say_of_rows(data.with_schema(described))
    if (population := asks_population(data.frame, described)) is not None:
        typer.echo(f"open: {population} Write population = NUMBER at the top of the schema.")
    if output is not None:
        write(output, described.to_toml().encode(), overwrite=overwrite)
        say(f"{output.name} has the guesses; correct what is wrong before you mask.")


def _said_record(data: rwn.Microdata) -> RecordNoun:
    """Say what a record is, as stated or as guessed by names."""
    from rwn_core.data.noun_of_table import guessed_noun

    stated = data.schema.record
    if stated is not None:
        typer.echo(f"What a record is: a {stated}")
        return stated
    guess = guessed_noun(data.names)
    other = f'else say record = "…" in a schema: {_NOUNS}'
    typer.echo(f"What a record is: a {guess} (guessed; {other})")
    return guess


def _answers(question: OpenQuestion) -> str:
    """Name the answers, the one that counts until another is given, and how to give each."""
    words = [_answer(question, answer) for answer in question.answers]
    if question.proposed is None:
        words.append("nothing is chosen: masked until you choose")
    return f"Answers: {'; '.join(words)}."


def _answer(question: OpenQuestion, answer: Answer) -> str:
    proposed = " (proposed)" if answer == question.proposed else ""
    given = f": {answer.option}" if answer.option else ""
    return f"{answer.words}{proposed}{given}"


def _say_of_rows(data: rwn.Microdata) -> None:
    """Say which rows seem to belong together, and the options that say what they are."""
    from rwn_core.data.belonging.gate import answer_words, open_findings

    for finding in open_findings(data):
        typer.echo(f"open: {finding.sentence} {answer_words(finding)}.")
