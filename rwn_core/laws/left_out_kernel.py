"""Kernels of rows drawn again: random donors with a row's values, and rows like another one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.parallel.jit import jit_entry


class WeightedRows(NamedTuple):
    """The rows of a matrix of weights in compressed form."""

    starts: Integers  # shape (rows + 1,)
    members: Integers32  # shape (entries,)
    weights: Floats  # shape (entries,), 0 or more


class Wanted(NamedTuple):
    """The members of a list that may be picked: those with a row's label, or those without it."""

    labels: Integers  # shape (n,): of each record
    of_rows: Integers  # shape (rows,): the label of each row
    same: bool


class Picked(NamedTuple):
    """The members that were picked, which `pick_members` writes."""

    members: Integers  # shape (rows,): -1 where none may be picked
    weights: Floats  # shape (rows,): of all that may be picked


@jit_entry
def pick_members(
    lists: WeightedRows, wanted: Wanted, numbers: Floats, picked: Picked, first: int, last: int
) -> None:
    """Pick a member of each list by the weights of those that are wanted."""
    # Shape: numbers (rows,), uniform.
    for row in range(first, last):
        begin, end = lists.starts[row], lists.starts[row + 1]
        label = wanted.of_rows[row]

        # the weight of all that are wanted
        total = 0.0
        for entry in range(begin, end):
            if (wanted.labels[lists.members[entry]] == label) == wanted.same:
                total += lists.weights[entry]
        picked.weights[row] = total

        # the member in whose part of it the number falls
        goal = numbers[row] * total
        chosen = -1
        reached = 0.0
        for entry in range(begin, end):
            weight = lists.weights[entry]
            if (wanted.labels[lists.members[entry]] == label) == wanted.same and weight > 0.0:
                chosen = lists.members[entry]
                reached += weight
                if reached > goal:
                    break
        picked.members[row] = chosen


class Contents(NamedTuple):
    """The contents of the first slice, by number, and whom rows come from."""

    own: Integers  # shape (n,): of each record
    shown: Integers  # shape (n,): of each row, -1 for that of no record
    persons: Integers  # shape (n,): the number of each record's person
    givers: Integers  # shape (units, n): the person of each row's donor, -1 for none
    chances: Floats  # shape (contents,): 1 over how many records and rows have each


@jit_entry
def pick_rows(
    lists: WeightedRows,
    contents: Contents,
    without: Integers,
    rows: Integers,
    numbers: Floats,
    found: Integers,
    first: int,
    last: int,
) -> None:
    """Pick a row in place of another one, by the chance that its record gives their contents."""
    # Shapes: without, rows, numbers, found (c,): the person who is left out, the row, a uniform
    # number, and the row instead; -1 for none.
    own, shown = contents.own, contents.shown
    of_content = np.zeros(len(contents.chances))
    weights = np.empty(len(shown))
    for place in range(first, last):
        begin, end = lists.starts[rows[place]], lists.starts[rows[place] + 1]
        for entry in range(begin, end):
            of_content[own[lists.members[entry]]] += lists.weights[entry]

        # the chance of each row that shows nothing of the person who is left out
        person = without[place]
        total = 0.0
        for row in range(len(shown)):
            weights[row] = 0.0
            if shown[row] < 0 or contents.persons[row] == person:
                continue
            gave = False
            for unit in range(len(contents.givers)):
                gave = gave or contents.givers[unit, row] == person
            if not gave:
                weights[row] = of_content[shown[row]] * contents.chances[shown[row]]
                total += weights[row]

        # the row in whose part of them the number falls
        goal = numbers[place] * total
        found[place] = -1
        reached = 0.0
        for row in range(len(shown)):
            if weights[row] > 0.0:
                found[place] = row
                reached += weights[row]
                if reached > goal:
                    break

        for entry in range(begin, end):
            of_content[own[lists.members[entry]]] = 0.0
