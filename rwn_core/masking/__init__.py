"""Masking methods: each is one file with its parameters and its law."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from rwn_core.masking.additive_noise import AdditiveNoise
from rwn_core.masking.cart_synthesis import CARTSynthesis
from rwn_core.masking.correlated_noise import CorrelatedNoise
from rwn_core.masking.data_shuffling import DataShuffling
from rwn_core.masking.k_noise import KNoise
from rwn_core.masking.k_pram import KPRAM
from rwn_core.masking.lever import (
    Lever,
    LeverRange,
    at_levers,
    family,
    fixed_options,
    lever_values,
    levers_under,
)
from rwn_core.masking.local_suppression import LocalSuppression
from rwn_core.masking.method import Masked, Method, Prepared, Rounded, unrounded
from rwn_core.masking.microaggregation import Microaggregation
from rwn_core.masking.nbrs2015 import NBRS2015
from rwn_core.masking.option import Option, method_options, option_words
from rwn_core.masking.pram import PRAM
from rwn_core.masking.random_swapping import RandomSwapping
from rwn_core.masking.rank_swapping import RankSwapping
from rwn_core.masking.recoding import Recoding
from rwn_core.masking.record_swapping import RecordSwapping
from rwn_core.masking.release import Release, mask
from rwn_core.masking.row_copy import RowCopy
from rwn_core.masking.rwn import RWN
from rwn_core.masking.sampling import RandomSample

__all__ = [
    "KPRAM",
    "METHODS",
    "NBRS2015",
    "PRAM",
    "RWN",
    "SHORT_NAMES",
    "AdditiveNoise",
    "CARTSynthesis",
    "CorrelatedNoise",
    "DataShuffling",
    "KNoise",
    "Lever",
    "LeverRange",
    "LocalSuppression",
    "Masked",
    "Method",
    "Microaggregation",
    "Option",
    "Prepared",
    "RandomSample",
    "RandomSwapping",
    "RankSwapping",
    "Recoding",
    "RecordSwapping",
    "Release",
    "Rounded",
    "RowCopy",
    "at_levers",
    "family",
    "fixed_options",
    "lever_values",
    "mask",
    "method_options",
    "no_method",
    "option_words",
    "unrounded",
]

_METHODS = (
    RWN,
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

METHODS: Mapping[str, Any] = MappingProxyType({method.method: method for method in _METHODS})
"""Every method's parameter record by its key, in the order on screen."""

SHORT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        lever.name: lever.short
        for method in _METHODS
        for kernel in ("even", "gaussian")
        for lever in levers_under(method, {"kernel": kernel})
    }
)
"""How a line of words calls the levers of all methods, by their names."""

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
        **dict.fromkeys(("postrandomization", "gram"), "pram"),
        **dict.fromkeys(("neighborhood", "randomizationwithinneighborhoods"), "rwn"),
    }
)
"""What other programs and papers call a method, without marks and in lower case."""


def no_method(name: object) -> str:
    """Return the refusal of an unknown method, with the one that it may mean.

    >>> no_method("rankSwap")
    'There is no method rankSwap; rank_swapping is near. rwn methods lists all.'
    """
    plain = "".join(letter for letter in str(name).lower() if letter.isalnum())
    near = _OTHER_NAMES.get(plain) or next(iter(get_close_matches(plain, METHODS, n=1)), "")
    meant = f"; {near} is near" if near else ""
    return f"There is no method {name}{meant}. rwn methods lists all."
