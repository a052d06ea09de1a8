"""People of the file attacked as if they were outside: the baseline of an attribute attack.

The intruder believes that a person is in the file, and knows its law, but the rows are those of a
release without this person (`laws.left_out`): no row comes from the person, and none shows the
person's values, except as those of others. Each person is attacked inside and outside of one
release, with the same beliefs, and the difference is what the own record adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.sizes import ATTACKED_PAIRS, STORED_NUMBERS
from rwn_core.errors import NotApplicable
from rwn_core.laws.left_out import for_rows, rows_without
from rwn_core.measures.attacks.attribute_attack import (
    OWN_VALUE,
    POSTERIORS,
    TOGETHER,
    AttackedRows,
    Beliefs,
    Counted,
    Success,
    attack,
    indicator,
    own_beliefs,
)
from rwn_core.measures.attacks.guessing import Closest, tied_with
from rwn_core.measures.attacks.likeliest_value import Names, ReleasedValues, named_values
from rwn_core.measures.attacks.posterior import counted_pairs
from rwn_core.measures.statistics.key_variables import cell_codes
from rwn_core.neighbors.distance import squared_between, squared_of_pairs

if TYPE_CHECKING:
    from rwn_core.measures.attacks.attribute_guesses import AttributeAttack

CHUNK = 500  # people that are looked at together, and rows drawn again at least


class PeopleLeftOut:
    """The people of an attribute attack, each outside of the same release.

    Parameters
    ----------
    tried : AttributeAttack
        After it was tried on the people.
    people : ndarray of int64, shape (m,)
        The same people.

    Raises
    ------
    NotApplicable
        Rows and people are too many pairs, or the law does not tell the donors of every record.
    """

    def __init__(self, tried: AttributeAttack, people: Integers) -> None:
        comparison, law = tried.comparison, tried.law
        if len(people) * comparison.masked.n > STORED_NUMBERS:
            raise NotApplicable("Rows and people outside the file are too many pairs to look at.")
        self.tried = tried
        self.people = people
        masked = comparison.masked
        own = None if tried.units is None else tried.units
        self.changed = rows_without(law, masked, people, own)
        self.table = self.changed.table
        self.like = np.concatenate((np.arange(masked.n), self.changed.like))

    def successes(self) -> list[list[Success]]:
        """Return the success of each strategy on each confidential variable, in lists of one."""
        tried = self.tried
        masked = self.tried.comparison.masked
        original = tried.comparison.original
        asked = original if len(self.people) == original.n else original.take(self.people)
        truths = [named_values(original, asked, name) for name in tried.secrets]
        units = None if tried.units is None else tried.units[self.people]
        if units is not None:
            units = np.unique(units, return_inverse=True)[1]
        every = np.arange(self.table.n)
        known = rounded(asked, tried.law.precision)
        released = []
        for name, values in zip(tried.secrets, tried.released, strict=True):
            # rows that are drawn again count nothing in what most rows say
            often = np.zeros(self.table.n)
            often[: masked.n] = 1.0 if values.weights is None else values.weights
            shown = named_values(original, self.table, name)
            released.append(ReleasedValues(every, shown, values.near, values.levels, often))
            released[-1].copied = values.copied
        guesses = [
            self._predicted(number, known, values, units) for number, values in enumerate(released)
        ]
        # where all secrets choose neighborhoods no attack by the law is left
        by_law = tried.inside and not all(map(self._chooses, tried.secrets))
        parts = [(self._beliefs(), every)] if by_law else []
        counted = Counted(units=units)
        found = attack(parts, self._nearest(known), truths, released, guesses, counted)
        return [
            [self._without_law(each) if self._chooses(name) else replace(each, paired=True)]
            for name, each in zip(tried.secrets, found, strict=True)
        ]

    def _chooses(self, secret: str) -> bool:
        """True if neighborhoods depend on a secret, so that beliefs by the law have it in them."""
        law = self.tried.law
        return law.neighborhoods is not None and law.original.schema.by_name[secret].weight > 0

    def _without_law(self, found: Success) -> Success:
        """Return the attacks that know no neighborhoods: the gain is one at most (its scope)."""
        by_law = {*POSTERIORS, *OWN_VALUE}
        by_law |= {key + TOGETHER for key in by_law}
        named = {key: each for key, each in found.named.items() if key not in by_law}
        rates = {key: each for key, each in found.rates.items() if key not in by_law}
        return replace(found, named=named, rates=rates, paired=True)

    def _beliefs(self) -> Beliefs:
        """Return the beliefs in all rows, those drawn again for others with 0, (people, rows)."""
        from rwn_core.laws.value_counts_kernel import Columns
        from rwn_core.measures.attacks.belief_columns_kernel import Changed, beliefs_without

        tried = self.tried
        order = np.argsort(np.concatenate([part for _, part in tried.inside]), kind="stable")
        columns = order[tried.group].astype(np.int64)
        sources = [part.source for part, _ in tried.inside]
        donors = zip(*(part.donor for part, _ in tried.inside), strict=True)
        inside = [_side_by_side(each) for each in (sources, *donors)]
        changed = self.changed
        # for each row, the people whose omission changes it
        by_row = np.argsort(changed.row, kind="stable")
        starts = np.searchsorted(changed.row[by_row], np.arange(tried.comparison.masked.n + 1))
        people = changed.person[by_row]
        owners = changed.owner.astype(np.int64)
        shape = (len(self.people), self.table.n)
        in_all_rows = []
        for joined, again in zip(inside, self._again(inside, columns), strict=True):
            believed = Columns(joined.indptr, joined.indices, joined.data)
            found = beliefs_without(believed, columns, Changed(starts, people, owners, again))
            entries = found.values, found.rows, found.starts
            in_all_rows.append(sparse.csc_array(entries, shape=shape))
        return Beliefs(in_all_rows[0], in_all_rows[1:])

    def _again(self, inside: list[sparse.csc_array], columns: Integers) -> list[Floats]:
        """Return each one's belief in the rows drawn again: as a source, and for each secret."""
        # Shapes: inside (people, classes) each, the beliefs in released rows; columns (n,), where
        # each row has its own.
        tried = self.tried
        owner = self.changed.owner
        n = tried.comparison.masked.n
        # by its keys alone a row with those of the released row is believed in as that one is
        unlike = np.ones(len(owner), dtype=bool)
        if not tried.law.later:
            comparison = tried.comparison.with_masked(self.table, tried.law)
            keys = cell_codes(comparison, tried.keys)[1]
            unlike = (keys[n:] != keys[self.changed.like]).any(axis=1)
        found = [np.zeros(len(owner)) for _ in inside]
        like = np.flatnonzero(~unlike)
        if like.size:
            for each, matrix in zip(found, inside, strict=True):
                each[like] = matrix[owner[like], columns[self.changed.like[like]]]
        law = for_rows(tried.law, self.like)
        others = np.flatnonzero(unlike)
        size = max(CHUNK, ATTACKED_PAIRS // n)
        for start in range(0, len(others), size):
            some = others[start : start + size]
            attacked = AttackedRows(self.table, n + some, self.people[owner[some]])
            made = own_beliefs(law, attacked, tried.keys, tried.secrets)
            for each, belief in zip(found, made, strict=True):
                each[some] = belief
        return found

    def _parts(self) -> Iterator[tuple[slice, tuple[Integers, Integers]]]:
        """Yield some people at a time, with the places of rows that are not there without them."""
        changed = self.changed
        for start in range(0, len(self.people), CHUNK):
            part = slice(start, min(start + CHUNK, len(self.people)))
            low, high = np.searchsorted(changed.person, (part.start, part.stop))
            yield part, (changed.person[low:high] - start, changed.row[low:high])

    def _marked(self, inside: list[Integers], again: Booleans) -> sparse.csr_array:
        """Return 1 for pairs of people and released rows, and for some drawn again for their owner.

        Shapes: inside (2, c) each; again (m,); the answer (people, rows).
        """
        n = self.tried.comparison.masked.n
        ours = np.stack((self.changed.owner[again], n + np.flatnonzero(again)))
        pairs = np.concatenate((*inside, ours), axis=1)
        return counted_pairs(pairs[0], pairs[1], (len(self.people), self.table.n))

    def _nearest(self, people: Microdata) -> sparse.csr_array:
        """Return the rows with a person's keys, or the nearest, shape (people, rows)."""
        n = self.tried.comparison.masked.n
        owner = self.changed.owner
        comparison = self.tried.comparison.with_masked(self.table, self.tried.law)
        closest = Closest(comparison, self.tried.keys)
        points = closest.people(people)
        inside, drawn = (np.flatnonzero(some) for some in (closest.rows < n, closest.rows >= n))
        released = closest.released[inside]
        # of each row drawn again, from its owner; none of a row without values
        apart = np.full(len(owner), np.inf)
        again = closest.rows[drawn] - n
        apart[again] = squared_of_pairs(points[owner[again]], closest.released[drawn])
        edge = np.full(people.n, np.inf)
        np.minimum.at(edge, owner, apart)
        pairs = []
        for part, gone in self._parts():
            squared = np.full((part.stop - part.start, n), np.inf)
            squared[:, closest.rows[inside]] = squared_between(points[part], released)
            squared[gone] = np.inf
            edge[part] = tied_with(np.minimum(edge[part], squared.min(axis=1)))
            person, row = np.nonzero((squared <= edge[part, np.newaxis]) & (squared < np.inf))
            pairs.append(np.stack((person + part.start, row)))
        return self._marked(pairs, (apart <= edge[owner]) & (apart < np.inf))

    def _predicted(
        self, number: int, people: Microdata, values: ReleasedValues, units: Integers | None
    ) -> dict[str, Names]:
        """Return what predictions name: the same as inside, but for the rows of a leaf."""
        # a prediction that is luck inside says nothing outside: its fit has seen these people
        luck = self.tried.lucky[number]
        luck |= {key + TOGETHER for key in luck}
        every = self.tried.guesses[number]
        found = {key: names for key, names in every.items() if key not in luck}
        predictor = self.tried.predictors[number]
        if predictor.leaf_of is None or "tree" not in found:
            return found
        n = self.tried.comparison.masked.n
        leaf = predictor.leaf_of(predictor.released.scaled_columns(people))
        held = predictor.leaf_of(predictor.released.scaled_columns(self.table))
        pairs = []
        for part, gone in self._parts():
            same = leaf[part, np.newaxis] == held[:n]
            same[gone] = False
            person, row = np.nonzero(same)
            pairs.append(np.stack((person + part.start, row)))
        rows = self._marked(pairs, leaf[self.changed.owner] == held[n:])
        found["tree"] = values.named(rows)
        if units is not None:
            together = sparse.csr_array(indicator(units) @ rows)
            found["tree" + TOGETHER] = values.named(together).given_to(units)
        return found


def _side_by_side(parts: Sequence[sparse.sparray]) -> sparse.csc_array:
    """Return the columns of several arrays as those of one."""
    return parts[0].tocsc() if len(parts) == 1 else sparse.csc_array(sparse.hstack(parts))
