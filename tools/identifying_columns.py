"""Sixty columns that identify people; the second thirty were held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tools.identity_columns import (
    FAMILY,
    GIVEN,
    ROADS,
    Make,
    choice,
    days,
    digits,
    filled,
    households,
    integers,
    moments,
    people,
    sentences,
    texts,
    uniform,
    unique_integers,
    uuids,
)


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


def _counter(rng: np.random.Generator, n: int) -> Any:
    return np.arange(1, n + 1)


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
    "record": _counter,
    "uuid": uuids,
    "ip": _joined(
        integers(10, 200),
        choice(["."]),
        integers(0, 255),
        choice(["."]),
        integers(0, 255),
        choice(["."]),
        integers(1, 255),
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
