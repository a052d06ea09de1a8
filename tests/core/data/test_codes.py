"""Numbers that are codes are categories, and numbers of other people are no persons."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rwn_core import Kind, Role
from rwn_core.data.codes import codes_of
from rwn_core.data.role_guesses import guessed_roles
from rwn_core.io.parse import parse
from tests.core.data.labelled_columns import word_list

N = 300
# names of columns, and the codes that they have
CODES = {
    "nace": [1, 10, 25, 28, 47, 62, 86],
    "NACE_R2": [111, 4711, 6201, 8610],
    "isic4": [111, 1010, 4711, 6201],
    "naics": [111110, 236115, 445110, 621111],
    "naics2": [11, 23, 44, 62],
    "sic_code": [111, 2011, 5411, 8011],
    "noga": [11, 471, 620, 861],
    "wz08": [1.11, 47.11, 62.01, 86.1],
    "industry": [3, 7, 12, 40],
    "indust": [1, 2, 3, 9],
    "branche": [1, 4, 6, 17],
    "sector": [1, 2, 3, 4],
    "isco08": [1120, 2221, 5223, 9112],
    "isco_88": [1, 2, 5, 9],
    "soc2010": [1115, 2231, 5311],
    "kldb2010": [25102, 71302, 81302],
    "occupation": [1, 2, 3, 4, 5, 6],
    "occ1990": [4, 95, 313, 889],
    "occ_code": [10, 205, 4760],
    "beruf": [11, 311, 781],
    "anzsco": [111111, 254411, 312112],
    "job": [1, 2, 3, 6],
    "region": [1, 2, 3, 4],
    "region_code": [11, 12, 24],
    "nuts2": [11, 12, 13, 31],
    "bundesland": [1, 5, 9, 16],
    "kreis": [1001, 5315, 9162],
    "ags": [5315000, 9162000, 11000000],
    "gkz": [10101, 60101, 90001],
    "fips": [1001, 6037, 48201],
    "statefip": [1, 6, 36, 48],
    "county": [1, 37, 201],
    "canton": [1, 2, 21, 26],
    "gemeinde": [261, 351, 6621],
    "puma": [100, 3701, 3810],
    "tract": [10100, 20302, 980000],
    "district": [1, 5, 9],
    "country": [40, 276, 756, 840],
    "country_of_birth": [40, 276, 688],
    "nationality": [40, 276, 792],
    "citizenship": [1, 2, 5],
    "msa": [1120, 4480, 5600],
    "departement": [1, 13, 75],
    "icd9": [250.01, 401.9, 428.0],
    "icd9_main": [250, 401, 486],
    "diagnosis": [8, 38, 250, 428],
    "diag1": [250.83, 276.0, 648.0],
    "diag_2": [250.01, 427.0, 411.0],
    "drg": [39, 127, 470],
    "mdc": [1, 5, 8],
    "cpt": [99213, 99214, 93000],
    "procedure": [3, 45, 81],
    "religion": [1, 2, 3, 7],
    "language": [1, 2, 5],
    "ethnicity": [1, 2, 3],
    "race": [1, 2, 3, 4, 5],
    "marital": [1, 2, 3, 4],
    "marital_status": [1, 2, 3, 6],
    "isced11": [0, 1, 3, 5, 8],
    "coicop": [1111, 2110, 7211],
    "cpa": [1.1, 10.2, 62.0],
    "hs6": [10121, 870323, 940360],
    "product": [11, 305, 4021],
    "contract_type": [1, 2, 3],
    "admission_type_id": [1, 2, 3],
    "vehicle_class": [1, 2, 3, 8],
    "code": [11, 13, 208],
    "area_code": [212, 415, 907],
    "status": [1, 2, 3],
    "worker_cat": [1, 2, 4],
}
# names of columns that are like those of codes, and count or measure something
NUMBERS = word_list("""
age income industry_share region_income n_regions occupation_prestige isei job_satisfaction
hours children diagnosis_count drg_weight country_gdp language_score number_of_jobs hh_size
height weight_kg status_score procedure_minutes product_price sector_growth race_rank
county_population educ_years bmi visits distance_km marital_years claims_cost
""")
OTHERS = word_list("""
mother_id father_id guardian_id guardian_1 parent_no spouse_id spouse_nr partner_id husband_id
wife_id head_id head_of_household_id reference_person sibling_id brother_id sister_id
grandmother_id doctor_id physician_id gp_number teacher_id interviewer interviewer_id
enumerator_id supervisor_id manager_id employer_id landlord_id caregiver_id proxy_id
informant_id flat_id flat_no apartment_nr room_no bed_no building_id dwelling_id arzt_nr
lehrer_id
""")


def with_codes() -> pd.DataFrame:
    """A table with all columns of codes and numbers."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({name: rng.choice(values, N) for name, values in CODES.items()})
    for number, name in enumerate(NUMBERS):
        values = rng.gamma(3, 20, N).round() if number % 2 else rng.normal(500, 90, N).round(1)
        frame[name] = values.astype("int64") if number % 2 else values
    return frame


def test_codes_are_categories_and_what_is_named_like_them_is_not() -> None:
    frame = with_codes()
    assert len(frame.columns) == 100
    data = parse("t.csv", frame.to_csv(index=False).encode())
    wrong = [
        variable.name
        for variable in data.schema.variables
        if (variable.kind is Kind.CATEGORICAL) is not (variable.name in CODES)
    ]
    assert len(wrong) <= 5, wrong
    assert any(notice.startswith("nace has codes of industries") for notice in data.notices)


def test_the_schema_of_a_user_says_that_a_code_is_a_number() -> None:
    content = with_codes().to_csv(index=False).encode()
    data = parse("t.csv", content)
    counted = data.schema.replace_variable("sector", kind=Kind.COUNT)
    assert parse("t.csv", content, counted).schema.variable("sector").kind is Kind.COUNT


def test_two_values_and_long_numbers_are_no_codes() -> None:
    assert codes_of(pd.Series([0, 1, 1, 0], name="region")) == ""
    assert codes_of(pd.Series([1, 2, 3, -9], name="region")) == "regions or countries"
    assert codes_of(pd.Series([1.5, 2.25, 3.125], name="nace")) == ""
    assert codes_of(pd.Series([1_000_001, 2, 3], name="isco")) == ""
    assert codes_of(pd.Series([200, 350, 412], name="cd40")) == ""  # cells
    assert codes_of(pd.Series([70.0, 81.5, 79.0], name="hs_grad")) == ""  # a share
    assert codes_of(pd.Series(range(8_300, 8_400), name="diag")) == ""  # days
    assert codes_of(pd.Series([3, 5, 28], name="diag.time")) == ""


def test_numbers_of_other_people_are_no_persons() -> None:
    """Each numbers the groups of a panel: no two of its rows are of one year."""
    rng = np.random.default_rng(3)
    wrong = []
    for name in [*OTHERS, "person_id"]:
        people = np.repeat(rng.permutation(np.arange(1001, 1031)), 4)
        years = np.tile([2015, 2016, 2017, 2018], 30)
        frame = pd.DataFrame({name: people, "year": years, "pay": rng.normal(9, 2, 120).round(2)})
        data = parse("t.csv", frame.to_csv(index=False).encode())
        role = {guess.variable: guess.role for guess in guessed_roles(data.frame, data.schema)}
        if (role.get(name) is Role.PERSON) is not (name == "person_id"):
            wrong.append(name)
    assert len(OTHERS) == 40
    assert wrong == []
