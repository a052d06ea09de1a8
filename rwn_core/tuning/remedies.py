"""What helps where a policy is not kept: each remedy is tried on all records, before it is named.

A remedy changes the setting, the description of the table, or the policy; it says what it gives as
every page judges a setting, so that pressed it gives what it promised.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps
from rwn_core.data.schema import Schema, Slices
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.data.variable import Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, SHORT_NAMES, SoftRWN
from rwn_core.parallel import clock
from rwn_core.tuning.answer import FoundSetting, Remedy, SearchAnswer
from rwn_core.tuning.named_policies import weaker_policy
from rwn_core.tuning.on_all_records import as_judged
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.recommend import OFTEN_BEST, recommend, refusal, without_secrets
from rwn_core.tuning.several_draws import DECISIVE
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_key, preset_slices
from rwn_core.tuning.strength import MOST_LOST, TableSearch
from rwn_core.tuning.ways import LATER, WAYS, in_way, kind, later_donors, way_of

if TYPE_CHECKING:
    from rwn_core.tuning.search import Space

WITHIN = 60.0  # processor seconds
MOST = 6  # remedies that are named where one keeps the policy
NEAREST = 3  # that are named where none does, and those that ask less
_AFTER_A_SEARCH = 0.5  # of the seconds of a search
_RECOMMENDED = 1 / 3  # of the seconds, for a recommendation that was not made before
_DESCRIBED = 2  # descriptions for which a setting is suggested
_SUGGESTED = 0.6  # of the seconds, for suggestions on other descriptions of the table
_COMBINED = 0.7  # of the seconds that are left, for a suggestion on another description
_COARSE = 0.5  # standard deviations of a rounding that is proposed
_HELPS = 0.9  # times the share of a limit: what comes no nearer is not named
_PLACES = 32  # parts of a strength that a remedy is tried with
_USUAL = SoftRWN()
_NAMED = 3  # variables released unmasked, each with remedies of its own
_DIFFER = "None is known to keep the policy: releases of those within the limits differ much."


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of the setting, and of the description of the table or of the policy."""

    title: str
    setting: Setting
    schema: Schema | None = None
    policy: Policy | None = None
    asks_less: bool = False


def with_remedies(
    found: SearchAnswer,
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    advice: SearchAnswer | None = None,
    *,
    within: float = WITHIN,
) -> SearchAnswer:
    """Add what helps to a verdict: each remedy is tried on all records, and says what it gives.

    Where a strength of the setting keeps the policy, going there is the remedy. Else those that
    keep it come first, by what they leave; where none does, those that come nearest, the nearest
    strength, and those that keep what asks less.

    Parameters
    ----------
    found : SearchAnswer
        The verdict, or the answer of a search that found nothing.
    microdata : Microdata
    setting : Setting
        The one on which the verdict is.
    policy : Policy
    advice : SearchAnswer, optional
        The recommendation for the table; it is made where it is not given.
    within : float
        Processor seconds; what is not tried in them is not named.
    """
    end = clock.processor_seconds() + within
    end_of_edits = end - within * _SUGGESTED if math.isfinite(within) else end
    first = _Shop(microdata, policy, end_of_edits)
    shop = _Shop(microdata, policy, end)
    own = shop.at_its_strength(found, setting)
    if own is not None and own.kept:
        return replace(found, remedies=(own,), caution="")
    most = math.inf if own is None else _HELPS * own.interval[1]
    remedies = shop.confirmed(shop.advised(setting, advice))
    edits = _edits(microdata, setting, policy, advice, within * _RECOMMENDED)
    remedies += _helping(first, edits, most)
    remedies.sort(key=_rank)
    if not _any_keeps(remedies):
        remedies += shop.with_suggested(remedies)
        remedies.sort(key=_rank)
    read = shop.confirmed([each for each in remedies if each.kept][:MOST])
    kept = [each for each in read if each.kept]
    if _any_keeps(kept):
        return replace(found, remedies=tuple(kept), caution="")
    nearest = shop.confirmed([each for each in remedies if not each.asks_less][:NEAREST])
    if own is not None:
        nearest.append(own)
    nearest.sort(key=_rank)
    return replace(found, remedies=(*nearest, *kept[:NEAREST]), caution=_caution(nearest))


def with_known_remedies(
    found: SearchAnswer,
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    advice: SearchAnswer,
) -> SearchAnswer:
    """Add to a *no* what a recommendation has read to keep the policy; nothing more is tried."""
    if found.reached:
        return found
    shop = _Shop(microdata, policy, math.inf)
    return replace(found, remedies=tuple(shop.advised(setting, advice)))


def _helping(shop: _Shop, edits: Iterable[Edit], most: float) -> Iterator[Remedy]:
    """Try edits; yield what keeps the policy or comes nearer than a share of a limit."""
    for edit in edits:
        remedy = shop.tried(edit, max(most, 1.0))
        if remedy is not None and (remedy.kept or remedy.interval[1] < most):
            yield remedy


def remedied(
    answer: SearchAnswer, microdata: Microdata, policy: Policy, space: Space, seconds: float
) -> SearchAnswer:
    """Return the answer of a search with what helps, where it found no setting within the limits.

    Half as many processor seconds as the search had are for that.
    """
    if answer.reached or space.lose_at_most is not None or not answer.settings:
        return answer
    setting = space.setting or answer.point.setting
    within = seconds * _AFTER_A_SEARCH
    return with_remedies(answer, microdata, setting, policy, answer, within=within)


def _rank(remedy: Remedy) -> tuple[bool, bool, float, float]:
    """Sort those that keep the limits by their loss, then the others by what they use of one.

    Of each, what asks less comes last.
    """
    loss = 1.0 if remedy.loss is None else remedy.loss
    return not remedy.kept, remedy.asks_less, max(remedy.interval[1], 1.0), loss


def _any_keeps(remedies: Sequence[Remedy]) -> bool:
    """True if a remedy keeps what was asked."""
    return any(each.kept and not each.asks_less for each in remedies)


def _caution(remedies: Sequence[Remedy]) -> str:
    """Say that none keeps the policy, and what is attainable at best."""
    if _any_keeps(remedies):
        return ""
    if not remedies:
        return "Nothing that was tried helps."
    if remedies[0].interval[1] <= 1:
        return _DIFFER
    return f"None does; best attainable is {remedies[0].words}."


@dataclass(frozen=True, slots=True)
class _Shop:
    """A trial of remedies of a table under a policy, as long as there is time."""

    microdata: Microdata
    policy: Policy
    until: float

    def at_its_strength(self, found: SearchAnswer, setting: Setting) -> Remedy | None:
        """Return the strength of a setting that keeps the policy, or comes nearest to it."""
        known = found.settings[0] if found.settings else None
        best = None
        if known is not None and known.point.spreads and _same_kind(self, known, setting):
            best = known
        if best is None or not (best.kept or best.confirmed):
            best = self._search(self.microdata, setting, self.policy, math.inf) or best
        if best is None:
            return None
        words = strength_words(best.setting)
        title = words if best.kept else f"The nearest, {words}"
        return self._judged(_remedy(self.microdata, self.policy, best, title))

    def advised(self, setting: Setting, advice: SearchAnswer | None) -> list[Remedy]:
        """Return what a recommendation has read to keep the policy already."""
        if advice is None or advice.goal != self.policy:
            return []
        offered = [*advice.settings[:1], *([advice.alternative] if advice.alternative else [])]
        return [
            _remedy(self.microdata, self.policy, each, _title(self.microdata, each.setting))
            for each in offered
            if each.kept and each.confirmed and not _same_kind(self, each, setting)
        ]

    def tried(self, edit: Edit, helps: float) -> Remedy | None:
        """Return what an edit gives at its best strength; None where nothing was read in time."""
        table = self.microdata if edit.schema is None else self.microdata.with_schema(edit.schema)
        policy = edit.policy or self.policy
        if not any(variable.masked for variable in table.schema.released):
            return None
        try:
            best = self._search(table, _fitted(edit.setting, table), policy, helps)
        except ParameterError:
            return None
        if best is None:
            return None
        remedy = _remedy(table, policy, best, edit.title)
        if not remedy.unread.keys() <= self.policy.judgeable(self.microdata)[1].keys():
            return None  # it takes away what a limit is judged by
        return replace(remedy, schema=edit.schema, policy=edit.policy, asks_less=edit.asks_less)

    def with_suggested(self, remedies: Sequence[Remedy]) -> list[Remedy]:
        """Return the best other descriptions of the table with the settings best for them."""
        described = [each for each in remedies if not each.asks_less]
        combined = list[Remedy]()
        for each in described:
            if each.schema is None or len(combined) == _DESCRIBED or self.seconds_left <= 0:
                continue
            table = self.microdata.with_schema(each.schema)
            answer = recommend(table, self.policy, within=self.seconds_left * _COMBINED)
            if not answer.settings or not answer.settings[0].point.spreads:
                continue
            title = f"{each.title}, with the suggested setting"
            remedy = _remedy(table, self.policy, answer.settings[0], title)
            read = self._judged(replace(remedy, schema=each.schema))
            if read.confirmed and (read.loss or 0.0) <= MOST_LOST:
                combined.append(read)
        return combined

    @property
    def seconds_left(self) -> float:
        """Processor seconds that are left."""
        return self.until - clock.processor_seconds()

    def confirmed(self, remedies: Sequence[Remedy]) -> list[Remedy]:
        """Read remedies as every page judges a setting."""
        return sorted(map(self._judged, remedies), key=_rank)

    def _search(
        self, table: Microdata, setting: Setting, policy: Policy, helps: float
    ) -> FoundSetting | None:
        judged, _ = policy.judgeable(table)
        if judged is None:
            return None
        search = TableSearch(
            microdata=table,
            policy=judged,
            until=self.until,
            places=_PLACES,
            releases=DECISIVE if table.n <= QUICK_RECORDS else None,
            helps=helps,
        )
        search.look(setting, MOST_LOST)
        search.attack()
        tried = search.best[0] if search.tried else None
        return tried if tried is not None and tried.releases > 1 else None

    def _judged(self, remedy: Remedy) -> Remedy:
        """Return a remedy with the draws that judge it everywhere, where there is time for them."""
        if remedy.confirmed:
            return remedy
        table = self.microdata
        if remedy.schema is not None:
            table = table.with_schema(remedy.schema)
        read = as_judged(table, remedy.policy or self.policy, remedy, self.seconds_left)
        return read if isinstance(read, Remedy) else remedy


def _same_kind(shop: _Shop, found: FoundSetting, setting: Setting) -> bool:
    """True if two settings differ in their strength only."""
    table = shop.microdata
    return kind(found.setting.resolved(table)) == kind(setting.resolved(table))


def _remedy(table: Microdata, policy: Policy, found: FoundSetting, title: str) -> Remedy:
    return Remedy.of(found, title=title, unread=policy.judgeable(table)[1])


def _fitted(setting: Setting, table: Microdata) -> Setting:
    """Return a setting without the variables that a table does not release or mask."""
    released = {each.name for each in table.schema.released}
    masked = set(masked_names(table))
    slices: Slices | None = None
    if setting.slices is not None:
        slices = ()
        for names in setting.slices:
            left = tuple(name for name in names if name in masked)
            if len(left) > 1:
                slices = (*slices, left)
    return replace(
        setting,
        slices=slices,
        weights=tuple(each for each in setting.weights if each[0] in released),
        precision=tuple(each for each in setting.precision if each[0] in released),
    )


def strength_words(setting: Setting) -> str:
    """Write the strength of a setting, such as "ε = 8.2"."""
    params = setting.params
    return f"{SHORT_NAMES[params.strength]} = {getattr(params, params.strength):g}"


def _title(microdata: Microdata, setting: Setting) -> str:
    """Return the words for a button that tries a setting."""
    params = setting.params
    if params.method not in (RWN.method, SoftRWN.method):
        return f"Try {params.title}"
    balance = " with balance" if getattr(params, "balance", 0.0) else ""
    kernel = balance or (" soft" if params.method == SoftRWN.method else "")
    preset = preset_key(microdata, setting.slices or ())
    return f"Try RWN{kernel}: {PRESETS[preset].title if preset else 'in slices'}"


def _edits(
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    advice: SearchAnswer | None,
    within: float,
) -> Iterator[Edit]:
    """Yield what may help: first what touches the reason of the verdict, at last the policy."""
    schema = microdata.schema
    rich = sorted(schema.released, key=lambda v: -len(microdata.codes(v.name)[1]))
    coarse = given_steps(microdata, _COARSE) if microdata.numeric_names else {}
    masked = _masked_by(setting, microdata)
    unmasked = [variable for variable in rich if variable.name not in masked]
    yield from _of_unmasked(schema, setting, unmasked, coarse)
    yield from _of_secrets(microdata, setting)
    # other kernels, slices and methods
    if advice is None and _can_be_advised(microdata, policy):
        advice = recommend(microdata, policy, within=within)
    if advice is not None:
        yield from _of_other_kinds(microdata, setting, advice)
    yield from _of_ways(microdata, setting, policy)
    # less detail, fewer variables, fewer keys
    if coarse and not setting.precision:
        rounded = replace(setting, precision=tuple(sorted(coarse.items())))
        yield Edit(title="Round the numbers", setting=rounded)
    yield from _of_columns(schema, setting, [v for v in rich if v not in unmasked])
    yield from _of_policies(policy, setting)


def _can_be_advised(microdata: Microdata, policy: Policy) -> bool:
    """True if some variable is masked, and the usual method is judged by the policy."""
    masks = any(variable.masked for variable in microdata.schema.released)
    return masks and not refusal(microdata, policy, _USUAL)


def _masked_by(setting: Setting, microdata: Microdata) -> set[str]:
    """Return the variables that a setting masks; those so described where it cannot mask."""
    try:
        return set(setting.params.masked_names(microdata))
    except ParameterError:
        return {variable.name for variable in microdata.schema.released if variable.masked}


def _of_other_kinds(microdata: Microdata, setting: Setting, advice: SearchAnswer) -> Iterator[Edit]:
    """Yield the recommended settings that differ in kind from the one that is judged."""
    for offered in (*advice.settings[:1], advice.alternative):
        if offered is None:
            continue
        other = offered.setting
        if kind(other.resolved(microdata)) != kind(setting.resolved(microdata)):
            yield Edit(title=_title(microdata, other), setting=other)


def _of_unmasked(
    schema: Schema, setting: Setting, left: Sequence[Variable], coarse: Mapping[str, float]
) -> Iterator[Edit]:
    """Yield what may be done with variables released unmasked: mask, round, leave out."""
    free = [variable.name for variable in left if not variable.masked]
    for names in ([free] if len(free) > 1 else []) + [[name] for name in free[:_NAMED]]:
        changed = schema
        for name in names:
            changed = changed.replace_variable(name, masked=True, group=None)
        yield Edit(title=f"Mask {', '.join(names)}", setting=setting, schema=changed)
    for variable in left[:_NAMED]:
        name = variable.name
        if name in coarse and name not in dict(setting.precision):
            steps = tuple(sorted((*setting.precision, (name, coarse[name]))))
            rounded = replace(setting, precision=steps)
            yield Edit(title=f"Round {name} to {coarse[name]:g}", setting=rounded)
        if variable.role is not Role.CONFIDENTIAL:
            yield Edit(title=f"Leave {name} out", setting=setting, schema=_without(schema, name))


def _of_secrets(microdata: Microdata, setting: Setting) -> Iterator[Edit]:
    """Yield weight 0 on the secrets in the distance, which choose their own donors."""
    secrets = without_secrets(microdata) if setting.params.uses_weights else {}
    if any(not setting.weights or dict(setting.weights).get(name, 1.0) for name in secrets):
        weights = tuple(sorted((dict(setting.weights) | secrets).items()))
        title = f"Weight 0 on {', '.join(secrets)}"
        yield Edit(title=title, setting=replace(setting, weights=weights))


def _of_ways(microdata: Microdata, setting: Setting, policy: Policy) -> Iterator[Edit]:
    """Yield other ways of relating the slices: by prediction, and tied."""
    params = setting.params
    if params.method not in (RWN.method, SoftRWN.method):
        return
    n = microdata.n
    slices = setting.slices or preset_slices(microdata, OFTEN_BEST[0])
    secrets = tuple(sorted(without_secrets(microdata).items()))
    for way in ("predicted", "tied"):
        related = replace(
            in_way(params, way),
            later=later_donors(n, LATER[0]),
            later_balance=n <= WAYS[way].plain_beyond,
        )
        known = way_of(params) == way or n > WAYS[way].never_beyond
        if not known and slices and not policy.unjudged(related):
            changed = replace(setting, params=related, slices=slices, weights=secrets)
            yield Edit(title=WAYS[way].title, setting=changed)


def _of_columns(schema: Schema, setting: Setting, masked: Sequence[Variable]) -> Iterator[Edit]:
    """Yield the table without a variable, or with a key less: those with the most values."""
    keys = [v.name for v in masked if v.role is Role.KEY]
    others = [v.name for v in masked if v.role is Role.OTHER]
    for name in others[:1]:
        yield Edit(title=f"Leave {name} out", setting=setting, schema=_without(schema, name))
    if len(keys) < 2:
        return
    name = keys[0]
    yield Edit(title=f"Leave the key {name} out", setting=setting, schema=_without(schema, name))
    fewer = schema.replace_variable(name, role=Role.OTHER)
    yield Edit(title=f"Other keys, without {name}", setting=setting, schema=fewer, asks_less=True)


def _of_policies(policy: Policy, setting: Setting) -> Iterator[Edit]:
    """Yield the strictest policy by name that allows more, for readers who are bound closer."""
    weaker = weaker_policy(policy)
    if weaker is not None:
        yield Edit(title=weaker.name, setting=setting, policy=weaker.policy, asks_less=True)


def _without(schema: Schema, name: str) -> Schema:
    return schema.replace_variable(name, role=Role.IDENTIFIER, group=None)
