"""Attribute attack on a release: beliefs and predictions, and people outside as the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.sizes import ATTACKED_PAIRS, STORED_NUMBERS
from rwn_core.data.units import unit_of
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.laws.moments import Moments
from rwn_core.measures.attacks.attribute_attack import (
    PREDICTIONS,
    SURELY,
    TOGETHER,
    Beliefs,
    Counted,
    Success,
    attack,
    beliefs,
    indicator,
)
from rwn_core.measures.attacks.guessing import Closest, some_people
from rwn_core.measures.attacks.likeliest_value import (
    Names,
    ReleasedValues,
    level_names,
    named_values,
    secret_columns,
    secret_weights,
    tolerance,
)
from rwn_core.measures.attacks.non_members import NonMembersOneByOne, non_members
from rwn_core.measures.attacks.posterior import counted_pairs
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.key_variables import (
    cell_codes,
    classes,
    keys_and_secrets,
)
from rwn_core.neighbors import LARGEST_DENSE

MOST_LEVELS = 50  # of a category; of one with more, only the most frequent are separate


class KeyColumns:
    """The keys as columns of numbers, categories as dummies, on the scale of `table`."""

    def __init__(self, original: Microdata, table: Microdata, names: Sequence[str]) -> None:
        self.original, self.names = original, names
        self.places: dict[str, int] = {}  # of the columns that are numbers
        plain = self._plain(table)
        self.mean = _mean(plain)
        spread = np.sqrt(_mean((plain - self.mean) ** 2))
        self.unit = np.where(spread > 0, spread, 1.0)
        self.own = self._scaled(plain)

    def scaled_columns(self, table: Microdata) -> Floats:
        """Return the columns of another table on the same scale, shape (n, columns)."""
        return self._scaled(self._plain(table))

    def _scaled(self, plain: Floats) -> Floats:
        # Shapes: plain, the answer (n, c); mean, unit (c,).
        scaled = (plain - self.mean) / self.unit
        return np.asarray(np.where(np.isnan(scaled), 0.0, scaled))  # missing: the mean

    def _plain(self, table: Microdata) -> Floats:
        columns: list[Floats] = []
        shown = secret_columns(self.original, table, self.names)
        for name, values in zip(self.names, shown, strict=True):
            if self.original.schema.by_name[name].kind is Kind.CATEGORICAL:
                (own,) = secret_columns(self.original, self.original, (name,))
                columns += list(_dummies(values, _frequent(own)).T)
            else:
                self.places[name] = len(columns)
                columns.append(values)
        return np.column_stack(columns)


def _mean(columns: Floats) -> Floats:
    # Shapes: columns (n, c), NaN where missing; the answer (c,).
    known = ~np.isnan(columns)
    return np.asarray(np.where(known, columns, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _frequent(codes: Floats) -> Floats:
    """Return the most frequent level numbers, ascending."""
    # Shapes: codes (n,), NaN where missing; the answer (m,), m at most MOST_LEVELS.
    levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    return np.sort(levels[np.argsort(-counts, kind="stable")[:MOST_LEVELS]])


def _dummies(codes: Floats, levels: Floats) -> Floats:
    # Shapes: codes (n,); levels (m,); the answer (n, m).
    return np.asarray(codes[:, np.newaxis] == levels, dtype=np.float64)


class Predictor:
    """A prediction of one confidential variable from the keys, as a release relates them.

    Parameters
    ----------
    original, masked : Microdata
    name : str
        The confidential variable.
    released, known : KeyColumns
        Keys of the release, and everyone's keys, which the intruder has.
    moments : Moments, optional
        Covariances that the law adds to numbers.
    """

    def __init__(
        self,
        original: Microdata,
        masked: Microdata,
        name: str,
        released: KeyColumns,
        known: KeyColumns,
        moments: Moments | None,
    ) -> None:
        self.released, self.known, self.name, self.moments = released, known, name, moments
        shown = named_values(original, masked, name)
        self.rows = np.flatnonzero(~np.isnan(shown))
        self.category = level_names(original, masked, name) is not None
        self.values = shown[self.rows]
        self.levels = _frequent(self.values) if self.category else np.empty(0)
        self.distinct = np.unique(self.values)
        self.leaf_of: Callable[[Floats], Integers] | None = None  # once values are named

    @property
    def usable(self) -> bool:
        """True if there are at least two rows and two distinct values."""
        return len(self.rows) > 1 and len(self.distinct) > 1

    def _target(self, *, by_rank: bool = False) -> Floats:
        """Return levels as dummies, or numbers; by rank, so that a few far ones do not decide."""
        # Shapes: the answer (n, m), a dummy for each of m levels, or (n, 1); n rows with a value.
        if self.category:
            return _dummies(self.values, self.levels)
        values = np.searchsorted(self.distinct, self.values) if by_rank else self.values
        return values[:, np.newaxis].astype(np.float64)

    def names(
        self, people: Microdata, values: ReleasedValues, group: Integers, units: Integers | None
    ) -> dict[str, Names]:
        """Name the values of people by each way to predict them, of units too where given."""
        # least squares on the released keys
        own = self.released.own[self.rows]
        target = self._target()
        known = self.known.own
        center = own.mean(axis=0)
        middle = target.mean(axis=0)
        slopes = np.linalg.lstsq(own - center, target - middle, rcond=1e-9)[0]
        ways = {"line": middle + (self.released.scaled_columns(people) - center) @ slopes}
        # the same without the attenuation by noise on the keys: noise that is independent of the
        # other values adds to the keys' variances alone, and the intruder knows the keys'
        # covariances without it (errors in variables; Fuller 1987)
        shown = own * self.released.unit
        together = (shown - shown.mean(axis=0)).T @ (target - middle) / len(self.rows)
        moments = known.T @ known / len(known), together / self.known.unit[:, np.newaxis]
        slopes = np.linalg.lstsq(*moments, rcond=1e-9)[0]
        ways["corrected"] = middle + self.known.scaled_columns(people) @ slopes
        less = self._less_noise(np.ones(len(self.rows), bool))
        if less is not None:
            columns = self.known.scaled_columns(people) * (self.known.unit / self.released.unit)
            ways["less_noise"] = self.values.mean() + columns @ less[0]
        found = {key: self._names(each) for key, each in ways.items()}
        # each person's leaf of a shallow tree, and the classes of rows in each leaf
        columns = self.released.own
        number, first = np.unique(group, return_index=True)
        self.leaf_of = leaf_of = _grow(columns[self.rows], self._target(by_rank=True))
        held, leaf = leaf_of(columns[first]), leaf_of(self.released.scaled_columns(people))
        shape = int(max(held.max(), leaf.max(initial=0))) + 1, int(number[-1]) + 1
        inside = counted_pairs(held, number, shape)
        # one name for each leaf, not for each person
        found["tree"] = values.named(inside).given_to(leaf)
        if units is not None:  # the mean prediction of a unit's records, and all of their leaves
            own = indicator(units)
            size = own.sum(axis=1)[:, np.newaxis]
            for key, each in ways.items():
                found[key + TOGETHER] = self._names(own @ each / size).given_to(units)
            leaves = own @ sparse.csr_array(indicator(leaf).T)
            together = sparse.csr_array(leaves @ inside[: leaves.shape[1]])
            found["tree" + TOGETHER] = values.named(together).given_to(units)
        return found

    def _less_noise(self, some: Booleans) -> tuple[Floats, Floats] | None:
        """Return slopes from some rows, and the covariances of noise on keys and secret."""
        # None if the law has none, or no covariance matrix is left
        if self.moments is None or self.category or self.name not in self.moments.names:
            return None
        columns = self.released.own[self.rows]
        target = self.values
        added = np.zeros((columns.shape[1] + 1,) * 2)
        noisy = {
            name: at for name, at in self.released.places.items() if name in self.moments.names
        }
        at = np.array([*noisy.values(), columns.shape[1]])
        places = [self.moments.names.index(name) for name in (*noisy, self.name)]
        unit = np.append(self.released.unit, 1.0)
        added[np.ix_(at, at)] = self.moments.together[np.ix_(places, places)] / len(self.rows)
        added /= unit[:, np.newaxis] * unit
        both = np.column_stack((columns, target))[some]
        own = (both - both.mean(axis=0)).T @ (both - both.mean(axis=0)) / len(both) - added
        spread = np.linalg.eigvalsh(own[:-1, :-1])
        if spread[0] < -1e-9 * spread[-1] or spread[-1] <= 0:
            return None
        return np.linalg.lstsq(own[:-1, :-1], own[:-1, -1:], rcond=1e-9)[0], added[:-1, -1:]

    def lucky(self, units: Integers | None = None) -> frozenset[str]:
        """Return the predictions that tell nothing of rows that they have not seen.

        Where the unit of each released row is given, shape (n,), all rows of a unit are in the same
        half, and units, not their rows, are independent.
        """
        # one half of the rows is predicted from the other; a product of the prediction and the
        # value, less what the noise on both adds to it, is 0 on average where they are unrelated
        columns = self.released.own[self.rows]
        target = self._target(by_rank=True)
        place = np.arange(len(target))
        if units is not None:  # in the order of the rows, whatever the units are called
            asked = np.unique(units[self.rows], return_index=True, return_inverse=True)
            place = np.argsort(np.argsort(asked[1]))[asked[2]]
        half = place % 2 == 0
        if half.all():  # one unit alone predicts no other
            return frozenset(PREDICTIONS)
        products = {key: np.zeros(len(target)) for key in ("line", "less_noise", "tree")}
        for own in (half, ~half):
            centered = target - target[own].mean(axis=0)
            leaf = _grow(columns[own], target[own])(columns).astype(np.float64)
            for key, each in (("line", columns), ("tree", _dummies(leaf, np.unique(leaf)))):
                apart = each - each[own].mean(axis=0)
                slopes = np.linalg.lstsq(apart[own], centered[own], rcond=1e-9)[0]
                products[key][~own] = (apart @ slopes * centered).sum(axis=1)[~own]
            found = self._less_noise(own)
            if found is not None:
                product = ((columns - columns[own].mean(axis=0)) @ found[0])[:, 0]
                product *= self.values - self.values[own].mean()
                products["less_noise"][~own] = product[~own] - (found[0] * found[1]).sum()
        if units is not None:
            products = {
                key: np.bincount(place, each).astype(np.float64) for key, each in products.items()
            }
        products["corrected"] = products["line"]
        chance = {k: SURELY * each.std() / np.sqrt(len(each)) for k, each in products.items()}
        return frozenset(key for key, each in products.items() if each.mean() <= chance[key])

    def _names(self, predicted: Floats) -> Names:
        # Shapes: predicted (n, m), of m levels, or (n, 1), of n people.
        person = np.arange(len(predicted))
        if self.category:
            positive = np.maximum(predicted, 0.0)
            total = np.maximum(positive.sum(axis=1), 1e-12)
            best = positive.argmax(axis=1)
            return Names(person, self.levels[best], positive[person, best] / total)
        named = predicted[:, 0]
        if 2 * len(self.distinct) <= len(self.values):  # numbers of a few values: one of them
            named = self.distinct[np.abs(named[:, np.newaxis] - self.distinct).argmin(axis=1)]
        return Names(person, named, np.zeros(len(person)))


DEPTH = 5  # of a tree
LEAF = 5  # rows of a leaf, at least


def _grow(columns: Floats, target: Floats) -> Callable[[Floats], Integers]:
    """Fit a shallow tree where sums of squares around the means fall most (Breiman 1984).

    Return what gives records, shape (m, c), their leaves, shape (m,).
    """
    # Shapes: columns (n, c); target (n, t).
    from sklearn import config_context
    from sklearn.tree import DecisionTreeRegressor

    # no checks: they take longer than the tree of a small table
    tree = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=0)
    with config_context(skip_parameter_validation=True):
        grown = tree.fit(columns.astype(np.float32), target, check_input=False).tree_
    return lambda records: np.asarray(grown.apply(records.astype(np.float32)), np.int64)


SECRETS_OF_UNITS = "Every {} counts once, with all of its different values"
"""What a measure says that counts the confidential values of units."""

FEWEST = 20  # people outside; the success of fewer says nothing
CHUNK = 500  # classes of rows looked at together
AT_ONCE = 8_000_000  # pairs of a class and a possible original that more classes may make


class AttributeAttack:
    """An attribute attack on one release, given its keys and confidential variables."""

    def __init__(self, comparison: Comparison, law: Law) -> None:
        keys, secrets = keys_and_secrets(comparison)
        original, masked = comparison.original, comparison.masked
        # rows of equal keys show the same, unless donors depend on all that a row shows
        group = np.arange(masked.n) if law.later else classes(cell_codes(comparison, keys)[1])
        self.comparison, self.law, self.keys, self.secrets = comparison, law, keys, secrets
        self.group = group
        self.first = np.unique(group, return_index=True)[1]
        self.units = None if comparison.unit is None else comparison.units
        self.levels = [level_names(original, masked, name) for name in secrets]
        self.released = [
            ReleasedValues(
                group,
                named_values(original, masked, name),
                tolerance(original, name),
                None if levels is None else len(levels),
                # what each released row counts in the share of units that have a value
                None
                if self.units is None or masked.n != original.n
                else secret_weights(named_values(original, original, name), self.units),
            )
            for name, levels in zip(secrets, self.levels, strict=True)
        ]
        for each in self.released:
            each.copied = any(way.cells.donors is not None for way in law.components())
        # the release's predictor of each confidential variable
        known = comparison.cached_for_original(
            ("key columns", keys, tuple(sorted(law.precision.items()))),
            lambda: KeyColumns(original, rounded(original, law.precision), keys),
        )
        shown = KeyColumns(original, masked, keys)
        moments = None
        with suppress(NotApplicable):
            moments = law.moments()
        self.predictors = [
            Predictor(original, masked, name, shown, known, moments) for name in secrets
        ]
        # rows of a class are equally near to each person
        self.closest = Closest(comparison, keys, self.first)
        self.inside: list[tuple[Beliefs, Integers]] = []  # of the people in the file, once attacked
        self.guesses: list[dict[str, Names]] = []
        self.lucky: list[frozenset[str]] = []  # predictions that count nothing, of each secret

    def _successes(
        self,
        people: Microdata,
        parts: Iterable[tuple[Beliefs, Integers]],
        rows: Integers | None = None,
        units: Integers | None = None,
    ) -> list[Success]:
        original = self.comparison.original
        truths = [named_values(original, people, name) for name in self.secrets]
        # the intruder rounds known keys as the release does
        as_released = rounded(people, self.law.precision)
        guesses = [
            each.names(as_released, values, self.group, units) if each.usable else {}
            for each, values in zip(self.predictors, self.released, strict=True)
        ]
        self.guesses = guesses
        # the classes with a person's keys, or the nearest, shape (people, classes)
        points = self.closest.people(as_released)
        pairs = []
        for start in range(0, people.n, CHUNK):
            person, place = np.nonzero(self.closest.ties(points[start : start + CHUNK]))
            pairs.append((person + start, self.group[self.closest.rows[place]]))
        person, place = map(np.concatenate, zip(*pairs, strict=True))
        near = counted_pairs(person, place, (people.n, len(self.first)))
        return attack(parts, near, truths, self.released, guesses, Counted(rows, units))

    def on_people(self, people: Integers) -> list[Success]:
        """Attack people of the file; NotApplicable if rows have too many candidates."""
        original = self.comparison.original
        rows = None
        if len(people) == original.n == self.comparison.masked.n:
            rows = np.bincount(self.group)
        asked = original if len(people) == original.n else original.take(people)
        units = self.units
        if units is not None:
            units = np.unique(units[people], return_inverse=True)[1]
        self.inside = list(self._beliefs(people))
        found = self._successes(asked, self.inside, rows, units)
        shown = self.units if self.comparison.masked.n == original.n else None
        self.lucky = [each.lucky(shown) if each.usable else frozenset() for each in self.predictors]
        for success, lucky in zip(found, self.lucky, strict=True):
            for key in lucky:
                success.at_most.update({key: 0.0, key + TOGETHER: 0.0})
        return found

    def _beliefs(self, people: Integers) -> Iterator[tuple[Beliefs, Integers]]:
        masked = self.comparison.masked
        n = self.law.original.n
        count = len(self.first)
        work = 0
        start = 0
        size = CHUNK
        while start < count:
            part = np.arange(start, min(start + size, count))
            found = beliefs(self.law, masked, self.first[part], self.keys, self.secrets, people)
            pairs = found.source.nnz * max(1, n // len(people))
            start, work = start + len(part), work + pairs
            if n > LARGEST_DENSE:  # each look counts all neighborhoods of such a table
                size = max(CHUNK, AT_ONCE * len(part) // (pairs + 1))
            if work > STORED_NUMBERS:
                raise NotApplicable(
                    "Too many originals may have released each row; choose fewer key variables, or "
                    "look at a smaller table."
                )
            yield found, part

    def on_outsiders(self, outsiders: Microdata) -> list[list[Success]]:
        """Attack people outside the file: for each variable all of them, and some by posteriors.

        Nearest rows and predictions are tried on all. Posteriors need all rows with room for a
        person: in a large file they are tried on fewer people, or on none.
        """
        some = outsiders
        attacked = non_members(self.comparison, self.law, some, self.keys)
        work = attacked.joined * len(self.first)
        if work > ATTACKED_PAIRS:
            some = some_people(outsiders, max(outsiders.n * ATTACKED_PAIRS // work, 1))
            attacked = non_members(self.comparison, self.law, some, self.keys)
        found = [] if some is outsiders else [self._outside(outsiders, ())]
        if some is outsiders or some.n >= FEWEST:
            # few people one by one: the law of each is found once, for all rows
            parts = [np.arange(len(self.first))]
            if not isinstance(attacked, NonMembersOneByOne):
                parts = np.split(parts[0], range(CHUNK, len(self.first), CHUNK))
            beliefs_of = (
                (attacked.beliefs(self.first[part], self.secrets), part) for part in parts
            )
            found.append(self._outside(some, beliefs_of))
        return [list(each) for each in zip(*found, strict=True)]

    def _outside(
        self, people: Microdata, parts: Iterable[tuple[Beliefs, Integers]]
    ) -> list[Success]:
        unit = unit_of(people)  # all rows of a person are attacked together, as in the file
        return self._successes(people, parts, units=None if unit is None else unit.numbers)
