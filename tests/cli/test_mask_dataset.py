"""`rwn mask-dataset` refuses and says what `rwn mask` does of the same table, key and setting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.datasets import mask_dataset
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import profile_of
from tests.cli.conftest import Run


def patients(n: int) -> pd.DataFrame:
    """Numbers and a rare diagnosis that no near neighbor crosses."""
    rng = np.random.default_rng(2)
    rare = rng.permutation(n) < n // 16
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "bmi": rng.normal(26, 4, n).round(1),
            "hiv": np.where(rare, "pos", "neg"),
        }
    )


def both(run: Run, *given: object) -> list[tuple[int, list[str]]]:
    """Exit codes and lines of the two commands."""
    made = []
    for command, target in (("mask", "out.parquet"), ("mask-dataset", "out")):
        code, _, said = run(command, "in.parquet", target, *given)
        made.append((code, said.splitlines()))
    return made


def having(words: str, lines: list[str]) -> list[str]:
    return [line for line in lines if words in line]


def test_what_shows_only_true_values_is_not_written(rwn_command: Run) -> None:
    """Finding V4: of 6,000 people all of "pos" stand on their own rows, and the exit code was 0."""
    patients(6_000).to_parquet("in.parquet")
    one, other = both(rwn_command, "--epsilon", 0.2, "--k", 3)
    assert one == other
    code, lines = other
    assert code == 4
    assert lines[-1] == (
        "rwn: hiv is masked at this setting, but no cell changed: the file shows only true values. "
        "Choose a stronger setting, or state that it is not masked (--as-is NAME)."
    )
    # neither a release, nor parts of the original, nor a key to nothing
    assert rwn_command("mask-dataset", "in.parquet", "out", "--k", 3, "--key-file", "key")[0] == 4
    assert [path.name for path in Path().iterdir()] == ["in.parquet"]
    said = rwn_command.done("mask-dataset", "in.parquet", "out", "--k", 3, "--as-is", "hiv")
    assert "not masked, as stated: hiv" in said


@pytest.mark.parametrize(
    ("n", "given"),
    [
        (300, ("--k", 3)),
        # of settings that keep more, the one by day has roles that are stated
        pytest.param(300, ("--k", 200), marks=pytest.mark.nightly),
        (300, ("--k", 40, "--confidential", "bmi", "--key", "age")),
        (2_100, ("--k", 3)),
    ],
)
def test_the_limits_are_said_in_the_words_of_mask(
    rwn_command: Run, judged: None, n: int, given: tuple[object, ...]
) -> None:
    patients(n).to_parquet("in.parquet")
    (code, of_table), (code_of_dataset, of_dataset) = both(rwn_command, *given, "--seed", 1)
    assert code == code_of_dataset == 0
    (said,) = having("imit", of_table)
    assert having("imit", of_dataset) == [said.replace(" --record", " rwn mask --record")]
    assert having("true values", of_dataset) == having("true values", of_table)


def test_a_larger_dataset_is_not_judged_and_says_so(
    rwn_command: Run, judged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients(600).to_parquet("in.parquet")
    monkeypatch.setattr("rwn_core.data.identity.profile.PROFILE_ROWS", 200)
    monkeypatch.setattr(mask_dataset, "PROFILE_ROWS", 200)
    said = rwn_command.done("mask-dataset", "in.parquet", "out", "--k", 300, "--seed", 1)
    assert "No limit was read: on a table of this size it takes long." in said.splitlines()


def test_a_level_beyond_the_profile_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mask_dataset, "PROFILE_ROWS", 100)
    rows = np.arange(1_000)
    levels = np.where(rows // 5 == 11, "rare", "usual")  # between two blocks of the profile
    frame = pd.DataFrame(
        {"x": np.random.default_rng(0).normal(size=1_000), "level": levels, "same": "one"}
    )
    frame.to_parquet(tmp_path / "in.parquet")
    source = Dataset.at(tmp_path / "in.parquet")
    assert set(profile_of(source)["level"]) == {"usual"}
    with pytest.raises(rwn.ReleaseError, match=r"^level is masked at this setting, but no cell"):
        rwn.mask_dataset(tmp_path / "in.parquet", tmp_path / "out", rwn.RWN(k=2))
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
    made = rwn.mask_dataset(tmp_path / "in.parquet", tmp_path / "out", rwn.RWN(k=2), seed=1)
    assert made.untouched == ("level",)
