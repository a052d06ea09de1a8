"""One release of bodyfat with its record and evidence, for all tests of reports."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.reporting import ReleasedFile, facts, internal_record, read_record
from rwn_core.reporting.evidence import read_evidence
from rwn_core.reporting.facts import Audience, Content, Entry, Material
from rwn_core.reporting.release_record import Basis, internal_files


def made_of(data: Microdata, params: Any, basis: Basis | None = None) -> Material:
    release = rwn.mask(data, params)
    file = ReleasedFile.of(release.to_bytes("csv"), "csv")
    record, evidence = internal_files(data, release, file, basis or Basis())
    return Material(record=read_record(record), evidence=read_evidence(evidence))


def quickly_made_of(data: Microdata, params: Any, measures: Sequence[str]) -> Material:
    """Without evidence: what a public file needs."""
    release = rwn.mask(data, params)
    file = ReleasedFile.of(release.to_bytes("csv"), "csv")
    policy = rwn.Policy(limits=())
    text = internal_record(data, release, file, measures=measures, policy=policy)
    return Material(record=read_record(text))


def touched(made: Material) -> Material:
    """Return the material as if each masked variable had a changed cell."""
    record: dict[str, Any] = copy.deepcopy(dict(made.record))
    record["table"]["untouched"] = []
    return replace(made, record=record)


def plant(monkeypatch: pytest.MonkeyPatch, *lines: str, among: str = "FACTS") -> None:
    """Let a public fact say something more."""
    fact = Entry(
        key="use", title="Use", audience=Audience.BOTH, make=lambda _: Content(lines=lines)
    )
    others = [each for each in getattr(facts, among) if each.key != "use"]
    monkeypatch.setattr(facts, among, (*others, fact))


@pytest.fixture(autouse=True)
def _no_process_reads(read_here: None) -> None:
    """Let files be read in this process."""


@pytest.fixture(autouse=True)
def _small(small_forests: None) -> None:
    """Let releases be judged by small forests."""


@pytest.fixture(scope="session")
def bodyfat_table() -> Microdata:
    return rwn.load_demo("bodyfat")


@pytest.fixture(scope="session")
def kept_material(bodyfat_table: Microdata) -> Material:
    source = {"file": "/home/Zaphod/survey.csv"}
    return made_of(bodyfat_table, rwn.RWN(epsilon=2.0, k=5), Basis(source=source))


@pytest.fixture
def material(kept_material: Material) -> Material:
    return copy.deepcopy(kept_material)
