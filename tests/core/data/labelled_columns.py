"""Columns with labels: which identify people and which do not, to measure the identity gate by.

Of each label one half served to write the rules; the other half is held out. The same columns come
out every time.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.identity import identity_doubts

Make = Callable[[np.random.Generator, int], Any]


def word_list(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


GIVEN = word_list(
    "Lena Lukas Anna Maria Jonas Sophie Emil Clara Felix Ida Moritz Greta Pierre Camille Luc Manon "
    "Chloé Julien Carlos Lucía Pablo Elena Diego Sofía John Emily Harriet Oliver Grace Henry Aoife "
    "Siobhán Mehmet Ayşe Fatima Yusuf Agnieszka Piotr Zuzanna Björn Astrid Lars Ingrid Matteo "
    "Giulia Kwame Ngozi Priya Arjun Mei Haruto Olena Taras Noor Tariq"
)
FAMILY = word_list(
    "Moser Huber Gruber Steiner Müller Wagner Pichler Hofer Dubois Lefèvre Moreau Girard "
    "Perrin García "
    "Fernández Ruiz Ortega Smith Jones Taylor Brown O'Brien Hughes Carter Walsh Nowak "
    "Kowalski "
    "Lewandowska Yilmaz Demir Öztürk Rossi Esposito Ricci Andersson Nilsson Lindqvist Nguyen Patel "
    "Sharma Chen Okafor Mensah Shevchenko Petrov Horvat Novák Szabó Haddad Rahman Vogl Reisinger "
    "Brandstätter Thalhammer Achleitner"
)
ROADS = word_list("Haupt Bahnhof Linden Schul Kirchen Garten Wiesen Berg")
CITIES = word_list(
    "Vienna Graz Linz Salzburg Innsbruck Klagenfurt Bregenz Eisenstadt Villach Wels Steyr Dornbirn "
    "Krems Leoben Feldkirch Baden Amstetten Kapfenberg Mödling Traun"
)
JOBS = word_list(
    "Nurse Teacher Baker Carpenter Engineer Farmer Clerk Driver Cook Electrician Plumber Painter "
    "Waiter Lawyer Accountant Cleaner Mechanic Welder Guard Miner"
)
ILLS = word_list(
    "Diabetes Asthma Hypertension Migraine Anemia Arthritis Bronchitis Depression Epilepsy Gout "
    "Hepatitis Psoriasis Stroke Angina Eczema"
)
WORDS = word_list(
    "the patient came late moved to house near river son works abroad asked about pension lost job "
    "since spring lives with sister knee hurts after fall wants call back next week drives old bus"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One column with its label."""

    name: str
    identifies: bool
    held_out: bool  # True if the rules were written without it
    values: pd.Series[Any]


def stops(column: pd.Series) -> bool:
    """True if a table of this one column does not leave without an answer."""
    return any(doubt.stops for doubt in identity_doubts(column.to_frame(), [str(column.name)]))


def judged(columns: list[Labelled]) -> tuple[str, list[str]]:
    """Both shares as a sentence, and the columns that the gate judges wrongly."""
    found = {each.name: stops(each.values) for each in columns}
    people = [each.name for each in columns if each.identifies]
    others = [each.name for each in columns if not each.identifies]
    words = (
        f"{sum(found[name] for name in people)} of {len(people)} identifying columns found, "
        f"{sum(found[name] for name in others)} of {len(others)} others stopped"
    )
    return words, [each.name for each in columns if found[each.name] != each.identifies]


def labelled_columns() -> list[Labelled]:
    """Make all columns: 60 that identify people and 100 that do not, a half of each held out."""
    lists = (
        (IDENTIFYING, True, False),
        (IDENTIFYING_HELD_OUT, True, True),
        (HARMLESS, False, False),
        (HARMLESS_HELD_OUT, False, True),
    )
    made = []
    for number, (columns, identifies, held_out) in enumerate(lists):
        for place, (name, make) in enumerate(columns.items()):
            rng = np.random.default_rng([number, place])
            n = (80, 150, 300, 700, 2_000)[place % 5]
            values = pd.Series(make(rng, n), name=name)
            made.append(
                Labelled(name=name, identifies=identifies, held_out=held_out, values=values)
            )
    return made


def choice(values: Sequence[Any]) -> Make:
    """Draw from values, all as likely."""
    return lambda rng, n: [values[i] for i in rng.integers(0, len(values), n)]


def days(first: str, last: str, step: str = "D") -> Make:
    """Draw days, or first days of months, from the first to the last."""

    def make(rng: np.random.Generator, n: int) -> Any:
        choices = pd.date_range(first, last, freq=step)
        return choices[rng.integers(0, len(choices), n)]

    return make


def moments(first: str, last: str) -> Make:
    """Draw times to the second."""

    def make(rng: np.random.Generator, n: int) -> Any:
        low, high = pd.Timestamp(first), pd.Timestamp(last)
        seconds = rng.integers(0, int((high - low).total_seconds()), n)
        return low + pd.to_timedelta(seconds, unit="s")

    return make


def texts(days_or_moments: Make, form: str) -> Make:
    """Write dates as texts."""
    return lambda rng, n: pd.DatetimeIndex(days_or_moments(rng, n)).strftime(form)


def digits(count: int, form: str = "{}") -> Make:
    """Draw numbers of so many digits, as texts of a form."""

    def make(rng: np.random.Generator, n: int) -> list[str]:
        return [form.format("".join(map(str, rng.integers(0, 10, count)))) for _ in range(n)]

    return make


def filled(pattern: str) -> Make:
    """Draw codes: 9 becomes a digit and A a capital letter."""

    def drawn(letter: str, rng: np.random.Generator) -> str:
        if letter == "9":
            return str(rng.integers(0, 10))
        if letter == "A":
            return chr(65 + int(rng.integers(0, 26)))
        return letter

    def one(rng: np.random.Generator) -> str:
        return "".join(drawn(letter, rng) for letter in pattern)

    return lambda rng, n: [one(rng) for _ in range(n)]


def people(form: str = "{given} {family}") -> Make:
    """Draw names of people in a form."""

    def make(rng: np.random.Generator, n: int) -> list[str]:
        return [
            form.format(given=GIVEN[i], family=FAMILY[j], low=GIVEN[i].lower(), number=number)
            for i, j, number in zip(
                rng.integers(0, len(GIVEN), n),
                rng.integers(0, len(FAMILY), n),
                rng.integers(10, 999, n),
                strict=True,
            )
        ]

    return make


def sentences(least: int, most: int, share: float = 1.0) -> Make:
    """Draw sentences of so many words, in a share of the records."""

    def make(rng: np.random.Generator, n: int) -> list[str | None]:
        return [
            " ".join(WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(least, most + 1)))
            if rng.random() < share
            else None
            for _ in range(n)
        ]

    return make


def households(first: int = 1_000, step: int = 1, shuffled: bool = False) -> Make:
    """Number households of one to six people, who stand together unless shuffled."""

    def make(rng: np.random.Generator, n: int) -> Any:
        sizes = rng.choice(6, size=n, p=(0.3, 0.3, 0.15, 0.15, 0.06, 0.04)) + 1
        numbers = np.repeat(first + step * np.arange(n), sizes)[:n]
        return rng.permutation(numbers) if shuffled else numbers

    return make


def integers(low: int, high: int, unit: int = 1) -> Make:
    """Draw integers evenly."""
    return lambda rng, n: unit * rng.integers(low, high, n)


def unique_integers(low: int, high: int) -> Make:
    """Draw different integers."""
    return lambda rng, n: low + rng.choice(high - low, size=n, replace=False)


def normal(mean: float, sd: float, decimals: int = 1) -> Make:
    """Draw bell-shaped quantities."""
    return lambda rng, n: np.round(rng.normal(mean, sd, n), decimals)


def skewed(median: float, sigma: float, decimals: int = 0) -> Make:
    """Draw quantities with a long tail, as integers where no decimals are wanted."""

    def make(rng: np.random.Generator, n: int) -> Any:
        values = np.round(median * np.exp(rng.normal(0, sigma, n)), decimals)
        return values.astype(np.int64) if decimals == 0 else values

    return make


def uniform(low: float, high: float, decimals: int) -> Make:
    """Draw decimals evenly."""
    return lambda rng, n: np.round(rng.uniform(low, high, n), decimals)


def poisson(mean: float) -> Make:
    """Draw counts."""
    return lambda rng, n: rng.poisson(mean, n)


def uuids(rng: np.random.Generator, n: int) -> list[str]:
    """Draw random unique identifiers."""
    return [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(n)]


def _joined(*makes: Make) -> Make:
    """Put texts of several columns side by side."""

    def make(rng: np.random.Generator, n: int) -> list[str]:
        columns = [each(rng, n) for each in makes]
        return ["".join(map(str, row)) for row in zip(*columns, strict=True)]

    return make


def _card(rng: np.random.Generator, n: int) -> list[str]:
    """Draw card numbers whose check digit is right."""
    made = []
    for _ in range(n):
        body = [4, *rng.integers(0, 10, 14).tolist()]
        total = sum(d * 2 - 9 * (d > 4) if i % 2 == 0 else d for i, d in enumerate(body))
        made.append("".join(map(str, [*body, -total % 10])))
    return made


def _again(make: Make, share: float) -> Make:
    """Let values come again, so that a share of the records has a new one."""
    return lambda rng, n: [
        list(make(rng, max(int(share * n), 1)))[i]
        for i in rng.integers(0, max(int(share * n), 1), n)
    ]


def _iban(rng: np.random.Generator, n: int) -> list[str]:
    made = []
    for body in digits(16)(rng, n):
        check = 98 - int(body + "1029" + "00") % 97
        made.append(f"AT{check:02d}{body}")
    return made


IDENTIFYING: dict[str, Make] = {
    "first_name": choice(GIVEN[:15]),
    "last_name": choice(FAMILY),
    "dob": texts(days("1930-01-01", "2004-12-31"), "%Y-%m-%d"),
    "lat": uniform(48.1, 48.4, 6),
    "lon": uniform(16.2, 16.6, 6),
    "household_id": households(),
    "remark": sentences(4, 11, 0.08),
    "full_name": people(),
    "patient": people("{family}, {given}"),
    "e_mail": people("{low}.{number}@example.org"),
    "phone": digits(7, "+43 660 {}"),
    "admission_ts": moments("2023-01-01", "2023-12-31"),
    "employee_dup": _again(unique_integers(10_000, 99_999), 0.7),
    "idnum_float": lambda rng, n: unique_integers(100_000, 999_999)(rng, n).astype(float),
    "address": _joined(choice(ROADS), choice(["straße ", "gasse ", "weg "]), integers(1, 99)),
    "url": people("https://example.org/{low}/{number}"),
    "hhid": households(1, 1),
    "twitter": people("@{low}{number}"),
    "geocoord6": integers(160_000, 490_000),
    "family": _again(unique_integers(1_000, 9_000), 0.4),
    "ssn": filled("999-99-9999"),
    "iban": _iban,
    "record": lambda rng, n: np.arange(1, n + 1),
    "uuid": uuids,
    "ip": _joined(
        integers(10, 200), *[choice(["."]), integers(0, 255)] * 2, choice(["."]), integers(1, 255)
    ),
    "Kennzeichen": filled("W-9999AA"),
    "kundennummer": unique_integers(40_000, 60_000),
    "v3": people(),
    "v4": days("1925-01-01", "2006-12-31"),
    "hid": households(2_000, 3, shuffled=True),
}
IDENTIFYING_HELD_OUT: dict[str, Make] = {
    "Vorname": choice(GIVEN[15:40]),
    "NomDeFamille": choice(FAMILY[8:40]),
    "apellidos": people("{family} {family}"),
    "dateNaissance": texts(days("1940-01-01", "2010-12-31"), "%d/%m/%Y"),
    "GebDat": texts(days("1950-01-01", "1999-12-31"), "%d.%m.%Y"),
    "birth_date": lambda rng, n: [
        int(t) for t in texts(days("1938-01-01", "2001-12-31"), "%Y%m%d")(rng, n)
    ],
    "breitengrad": uniform(46.5, 48.9, 5),
    "gps_position": _joined(uniform(47.0, 49.0, 5), choice([", "]), uniform(9.6, 17.0, 5)),
    "x_utm": integers(500_000, 640_000),
    "HaushaltsNr": households(70_001, 1, shuffled=True),
    "grp_code": households(31_000, 7),
    "MobilNr": digits(8, "0676{}"),
    "contactEmail": people("{low}_{number}@firma.example"),
    "homepage": people("www.{low}{number}.example"),
    "AHV_Nummer": filled("756.9999.9999.99"),
    "passport_no": filled("P9999999"),
    "steuer_id": digits(11),
    "creditCard": _card,
    "mac_address": lambda rng, n: [":".join(f"{b:02X}" for b in rng.bytes(6)) for _ in range(n)],
    "imei": digits(15),
    "caseID": filled("C-2023-99999"),
    "respondent": unique_integers(100, 9_000),
    "bemerkung": sentences(5, 14, 0.5),
    "other_specify": sentences(3, 7, 0.15),
    "strasse": _joined(choice(ROADS), choice(["allee ", "platz ", "straße "]), integers(1, 60)),
    "rue": _joined(
        integers(1, 90),
        choice([" rue "]),
        choice(["Victor Hugo", "de la Gare", "du Moulin", "Pasteur"]),
    ),
    "last_login": texts(moments("2024-01-01", "2024-06-30"), "%Y-%m-%dT%H:%M:%S"),
    "q17": people("{given} {family}"),
    "col_b": unique_integers(10_000_000, 99_999_999),
    "referring_physician": people("Dr. {given} {family}"),
}

_LIKERT = (
    "Strongly disagree with this statement",
    "Rather disagree with this statement",
    "Neither agree nor disagree",
    "Rather agree with this statement",
    "Strongly agree with this statement",
)
_ICD = [f"{letter}{number:02d}" for letter in "ABEGIJK" for number in (10, 11, 25, 40, 45)]

HARMLESS: dict[str, Make] = {
    "income": skewed(32_000, 0.5),
    "score": normal(50, 10),
    "age": integers(18, 95),
    "birth_year": integers(1930, 2005),
    "children": poisson(1.4),
    "body_temperature": normal(36.8, 0.4, 1),
    "region_code": choice([1010, 1020, 1030, 2340, 3500, 4020, 5020, 6020, 8010, 9020]),
    "visit_month": texts(days("2022-01-01", "2023-12-01", "MS"), "%Y-%m"),
    "city": choice(CITIES),
    "occupation": choice(JOBS),
    "diagnosis": choice(ILLS),
    "severity": integers(1, 5),
    "weight": normal(75, 13, 1),
    "height_cm": normal(171, 9, 0),
    "glucose": normal(98, 17, 1),
    "smoker": integers(0, 2),
    "q1": choice(_LIKERT),
    "pct_fat": uniform(3, 45, 1),
    "rent_eur": skewed(850, 0.4),
    "icd_chapter": choice(list("ABCDEFGHIJ")),
    "household_size": integers(1, 8),
    "household_income": skewed(48_000, 0.6),
    "family_status": choice(["single", "married", "divorced", "widowed"]),
    "latency_ms": normal(230, 40, 3),
    "platelets": normal(250, 60, 0),
    "cardio_score": normal(0, 1, 4),
    "phone_owner": choice(["yes", "no"]),
    "id_type": choice(["passport", "driving licence", "identity card"]),
    "address_changed": choice([True, False]),
    "account_balance": skewed(3_000, 1.0, 2),
    "number_of_rooms": integers(1, 9),
    "distance_km": skewed(12, 0.8, 1),
    "systolic": normal(131, 17, 0),
    "cholesterol": normal(203.4, 38.2, 2),
    "hours_worked": normal(38, 9, 0),
    "wage": skewed(17.5, 0.5, 2),
    "education": choice(["primary", "secondary", "tertiary"]),
    "sex": choice(["f", "m"]),
    "icd": choice(_ICD),
    "steps": skewed(6_800, 0.4),
    "x1": normal(0, 1, 15),
    "x2": uniform(0, 1, 15),
    "creatinine": normal(0.9, 0.2, 2),
    "calories": normal(2_200, 380, 0),
    "time_of_day": choice(["morning", "noon", "evening", "night"]),
    "survey_year": integers(2001, 2023),
    "drug_name": choice(["Aspirin", "Metformin", "Ramipril", "Statin", "Insulin", "Warfarin"]),
    "country": choice(["Austria", "Germany", "France", "Italy", "Spain", "Poland"]),
    "marathon_minutes": normal(251, 40, 0),
    "p_value": uniform(0, 1, 4),
}
HARMLESS_HELD_OUT: dict[str, Make] = {
    "Einkommen": skewed(2_400, 0.5, 2),
    "salaire_annuel": skewed(31_500, 0.4),
    "Alter": integers(16, 99),
    "annee_etudes": integers(8, 20),
    "Anzahl_Kinder": poisson(1.2),
    "Temperatur": normal(11.2, 8.1, 1),
    "bundesland": choice(["Wien", "Tirol", "Kärnten", "Burgenland", "Steiermark", "Vorarlberg"]),
    "admission_month": days("2020-01-01", "2023-12-01", "MS"),
    "visit_date": days("2022-01-01", "2022-12-31"),
    "ciudad": choice(["Madrid", "Sevilla", "Valencia", "Bilbao", "Zaragoza", "Granada"]),
    "Beruf": choice(["Bäcker", "Schneider", "Koch", "Maurer", "Lehrerin", "Pflegerin", "Tischler"]),
    "blood_group": choice(["A", "B", "AB", "0"]),
    "hemoglobin": normal(14.1, 1.3, 1),
    "tsh": skewed(1.8, 0.5, 2),
    "birth_weight": normal(3_380, 480, 0),
    "birth_order": integers(1, 6),
    "Zufriedenheit": integers(1, 11),
    "share_rural": uniform(0, 100, 2),
    "price_usd": skewed(129, 0.8, 2),
    "miete": skewed(780, 0.35),
    "ordinal": choice(["low", "medium", "high"]),
    "name_change": choice(["no", "yes"]),
    "email_contact_ok": choice(["yes", "no", "unknown"]),
    "device_type": choice(["phone", "tablet", "desktop"]),
    "card_type": choice(["debit", "credit", "none"]),
    "plate_count": poisson(6),
    "longevity": normal(78.31, 9.2, 2),
    "geography_score": normal(61.2, 14, 1),
    "num_visits": poisson(3),
    "id_check_passed": integers(0, 2),
    "zip_region": choice(["10xx", "20xx", "30xx", "40xx", "50xx"]),
    "tenure_days": skewed(900, 0.7),
    "bmi": normal(26.2, 4.4, 1),
    "waist": normal(94.1, 11.3, 1),
    "ldl": normal(131.2, 33.1, 1),
    "alt_u_l": skewed(24, 0.5),
    "pulse": normal(72, 11, 0),
    "reaction_s": skewed(0.41, 0.3, 4),
    "exam_points": integers(0, 101),
    "kwh_year": skewed(3_400, 0.5),
    "area_m2": normal(84, 27, 0),
    "mileage": skewed(61_000, 0.7),
    "gene_expression": normal(7.31, 1.9, 6),
    "z": normal(0, 1, 15),
    "treatment": choice(["placebo", "verum"]),
    "stage": integers(1, 5),
    "nace": choice(["A", "C", "F", "G", "I", "Q"]),
    "antall_barn": poisson(1.6),
    "species": choice(["setosa", "versicolor", "virginica"]),
    "score_month3": lambda rng, n: np.clip(np.round(rng.normal(21, 6, n)), 0, 42),
}
