"""A published file replaces no other, and one of a small seed is said to be no secret."""

from __future__ import annotations

import warnings

import pytest

import rwn_core as rwn
from rwn_core.errors import ReleaseError, SeedWarning
from rwn_core.randomness import SecretKey
from rwn_core.reporting import ReleasedFile, internal_record
from rwn_core.reporting.release_record import read_record


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def test_publishing_replaces_nothing_unless_it_is_asked_to(data: rwn.Microdata, tmp_path) -> None:
    """Finding P2: the earlier secret draw was gone."""
    path = tmp_path / "out.csv"
    first = rwn.mask(data, rwn.RWN(k=5)).publish(path).read_bytes()
    second = rwn.mask(data, rwn.RWN(k=5))
    with pytest.raises(ReleaseError, match=r"out\.csv exists; .* overwrite=True to replace it"):
        second.publish(path)
    assert path.read_bytes() == first
    assert second.publish(path, overwrite=True) == path
    assert path.read_bytes() == second.to_bytes("csv")


def test_a_small_seed_is_said_when_its_release_is_published(data: rwn.Microdata, tmp_path) -> None:
    """Finding P2: a release that anybody can undo was published without a word."""
    seeded = rwn.mask(data, rwn.RWN(k=5), seed=7)
    with pytest.warns(SeedWarning, match="tries the small numbers can undo it"):
        seeded.publish(tmp_path / "seeded.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rwn.mask(data, rwn.RWN(k=5)).publish(tmp_path / "fresh.csv")
        rwn.mask(data, rwn.RWN(k=5), seed=SecretKey.fresh()).publish(tmp_path / "kept.csv")


def test_the_record_says_that_a_seed_drew_it(data: rwn.Microdata) -> None:
    for seed, words in ((7, "a seed, which is no secret"), (None, "forgotten")):
        release = rwn.mask(data, rwn.RWN(k=5), seed=seed)
        file = ReleasedFile.of(release.to_bytes("csv"), "csv")
        record = read_record(
            internal_record(data, release, file, measures=(), policy=rwn.Policy(limits=()))
        )
        assert words in record["file"]["key"]
