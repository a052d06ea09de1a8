"""Policies by name: for whom a file is meant, and what each limit rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rwn_core.errors import ParameterError
from rwn_core.tuning.policy import DEFAULT, Limit, Policy

DECIDED_HERE = "proposed by this program, which no authority has published"
_CELLS = (
    "cells of {people} people, {use} (K. El Emam, Guide to the De-Identification of Personal "
    "Health Information, 2013, chapter on cell sizes; read in its abstract, November 2026)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPolicy:
    """A policy with the name by which it is chosen.

    Attributes
    ----------
    name : str
        As pages show it and the command line takes it.
    audience : str
        Who is to read the file, and what the limits bound, in a sentence.
    policy : Policy
        Its limits, each with its source and who set it.
    """

    name: str
    audience: str
    policy: Policy


def _most_exposed(at_most: float, people: int, use: str) -> Limit:
    """Bound the most exposed record for an intruder who holds the whole original file."""
    return Limit(
        measure="largest_linkage",
        at_most=at_most,
        source=_CELLS.format(people=people, use=use),
        set_by="custodians of health data; that it holds for every record is decided here",
    )


def _decided_here(**at_most: float) -> tuple[Limit, ...]:
    """Bound measures of which no authority has published a limit."""
    return tuple(
        Limit(measure=key, at_most=most, set_by=DECIDED_HERE) for key, most in at_most.items()
    )


def _named(name: str, audience: str, *limits: Limit) -> NamedPolicy:
    return NamedPolicy(name=name, audience=audience, policy=Policy(limits=limits))


_CLINICAL_SOURCE = (
    "EMA policy 0070 (2016) and Health Canada PRCI (2019), in most circumstances (by an account "
    "of both at rlsciences.com)"
)
USUAL = "Usual limits"
_ALL = (
    NamedPolicy(
        name=USUAL,
        audience="What holds until your organization sets limits: on average 5 % of the records, "
        "no record linked over one half.",
        policy=Policy(limits=DEFAULT),
    ),
    _named(
        "Public file",
        "Anybody may read the file. Limits of one release: an intruder who holds the whole "
        "original is at most 5 % sure of any row, one who holds everybody's keys links at most "
        "2 % of the rows, and attribute gain and true matches are at most 5 %.",
        _most_exposed(0.05, 20, "as in public patient data of Canada and the United States"),
        *_decided_here(intruder_levels=0.02, attribute_gain=0.05, true_matches=0.05),
    ),
    _named(
        "Limits for clinical data",
        "Trial data that are published. Limits of one release: an intruder who holds the whole "
        "original is at most 9 % sure of any row, and attribute gain and true matches are at most "
        "5 %.",
        Limit(
            measure="largest_linkage",
            at_most=0.09,
            source=_CLINICAL_SOURCE,
            set_by="EMA, Health Canada; that it holds for every record is decided here",
        ),
        *_decided_here(attribute_gain=0.05, true_matches=0.05),
    ),
    _named(
        "Researchers under contract",
        "People who have signed not to look for anybody. Limits of one release: an intruder who "
        "holds the whole original is at most 20 % sure of any row, one who holds everybody's keys "
        "links at most 5 % of the rows, and attribute gain and true matches are at most 10 %.",
        _most_exposed(0.2, 5, "the rule of five that custodians have used"),
        *_decided_here(intruder_levels=0.05, attribute_gain=0.1, true_matches=0.1),
    ),
    _named(
        "Inside the organization",
        "Colleagues who are bound by the same duty. Limits of one release: an intruder who holds "
        "the whole original is at most 33 % sure of any row, one who holds everybody's keys links "
        "at most 10 % of the rows, and attribute gain and true matches are at most 20 %.",
        _most_exposed(0.33, 3, "the smallest that custodians have used"),
        *_decided_here(intruder_levels=0.1, attribute_gain=0.2, true_matches=0.2),
    ),
)
NAMED_POLICIES: Mapping[str, NamedPolicy] = MappingProxyType({each.name: each for each in _ALL})
"""Policies by their names; the usual one first, the others from the strictest on."""


def policy_called(name: str) -> Policy:
    """Give the policy of a name.

    Parameters
    ----------
    name : str
        As `NAMED_POLICIES` has it; case does not count.

    Returns
    -------
    Policy
        Each limit with its source and who set it.

    Raises
    ------
    ParameterError
        No policy has this name.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.policy_called("public file").limit("largest_linkage").at_most
    0.05
    """
    called = {each.casefold(): each for each in NAMED_POLICIES}
    known = called.get(str(name).casefold())
    if known is None:
        names = ", ".join(f'"{each}"' for each in NAMED_POLICIES)
        raise ParameterError(f"There is no policy of the name {name!r}; choose one of {names}.")
    return NAMED_POLICIES[known].policy


def name_of(policy: Policy) -> str | None:
    """Return the name of a policy by its limits, whoever set them; None where it has none."""
    wanted = _numbers(policy)
    for each in _ALL:
        if _numbers(each.policy) == wanted:
            return each.name
    return None


def weaker_policy(policy: Policy) -> NamedPolicy | None:
    """Return the strictest policy by name that allows more than a policy, and nothing less.

    A measure that the policy bounds by a larger one counts as bounded; of one that it does not
    bound at all nothing is said.
    """
    for each in _ALL[1:]:
        if each.policy != policy and _allows_more(each.policy, policy):
            return each
    return None


_NEVER_ABOVE = {
    # of an intruder who holds the keys alone, and of the mean over all records
    "intruder_levels": ("bayes_linkage", "largest_linkage"),
    "bayes_linkage": ("largest_linkage",),
}
"""By measure, those that are at least as large, on average over releases."""


def _allows_more(other: Policy, policy: Policy) -> bool:
    """True if a policy allows more of a measure that both bound, and less of none."""
    bounds = [(limit.at_most, _bound(policy, limit.measure)) for limit in other.limits]
    shared = [(at_most, bound) for at_most, bound in bounds if bound is not None]
    more = any(at_most > bound for at_most, bound in shared)
    less = any(at_most < bound for at_most, bound in shared)
    return more and not less


def _bound(policy: Policy, measure: str) -> float | None:
    """Return the most that a policy allows of a measure; None where it says nothing of it."""
    bounding = (measure, *_NEVER_ABOVE.get(measure, ()))
    known = [limit.at_most for limit in policy.limits if limit.measure in bounding]
    return min(known, default=None)


def _numbers(policy: Policy) -> frozenset[tuple[str, float]]:
    return frozenset((limit.measure, limit.at_most) for limit in policy.limits)
