"""Prepared tables, releases and results of this user: a bounded memory, freed at its end."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.masking import SHORT_NAMES, Masked, Method, Prepared, family, fixed_options, unrounded
from rwn_core.measures import measures_of
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.association import is_mixed
from rwn_core.measures.statistics.usual_use import use_of
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.tuning import Setting, Verdict
from rwn_core.tuning.point import setting_name, too_few
from rwn_ui.background.progress import searching
from rwn_ui.panel.parts import radius_note
from rwn_ui.state.session import Session, first_setting
from rwn_ui.state.shared_originals import share
from rwn_ui.state.work import Memo

if TYPE_CHECKING:
    from rwn_core.evaluation.draws import Ensemble
    from rwn_core.evaluation.registered_analysis import AnalysisResult, Standing
    from rwn_core.evaluation.validity import Validity

CARDS = tuple(rwn.MEASURES[key] for key in measures_of("tune"))
"""The measures of the charts of Tune after the map."""
SHOWN = (*measures_of("picture"), *(each.key for each in CARDS if not each.of_variable))
OF_ALL_KINDS = tuple(each.of_all_kinds for each in CARDS if each.of_all_kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentRelease:
    """One setting's release and what the measures say about it.

    `exact` is the release before its rounding, where there is any; `prepared` has drawn it, and
    `measures` are read with it.
    """

    params: Any
    prepared: Prepared
    exact: Masked
    masked: Masked
    measures: tuple[str, ...]
    comparison: Comparison

    @property
    def readings(self) -> dict[str, Reading[Any] | rwn.NotApplicable]:
        """Readings of the measures, computed at first use."""
        shown, keys = self.comparison, self.measures
        return shown.cached_for_release(
            "shown", lambda: {key: rwn.MEASURES[key].read(shown, bare=True) for key in keys}
        )


@dataclass(slots=True, kw_only=True)
class PreparedTable:
    """A table made ready for a method's sliders, with its own statistics kept."""

    data: rwn.Microdata
    prepared: Prepared
    comparison: Comparison

    @classmethod
    def prepare(
        cls,
        data: rwn.Microdata,
        progress: Progress | None = None,
        cancel: threading.Event | None = None,
        *,
        params: Method | None = None,
        most: int | None = None,
    ) -> PreparedTable:
        """Prepare every record, or a number of random records of a larger table."""
        # positions of levers do not matter
        start = first_setting(params.method, fixed_options(params)) if params else first_setting()
        return cls._with(
            data, start.preview(data, most=most or LIVE_RECORDS, progress=progress, cancel=cancel)
        )

    @classmethod
    def _with(cls, data: rwn.Microdata, prepared: Prepared) -> PreparedTable:
        if prepared.masks_all_records:
            comparison = Comparison(original=data, masked=data)
        else:
            comparison = Comparison.of_some(data, prepared.records)
        return cls(data=data, prepared=prepared, comparison=share(comparison))

    def with_slices(self, data: rwn.Microdata) -> PreparedTable:
        """Return the same records under the slices of `data`; no neighbor is searched again."""
        sliced = self.prepared.with_slices(data.schema.slices)
        return self._with(data, sliced)

    def is_quick(self, params: Any) -> bool:
        """True if the neighborhoods of a setting are stored."""
        setting, _ = unrounded(params)
        return self.prepared.with_setting(setting).is_quick

    def release(self, params: Any, seed: int, progress: Progress | None = None) -> CurrentRelease:
        """Draw the release of a setting."""
        # Beyond the stored neighbors the setting's own are searched for; `progress` is called then.
        setting, precision = unrounded(params)
        moved = self.prepared.with_setting(setting)
        exact = moved.release(SecretKey.from_seed(seed), progress=progress)
        masked = exact.rounded(precision)
        comparison = self.comparison.with_masked(masked.masked, masked.law)
        return CurrentRelease(
            params=params,
            prepared=moved,
            exact=exact,
            masked=masked,
            measures=(*SHOWN, *(OF_ALL_KINDS if is_mixed(self.data) else ())),
            comparison=comparison,
        )


Readings = Mapping[str, Reading[Any] | rwn.NotApplicable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All that one move has brought, made once and read by every part of a page."""

    name: str  # of the table
    table: rwn.Microdata
    projector: bool
    setting: Setting
    words: str  # of the setting
    seed: int
    levers: Mapping[str, Any]
    variable: str  # of the distribution card
    policy: rwn.Policy
    release: CurrentRelease
    readings: Readings
    verdict: Verdict
    pending: tuple[str, ...] = ()  # measures that are still to be read, in part or in full
    draws: Ensemble | None = None
    plan: tuple[AnalysisResult, ...] = ()  # the registered analyses on this release
    standings: tuple[Standing, ...] = ()  # and over the draws
    of_setting: Verdict | None = None  # over further draws, where they are known
    coming: str = ""  # else what is said of them
    validity: Validity | None = None  # of the setting's standard errors
    axis: str = ""  # the measure on the risk axis of the map, or `POLICY`
    compared: Mapping[str, rwn.Scenario] = field(default_factory=dict)
    # of the compared scenarios, by chart
    marks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def take(
        cls, session: Session, release: CurrentRelease, readings: Readings, **more: Any
    ) -> Snapshot:
        """Take the present choices with a release, its readings and the verdict on them.

        Where further draws of the setting are known, the verdict is that on one more release.
        """
        verdict = more.get("of_setting")
        if verdict is None:
            shown = release.comparison  # the share of released records, if too small to meet limits
            few = partial(too_few, release.params, shown.original, shown.masked)
            released = shown.cached_for_release("few", few)
            verdict = session.policy.judge(readings, released=released, params=release.params)
        return cls(
            name=session.name,
            table=session.data,
            projector=session.projector,
            setting=session.setting,
            words=session.words,
            seed=session.seed,
            levers=session.levers,
            variable=session.variable,
            policy=session.policy,
            release=release,
            readings=readings,
            verdict=verdict,
            **more,
        )

    def header(self, more: str = "") -> dict[str, Any]:
        """The beginning of a panel's payload: the table and the setting."""
        draws = "" if self.draws is None else f" · {self.draws.repeats} draws"
        masked = [each.name for each in self.table.schema.released if each.masked]
        levers = " · ".join(f"{SHORT_NAMES[name]} = {x:g}" for name, x in self.levers.items())
        return {
            "projector": self.projector,
            "table": self.name,
            "summary": {
                "name": setting_name(self.setting, masked),
                "levers": f"{levers} · seed {self.seed}{draws}{more}",
                "text": f"{self.words} · seed {self.seed}{draws}{more}",
                "help": radius_note(self.levers),
            },
        }

    def before(self, key: str) -> list[tuple[str, Mapping[str, float]]]:
        """The readings of a measure that the compared scenarios have, by their names."""
        shown = self.compared.items()
        return [(name, each.readings[key]) for name, each in shown if key in each.readings]


# decides: records up to which Utility and Sweep read all, though Tune shows some
ALL_RECORDS = 100_000
Key = tuple[Any, ...]


def memo(session: Session, feature: str, entries: int) -> Memo:
    """The results of a feature, of which the latest are kept."""
    memos = session.user.results.memos
    if feature not in memos:
        memos[feature] = Memo(entries)
    return memos[feature]


def table_key(data: rwn.Microdata) -> Key:
    """Cache key of a table: values, variables and their weights."""
    return data.fingerprint, data.schema


def verdict_key(session: Session) -> Key:
    """Cache key of what is found on a kind of setting: strengths do not count."""
    return *table_key(session.data), session.policy, session.family, session.precision


def start_key(session: Session) -> Key:
    """Cache key of what is suggested for a table: its values, kinds and roles, and the policy."""
    given = session.data.schema

    def unweighted() -> rwn.Schema:
        """The schema without slices and weights, which a suggestion may bring; with its use."""
        alone = given.with_slices(())
        variables = tuple(replace(each, weight=1.0) for each in alone.variables)
        return replace(alone, variables=variables, question=None, use=use_of(session.data))

    about = memo(session, "suggested for", 4).get_or_make(given, unweighted)
    return session.data.fingerprint, about, session.policy


def presets_key(session: Session) -> Key:
    """Cache key of what is suggested: of RWN for the table, of another method for its kind."""
    return start_key(session) if session.of_rwn else verdict_key(session)


def policy_presets(session: Session) -> dict[str, Setting]:
    """Suggested settings by their distance from the policy; empty while there are none."""
    found: dict[str, Setting] | None = memo(session, "presets", 8).get(presets_key(session))
    return found or {}


def setting_key(session: Session) -> Key:
    """Cache key of many releases of the current setting."""
    return *table_key(session.data), session.masking


def release_key(session: Session) -> Key:
    """Cache key of the current release."""
    return *setting_key(session), session.seed


def preparation_key(session: Session, data: rwn.Microdata, params: Method | None = None) -> Key:
    """Cache key of a prepared table: sliders, slices, regression and use do not count."""
    given = data.schema
    schema = memo(session, "schemas", 4).get_or_make(
        given, lambda: replace(given.with_slices(()), question=None, use=None)
    )
    return data.fingerprint, schema, params and family(params)


def prepared(session: Session) -> PreparedTable:
    """The prepared table, under its own slices and regression."""
    data = session.data
    params = session.setting.params

    def prepare() -> PreparedTable:
        table: PreparedTable = session.user.results.tables.get_or_make(
            preparation_key(session, data, params),
            lambda: PreparedTable.prepare(data, params=params),
        )
        return table if table.data.schema == data.schema else table.with_slices(data)

    return memo(session, "described tables", 2).get_or_make(
        (*table_key(data), session.family), prepare
    )


def is_drawn(session: Session) -> bool:
    """True if `current_release` has drawn it already."""
    return release_key(session) in memo(session, "releases", 8)


def current_release(
    session: Session, slot: DeltaGenerator | None = None, table: PreparedTable | None = None
) -> CurrentRelease:
    """The release of the current setting, as Tune shows it, and its readings."""
    return _release(session, table or prepared(session), slot, "releases")


def full_table(session: Session, slot: DeltaGenerator | None = None) -> PreparedTable:
    """The prepared table of all records, also where Tune shows some of them."""
    shown = prepared(session)
    data = session.data
    if shown.prepared.masks_all_records or data.n > ALL_RECORDS:
        return shown

    def prepare() -> PreparedTable:
        with searching(slot) as progress:
            return PreparedTable.prepare(data, progress, params=session.params, most=ALL_RECORDS)

    key = (*table_key(data), session.family)
    full: PreparedTable = memo(session, "full tables", 1).get_or_make(key, prepare)
    return full


def full_release(session: Session, slot: DeltaGenerator | None = None) -> CurrentRelease:
    """The release of all records of the current setting, and its readings."""
    table = full_table(session, slot)
    if table is prepared(session):
        return current_release(session, slot)
    return _release(session, table, slot, "full releases")


def _release(
    session: Session, table: PreparedTable, slot: DeltaGenerator | None, feature: str
) -> CurrentRelease:
    def draw() -> CurrentRelease:
        if slot is None:
            return table.release(session.masking, session.seed)
        with searching(slot) as progress:
            return table.release(session.masking, session.seed, progress)

    return memo(session, feature, 8).get_or_make(release_key(session), draw)
