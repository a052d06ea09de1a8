"""Which registered analyses pass: on the release on screen, and over releases of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.analysis import Verdict
from rwn_core.comparison import Comparison
from rwn_core.day_pass import Standing
from rwn_core.figures.style import shorten
from rwn_core.masking import Rounded
from rwn_core.neighborhoods import LARGEST_DENSE
from rwn_core.scenario import Scenario
from rwn_ui.session import Session
from rwn_ui.utility_results import Desk, desk, place_of

RELEASES = 8  # of a scenario, on which the registered analyses are run
RELEASES_OF_LARGE = 4


def verdicts(session: Session, mine: Desk, comparison: Comparison) -> tuple[Verdict, ...]:
    """The registered analyses on the release on screen."""
    registered = session.day_pass
    if not registered.analyses or comparison.file is not None:
        return ()  # standard errors of some records say nothing about all
    return mine.memo.once(
        ("day pass", registered, place_of(session)), lambda: registered.judge(comparison)
    )


def tile(found: Sequence[Verdict]) -> dict[str, Any]:
    """Pass or fail in one tile; its help names every analysis."""
    failed = [verdict for verdict in found if not verdict.passed]
    names = [f"{'✓' if verdict.passed else '▲'} {verdict.analysis.name}" for verdict in found]
    return {
        "label": "Day pass",
        "released": f"{len(found) - len(failed)} of {len(found)}",
        "state": "over" if failed else "ok",
        "limit": shorten(", ".join(verdict.analysis.name for verdict in failed), 26)
        or "all within tolerance",
        "help": "The registered analyses whose answer stays within its tolerance on this release: "
        f"{' · '.join(names)}.",
        "against": [],
    }


def standings(session: Session, scenario: Scenario) -> tuple[Standing, ...] | None:
    """The registered analyses on several releases of a scenario; none of another table's.

    Where nothing is registered now, those of the scenario itself.
    """
    registered = session.day_pass if session.day_pass.analyses else scenario.day_pass
    own = not scenario.table or scenario.table == session.data.fingerprint
    if scenario.setting is None or not own or not registered.analyses:
        return None
    setting = scenario.setting
    large = session.data.n > LARGEST_DENSE
    key = ("standings", registered, session.data.fingerprint, setting.key, scenario.seed)

    def judge() -> tuple[Standing, ...] | None:
        with st.spinner("Running the registered analyses"):
            try:
                return registered.judge_setting(
                    setting.weighted(session.data),
                    Rounded(params=setting.params, precision=setting.precision)
                    if setting.precision
                    else setting.params,
                    repeats=RELEASES_OF_LARGE if large else RELEASES,
                    seed=scenario.seed,
                )
            except rwn.RWNError:
                return None

    return desk(session).memo.once(key, judge)


def standing_words(found: Standing) -> str:
    """Pass or fail of one analysis over several releases, with its median."""
    if found.value is None:
        return f"▲ {found.reason}"
    if found.always:
        return f"✓ pass ({found.value:.3g})"
    if not found.passed:
        return f"▲ fail ({found.value:.3g})"
    return f"▲ passes on {found.passed} of {found.releases} ({found.value:.3g})"
