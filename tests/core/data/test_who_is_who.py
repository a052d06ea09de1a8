"""People are found by what a column does: numbers given out, names in every script, known files."""
# ruff: noqa: E501, RUF001 - names in their own letters, read in one line

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.guess_schema import guess_schema
from rwn_core.data.identity import identity_doubts
from rwn_core.data.role_guesses import guessed_roles, standard_file
from rwn_core.data.variable import Role
from tests.core.data.labelled_columns import labelled_columns, stops

SCRIPTS = {
    "Vietnamese": "Nguyễn Trần Lê Phạm Hoàng Võ Đặng Bùi|Văn Thị Hữu Đức Minh|An Bình Chi Dũng Hà Lan",
    "Chinese": "王 李 张 刘 陈 杨 黄 赵 吴 周||伟 芳 娜 秀英 敏 静丽 强 磊 军洋 艳 勇 杰 娟 涛 明超",
    "Japanese": "佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村||翔 陽菜 蓮 結衣 大輔 美咲 健太 愛 直樹 由美",
    "Katakana": "サトウ スズキ タカハシ タナカ イトウ|| ショウ ハルナ レン ユイ ケンタ アイ ナオキ ユミ",
    "Korean": "김 이 박 최 정 강 조 윤 장 임||민준 서연 도윤 지우 하준 서현 예준 지민 주원 수빈",
    "Arabic": "محمد أحمد علي حسن فاطمة مريم عمر خالد||الحداد المصري النجار العلي الخطيب الشامي حداد",
    "Persian": "رضا زهرا مهدی سارا حسین نگار امیر لیلا||رضایی محمدی کریمی احمدی حسینی موسوی جعفری",
    "Urdu": "عائشہ بلال حمزہ زینب عثمان فاطمہ سعد ہما||خان ملک چوہدری قریشی بٹ شیخ مرزا بیگ",
    "Hebrew": "דוד שרה יוסף רחל משה לאה נועם יעל||כהן לוי מזרחי פרץ ביטון דהן אברהם פרידמן",
    "Hindi": "राम सीता मोहन गीता विजय अनीता सुनील मीना||शर्मा वर्मा सिंह गुप्ता यादव मिश्रा पटेल जोशी",
    "Bengali": "রহিম করিম সালমা ফাতেমা হাসান নাসরিন আলম রুমা||আহমেদ খাতুন হোসেন বেগম চৌধুরী সরকার দাস",
    "Tamil": "முருகன் லட்சுமி கண்ணன் மீனா குமார் பிரியா||சுந்தரம் ராஜன் செல்வம் நாதன் பாண்டியன் வேலு",
    "Thai": "สมชาย สมหญิง วิชัย มาลี ประเสริฐ นิดา||ใจดี สุขใจ ทองดี แก้วมณี ศรีสุข บุญมา",
    "Russian": "Иван Мария Сергей Ольга Дмитрий Анна||Иванов Петрова Смирнов Кузнецова Попов Соколова",
    "Ukrainian": "Тарас Оксана Богдан Леся Андрій Соломія||Шевченко Коваленко Бондар Ткачук Мельник Лисенко",
    "Greek": "Γιώργος Μαρία Νίκος Ελένη Κώστας Άννα||Παπαδόπουλος Νικολάου Γεωργίου Ιωάννου Δημητρίου",
    "Georgian": "გიორგი ნინო დავით მარიამ ლევან თამარ||ბერიძე კაპანაძე გელაშვილი მამედოვი ლომიძე",
    "Armenian": "Արմեն Անի Գոռ Լիլիթ Հայկ Մարիամ||Հակոբյան Սարգսյան Գրիգորյան Պետրոսյան Մկրտչյան",
    "Amharic": "አበበ ሰላም ዳዊት ሄለን ተስፋዬ ማርታ||ከበደ ታደሰ ገብሬ አለሙ ወልደ ኃይሌ በቀለ",
    "African": "Chukwuemeka Oluwaseun Thandiwe Kofi Amara Sipho|Ade Nana Zola|Okonkwo Mbeki Dlamini Osei Banda",
}
"""By script family names or given ones, what may stand between, and the other part."""


def names(script: str, rng: np.random.Generator, n: int, spaced: bool) -> list[str]:
    first, middle, last = (part.split() for part in SCRIPTS[script].split("|"))
    glued = script in ("Chinese", "Korean") and not spaced
    made = []
    for _ in range(n):
        parts = [rng.choice(first), rng.choice(last)]
        if not glued and rng.random() < 0.6:  # a second name
            parts.insert(1, rng.choice(middle or first))
        made.append(("" if glued else " ").join(map(str, parts)))
    return made


def given_out(rng: np.random.Generator, place: int) -> Any:
    """Numbers that are given out once each, of many sizes, gaps and orders."""
    n = (300, 600, 1_200, 3_000)[place % 4]
    width = n * (5, 12)[place % 2]
    first = (1, 101, 5_000, 70_000, 100_000)[place % 5]
    values = first + np.sort(rng.choice(width, n, replace=False))
    return rng.permutation(values) if place % 3 else values


def columns() -> list[pd.Series]:
    rng = np.random.default_rng(8)
    made = []
    for number, script in enumerate(SCRIPTS):
        made.append(pd.Series(names(script, rng, 60, False), name=f"v{number}"))
        made.append(pd.Series(names(script, rng, 45, True), name=f"q{number}_text"))
    return made


def test_the_gate_finds_names_in_other_scripts_and_numbers_given_out() -> None:
    scripts = columns()
    rng = np.random.default_rng(5)
    numbers = [pd.Series(given_out(rng, place), name=f"z{place}") for place in range(20)]
    own = [each.values for each in labelled_columns() if each.identifies][:40]
    found = [str(each.name) for each in (*scripts, *numbers, *own) if stops(each)]
    assert (len(scripts), len(numbers), len(own)) == (40, 20, 40)
    assert len(found) >= 95
    harmless = [each.values for each in labelled_columns() if not each.identifies]
    assert len(harmless) == 100
    assert sum(map(stops, harmless)) <= 5


@pytest.mark.parametrize("unit", [1, 10])
def test_quantities_are_not_numbers_given_out(unit: int) -> None:
    rng = np.random.default_rng(3)
    n = 4_000
    quantities = {
        "a": rng.lognormal(10, 0.5, n),
        "b": rng.gamma(2.0, 20_000, n),
        "c": rng.normal(3_400, 500, n),
        "d": rng.uniform(0, 500_000, n),
        "e": rng.poisson(40, n) * 1_000 + rng.poisson(400, n),
        "f": rng.exponential(90_000, n),
    }
    frame = pd.DataFrame(
        {name: (each // unit * unit).astype(int) for name, each in quantities.items()}
    )
    assert [each.sentence for each in identity_doubts(frame, frame.columns) if each.stops] == []


@pytest.mark.parametrize("unit", [10, 100, 1_000])
def test_a_number_that_begins_with_the_household_is_a_persons(unit: int) -> None:
    rng = np.random.default_rng(unit)
    numbers = np.sort(rng.choice(90_000, 700, replace=False)) + 1
    sizes = rng.integers(1, 6, len(numbers))
    household = np.repeat(numbers, sizes)
    person = household * unit + np.concatenate([np.arange(1, size + 1) for size in sizes])
    frame = pd.DataFrame({"a1": person, "a2": household, "pay": rng.lognormal(8, 1, len(person))})
    frame = frame.sample(frac=1.0, random_state=1)  # no order helps
    found = {each.variable: each.looks_like for each in identity_doubts(frame, frame.columns)}
    assert found == {"a1": "numbers of people", "a2": "numbers of households"}


AMOUNTS = (
    "hhincome HHIncome household_income haushaltseinkommen householdincome hhinc famearnings wealth"
)
"""Names of what all members of a household have in common without being their number."""


@pytest.mark.parametrize("shape", ["amounts", "codes"])
def test_an_amount_that_a_household_shares_is_no_number_of_households(shape: str) -> None:
    """Of the same values, a name that says an amount is believed, one that says a number is not."""
    rng = np.random.default_rng(11)
    each = {
        "amounts": np.exp(8 + rng.normal(0, 0.6, 200)).round(),
        "codes": rng.choice(90_000, 200, replace=False) + 10_000.0,
    }[shape]
    frame = pd.DataFrame({"shared": np.repeat(each, rng.choice([1, 2, 3, 4], 200))})
    frame.loc[rng.random(len(frame)) < 0.03, "shared"] = np.nan

    def found(name: str) -> list[str]:
        doubts = identity_doubts(frame.rename(columns={"shared": name}), [name])
        return [each.looks_like for each in doubts]

    for name in AMOUNTS.split():
        assert found(name) == [], name
    for name in ("a7", "hhincome_id", "einkommensnummer", "party", "benefitunit"):
        assert len(found(name)) == 1, name


@pytest.mark.parametrize(
    "form",
    [
        "{d:02d}{m:02d}{y}",
        "{m:02d}{d:02d}{y}",
        "{d:02d}{m:02d}{s:02d}",
        "{m:02d}/{y}",
        "{y}{m:02d}{d:02d}",
    ],
)
@pytest.mark.parametrize("name", ["dob", "birth_date", "geburtsdatum", "fecha_nacimiento"])
def test_days_of_birth_in_every_order_of_digits_are_asked_about(form: str, name: str) -> None:
    rng = np.random.default_rng(7)
    born = [
        form.format(d=d, m=m, y=y, s=y % 100)
        for d, m, y in zip(
            rng.integers(1, 29, 300),
            rng.integers(1, 13, 300),
            rng.integers(1930, 2006, 300),
            strict=True,
        )
    ]
    texts = pd.Series(born, name=name)
    assert stops(texts)
    if "/" not in form:
        assert stops(texts.astype(int))


FILES = {
    "EU-SILC": "db030 hsize db040 rb030 age rb090 pl031 pb220a py010g py050g py090g hy040g hy050g hx090 db090 rb050",
    "DHS": "caseid v001 v002 v003 v005 v012 v021 v024 v025 v106 v130 v131 v190 v201 v501 v525 v763a",
    "NHANES": "SEQN SDMVPSU SDMVSTRA WTMEC2YR RIAGENDR RIDAGEYR RIDRETH3 DMDEDUC2 DMDMARTL INDFMPIR BMXBMI LBXGLU DIQ010",
    "ACS PUMS": "SERIALNO SPORDER PWGTP PUMA ST AGEP SEX RAC1P HISP MAR SCHL CIT OCCP PINCP WAGP HICOV",
    "ESS": "idno cntry essround dweight pspwght gndr agea region marsts eisced hhmmb domicil hinctnta vote lrscale health",
    "IPUMS": "YEAR SERIAL PERNUM HHWT PERWT STATEFIP AGE SEX RACE HISPAN MARST BPL EDUC EMPSTAT OCC IND INCTOT INCWAGE",
    "GSS": "id year wtssall vpsu vstrat age sex race marital degree region relig hompop wrkstat coninc rincome polviews",
    "EU-LFS": "COUNTRY REGION HHNUM HHSEQNUM COEFF SEX AGE MARSTAT NATIONAL HATLEV1D ILOSTAT ISCO3D NACE1D STAPRO INCDECIL",
}
TRUTH = {
    "EU-SILC": {
        Role.HOUSEHOLD: "db030",
        Role.IDENTIFIER: "rb030",
        Role.SAMPLING_WEIGHT: "db090",
        Role.KEY: "hsize db040 age rb090 pl031 pb220a",
        Role.CONFIDENTIAL: "py010g py050g py090g hy040g hy050g hx090",
    },
    "DHS": {
        Role.SAMPLING_WEIGHT: "v005",
        Role.IDENTIFIER: "caseid v001 v002 v003 v021",
        Role.KEY: "v012 v024 v025 v106 v130 v131 v201 v501",
        Role.CONFIDENTIAL: "v190 v525 v763a",
    },
    "NHANES": {
        Role.SAMPLING_WEIGHT: "WTMEC2YR",
        Role.IDENTIFIER: "SEQN SDMVPSU SDMVSTRA",
        Role.KEY: "RIAGENDR RIDAGEYR RIDRETH3 DMDEDUC2 DMDMARTL",
        Role.CONFIDENTIAL: "INDFMPIR BMXBMI LBXGLU DIQ010",
    },
    "IPUMS": {
        Role.SAMPLING_WEIGHT: "HHWT",
        Role.HOUSEHOLD: "SERIAL",
        Role.IDENTIFIER: "PERNUM",
        Role.KEY: "STATEFIP AGE SEX RACE HISPAN MARST BPL EDUC EMPSTAT OCC IND",
        Role.CONFIDENTIAL: "INCTOT INCWAGE",
    },
}


@pytest.mark.parametrize("file", FILES)
def test_an_official_file_is_recognized_by_its_names(file: str) -> None:
    found = standard_file(FILES[file].split())
    assert found is not None
    assert found.name == file
    assert found.sentence.startswith(f"This looks like {file}: ")
    assert len(found.roles) >= 0.8 * len(FILES[file].split())


@pytest.mark.parametrize("file", TRUTH)
def test_its_roles_are_those_of_the_file(file: str) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.integers(1, 9, 200) for name in FILES[file].split()})
    guessed = {each.variable: each.role for each in guessed_roles(frame, guess_schema(frame))}
    wanted = {name: role for role, some in TRUTH[file].items() for name in some.split()}
    right = sum(guessed.get(name) == role for name, role in wanted.items())
    assert right >= 0.8 * len(wanted)
    assert not {name for name in guessed if name.lower() in ("year", "essround")}


def test_a_table_of_plain_names_is_no_official_file() -> None:
    assert (
        standard_file(
            ["age", "sex", "race", "education", "region", "income", "married", "children"]
        )
        is None
    )
    assert standard_file(f"x{n}" for n in range(40)) is None


def test_replicate_weights_are_left_out_with_the_reason() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({f"pwgtp{n}": rng.integers(1, 90, 100) for n in range(1, 21)})
    for n in range(1, 21):
        frame[f"item{n}"] = rng.integers(1, 6, 100)
    guesses = guessed_roles(frame, guess_schema(frame))
    assert {each.variable for each in guesses} == {f"pwgtp{n}" for n in range(1, 21)}
    assert {each.role for each in guesses} == {Role.IDENTIFIER}
    assert "replicate weights" in guesses[0].reason


def test_labels_and_values_say_roles_where_names_do_not() -> None:
    rng = np.random.default_rng(4)
    household = np.repeat(np.arange(2_000, 2_100), 3)
    frame = pd.DataFrame(
        {
            "hh": household,
            "q1": rng.choice(["male", "female"], 300),
            "q2": rng.choice(["AT", "DE", "FR", "IT"], 300),
            "q3": rng.lognormal(8, 1, 300).round(2),
            "q4": rng.integers(1, 5, 300),
            "wt": np.repeat(rng.uniform(20, 900, 100), 3).round(4),
            "netinc": rng.lognormal(8, 1, 300).round(),
            "Bruttolohn": rng.lognormal(8, 1, 300).round(),
        }
    )
    schema = guess_schema(frame).replace_variable("q3", label="Monthly income of the person")
    schema = schema.replace_variable("q4", label="Highest education")
    roles = {each.variable: each.role for each in guessed_roles(frame, schema)}
    assert roles == {
        "hh": Role.HOUSEHOLD,
        "q1": Role.KEY,
        "q2": Role.KEY,
        "q3": Role.CONFIDENTIAL,
        "q4": Role.KEY,
        "wt": Role.SAMPLING_WEIGHT,
        "netinc": Role.CONFIDENTIAL,
        "Bruttolohn": Role.CONFIDENTIAL,
    }
    # what a body weighs differs within a household
    bodies = frame.assign(wt=rng.normal(72, 12, 300).round(1))
    assert "wt" not in {each.variable for each in guessed_roles(bodies, guess_schema(bodies))}


def test_names_of_labor_economics_say_roles() -> None:
    """Logarithms, husbands' and mothers' values and squares are what they are made of."""
    role = {
        "key": "huseduc husage motheduc meduc educyr black hisp female kidslt6 agesq marry NACE1",
        "confidential": "lwage lfaminc huswage nwifeinc hrearn lannearn lavgsal linc IQ cigs lincome",
        "": "exper image message mileage garage price hours inch learn sales tenure",
    }
    rng = np.random.default_rng(2)
    names = {name: wanted for wanted, some in role.items() for name in some.split()}
    frame = pd.DataFrame({name: rng.integers(1, 9, 200) for name in names})
    guessed = {each.variable: str(each.role) for each in guessed_roles(frame, guess_schema(frame))}
    assert {name: guessed.get(name, "") for name in names} == names


def test_a_body_is_no_weight_of_a_survey_and_a_unit_with_an_id_is_asked_about() -> None:
    rng = np.random.default_rng(2)
    unit = np.repeat(rng.permutation(np.arange(70_000, 70_060)), 20)
    frame = pd.DataFrame(
        {
            "BodyWgt": rng.lognormal(3, 1, 1_200),
            "birth_wgt": rng.normal(3_400, 400, 1_200).round(),
            "IDunit": unit,
            "region": unit % 7,
            "xcoo": rng.integers(300_000, 700_000, 1_200),
            "final_wgt": rng.lognormal(5, 0.4, 1_200),
        }
    )
    guessed = {each.variable: each.role for each in guessed_roles(frame, guess_schema(frame))}
    assert [n for n, role in guessed.items() if role is Role.SAMPLING_WEIGHT] == ["final_wgt"]
    asked = {each.variable for each in identity_doubts(frame, frame.columns) if each.stops}
    assert asked == {"IDunit", "xcoo"}
