"""Masking methods: each is one file with its parameters and its law."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from rwn_core.errors import Catalogue, ParameterError, each_once
from rwn_core.masking.additive_noise import AdditiveNoise as AdditiveNoise
from rwn_core.masking.cart_synthesis import CARTSynthesis as CARTSynthesis
from rwn_core.masking.correlated_noise import CorrelatedNoise as CorrelatedNoise
from rwn_core.masking.data_shuffling import DataShuffling as DataShuffling
from rwn_core.masking.k_noise import KNoise as KNoise
from rwn_core.masking.k_pram import KPRAM as KPRAM
from rwn_core.masking.lever import Lever as Lever
from rwn_core.masking.lever import LeverRange as LeverRange
from rwn_core.masking.lever import at_levers as at_levers
from rwn_core.masking.lever import family as family
from rwn_core.masking.lever import fixed_options as fixed_options
from rwn_core.masking.lever import lever_values as lever_values
from rwn_core.masking.local_suppression import LocalSuppression as LocalSuppression
from rwn_core.masking.method import Masked as Masked
from rwn_core.masking.method import Method as Method
from rwn_core.masking.method import Prepared as Prepared
from rwn_core.masking.method import Rounded as Rounded
from rwn_core.masking.method import unrounded as unrounded
from rwn_core.masking.microaggregation import Microaggregation as Microaggregation
from rwn_core.masking.nbrs2015 import NBRS2015 as NBRS2015
from rwn_core.masking.option import OPTIONS_IN_WORDS
from rwn_core.masking.option import Option as Option
from rwn_core.masking.option import method_options as method_options
from rwn_core.masking.option import option_words as option_words
from rwn_core.masking.pram import PRAM as PRAM
from rwn_core.masking.random_swapping import RandomSwapping as RandomSwapping
from rwn_core.masking.rank_swapping import RankSwapping as RankSwapping
from rwn_core.masking.recoding import Recoding as Recoding
from rwn_core.masking.record_swapping import RecordSwapping as RecordSwapping
from rwn_core.masking.release import Release as Release
from rwn_core.masking.release import mask as mask
from rwn_core.masking.row_copy import RowCopy as RowCopy
from rwn_core.masking.rwn import RWN as RWN
from rwn_core.masking.sampling import RandomSample as RandomSample
from rwn_core.masking.sliced_method import NEAR_ALL_LEFT
from rwn_core.masking.soft_rwn import SoftRWN as SoftRWN

_METHODS = (
    RWN,
    SoftRWN,
    NBRS2015,
    AdditiveNoise,
    CorrelatedNoise,
    KNoise,
    RankSwapping,
    RandomSwapping,
    DataShuffling,
    RecordSwapping,
    PRAM,
    KPRAM,
    Recoding,
    RowCopy,
    Microaggregation,
    LocalSuppression,
    CARTSynthesis,
    RandomSample,
)

METHODS: Mapping[str, Any] = MappingProxyType(
    Catalogue(
        each_once("method", ((method.method, method) for method in _METHODS)),
        lambda name: no_method(name),
    )
)
"""Every method's parameter record by its key, in the order on screen."""

SHORT_NAMES: Mapping[str, str] = MappingProxyType(
    OPTIONS_IN_WORDS | {lever.name: lever.short for method in _METHODS for lever in method.levers}
)
"""How a line of words calls the levers of all methods, and some options, by their names."""

_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("noise", "addnoise", "additive"), "additive_noise"),
        **dict.fromkeys(("correlatednoise", "correlated2", "kim"), "correlated_noise"),
        **dict.fromkeys(("rankswap", "swapping", "dataswapping"), "rank_swapping"),
        **dict.fromkeys(("recordswap", "targetedrecordswapping"), "record_swapping"),
        **dict.fromkeys(("mdav", "microaggregate", "aggregation"), "microaggregation"),
        **dict.fromkeys(("localsuppression", "kanon", "kanonymity", "suda"), "local_suppression"),
        **dict.fromkeys(("globalrecode", "topbotcoding", "generalization"), "recoding"),
        **dict.fromkeys(("synthpop", "synthesis", "cart"), "cart_synthesis"),
        **dict.fromkeys(("shuffling", "shuffle", "datashuffle"), "data_shuffling"),
        **dict.fromkeys(("kernel", "softneighborhoods"), "soft_rwn"),
        **dict.fromkeys(("postrandomization", "gram"), "pram"),
        **dict.fromkeys(("neighborhood", "randomizationwithinneighborhoods"), "rwn"),
    }
)
"""What other programs and papers call a method, without marks and in lower case."""


_UNUSED_BEFORE = {
    "kernel": "even",
    "bandwidth": "adaptive",
    "own": False,
    "balance": 0.0,
    "neighbors": "exact",
    "fresh": False,
}


def in_present_names(method: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a method and its parameters as they are called now: RWN once had soft kernels.

    >>> in_present_names("rwn", {"kernel": "gaussian", "width": 0.5, "fresh": False})
    ('soft_rwn', {'kernel': 'gaussian', 'width': 0.5})
    """
    parameters = _related_as_now(parameters)
    if method != RWN.method or "kernel" not in parameters:
        return method, dict(parameters)
    now = RWN if parameters["kernel"] == "even" else SoftRWN
    # at the values at which the others had no part
    known = {n: v for n, v in parameters.items() if v is not None and v != _UNUSED_BEFORE.get(n)}
    return now.method, known


def _related_as_now(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with `by_prediction` for what was a chain near by prediction.

    A chain that was near in all variables is refused: it is gone.
    """
    now = {name: value for name, value in parameters.items() if name not in ("chain", "near")}
    chain = parameters.get("chain", False)
    if chain in (False, "0"):  # a link writes numbers
        return now
    if parameters.get("near") != "prediction":
        raise ParameterError(NEAR_ALL_LEFT)
    return now | {"by_prediction": chain}


def no_method(name: object) -> str:
    """Return the refusal of an unknown method, with the one that it may mean.

    >>> no_method("rankSwap")
    'There is no method rankSwap; rank_swapping is near. rwn methods lists all.'
    """
    plain = "".join(letter for letter in str(name).lower() if letter.isalnum())
    near = _OTHER_NAMES.get(plain) or next(iter(get_close_matches(plain, METHODS, n=1)), "")
    meant = f"; {near} is near" if near else ""
    return f"There is no method {name}{meant}. rwn methods lists all."
