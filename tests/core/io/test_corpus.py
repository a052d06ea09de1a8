"""A corpus of official layouts: every cell is the one written, and roles are found."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache

import pytest

import rwn_core as rwn
from rwn_core.data.identity import identity_doubts
from rwn_core.data.role_guesses import guessed_roles
from rwn_core.data.variable import Role
from rwn_core.io import format_of_name
from rwn_core.io.other_readers import differing
from rwn_core.io.parse import parse
from tests.core.io.official_files import OfficialFile, as_cell, official_file, official_files

FILES = official_files()


@cache
def read(layout: str, form: str) -> tuple[OfficialFile, rwn.Microdata]:
    file = official_file(layout, form)
    return file, parse(file.name, file.content, None, file.how)


def test_the_corpus_has_every_format_and_trade() -> None:
    assert len(FILES) >= 40
    assert len({layout for layout, _ in FILES}) >= 15
    assert len({form for _, form in FILES}) >= 16


@pytest.mark.parametrize(("layout", "form"), FILES)
def test_every_cell_is_the_one_written_and_that_of_another_library(layout: str, form: str) -> None:
    file, data = read(layout, form)
    upper = {name.lower(): name for name in data.frame.columns}
    for name, cells in file.cells.items():
        found = [as_cell(each) for each in data.frame[upper[name.lower()]].astype(object)]
        wanted = [as_cell(each) for each in cells]
        if form == "por":  # whose numbers have digits to the base of 30
            same = [
                a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=1e-9))
                for a, b in zip(found, wanted, strict=True)
            ]
            assert all(same), name
        else:
            assert found == wanted, name
    other = format_of_name(file.name)
    assert other is not None
    if other.again is not None and form != "xpt8":  # pandas reads the transport format of version 5
        again = other.again(file.content, data.frame, data.schema)
        assert differing(data.frame, again, data.schema, gaps=False) == {}


def found_roles(layout: str, form: str) -> tuple[dict[str, Role], dict[str, Role]]:
    """The roles of a file by name, in truth and as they are guessed or asked about."""
    file, data = read(layout, form)
    guessed = {each.variable: each.role for each in guessed_roles(data.frame, data.schema)}
    names = list(data.frame.columns)
    asked = {each.variable for each in identity_doubts(data.frame, names) if each.stops}
    upper = {name.lower(): name for name in names}
    truth = {upper[name.lower()]: role for name, role in file.roles.items()}
    for name in asked:
        if truth.get(name) is Role.IDENTIFIER:
            guessed[name] = Role.IDENTIFIER
    return truth, guessed


@pytest.mark.parametrize(("layout", "form"), FILES)
def test_most_roles_of_each_file_are_found(layout: str, form: str) -> None:
    truth, guessed = found_roles(layout, form)
    wrong = {
        name: (role, guessed.get(name)) for name, role in truth.items() if guessed.get(name) != role
    }
    assert len(wrong) <= 0.3 * len(truth), wrong


def test_four_of_five_roles_of_every_kind_are_found() -> None:
    known, right = Counter[Role](), Counter[Role]()
    for layout, form in FILES:
        truth, guessed = found_roles(layout, form)
        known.update(truth.values())
        right.update(role for name, role in truth.items() if guessed.get(name) == role)
    shares = {role: right[role] / known[role] for role in known}
    assert min(shares.values()) >= 0.8, shares
