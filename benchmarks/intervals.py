"""Whether intervals of one balanced release hold: 20 models inside slices of each of four tables.

``python -m benchmarks intervals [TABLE ...] [--ways apart predicted] [--populations N]`` draws
samples of a table with replacement, masks each in two slices, and counts how often the interval of
the analyst's reader holds the table's own value. Beside it stands the unmasked sample with its own
interval. The verdict asks of each model a coverage of at least .95, or that of the unmasked sample,
less .02. A coverage of 200 samples has a standard error of .015, so that a model that misses is
judged anew by ``--again`` fresh samples, and by them alone.
Slices by prediction are masked twice, each slice once as the later one, and a model is read from
the release whose later slice has its variables: none is read from a first slice.
Models that leave their slice are the planted fault: the reader refuses them, and their intervals,
had it not, hold too seldom.
``python -m benchmarks intervals across`` looks at slopes across slices: see `intervals_across`.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks import intervals_across
from benchmarks.pages import say
from rwn_core.evaluation.valid_intervals import FACTOR, valid_intervals
from rwn_core.masking import SoftRWN
from rwn_core.reporting.readers import rwn_intervals

SETTING = SoftRWN(kernel="gaussian", balance=1.0)
TABLES: Mapping[str, tuple[tuple[str, str], tuple[str, ...], str]] = {
    # two slices, 20 models inside them, and one model across them
    "bodyfat": (
        ("siri age abdomen weight height", "chest hip thigh wrist"),
        (
            *("mean(siri)", "mean(age)", "mean(weight)", "mean(chest)", "mean(wrist)"),
            *("share(siri > 25)", "share(age <= 40)", "share(hip > 100)"),
            *("median(siri)", "median(height)", "quantile(weight, 0.75)", "median(thigh)"),
            *("siri ~ abdomen", "siri ~ abdomen + age", "log(weight) ~ log(height) + age"),
            *("abdomen ~ weight + height", "chest ~ hip", "hip ~ thigh + log(wrist)"),
            *("thigh ~ chest + wrist", "siri ~ age + weight"),
        ),
        "siri ~ chest",
    ),
    "pima": (
        ("test glucose bmi age", "diastolic triceps insulin pregnant diabetes"),
        (
            *("mean(glucose)", "mean(bmi)", "mean(diastolic)", "mean(diabetes)"),
            *("share(glucose > 140)", "share(age > 40)", "share(pregnant = 0)"),
            *("median(glucose)", "median(age)", "quantile(bmi, 0.75)", "median(diastolic)"),
            *("glucose ~ age", "glucose ~ age + bmi", "bmi ~ log(age)", "diastolic ~ pregnant"),
            *("diastolic ~ triceps + diabetes", "glucose ~ factor(test) + age"),
            *("test ~ glucose", "test ~ glucose + bmi", "test ~ log(age) + bmi"),
        ),
        "glucose ~ insulin",
    ),
    "cps1988": (
        ("wage education experience parttime", "ethnicity smsa region"),
        (
            *("mean(wage)", "mean(education)", "mean(experience)", "share(parttime = yes)"),
            *("share(smsa = no)", "share(region = south)", "share(education > 12)"),
            *("median(wage)", "median(experience)", "quantile(wage, 0.75)"),
            *("log(wage) ~ education", "log(wage) ~ education + experience + square(experience)"),
            *("log(wage) ~ education + parttime", "education ~ experience", "wage ~ education"),
            *("experience ~ parttime", "parttime ~ experience", "parttime ~ education"),
            *("smsa ~ region", "parttime ~ log(wage)"),
        ),
        "log(wage) ~ smsa",
    ),
    "randhie": (
        ("mdvis lncoins disea physlm idp", "lpi fmde hlthg"),
        (
            *("mean(mdvis)", "mean(disea)", "mean(lncoins)", "mean(lpi)", "mean(fmde)"),
            *("share(mdvis = 0)", "share(disea > 10)", "share(lpi > 6)"),
            *("median(disea)", "quantile(disea, 0.75)", "median(lpi)"),
            *("disea ~ physlm", "log(disea + 1) ~ lncoins", "mdvis ~ disea", "lpi ~ fmde"),
            *("disea ~ idp + lncoins", "fmde ~ hlthg + lpi", "idp ~ disea"),
            *("hlthg ~ lpi", "idp ~ disea + lncoins"),
        ),
        "disea ~ fmde",
    ),
}


def answers(file: pd.DataFrame, models: tuple[str, ...], slices: list[list[str]], factor: float):
    """Return estimate and ends of each model's last coefficient, shape (models, 3)."""
    about = {"refusal": "", "slices": slices, "factor": factor}
    read = rwn_intervals.Survey(
        {name: file[name].tolist() for name in file}, {"variables": (), "intervals": about}
    )
    found = []
    for model in models:
        response = model.partition(" ~ ")[0]
        kind = "logistic" if response in LOGISTIC and "~" in model else "linear"
        try:
            row = read.interval(model, kind).rows[-1]
            found.append((row.estimate, *row.interval))
        except rwn_intervals.Refused:
            found.append((np.nan,) * 3)
    return np.array(found)


LOGISTIC = frozenset({"test", "parttime", "smsa", "idp", "hlthg"})


def covered(
    name: str,
    populations: range,
    records: int,
    some: tuple[str, ...] | None = None,
    way: str = "apart",
) -> pd.DataFrame:
    """Return the coverage of each model's interval, of masked and of unmasked samples."""
    (one, two), models, across = TABLES[name]
    models = some or models
    slices = [one.split(), two.split()]
    data = rwn.load_demo(name)
    every = [*one.split(), *two.split()]
    frame = data.frame[every]
    truth = answers(frame, (*models, across), [every], 1.0)[:, 0]
    # the setting of a release, and which models are read from it; of a chain those of its later
    # slice
    whose = np.array([re.findall(r"[a-z_]+", model.partition("(")[2] or model)[0] in slices[1]
                      for model in models])  # fmt: skip
    releases = [(SETTING, np.ones(len(models), dtype=bool))]
    if way == "predicted":
        releases = []
        predicted = replace(SETTING, by_prediction=True, mixed=True)
        for later, first in ((1, slices[0]), (0, slices[1])):
            in_later = whose == (later == 1)
            if in_later.any():
                releases.append((replace(predicted, order=(first[0],)), in_later))
    held: dict[str, list[np.ndarray]] = {"masked": [], "unmasked": []}
    for number in populations:
        rng = np.random.default_rng((1, number))
        rows = rng.integers(0, len(frame), records)
        sample = rwn.Microdata.from_frame(frame.iloc[rows].reset_index(drop=True))
        # drawn one by one, whatever the table's own rows are
        sample = sample.with_schema(sample.schema.with_rows("separate"))
        masked = np.full((len(models) + 1, 3), np.nan)
        for setting, read in releases:
            release = rwn.mask(sample.with_slices(slices), setting, seed=number)
            judged = valid_intervals(release.original, release.law, records)
            assert judged["refusal"] == "", judged
            asked = tuple(np.array(models)[read])
            masked[:-1][read] = answers(release.masked.frame, asked, judged["slices"], FACTOR)
        masked[-1:] = answers(release.masked.frame, (across,), [every], FACTOR)
        own = answers(sample.frame, (*models, across), [every], 1.0)
        for key, found in (("masked", masked), ("unmasked", own)):
            inside = (found[:, 1] <= truth) & (truth <= found[:, 2])
            # a refusal is no interval
            held[key].append(np.where(np.isnan(found[:, 0]), np.nan, inside))
    shares = {key: np.nanmean(each, axis=0) for key, each in held.items()}
    refused = np.isnan(held["masked"]).mean(axis=0)
    found = pd.DataFrame({"model": [*models, across], **shares, "refused": refused})
    found["least"] = np.minimum(0.95, found["unmasked"]) - 0.02
    found["holds"] = found["masked"] >= found["least"]
    return found


def main() -> int:
    """Print the table and the verdict."""
    if sys.argv[1:2] == ["across"]:
        return intervals_across.main(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--populations", type=int, default=200)
    parser.add_argument("--again", type=int, default=800)
    parser.add_argument("--records", type=int, default=300)
    parser.add_argument("--ways", nargs="+", default=["apart", "predicted"])
    given = parser.parse_args()
    began = time.process_time()
    kept = True
    for way, name in product(given.ways, given.tables):
        found = covered(name, range(given.populations), given.records, way=way)
        missed = tuple(found["model"][:-1][~found["holds"][:-1]])
        if missed:
            fresh = range(given.populations, given.populations + given.again)
            anew = covered(name, fresh, given.records, missed, way).set_index("model")
            for row in found[found["model"].isin(missed)].itertuples():
                say(f"{row.model}: {row.masked:.3f}, unmasked {row.unmasked:.3f}; judged anew:")
            for column in ("masked", "unmasked", "refused", "least", "holds"):
                own = found["model"].map(anew[column].drop(TABLES[name][2]))
                found[column] = own.where(own.notna(), found[column]).astype(found[column].dtype)
        for row in found.itertuples():
            across = row.Index == len(found) - 1
            mark = "across slices" if across else "" if row.holds else "MISSED"
            say(
                f"{way:8} {name:8} {row.model:55} {row.masked:.3f} unmasked {row.unmasked:.3f} "
                f"refused {row.refused:.0%} {mark}"
            )
        inside = found[:-1]
        kept &= bool(inside["holds"].all())
        say(
            f"{name}, {way}: {int(inside['holds'].sum())} of {len(inside)} models hold, mean "
            f"coverage {inside['masked'].mean():.3f}, unmasked {inside['unmasked'].mean():.3f}; "
            f"across slices {found['masked'].iloc[-1]:.3f}"
        )
    say(f"{'all hold' if kept else 'NOT all hold'}; {time.process_time() - began:.0f} s")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
