"""Sentences of the measure of true matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import percent

MOST_NAMED = 5  # variables of a set that a sentence names


def sentence(reading: Reading, n: int) -> str:
    """Say for how many people matches show a true value beyond the known ones."""
    detail = reading.detail
    looked = f"the worst of {len(detail['sets']['names']):,} sets of variables"
    left = detail["possible"] - detail["searched"]
    more = f"; {left:,} more sets of three were not looked at" if left else ""
    if not detail["people"]:
        tried = (
            "" if not detail["larger"] else f", {detail['larger']:,} of more than three variables"
        )
        return (
            f"Nobody is alone with all values of any of the {len(detail['sets']['names']):,} sets "
            f"of variables that were tried{tried}{more}."
        )
    if detail["level"] is not None:
        return f"{_of_level(detail['level'])}: {looked}{more}."
    who = f"Of {_who(detail)}, "
    found = "are found in the release by exactly these values"
    if detail["secret"] is None:
        return (
            f"{who}{percent(reading.value)} {found} ({percent(reading.baseline or 0)} by chance), "
            f"so that it is known that they are in it: {looked}{more}. No variable is "
            "confidential, so nothing more is read."
            f"{_few_words(detail)}"
        )
    beyond = f"{percent(reading.value)} more than by chance"
    if reading.value < detail["share"]:
        share = percent(detail["share"])
        beyond = f"{share} more than by chance, of so few people {percent(reading.value)} for sure"
    return (
        f"{who}{percent(detail['found'])} {found}, and for {percent(detail['read'])} such a row "
        f"shows their own {detail['secret']}, {beyond}: {looked}{more}.{_few_words(detail)}"
    )


def _of_level(level: Mapping[str, Any]) -> str:
    """Say how the people of the worst level are named."""
    recall, right = level["right"] / level["people"], level["right"] / level["named"]
    who = (
        f"The worst level is {level['secret']} = {level['level']}: of its "
        f"{level['people']:,.0f} people"
    )
    return (
        f"{who} {percent(recall)} are named correctly by {_known(level['names'])}, and "
        f"{percent(right)} of the names are right, {percent(level['score'])} beyond chance"
    )


def _known(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMED else f"values of {len(names)} variables"


def _who(some: Mapping[str, Any]) -> str:
    names, people = some["names"], some["people"]
    known = _known(names)
    if people == 1:
        return f"the one person who is alone with certain {known}"
    return f"the {people:,} people who are alone with their {known}"


def _few_words(detail: Mapping[str, Any]) -> str:
    few = detail["few"]
    return "" if few is None else f" It is {percent(few['share'])} of {_who(few)}."
