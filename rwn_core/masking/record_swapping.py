"""Record swapping: records with equal values of some variables exchange other variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, joint_codes
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.data.variable import LEVELS, NUMBERS, Role
from rwn_core.errors import ParameterError
from rwn_core.laws.block_law import BlockLaw, block_pairs, law_within_blocks
from rwn_core.laws.donors import copy_columns, masked_columns, random_streams
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.law import Law
from rwn_core.laws.rank_swaps import HAIR
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.masking.lever import Lever
from rwn_core.masking.method import Method, Prepared
from rwn_core.masking.option import kept_as_they_are, name_tuple, require_masked, require_released
from rwn_core.neighbors.find import nearest_radii
from rwn_core.neighbors.metric import coordinates
from rwn_core.randomness import SecretKey, uniforms

AtRisk = Literal["none", "rare", "isolated"]


def rarity(microdata: Microdata, names: tuple[str, ...]) -> Floats:
    """One over the number of records with the same values of some variables, shape (n,)."""
    codes = joint_codes(microdata, names)
    return np.asarray(1.0 / np.bincount(codes)[codes])


def isolation(microdata: Microdata, names: tuple[str, ...]) -> Floats:
    """The distance of each record to the nearest other by some variables, shape (n,)."""
    counted = {v.name: float(v.name in names) for v in microdata.schema.released}
    points = coordinates(microdata.with_weights(counted))
    if len(points) < 2:
        return np.zeros(len(points))
    return np.asarray(nearest_radii(points, neighbors=1, quantile=0.0))


RISKS: Mapping[str, Callable[[Microdata, tuple[str, ...]], Floats]] = MappingProxyType(
    {"rare": rarity, "isolated": isolation}
)
"""The risk of each record by some variables; the larger, the more at risk."""


def stated_risk(microdata: Microdata, name: str) -> Floats:
    """The risk of each record that a variable of numbers states, shape (n,)."""
    kinds = {each.name: each.kind for each in microdata.schema.variables}
    if kinds.get(name) not in NUMBERS:
        raise ParameterError(f"risk_variable must name a variable of numbers, not {name}.")
    column = microdata.frame[name]  # it may be of a role that is not analyzed
    risks = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isfinite(risks).all():
        raise ParameterError(f"{name} must be a number in every record, since it is their risk.")
    return risks


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSwapping(Method):
    """The parameters of record swapping.

    Records with the same values of some variables make a block. In a block of b records
    ceil(share b) are selected at random, and what they have of the swapped variables is permuted
    at random among them, all variables of a record together; some may get their own back. All
    other variables stay, and so does the order of the records. Records with a missing value of a
    swapped variable stay unmasked.

    With `at_risk` or `risk_variable` the records most at risk are selected instead, at random
    among those that are equally at risk.

    Parameters
    ----------
    share : float
        The share of each block that is selected: a fraction from 0 (nothing is masked) to 1, and
        no percentage.
    within : tuple of str
        The variables that make the blocks; by default the keys with categories. As a text: names
        with commas.
    variables : tuple of str
        The swapped variables; by default the confidential ones, or where there are none all that
        are neither keys nor make blocks.
    at_risk : {"none", "rare", "isolated"}
        Which records of a block are selected first: random ones; those that share their values of
        the keys with the fewest others; or those whose nearest other, by the keys, is farthest.
    risk_variable : str, optional
        Instead: a variable with the risk of each record by any measure; the largest are selected
        first. It may be one that is not released.

    Raises
    ------
    ParameterError

    When to use
    -----------
    Where tables by some variables, such as region and sex, must stay exact, and only the
    confidential values need doubt. What is swapped moves together, so that relations among the
    swapped variables stay.

    What it destroys
    ----------------
    Relations between the swapped variables and all that are neither swapped nor make blocks. Keys
    stay unmasked: a person with rare keys is certainly found, and only the values next to them
    are in doubt. A record alone in a block keeps everything, and small blocks give few others to
    exchange with. Selected by risk, records of less risk keep their own values for certain, and
    whoever knows the risks knows which.

    References
    ----------
    Matloff and Tendick 2015, the function `dswap` as it is documented;
    Perry, Matloff, Tendick 2022, section 2: "especially those deemed most at risk".

    Examples
    --------
    >>> RecordSwapping(share=0.3, within="sex,region", variables="income").within
    ('sex', 'region')
    """

    share: float = 0.5
    within: tuple[str, ...] | str = ()
    variables: tuple[str, ...] | str = ()
    at_risk: AtRisk = "none"
    risk_variable: str | None = None

    method: ClassVar[str] = "record_swapping"
    title: ClassVar[str] = "Record swapping"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="share",
            title="Selected records of a block (share)",
            help="How many records of each block exchange their values; at 0 nothing is masked.",
            presets={"Light": 0.1, "Standard": 0.5, "Strong": 1.0},
        ),
    )
    moves_together: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"share": 0}),
        Keeps(what="rows", including="makers"),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "Swapped values move together and are somebody's true values; their relations to each "
        "other and to the variables that make blocks are exact, those to the rest are lost.",
        "Where all of a block have the same value, everybody in it is known to have it.",
    )

    def check_setting(self) -> None:
        """Check the options that are the method's own."""
        given = (*self.within, *self.variables)
        if len(set(given)) < len(given):
            raise ParameterError("within and variables must not share a variable.")
        if self.risk_variable is not None and self.at_risk != "none":
            raise ParameterError(
                "risk_variable needs at_risk to be none; one of them says the risk."
            )

    def makers(self, microdata: Microdata) -> tuple[str, ...]:
        """The variables that make the blocks."""
        if self.within:
            return require_released(microdata, name_tuple(self.within))
        return tuple(
            v.name
            for v in microdata.schema.released
            if v.role is Role.KEY and v.kind in LEVELS and v.name not in self.variables
        )

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """The variables that are swapped together, in the table's order."""
        makers = self.makers(microdata)
        released = microdata.schema.released
        if self.variables:
            chosen = set(require_masked(microdata, name_tuple(self.variables)))
        else:
            free = [v for v in released if v.masked and v.name not in makers]
            secret = {v.name for v in free if v.role is Role.CONFIDENTIAL}
            chosen = secret or {v.name for v in free if v.role is not Role.KEY}
        return tuple(variable.name for variable in released if variable.name in chosen)

    def check(self, microdata: Microdata) -> None:
        """Refuse to move whole records, or nothing."""
        masked_columns(microdata)
        swapped = self.masked_names(microdata)
        if not swapped:
            raise ParameterError(
                "No variable is left to be swapped; name some that do not make the blocks."
            )
        if len(swapped) == len(microdata.schema.released) > 1:
            raise ParameterError(
                "All variables would move together, which changes nothing but the order of the "
                "records; name the swapped variables, or give keys their role."
            )
        self._risks(microdata)

    def blocks(self, table: Prepared) -> Integers:
        """The number of each record's block, -1 where it is not swapped, shape (n,)."""
        about = "blocks", self.within, self.variables
        return table.cached(about, partial(self._blocks, table.microdata))

    def _blocks(self, microdata: Microdata) -> Integers:
        makers = self.makers(microdata)
        swapped = list(self.masked_names(microdata))
        codes = joint_codes(microdata, makers) if makers else np.zeros(microdata.n, np.int64)
        known = microdata.frame[swapped].notna().to_numpy().all(axis=1)
        blocks = np.full(microdata.n, -1, dtype=np.int64)
        blocks[known] = np.unique(codes[known], return_inverse=True)[1]
        return blocks

    def risks(self, table: Prepared) -> Floats | None:
        """The risk of each record, shape (n,); None where random ones are selected."""
        about = "risks", self.at_risk, self.risk_variable
        return table.cached(about, partial(self._risks, table.microdata))

    def _risks(self, microdata: Microdata) -> Floats | None:
        if self.risk_variable is not None:
            return stated_risk(microdata, self.risk_variable)
        if self.at_risk == "none":
            return None
        keys = tuple(v.name for v in microdata.schema.released if v.role is Role.KEY)
        if not keys:
            raise ParameterError(
                f"at_risk={self.at_risk} needs keys; give a variable that role, or name a "
                "risk_variable."
            )
        return RISKS[self.at_risk](microdata, keys)

    def selected(self, blocks: Integers) -> Integers:
        """Return the number of selected records of each block."""
        sizes = np.bincount(blocks[blocks >= 0])
        return np.array([math.ceil(self.share * size - HAIR) for size in sizes], dtype=np.int64)

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with exchanged values."""
        microdata = table.microdata
        names = [variable.name for variable in microdata.schema.released]
        swapped = self.masked_names(microdata)
        uniform = uniforms(key, table.records, random_streams(microdata)[names.index(swapped[0])])
        blocks = self.blocks(table)
        given = table.records.copy()
        risks = self.risks(table)
        # the selected records, block by block
        first = np.zeros(len(blocks)) if risks is None else -risks
        order = np.lexsort((uniform[1], uniform[0], first, blocks))[np.count_nonzero(blocks < 0) :]
        sizes = np.bincount(blocks[blocks >= 0])
        within = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        movers = order[within < np.repeat(self.selected(blocks), sizes)]
        # the same records twice: as they lie in their blocks, and in a random order within
        given[movers] = movers[np.lexsort((uniform[2][movers], blocks[movers]))]
        return copy_columns(microdata, dict.fromkeys(swapped, given))

    def law(self, table: Prepared) -> BlockLaw | SeparateLaw | None:
        """Every record's donors, or their values where there are many."""
        microdata = table.microdata
        blocks = self.blocks(table)
        swapped = self.masked_names(microdata)
        makers = self.makers(microdata)
        selected = self.selected(blocks)
        risks = self.risks(table)
        return law_within_blocks(microdata, swapped, makers, blocks, selected, risks)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks: variables released unchanged, and records without a partner."""
        remarks = kept_as_they_are(microdata, self.masked_names(microdata))
        blocks = self._blocks(microdata)
        alone = int((np.bincount(blocks[blocks >= 0]) == 1).sum())
        if alone:
            remarks.append(f"{alone:,} records are alone in their block and keep their values")
        if block_pairs(blocks) > ATTACKED_PAIRS:
            remarks.append(
                f"the blocks have more than {ATTACKED_PAIRS:,} pairs of records, so the law is one "
                "of values and names no donors; more variables in within make smaller blocks"
            )
        return remarks
