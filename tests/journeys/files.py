"""Three files as people have them, drawn from a seed: a survey, a clinical table, a workbook."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import xlsxwriter

_SCALE = {1: "very good", 2: "good", 3: "fair", 4: "bad", 5: "very bad"}
_REFUSED = 9_999_998
_LABELS: dict[str, dict[int | str, str]] = {
    "region": {i: f"Region {i}" for i in range(1, 9)},
    "urban": {1: "rural", 2: "town", 3: "city"},
    "sex": {1: "male", 2: "female"},
    "marital": {1: "single", 2: "married", 3: "divorced", 4: "widowed"},
    "citizen": {1: "this country", 2: "EU", 3: "other"},
    "educ": {1: "primary", 2: "lower secondary", 3: "upper secondary", 4: "college", 5: "degree"},
    "sector": {i: f"Sector {i}" for i in range(1, 8)},
    "health": {**_SCALE, 8: "does not know", 9: "refused"},
    "smoker": {1: "daily", 2: "sometimes", 3: "never", 9: "refused"},
    "trust": {**_SCALE, 8: "does not know", 9: "refused"},
    "vote": {i: f"Party {i}" for i in range(1, 6)} | {8: "did not vote", 9: "refused"},
    "internet": {1: "yes", 2: "no"},
    "income": {_REFUSED: "refused"},
    "hhincome": {_REFUSED: "refused"},
}
_MISSING = {
    name: [code for code in codes if code in (9, 8, _REFUSED)]
    for name, codes in _LABELS.items()
    if {9, _REFUSED} & codes.keys()
}


def survey(path: Path, n: int = 10_000) -> Path:
    """Write a survey of n people and 25 variables as SPSS has it."""
    draw = np.random.default_rng(37)
    size = draw.choice([1, 2, 3, 4], n, p=[0.35, 0.35, 0.15, 0.15])
    household = np.repeat(np.arange(n), size)[:n]
    members = np.bincount(household)[household]
    region, urban = (draw.integers(1, high, household[-1] + 1)[household] for high in (9, 4))
    age = np.clip(draw.gamma(6, 8, n), 16, 95).round()
    educ = np.clip(1 + (draw.normal(2.4, 1.1, n) - (age - 50) / 60).round(), 1, 5)
    effort = draw.normal(0, 0.5, n) + 0.22 * educ + 0.01 * np.minimum(age, 55)
    income = np.exp(7 + effort).round()
    hhincome = np.bincount(household, income)[household]
    sick = np.clip((age / 25 + draw.normal(0, 0.9, n)).round(), 1, 5)
    frame = pd.DataFrame(
        {
            "persnr": draw.permutation(n) + 100_001,
            "hid": household + 5001,
            "region": region,
            "urban": urban,
            "sex": draw.integers(1, 3, n),
            "age": age,
            "marital": np.where(age < 28, 1, draw.choice([1, 2, 2, 2, 3, 4], n)),
            "citizen": draw.choice([1, 2, 3], n, p=[0.85, 0.09, 0.06]),
            "educ": educ,
            "occup": (10 * educ + draw.integers(0, 9, n)),
            "sector": draw.integers(1, 8, n),
            "hours": np.clip((36 + 6 * effort + draw.normal(0, 8, n)).round(), 0, 80),
            "income": np.where(draw.random(n) < 0.05, _REFUSED, income),
            "hhincome": np.where(draw.random(n) < 0.05, _REFUSED, hhincome),
            "rent": (0.2 * hhincome * draw.uniform(0.6, 1.4, n)).round(),
            "hhsize": members,
            "health": np.where(draw.random(n) < 0.03, 9, sick),
            "smoker": np.where(draw.random(n) < 0.02, 9, draw.choice([1, 2, 3, 3, 3], n)),
            "bmi": (22 + sick + draw.normal(0, 3.5, n)).round(1),
            "visits": draw.poisson(1 + sick),
            "satisf": np.clip((8.5 - sick + draw.normal(0, 1.5, n)).round(), 0, 10),
            "trust": np.where(draw.random(n) < 0.04, 8, draw.integers(1, 6, n)),
            "vote": draw.choice([1, 2, 3, 4, 5, 8, 9], n, p=[0.2, 0.2, 0.15, 0.1, 0.05, 0.2, 0.1]),
            "internet": np.where(age + draw.normal(0, 15, n) < 70, 1, 2),
            "dweight": draw.uniform(0.5, 1.9, (9, 4))[region, urban].round(4),  # by stratum
        }
    )
    names = "Person number;Household;Region;Type of place;Sex;Age;Marital status;Citizenship;"
    names += "Education;Occupation, two digits;Sector;Hours a week;Income a month;"
    names += "Income of the household;Rent;People in the household;Health;Smoking;"
    names += "Body mass index;Visits to a doctor;Satisfaction with life;Trust in the courts;"
    names += "Vote;Internet at home;Design weight"
    pyreadstat.write_sav(
        frame.astype(float),
        str(path),
        column_labels=names.split(";"),
        variable_value_labels=_LABELS,
        missing_ranges=_MISSING,
        variable_measure={
            name: "nominal" if name in _LABELS and name not in _MISSING else "unknown"
            for name in frame
        }
        | dict.fromkeys(("educ", "health", "trust"), "ordinal")
        | dict.fromkeys(("smoker", "vote"), "nominal")
        | dict.fromkeys(("income", "hhincome"), "scale"),
    )
    return path


def clinical(path: Path, n: int = 250) -> Path:
    """Write a clinical table of n patients as CSV."""
    draw = np.random.default_rng(250)
    stage = draw.choice([1, 2, 3, 4], n, p=[0.1, 0.25, 0.35, 0.3])
    bilirubin = np.exp(draw.normal(0.3 + 0.35 * (stage - 2), 0.7, n)).round(1)
    entered = pd.Timestamp("2019-01-07") + pd.to_timedelta(draw.integers(0, 1500, n), "D")
    days = np.exp(draw.normal(7.8, 0.5, n) - 0.25 * stage).round().astype(int)
    frame = pd.DataFrame(
        {
            "patient": [f"P{number:04d}" for number in draw.permutation(9000)[:n]],
            "trt": draw.integers(1, 3, n),
            "entered": entered.strftime("%Y-%m-%d"),
            "age": draw.normal(51, 10, n).round(1).clip(26, 78),
            "sex": draw.choice(["f", "m"], n, p=[0.85, 0.15]),
            "ascites": draw.random(n) < 0.04 * stage,
            "edema": np.where(stage == 4, draw.choice([0, 0.5, 1], n), 0),
            "bilirubin": bilirubin,
            "cholesterol": draw.normal(350, 90, n).round().clip(120),
            "albumin": (3.8 - 0.12 * stage + draw.normal(0, 0.35, n)).round(2),
            "copper": np.exp(draw.normal(4 + 0.15 * stage, 0.6, n)).round(),
            "platelets": draw.normal(260, 90, n).round().clip(60),
            "stage": stage,
            "followed": days,
            "outcome": np.where(draw.random(n) < 0.12 * stage, "dead", "alive"),
        }
    )
    for name in ("cholesterol", "copper", "platelets"):
        frame.loc[draw.random(n) < 0.08, name] = np.nan
    frame.to_csv(path, index=False)
    return path


def workbook(path: Path, n: int = 160) -> Path:
    """Write n people as offices do: lines around, merged cells, decimal commas, words for none."""
    draw = np.random.default_rng(4)
    wards = ["North", "South", "East", "West", "Old town", "Port", "Hill", "Mill"]
    age = draw.integers(19, 66, n)
    wage = 300 + 6.5 * age + draw.normal(0, 60, n)
    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet("Table 7")
        page.merge_range(0, 0, 0, 6, "The office, table 7: staff and pay")
        page.write(1, 0, "As of 2024")
        page.write(2, 0, "Confidential")
        page.write_row(4, 0, ["ward", "age", "sex", "wage", "hired", "score", "sick_days"])
        for row in range(n):
            place = 5 + row
            score = "k.A." if draw.random() < 0.06 else int(draw.integers(1, 101))
            hired = pd.Timestamp("2001-01-01") + pd.Timedelta(days=int(draw.integers(0, 8000)))
            page.write_row(place, 1, [int(age[row]), "mw"[int(draw.integers(2))]])
            page.write(place, 3, f"{wage[row]:.1f}".replace(".", ","))
            page.write(place, 4, f"{hired:%d.%m.%Y}")
            page.write_row(place, 5, [score, int(draw.poisson(6))])
        each = n // len(wards)
        for block, ward in enumerate(wards):
            page.merge_range(5 + each * block, 0, 4 + each * (block + 1), 0, ward)
        page.write(5 + n, 0, "Source: the office")
    return path


def ward(path: Path, n: int = 180) -> Path:
    draw = np.random.default_rng(61)
    severity = draw.normal(0, 1, n)
    frame = pd.DataFrame(
        {
            "age": (60 + 9 * severity + draw.normal(0, 9, n)).round().clip(18, 95),
            "lactate": np.exp(0.4 + 0.4 * severity + draw.normal(0, 0.3, n)).round(1),
            "pressure": (85 - 8 * severity + draw.normal(0, 8, n)).round(),
            "days": np.exp(1.5 + 0.3 * severity + draw.normal(0, 0.4, n)).round(),
            "ventilated": (severity + draw.normal(0, 1, n) > 1).astype(int),
        }
    )
    frame.to_csv(path, index=False)
    return path
