"""Identity: what is doubted, asked and guessed, and that no file leaves before an answer."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Microdata, Role
from rwn_core.data.guess_schema import guess_schema
from rwn_core.data.identity import Confidence, identity_doubts
from rwn_core.data.identity.gate import with_answers
from rwn_core.data.identity.of_texts import _is_iban
from rwn_core.data.identity.profile import Profile
from rwn_core.data.open_questions import open_questions, require_answers
from rwn_core.data.role_guesses import guessed_roles, standard_file
from rwn_core.reporting import internal_record, read_record
from rwn_core.reporting.release_folder import reproduced
from tests.core.data.labelled_columns import GIVEN, Labelled, judged, labelled_columns, stops
from tests.tables import table

IDENTIFYING = ("first_name", "last_name", "dob", "lat", "lon", "household_id", "remark")
SETTING = rwn.RWN(k=5, q=0.5)


def people(n: int = 300, seed: int = 4) -> pd.DataFrame:
    """Make the table of finding T4: seven identifying variables among three harmless ones."""
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D")
    return pd.DataFrame(
        {
            "first_name": rng.choice(GIVEN[:15], n),
            "last_name": rng.choice(["Moser", "Auinger", "Leitgeb", "Zach", "Ofner"] * 3, n),
            "dob": born.strftime("%Y-%m-%d"),
            "lat": rng.uniform(48.1, 48.3, n).round(6),
            "lon": rng.uniform(16.2, 16.5, n).round(6),
            "household_id": np.repeat(np.arange(1000, 1000 + n // 3), 3),
            "remark": [f"moved in late, keeps {i} dogs" if i % 25 == 0 else None for i in range(n)],
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10, 0.5, n).round(),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def test_seven_identifying_variables_stop_a_release_until_they_are_answered(tmp_path):
    release = rwn.mask(rwn.Microdata.from_frame(people()), SETTING, rows="separate", seed=1)
    for way in (lambda: release.publish(tmp_path / "o.csv"), lambda: release.to_bytes("csv")):
        with pytest.raises(rwn.ReleaseError, match="may identify people") as refusal:
            way()
        said = f"{refusal.value} {refusal.value.__notes__}"
        assert all(name in said for name in IDENTIFYING)
        assert not any(name in said for name in ("income", "sex", GIVEN[0], "Moser", "dogs"))
    assert not (tmp_path / "o.csv").exists()
    for name in IDENTIFYING:  # one open doubt is enough
        others = [other for other in IDENTIFYING if other != name]
        with pytest.raises(rwn.ReleaseError, match=f"people: {name}\\."):
            release.to_bytes("csv", drop=others)
    release.publish(tmp_path / "o.csv", drop=IDENTIFYING[:6], keep=["remark"])
    assert list(pd.read_csv(tmp_path / "o.csv").columns) == ["remark", "age", "income", "sex"]
    with pytest.raises(rwn.ParameterError, match="one answer"):
        release.to_bytes("csv", drop=IDENTIFYING, keep=["remark"])


def test_a_role_in_a_schema_answers_and_a_guessed_one_does_not():
    data = rwn.Microdata.from_frame(people())
    data = data.with_schema(data.schema.with_rows("separate"))
    schema = with_answers(data.schema, drop=IDENTIFYING[:5], keep=["remark"])
    schema = schema.replace_variable("household_id", role=rwn.Role.KEY)
    again = rwn.Schema.from_toml(schema.to_toml())
    assert again == schema
    require_answers(data.with_schema(again))
    unanswered = rwn.Schema.from_toml(data.schema.to_toml())
    with pytest.raises(rwn.ReleaseError):
        require_answers(data.with_schema(unanswered))


def test_the_record_holds_the_answers_and_the_file_comes_out_again():
    data = rwn.Microdata.from_frame(people())
    data = data.with_schema(data.schema.with_rows("separate"))
    key = rwn.SecretKey.fresh()
    release = rwn.mask(data, SETTING, seed=key)
    content = release.to_bytes("csv", drop=IDENTIFYING[:6], keep=["remark"])
    record = read_record(
        internal_record(data, release, rwn.ReleasedFile.of(content, "csv"), measures=())
    )
    given = {row["variable"]: row["answer"] for row in record["identity"]}
    assert given == dict.fromkeys(IDENTIFYING[:6], "drop") | {"remark": "keep"}
    assert reproduced(record, data, key) == content


def test_a_dataset_is_refused_alike(tmp_path):
    people(1_200).to_parquet(tmp_path / "in.parquet")
    with pytest.raises(rwn.ReleaseError, match="household_id") as refusal:
        rwn.mask_dataset(tmp_path / "in.parquet", tmp_path / "out", rwn.RWN(k=3), seed=1)
    assert len(refusal.value.__notes__) == len(IDENTIFYING)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*"))


@pytest.fixture(scope="module")
def labelled() -> list[Labelled]:
    """Columns that identify people and columns that do not."""
    return labelled_columns()


def test_reliability_page_states_what_is_measured(labelled):
    page = (Path(__file__).parents[3] / "docs" / "reliability.md").read_text(encoding="utf-8")
    words, wrong = judged(labelled)
    assert (words in page, wrong) == (True, [])


def test_all_identifying_columns_are_found_in_one_table_too(labelled):
    columns = [each.values for each in labelled if each.identifies]
    frame = pd.DataFrame({column.name: column.iloc[:80] for column in columns})
    found = {doubt.variable for doubt in identity_doubts(frame, frame.columns) if doubt.stops}
    assert len(found) >= 0.95 * frame.shape[1], set(frame.columns) - found


def test_shuffling_the_rows_of_harmless_columns_raises_no_alarm(labelled):
    """Sorted by a quantity, a table has runs of equal values that are no households."""
    for each in labelled:
        if not each.identifies:
            values = each.values.sort_values(ignore_index=True)
            found = identity_doubts(values.to_frame(), [each.name])
            assert not any(doubt.stops for doubt in found), (each.name, found)


def test_a_design_weight_is_a_question_and_no_refusal():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"pweight": rng.uniform(1, 90, 200), "weight": rng.normal(70, 9, 200)})
    (doubt,) = identity_doubts(frame, frame.columns)
    assert (doubt.variable, doubt.confidence) == ("pweight", Confidence.LOW)
    assert not doubt.stops


def test_a_long_table_is_judged_by_blocks_of_its_rows():
    rng = np.random.default_rng(3)
    n = 40_000
    frame = pd.DataFrame(
        {
            "income": rng.lognormal(10, 0.5, n).round(2),
            "age": rng.integers(18, 95, n),
            "x": rng.normal(size=n),
            "city": pd.Categorical.from_codes(rng.integers(0, 50, n), [f"C{i}" for i in range(50)]),
            "visits": rng.poisson(3, n),
            "person_id": np.arange(n),
            "mail": [f"p{i}@example.org" for i in range(n)],
            "dob": pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
            "hh": np.repeat(np.arange(n), 3)[:n],
            "lat": rng.uniform(46, 49, n).round(6),
        }
    )
    found = {doubt.variable for doubt in identity_doubts(frame, frame.columns) if doubt.stops}
    assert found == {"person_id", "mail", "dob", "hh", "lat"}


N = 300
DRAWS = np.random.default_rng(5)


def whole(low: float, high: float, count: int = N) -> np.ndarray:
    """Whole numbers at equal steps, in no order."""
    return DRAWS.permutation(np.linspace(low, high, count).astype(int))


def times(step: int, different: int, each: int = 1) -> Any:
    """Times of three days, at steps of so many seconds, in no order."""
    at = [
        pd.Timestamp("2024-03-01") + pd.Timedelta(days=i % 3, seconds=step * (i // 3 + 1))
        for i in range(different)
    ]
    return pd.Series(at * each).sample(frac=1, random_state=1, ignore_index=True)


GIVEN_BOUNDS = ("Anna", "Peter", "Maria", "Thomas", "Julia", "Michael")
NUMBERS, SECONDS = "numbers of people or objects", "times to the second"
HALVES = np.concatenate((whole(10_007, 20_003, N // 2), whole(80_001, 99_991, N // 2)))
CASES: dict[str, tuple[Any, str]] = {
    "even": (whole(10_007, 99_991), NUMBERS),
    "two heaps": (DRAWS.permutation(HALVES), ""),
    "a bell": (DRAWS.permutation(np.unique(DRAWS.normal(50_000, 9_000, N).astype(int))), ""),
    "tens": (10 * whole(1_000, 9_999), ""),
    "two lengths": (whole(9_007, 99_991), ""),
    "seconds": (times(7, N), SECONDS),
    "seconds of three": (times(7, N // 3, 3), SECONDS),
    "seconds of four": (times(7, N // 4, 4), ""),
    "minutes": (times(420, N), "times to the minute"),
    "minutes of two": (times(420, N // 2, 2), ""),
    "hours": (times(3600, 60), ""),
    "twenty seconds": (times(7, 20), ""),
    "codes of six": ([f"QX{1000 + 7 * i}" for i in range(21)], NUMBERS),
    "codes of five": ([f"Q{1000 + 7 * i}" for i in range(21)], "names or numbers of people"),
    "twenty codes": ([f"QX{1000 + 7 * i}" for i in range(20)], ""),
    "eleven streets": ([f"{i + 3} Hill Street" for i in range(11)], "addresses"),
    "ten streets": ([f"{i + 3} Hill Street" for i in range(10)], ""),
    "six names": ([*GIVEN_BOUNDS[:6]] * 10, "names of people"),
    "five names": ([*GIVEN_BOUNDS[:5]] * 10, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_is_doubted_from_a_bound_on(case):
    values, looks_like = CASES[case]
    found = [each.looks_like for each in identity_doubts(pd.DataFrame({"v": values}), ["v"])]
    expected = [looks_like] if looks_like else []
    assert [each[: len(looks_like)] for each in found] == expected


def test_an_account_number_holds_its_checksum():
    assert _is_iban("DE89 3704 0044 0532 0130 00")
    assert not _is_iban("DE98 3704 0044 0532 0130 00")


@pytest.mark.parametrize(("north", "doubted"), [(48.2, True), (3.2, False)])
def test_a_pair_of_numbers_is_a_place_only_where_people_live(north, doubted):
    at = DRAWS.uniform(size=(2, N)) / 5 + [[north], [16.3]]
    table = pd.DataFrame({"v": at[0].round(5), "w": at[1].round(5)})
    assert bool(identity_doubts(table, ["v", "w"])) is doubted


ROWS = 400
RNG = np.random.default_rng(9)
BORN = pd.DatetimeIndex(
    pd.Timestamp("1935-01-01") + pd.to_timedelta(RNG.integers(0, 25_000, ROWS), "D")
)


def some(words: str) -> list[str]:
    """Draw a column of these words."""
    return RNG.choice(words.split(), ROWS).tolist()


DIGESTS = [hashlib.md5(str(i % 250).encode()).hexdigest()[:12] for i in range(ROWS)]
IDENTIFYING_LANGUAGES = {
    "v1": some("Małgorzata Paweł Stanisław Łukasz Bożena Wojciech Zofia Halina"),
    "v2": some("Sanne Daan Femke Bram Lotte Thijs Joost Maaike Jeroen"),
    "imie": some("Ania Kuba Gosia Staś"),
    "nazwisko": some("Lis Kot Sowa Wilk Dzik"),
    "имя": some("Иван Ольга Сергей Наталья"),
    "姓名": some("王伟 李娜 张敏 刘洋 陈静"),
    "signed": some("A.H. B.M. C.W. D.E. E.L. F.A. G.B. H.-P."),
    "initials": ["".join(RNG.choice(list("ABCDEFGHJK"), 2)) for _ in range(ROWS)],
    "handled_by": some("A.Lis B.Kot C.Sowa D.Wilk E.Dzik F.Jez G.Bobr"),
    "col": DIGESTS,
    "when": BORN.strftime("%d.%m.%y"),
    "day": BORN.strftime("%d%b%Y").str.upper(),
    "długość": RNG.uniform(20.8, 21.3, ROWS).round(5),
    "latitudine": RNG.uniform(41, 42, ROWS).round(5),
}
HARMLESS = {
    "stipendio": RNG.integers(15_000, 90_000, ROWS),
    "version": [f"{RNG.integers(1, 5)}.{RNG.integers(0, 30)}.{i % 60:02d}" for i in range(ROWS)],
    "customs_code": [f"{i % 97:02d}.{(7 * i) % 99:02d}.{(i * 31) % 99:02d}" for i in range(ROWS)],
    "chimie": some("acide base sel eau"),
    "part_of_day": some("a.m. p.m."),
    "comune": some("Siena Ferrara Messina Bergamo Lodi Monza Trento Padova Vicenza Verona Parma"),
    "nace": [f"{i % 96 + 1:02d}.{i % 9}" for i in range(ROWS)],
}


def test_what_identifies_in_another_language_or_notation_is_asked_about():
    for name, column in IDENTIFYING_LANGUAGES.items():
        frame = pd.DataFrame({name: column})
        (doubt,) = identity_doubts(frame, [name])
        assert doubt.stops, name
        values = {value for value in map(str, frame[name].unique()) if len(value) > 2}
        assert not any(value in doubt.sentence for value in values)
    for name, column in HARMLESS.items():  # what only resembles it is not
        doubts = identity_doubts(pd.DataFrame({name: column}), [name])
        assert not any(doubt.stops for doubt in doubts), name


N_QUESTIONS = 400
DRAWS_QUESTIONS = np.random.default_rng(1)


def asked(**columns: object) -> dict[str, str]:
    frame = pd.DataFrame({"x": np.arange(N_QUESTIONS) % 37 + 0.5, **columns})
    data = Microdata.from_frame(frame)
    return {f"{d.variable}: {d.kind}": d.sentence for d in open_questions(data.frame, data.schema)}


def test_identifiers_free_text_levels_constants_and_codes_are_named():
    income = DRAWS_QUESTIONS.integers(0, 60, N_QUESTIONS).astype(float)
    income[:5] = 999
    found = asked(
        number=np.arange(N_QUESTIONS) + 10_000,
        patient_id=np.arange(N_QUESTIONS) // 1.5 // 1,
        patientName=[f"P{i // 1.6 // 1:.0f}" for i in range(N_QUESTIONS)],
        ssn=[f"{i % 50 + 100}-22-{i % 50:04d}" for i in range(N_QUESTIONS)],
        remark=[f"the house is number {i // 2} of a row" for i in range(N_QUESTIONS)],
        town=[f"T{i % 90}" for i in range(N_QUESTIONS)],
        deaf=["no"] * (N_QUESTIONS - 2) + ["yes"] * 2,
        income=income,
        job=["n/a", "cook", "smith", "nurse"] * (N_QUESTIONS // 4),
    )
    assert set(found) == {
        "number: identifier",
        "patient_id: identifier",
        "patientName: identifier",
        "ssn: identifier",
        "remark: free text",
        "town: levels",
        "deaf: constant",
        "income: missing",
        "job: missing",
    }
    assert "5 values 999" in found["income: missing"]
    assert "2 records have" in found["deaf: constant"]
    assert not any("cook" in sentence or "house" in sentence for sentence in found.values())


def test_the_answer_is_written_to_the_schema_and_ends_the_question():
    frame = pd.DataFrame({"key": np.arange(100) + 7, "x": np.arange(100) % 9 * 0.5})
    data = Microdata.from_frame(frame)
    (doubt,) = open_questions(data.frame, data.schema)
    schema = data.schema.replace_variable(doubt.variable, **doubt.proposed.changes)
    assert doubt.stops
    assert schema.variable("key").role is Role.IDENTIFIER
    assert 'role = "identifier"' in schema.to_toml()
    assert open_questions(data.frame, schema) == []
    frame = pd.DataFrame({"x": [*np.arange(40.0) / 8, 999, 999]})
    (code,) = open_questions(frame, Microdata.from_frame(frame).schema)
    assert (code.kind, code.stops) == ("missing", False)


R = rwn.Role


def test_names_and_values_say_the_roles():
    data = table("survey")
    found = {guess.variable: guess.role for guess in guessed_roles(data.frame, data.schema)}
    assert found == {
        "hid": R.HOUSEHOLD,
        "design_weight": R.SAMPLING_WEIGHT,
        "Geschlecht": R.KEY,
        "age": R.KEY,
        "hhIncome": R.CONFIDENTIAL,
        "Krankheit": R.CONFIDENTIAL,
    }
    schema = data.schema.replace_variable("age", role=R.CONFIDENTIAL)
    schema = schema.replace_variable("opinion3", role=R.SAMPLING_WEIGHT)
    others = {guess.variable: guess.role for guess in guessed_roles(data.frame, schema)}
    assert set(found) - set(others) == {"design_weight", "age"}, "one weight, and no role twice"


# ruff: noqa: E501, RUF001 - names in their own letters, read in one line


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
    first = (1, 101, 5_000, 70_000, 100_000)[place % 5]
    values = first + np.sort(rng.choice(n * (5, 12)[place % 2], n, replace=False))
    return rng.permutation(values) if place % 3 else values


def test_the_gate_finds_names_in_other_scripts_and_numbers_given_out():
    rng = np.random.default_rng(8)
    scripts = list[pd.Series]()
    for number, script in enumerate(SCRIPTS):
        scripts.append(pd.Series(names(script, rng, 60, False), name=f"v{number}"))
        scripts.append(pd.Series(names(script, rng, 45, True), name=f"q{number}_text"))
    rng = np.random.default_rng(5)
    numbers = [pd.Series(given_out(rng, place), name=f"z{place}") for place in range(20)]
    found = [str(each.name) for each in (*scripts, *numbers) if stops(each)]
    assert (len(scripts), len(numbers)) == (40, 20)
    assert len(found) >= 55


@pytest.mark.parametrize("unit", [1, 10])
def test_quantities_are_not_numbers_given_out(unit):
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
def test_a_number_that_begins_with_the_household_is_a_persons(unit):
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
def test_an_amount_that_a_household_shares_is_no_number_of_households(shape):
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


DIGITS_OF_DAYS = (
    "{d:02d}{m:02d}{y}",
    "{m:02d}{d:02d}{y}",
    "{d:02d}{m:02d}{s:02d}",
    "{m:02d}/{y}",
    "{y}{m:02d}{d:02d}",
)


@pytest.mark.parametrize("form", DIGITS_OF_DAYS)
@pytest.mark.parametrize("name", ["dob", "birth_date", "geburtsdatum", "fecha_nacimiento"])
def test_days_of_birth_in_every_order_of_digits_are_asked_about(form, name):
    rng = np.random.default_rng(7)
    days = (rng.integers(low, high, 300) for low, high in ((1, 29), (1, 13), (1930, 2006)))
    born = [form.format(d=d, m=m, y=y, s=y % 100) for d, m, y in zip(*days, strict=True)]
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


@pytest.mark.parametrize("file", FILES)
def test_an_official_file_is_recognized_by_its_names(file):
    found = standard_file(FILES[file].split())
    assert found.name == file
    assert found.sentence.startswith(f"This looks like {file}: ")
    assert len(found.roles) >= 0.8 * len(FILES[file].split())


def test_a_table_of_plain_names_is_no_official_file():
    names = ["age", "sex", "race", "education", "region", "income", "married", "children"]
    assert standard_file(names) is None
    assert standard_file(f"x{n}" for n in range(40)) is None


def test_replicate_weights_are_left_out_with_the_reason():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({f"pwgtp{n}": rng.integers(1, 90, 100) for n in range(1, 21)})
    for n in range(1, 21):
        frame[f"item{n}"] = rng.integers(1, 6, 100)
    guesses = guessed_roles(frame, guess_schema(frame))
    assert {each.variable for each in guesses} == {f"pwgtp{n}" for n in range(1, 21)}
    assert {each.role for each in guesses} == {Role.IDENTIFIER}
    assert "replicate weights" in guesses[0].reason


def test_labels_and_values_say_roles_where_names_do_not():
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


def test_names_of_labor_economics_say_roles():
    """Logarithms, husbands' and mothers' values and squares are what they are made of."""
    role = {
        "key": "huseduc husage motheduc meduc educyr black hisp female kidslt6 agesq marry NACE1",
        "confidential": "lwage lfaminc huswage nwifeinc hrearn lannearn lavgsal linc IQ cigs lincome",
        "": "exper image message mileage garage price hours inch learn sales tenure x1 q17 passage "
        "sexton stageplay cage",
    }
    rng = np.random.default_rng(2)
    names = {name: wanted for wanted, some in role.items() for name in some.split()}
    frame = pd.DataFrame({name: rng.integers(1, 9, 200) for name in names})
    guessed = {each.variable: str(each.role) for each in guessed_roles(frame, guess_schema(frame))}
    assert {name: guessed.get(name, "") for name in names} == names


def test_a_body_is_no_weight_of_a_survey_and_a_unit_with_an_id_is_asked_about():
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


def test_texts_are_numbers_only_if_all_of_them_are_numerals():
    def numbers(*texts: str) -> Any:
        return Profile(pd.Series(texts)).numbers

    assert numbers("12", "13").tolist() == [12, 13]
    assert numbers("12", "1e3", "77") is None
    assert numbers(" ", "") is None


def test_eight_digits_before_1850_are_no_dates():
    days = pd.date_range("1700-01-01", periods=N).strftime("%Y%m%d").astype(int)
    assert Profile(pd.Series(days)).dates is None
