"""Fixed-width extracts with a DDI codebook: every cell is the value that was written."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rwn_core as rwn
from rwn_cli.main import run
from rwn_core import InputError, Kind, Microdata, ParameterError
from rwn_core.io.fixed_width_format import FORMAT
from rwn_core.io.parse import parse, table_content

SPACES = ("", ' xmlns="ddi:codebook:2_5"', ' xmlns="http://www.icpsr.umich.edu/DDI"')
STATES = ("NY", "Île", None, "01", "")


def var(name: str, start: int, end: int, more: str = "", about: str = "", kind: str = "") -> str:
    form = f'<varFormat type="{kind or "numeric"}" schema="other"/>'
    place = f'<location EndPos="{end}" StartPos="{start}" width="{end - start + 1}"/>'
    return f'<var ID="{name}" name="{name}" {about}>{place}{more}{form}</var>'


def category(code: object, label: str, about: str = "") -> str:
    return f"<catgry {about}><catValu>{code}</catValu><labl>{label}</labl></catgry>"


def codebook(*variables: str, space: str = SPACES[1], structure: str = "rectangular") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><codeBook version="2.5"{space}><fileDscr><fileTxt>'
        f'<fileName>usa.dat</fileName><fileStrc type="{structure}"/>'
        f'<fileType charset="ISO-8859-1">data</fileType></fileTxt></fileDscr><dataDscr>'
        f"{''.join(variables)}</dataDscr></codeBook>"
    )


SEX = category(1, "Male") + category(2, "Female &amp; other")
SEX += category(9, "Unknown", 'missing="Y"')
VARIABLES = (
    var("YEAR", 1, 4, "<labl>Census\n year</labl>" + category(2012, "2012"), 'dcml="0"'),
    var("PERWT", 5, 14, "<labl>Person weight</labl>", 'dcml="2" intrvl="contin"'),
    var("SEX", 15, 15, "<labl>Sex</labl>" + SEX, 'intrvl="discrete"'),
    var("STATE", 16, 18, "<labl>State</labl>", kind="character"),
    var("INCTOT", 19, 26, category("9999999", "N/A")),
    var("RATIO", 27, 32, "", 'dcml="3"'),
)
PLAIN = (var("A", 1, 2), var("B", 3, 4))


def extract(n: int = 300, seed: int = 1) -> tuple[list[str], dict[str, list[Any]]]:
    """Lines of an extract, and the values that they were written of."""
    random = np.random.default_rng(seed)
    values: dict[str, list[Any]] = {
        "YEAR": random.integers(1990, 2020, n).tolist(),
        "PERWT": (random.integers(0, 10**9, n) / 100).tolist(),
        "SEX": random.choice([1, 2, 9], n).tolist(),
        "STATE": [STATES[i] for i in random.integers(0, len(STATES), n)],
        "INCTOT": [int(each) if each % 7 else None for each in random.integers(-9999, 10**6, n)],
        "RATIO": [int(each) / 1000 if each % 5 else None for each in random.integers(0, 9999, n)],
    }
    lines = [
        f"{year}{round(weight * 100):010d}{sex}{state or '':<3}"
        f"{'' if income is None else income:>8}"
        f"{'' if ratio is None else (f'{ratio:.3f}' if year % 2 else round(ratio * 1000)):>6}"
        for year, weight, sex, state, income, ratio in zip(*values.values(), strict=True)
    ]
    return lines, values


def written(folder: Path, lines: list[str], book: str, name: str = "usa", end: str = "\n") -> Path:
    (folder / f"{name}.xml").write_text(book, encoding="utf-8")
    path = folder / f"{name}.dat"
    path.write_bytes("".join(line + end for line in lines).encode("latin-1"))
    return path


def opened(path: Path, schema: Any = None) -> Microdata:
    """The table, read in this process."""
    return parse(path.name, table_content(path), schema)


def said(lines: str, book: str) -> str:
    with pytest.raises(InputError) as refusal:
        parse("usa.dat", lines.encode() + b"\0" + book.encode())
    return str(refusal.value)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_cell_is_the_value_that_was_written(tmp_path, space, end):
    lines, values = extract()
    data = opened(written(tmp_path, lines, codebook(*VARIABLES, space=space), end=end))
    frame = data.frame
    assert data.names == tuple(values)
    assert frame["YEAR"].tolist() == values["YEAR"]
    assert frame["PERWT"].tolist() == values["PERWT"]
    sexes = {1: "Male", 2: "Female & other", 9: None}
    for name, wanted in (
        ("SEX", [sexes[each] for each in values["SEX"]]),
        ("STATE", [each or None for each in values["STATE"]]),
        ("INCTOT", values["INCTOT"]),
        ("RATIO", values["RATIO"]),
    ):
        column = frame[name].astype(object)
        assert column.where(column.notna(), None).tolist() == wanted, name


def test_labels_codes_and_decimals_come_into_the_schema(tmp_path):
    schema = opened(written(tmp_path, extract()[0], codebook(*VARIABLES))).schema
    labels = [variable.label for variable in schema.variables]
    assert labels == ["Census year", "Person weight", "Sex", "State", None, None]
    sex = schema.variable("SEX")
    assert sex.value_labels == ((1, "Male"), (2, "Female & other"), (9, "Unknown"))
    assert (sex.kind, sex.missing_codes) == (Kind.CATEGORICAL, (9,))
    assert schema.variable("STATE").kind is Kind.CATEGORICAL
    assert schema.variable("INCTOT").value_labels == ((9999999, "N/A"),)
    assert schema.variable("YEAR").value_labels == ()  # a number is no label of itself
    assert [v.decimals for v in schema.variables] == [None, 2, None, None, None, 3]
    places = category("01", "01") + category("", "None") + category("NY", "New York")
    book = codebook(var("STATE", 1, 3, places, kind="character"))
    state = opened(written(tmp_path, ["01 ", "NY "], book, "places")).schema.variable("STATE")
    assert state.value_labels == (("01", "01"), ("NY", "New York"))  # of texts each code has one


def test_long_numbers_and_texts_among_numbers_lose_nothing():
    book = codebook(var("ID", 1, 18), var("LONG", 19, 38), var("MIX", 39, 40), var("DOT", 41, 42))
    rows = ["123456789012345678" + "12345678901234567890" + "B2" + " ." for _ in range(4)]
    rows += ["000000000000000007" + "00000000000000000001" + "07" + "-1"]
    data = parse("usa.dat", "\n".join(rows).encode() + b"\0" + book.encode())
    frame = data.frame
    assert frame["ID"].tolist() == [123456789012345678] * 4 + [7]
    assert frame["LONG"].astype(str).tolist()[0] == "12345678901234567890"
    assert frame["MIX"].astype(str).tolist() == ["B2"] * 4 + ["07"]
    assert frame["DOT"].isna().tolist() == [True] * 4 + [False]
    told = [each for each in data.notices if "numeric in the codebook" in each]
    assert [each.split()[0] for each in told] == ["LONG", "MIX"]


def test_places_are_characters_whatever_the_encoding(tmp_path):
    book = codebook(var("NAME", 1, 3, kind="character"), var("X", 4, 6)).replace("ISO-8859-1", "{}")
    for charset in ("UTF-8", "ISO-8859-1", "unknown", "punycode"):
        path = written(tmp_path, [], book.format(charset))
        rows = "Île 12\nb   34\nÎç   5\n"
        path.write_bytes(rows.encode("latin-1" if "ISO" in charset else "utf-8"))
        frame = opened(path).frame
        assert frame["NAME"].tolist() == ["Île", "b", "Îç"]
        assert frame["X"].tolist() == [12, 34, 5]
    path.write_bytes(b"\xff" * 6 + b"\n")
    with pytest.raises(InputError, match=r"usa\.dat is no text in utf-8, the encoding that its"):
        opened(path)


def test_a_line_of_another_length_is_named(tmp_path):
    lines, _ = extract(20)
    for row, line in ((6, lines[6][:-5]), (19, lines[19] + "  "), (3, ""), (0, lines[0][:-1])):
        changed = [*lines[:row], line, *lines[row + 1 :]]
        with pytest.raises(InputError) as refusal:
            opened(written(tmp_path, changed, codebook(*VARIABLES)))
        assert str(refusal.value) == (
            f"usa.dat, line {row + 1}: it has {len(line)} characters, and the codebook describes "
            "32; get the extract again, together with its codebook."
        )


def test_without_a_codebook_one_sentence_says_what_to_do(tmp_path):
    path = written(tmp_path, extract(20)[0], codebook(*VARIABLES))
    sentence = (
        "usa.dat needs its DDI codebook (usa.xml) in the same folder: put both there, and open it "
        "by rwn app usa.dat, a command or Python; a table with separators needs the ending of its "
        "format, such as .csv."
    )
    with pytest.raises(InputError) as upload:
        rwn.read_bytes("usa.dat", path.read_bytes())
    assert str(upload.value) == sentence
    for content in (b"\0\1\2 <", b"1234\0\xff\xfe<\0?\0"):
        with pytest.raises(InputError) as binary:
            parse("usa.dat", content)
        assert str(binary.value) == sentence
    (tmp_path / "usa.xml").rename(tmp_path / "a.xml")
    data = rwn.read(path)  # the only one in the folder
    assert data.n == 20
    (tmp_path / "b.xml").write_bytes((tmp_path / "a.xml").read_bytes())
    with pytest.raises(InputError) as two:
        opened(path)
    assert str(two.value) == sentence
    path.rename(tmp_path / "B.TXT")
    other = opened(tmp_path / "B.TXT")
    assert (
        other.notices[0] == "The codebook names another file, usa.dat; check that it is of B.TXT."
    )
    assert other.frame.equals(data.frame)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><codeBook>&b;</codeBook>'
FAR = '<!DOCTYPE x SYSTEM "file:///etc/passwd"><codeBook/>'


def test_a_codebook_is_read_without_entities_or_a_dtd():
    for book in (BOMB, FAR, '<?xml version="1.0"?>\n' + BOMB):
        sentence = "usa.dat: the codebook has a DOCTYPE, which is not read; get it again."
        assert said("1234", book) == sentence
    broken = "usa.dat: the codebook is no complete XML document; get it again."
    whole = codebook(*PLAIN)
    for book in ("<codeBook>&b;</codeBook>", whole[:-9], "<", whole.replace("UTF-8", "none")):
        assert said("1234", book) == broken
    for book in ("<codeBook/>", "<html><body/></html>"):
        assert "describes no variables; choose its DDI codebook" in said("1234", book)


def test_a_codebook_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = written(tmp_path, ["1234"] * 3, codebook(*PLAIN))
    monkeypatch.setattr("rwn_core.io.parse.LARGEST_COMPANION", 100)
    with pytest.raises(InputError, match=r"usa\.xml has more than 100 bytes"):
        table_content(path)


def test_several_types_of_records_are_refused():
    typed = (var("A", 1, 2, "", 'rectype="H"'), var("B", 3, 4, "", 'rectype="P"'))
    second = '<location StartPos="1" EndPos="2" RecSegNo="2"/>'
    segments = (PLAIN[0], PLAIN[1].replace("width", 'RecSegNo="2" width'))
    files = (var("A", 1, 2, "", 'files="F1"'), var("B", 3, 4, "", 'files="F2"'))
    books = [codebook(*each) for each in (typed, segments, files, (var("A", 1, 2, second),))]
    for book in (*books, codebook(*PLAIN, structure="hierarchical")):
        assert said("1234\n5678", book) == (
            "usa.dat: the codebook describes several types of records (a hierarchical extract); "
            "choose the rectangular extract."
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('StartPos="1"', 'StartPos="0"'),
        ('StartPos="1"', 'StartPos="x"'),
        ('EndPos="2"', 'EndPos="3"'),
        ('EndPos="2"', 'EndPos="99999999999"'),
        ('name="A" ', 'name="A" dcml="-1"'),
        ('name="A" ', 'name="A" dcml="1e9"'),
        ('<location EndPos="2" StartPos="1" width="2"/>', ""),
    ],
)
def test_a_place_that_cannot_be_is_refused(old, new):
    assert said("1234", codebook(*PLAIN).replace(old, new)) == (
        "usa.dat: the codebook gives no place in the line for A, or a wrong one; get it again."
    )


def test_nothing_is_written_in_fixed_width(tmp_path):
    data = opened(written(tmp_path, extract()[0], codebook(*VARIABLES)))
    release = rwn.mask(data, rwn.RWN(k=3), seed=1)
    with pytest.raises(ParameterError, match=r"must end in \.csv, .*\.rds"):
        release.publish(tmp_path / "out.dat")
    release.publish(tmp_path / "out.csv", original=tmp_path / "usa.dat")
    header = (tmp_path / "out.csv").read_text("utf-8").partition("\n")[0]
    assert header == ",".join(data.names)


def test_the_commands_read_it(tmp_path, capsys):
    path = written(tmp_path, extract()[0], codebook(*VARIABLES))
    assert run(["describe", str(path), "-o", str(tmp_path / "usa.toml")]) == 0
    assert "usa.dat: 300 records, 6 variables" in capsys.readouterr().err
    described = rwn.Schema.from_toml((tmp_path / "usa.toml").read_text("utf-8"))
    assert described.variable("PERWT").label == "Person weight"
    (tmp_path / "usa.xml").unlink()
    assert run(["describe", str(path)]) != 0
    assert "usa.dat needs its DDI codebook (usa.xml) in the same folder" in capsys.readouterr().err


def test_a_codebook_takes_time_in_proportion_to_its_length():
    def seconds(labels: int) -> float:
        many = "".join(category(code, f"label {code}") for code in range(labels))
        content = b"12\n34\n56\0" + codebook(var("A", 1, 2, many)).encode()
        begin = time.process_time()
        FORMAT.read("usa.dat", content, None)
        return time.process_time() - begin

    seconds(10)
    assert min(seconds(40_000) for _ in range(3)) < 4 * min(seconds(20_000) for _ in range(3)) + 0.1
