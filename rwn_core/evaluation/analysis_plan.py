"""The analysis plan: the analyses that users will run, each with how far its answer may move.

The steward registers models and tables before choosing a setting. Every setting then passes or
fails each of them. An analysis plan names variables and tolerances and holds no data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import read_plain
from rwn_core.data.text_budget import MOST_ANALYSES, check_number
from rwn_core.data.toml import toml_document, toml_text
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import InputError, ParameterError
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.registered_analysis import Analysis, Verdict, analysis_work, verdict
from rwn_core.evaluation.repeated_draws import released_only, releases
from rwn_core.masking import Method
from rwn_core.measures.comparison import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisPlan(NamedParameters):
    """Hold the registered analyses, in order.

    Parameters
    ----------
    analyses : tuple of Analysis
        With different names.
    """

    analyses: tuple[Analysis, ...] = ()

    def __post_init__(self) -> None:
        """Refuse two analyses of one name."""
        object.__setattr__(self, "analyses", tuple(self.analyses))
        check_number(self.analyses, MOST_ANALYSES, "The registered analyses", ParameterError)
        for name, times in Counter(analysis.name for analysis in self.analyses).items():
            if times > 1:
                raise ParameterError(f"Two analyses have the name {name}; give each its own.")

    def work(self, microdata: Microdata) -> int:
        """Return about how many multiplications all analyses take on one release."""
        return sum(analysis_work(analysis, microdata) for analysis in self.analyses)

    def judge(self, comparison: Comparison) -> tuple[Verdict, ...]:
        """Run every analysis on the original and on the release.

        Parameters
        ----------
        comparison : Comparison
            What depends on the original alone is computed once for all its releases.

        Returns
        -------
        tuple of Verdict
        """
        return tuple(verdict(analysis, comparison) for analysis in self.analyses)

    def judge_setting(
        self,
        microdata: Microdata,
        params: Method,
        *,
        repeats: int = 8,
        seed: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> tuple[Standing, ...]:
        """Run every analysis on many releases of a setting: luck passes on some of them only.

        Parameters
        ----------
        microdata : Microdata
        params : Method
        repeats : int
            Releases, at least 1.
        seed : int, optional
            The releases have the keys of seed, seed + 1, ...; fresh keys if it is left out.
        progress : callable, optional
            Called with the share done, from 0 to 1.

        Returns
        -------
        tuple of Standing

        Raises
        ------
        ParameterError
            The method refuses the setting on this table.
        """
        comparison = compare(microdata, released_only(microdata))
        judged = []
        for masked, law in releases(microdata, params, repeats, seed, progress):
            judged.append(self.judge(comparison.with_masked(masked, law)))
        return tuple(_standing(each) for each in zip(*judged, strict=True))

    def to_records(self) -> list[dict[str, Any]]:
        """Plain data, without empty fields: for a scenario file."""
        return [
            {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in asdict(analysis).items()
                if value not in ("", ())
            }
            for analysis in self.analyses
        ]

    @classmethod
    def from_records(cls, records: Sequence[Mapping[str, Any]]) -> AnalysisPlan:
        """Read what `to_records` made; raises InputError or ParameterError."""
        plan: AnalysisPlan = read_plain(cls, records, "analysis plan", path="analysis")
        return plan

    def to_toml(self) -> str:
        """The analyses as TOML: an ``[[analysis]]`` table each."""
        records = self.to_records()
        return toml_text({"analysis": records} if records else {})

    @classmethod
    def from_toml(cls, text: str) -> AnalysisPlan:
        """Read the TOML form.

        Raises
        ------
        InputError, ParameterError
        """
        document = toml_document(text, "analysis plan")
        if set(document) - {"analysis"}:
            raise InputError("The analysis plan must hold [[analysis]] tables and nothing else.")
        return cls.from_records(document.get("analysis", []))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Hold the results of one analysis over many releases of a setting."""

    analysis: Analysis
    # passed, releases: on how many of the releases it passes
    passed: int
    releases: int
    value: float | None  # the median over the releases with an answer
    reason: str = ""  # why the first release without an answer has none; empty otherwise

    @property
    def always(self) -> bool:
        """True if it passes on every release."""
        return self.passed == self.releases


def _standing(verdicts: Sequence[Verdict]) -> Standing:
    values = [each.value for each in verdicts if each.value is not None]
    return Standing(
        analysis=verdicts[0].analysis,
        passed=sum(each.passed for each in verdicts),
        releases=len(verdicts),
        value=float(np.median(values)) if values else None,
        reason=next((each.reason for each in verdicts if each.reason), ""),
    )
