"""Hostile CSV files: each refused with one sentence that has place and remedy and no value."""

from __future__ import annotations

import codecs
import gzip
import re
import traceback

import pytest

from rwn_core.data.schema import Schema
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.limits import LONGEST_FIELD, MOST_COLUMNS
from rwn_core.io.parse import parse

WORD = "Zaphod"  # sentinels: cells that may not appear in a message
NUMBER = "78051120"
HEADER = "age,income,sex\n"
ROWS = "".join(f"{20 + i % 50},{NUMBER},{WORD}\n" for i in range(60))
LONG = "z" * (LONGEST_FIELD + 1)
VERY_LONG = "z" * 1_000_000
WIDE = ",".join(f"c{i}" for i in range(MOST_COLUMNS + 1))

# name: (content, what the message must have: the place, the finding, the remedy)
CASES = {
    "empty": (b"", "0 bytes", "choose a file"),
    "blank": (b"  \n\n \n", "only blanks", "choose a file"),
    "only_bom": (codecs.BOM_UTF8, "only blanks", "choose a file"),
    "header_only": (HEADER, "no record follows the header", "at least two"),
    "one_row": (HEADER + f"34,{NUMBER},{WORD}\n", "one record", "at least two"),
    "duplicate_header": (f"age,sex,age\n1,{WORD},3\n", "line 1: .*age .*columns 1, 3", "rename"),
    "empty_header": (f"age,,sex\n1,2,{WORD}\n", "line 1: column 2 has no name", "give it one"),
    "blank_header_line": (f"\nage,sex\n1,{WORD}\n", "line 1", "begin with the names"),
    "no_header": (f"{NUMBER},34,{WORD}\n{ROWS}", "line 1, column 1", "add a line"),
    "code_as_header": (f"x,00{NUMBER}\n1,{WORD}\n", "line 1, column 2", "add a line"),
    "escape_in_header": ("a\x1b[31m,b\n1,2\n3,4\n", "line 1: .* column 1 .*control", "rename"),
    "newline_in_header": ('"a\nb",c\n1,2\n3,4\n', "line 1: .* column 1 .*line break", "rename"),
    "long_header": ("x" * 1001 + ",b\n1,2\n3,4\n", "line 1: .* column 1 is longer", "shorten"),
    "wide": (WIDE + "\n" + WIDE + "\n", "2,001 columns", "at most 2,000"),
    "more_fields": (HEADER + f"1,2,x\n35,1,M,{WORD},{WORD}\n", "line 3: .*5 fields", "one field"),
    "fewer_fields": (HEADER + f"1,2,x\n{NUMBER}\n36,5,F\n", "line 3: .*1 field,", "one field"),
    "late_ragged": (HEADER + ROWS * 100 + f"{NUMBER},1\n", "line 6,002: .*2 fields", "one field"),
    "trailing_comma": (HEADER + f"34,1,{WORD},\n35,2,F,\n", "line 2: .*4 fields", "the comma"),
    "title_above": (f"Survey {WORD}\nSecret\n\n{HEADER}{ROWS}", "line 3", "title above"),
    "title_and_table": (f"Survey {WORD}\n{HEADER}{ROWS}", "line 2: .*3 fields", "title above"),
    "blank_line": (HEADER + ROWS + "\n" + ROWS, "line 62: the line is empty", "remove it"),
    "blank_value": (f"x\n1\n\n{NUMBER}\n", "line 3: the line is empty", "two quotes"),
    "unclosed_quote": (HEADER + f'34,1,"{WORD}\n35,1,F\n' + ROWS, "line 2: a quote", "close it"),
    "late_unclosed_quote": (HEADER + ROWS + f'1,2,"{WORD}', "line 62: a quote", "close it"),
    "unclosed_until_limit": (HEADER + f'34,1,"{WORD}\n' + ROWS * 300, "line 2: a field", "close"),
    "after_quote": (HEADER + f'34,1,"{WORD}"s\n1,2,x\n', "line 2: text follows", "double the"),
    "long_field": (f"a,b\n1,x\n2,{LONG}\n", "line 3, column b: .*longer", "shorten"),
    "very_long_field": (f"a,b\n1,{VERY_LONG}\n2,y\n", "line 2, column b: .*longer", "shorten"),
    "semicolons": (f"a;b\n1,5;{WORD}\n3,25;4\n", "line 1: .*semicolons", "with commas"),
    "tabs": (f"a\tb\n1\t{WORD}\n", "line 1: .*tabs", "with commas"),
    "bars": (f"a|b\n1|{WORD}\n", "line 1: .*vertical bars", "with commas"),
    "nul": ((HEADER + f"1,2,x\n34,1\0,{WORD}\n").encode(), "line 3: .*NUL", "save the table"),
    "utf16": ((HEADER + ROWS).encode("utf-16"), "UTF-16", "UTF-8"),
    "utf16_be": (codecs.BOM_UTF16_BE + (HEADER + ROWS).encode("utf-16-be"), "UTF-16", "UTF-8"),
    "utf16_bare": ((HEADER + ROWS).encode("utf-16-le"), "line 1: .*NUL", "UTF-8"),
    "latin1": ("name,v\nx,1\né,2\n".encode("latin-1"), "line 3: .*not UTF-8", "UTF-8"),
    "late_byte": ((HEADER + ROWS * 300).encode() + b"3,\xff,M\n", "line 18,002", "UTF-8"),
    "late_byte_cr": ((HEADER + ROWS).replace("\n", "\r").encode() + b"\xff", "line 62", "UTF-8"),
    "gzip": (gzip.compress((HEADER + ROWS).encode()), "is a gzip archive", "save the table"),
    "png": (b"\x89PNG\r\n\x1a\n" + b"\0" * 90, "is a PNG image", "save the table"),
    "excel": (b"PK\x03\x04" + b"\0" * 90, "Excel workbook", "save the table"),
    "old_excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 90, "password", "save the table"),
    "parquet": (b"PAR1" + b"\0" * 90, "is a Parquet file", "save the table"),
    "pickle": (b"\x80\x04\x95" + b"\0" * 90, "never opened", "save the table"),
    "web_page": (f"\n<!DOCTYPE html><p>{WORD}</p>", "is a web page", "save the table"),
    "json": ('{"a": [1, 2]}', "is a JSON file", "save the table"),
    "mixed": (
        f"age,z\n34,1\n{WORD},2\n-,3\nunknown,4\n36,5\nn/a,6\n",
        r"column age, lines 3, 4, 5, \.\.\.: 4 values are not numbers",
        "leave the field empty",
    ),
    "footer": (HEADER + "20,1,M\n" * 60 + f"{WORD},9,\n", "column age, line 62: 1 value", "leave"),
    "mixed_late_line": (
        'a,b\n"x\ny",1\n"x\ny",2\n' + f"z,{WORD}\n",
        "column b, line 6: 1 value is not a number",
        "leave the field empty",
    ),
    "infinite": (f"x,y\n1,{WORD}\ninf,b\n-Inf,b\nnan,b\n", "column x, lines 3, 4: 2", "replace"),
    "all_infinite": (f"x,y\ninf,{WORD}\ninf,b\n", "column x, lines 2, 3: 2", "replace"),
    "overflow": (f"x,y\n1,{WORD}\n-1e+400,b\n", "column x, line 3: 1 value is beyond", "unit"),
    "bare_overflow": (f"x,y\n1,{WORD}\n1e400,b\n", "column x, line 3: 1 value is beyond", "unit"),
    "huge": (f"x,y\n1,{WORD}\n1e+300,b\n", "column x, line 3: 1 value is beyond", "unit"),
    "big_whole": (f"id,x\n9007199254740993,{WORD}\n3,a\n", "column id, line 2: .*2.53", "identif"),
    "big_negative": (f"id,x\n-{NUMBER * 3},{WORD}\n3,a\n", "column id, line 2: .*2.53", "identif"),
    "exponent_codes": (f"code,x\n12E5,{WORD}\n1E2,b\n", "column code, lines 2, 3", "a kind in"),
    "thousands": (f'inc,x\n"1,234",{WORD}\n"12,345",b\n', "column inc, lines 2, 3", "digits alone"),
    "thousands_some": (f'inc,x\n7,{WORD}\n"12,345",b\n', "column inc, line 3", "digits alone"),
    "thousands_space": (f"inc,x\n7,{WORD}\n12 345,b\n", "column inc, line 3", "digits alone"),
    "decimal_comma": (f'inc,x\n"1,5",{WORD}\n"2,25",b\n', "column inc, lines 2, 3", "a point"),
    "percent": (f"x,y\n5%,{WORD}\n7 %,b\n", "column x, lines 2, 3", "number alone"),
    "currency": (f"x,y\n1,{WORD}\n$3,b\n-€4.50,b\n", "column x, lines 3, 4", "number alone"),
    "all_missing": (f"a,b\n{WORD},\nx,\n", "column b: .*no values", "remove the column"),
    "all_na": (f"a,b\n{WORD},NA\nx,NA\n", "column b: .*no values", "remove the column"),
    "mixed_dates": (
        f"d,y\n2020-01-02,{WORD}\n02/03/2020,b\n3 Mar 2020,b\n",
        "column d, lines 3, 4: 2 values are not dates",
        "YYYY-MM-DD",
    ),
    "other_dates": (f"d,y\n01/02/2020,{WORD}\n02/03/2020,b\n", "column d, lines 2, 3", "YYYY-MM"),
    "date_and_word": (f"d,y\n2020-01-02,b\n{WORD},b\n", "column d, line 3: .*not a date", "YYYY"),
    "no_such_day": (f"d,y\n2020-01-02,{WORD}\n2021-02-29,b\n", "column d, line 3", "correct"),
    "leap_second": (f"d,y\n2016-12-31T23:59:60,{WORD}\n2021-02-03,b\n", "column d, line 2", "corr"),
    "some_zones": (
        f"d,y\n2020-01-02T10:00Z,{WORD}\n2020-01-03T10:00,b\n",
        "column d, line 3: 1 value lacks a time zone",
        "in all or in none",
    ),
}


def refusal(content: str | bytes, schema: Schema | None = None) -> InputError:
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(InputError) as caught:
        parse("people.csv", data, schema)
    return caught.value


def check_sentence(error: InputError) -> None:
    message = str(error)
    assert re.fullmatch(r"people\.csv[,: ].*\.", message), message
    assert "\n" not in message
    assert not re.search(r"[.!?] ", message), f"not one sentence: {message}"
    assert ";" in message, f"no remedy: {message}"
    assert len(message) < 300
    text = "".join(traceback.format_exception(error)).split("Error: ", maxsplit=1)[1]
    for sentinel in (WORD, NUMBER):
        assert sentinel not in message
        assert sentinel not in text


@pytest.mark.parametrize("name", CASES)
def test_refused_with_place_and_remedy(name: str) -> None:
    content, place, remedy = CASES[name]
    error = refusal(content)
    check_sentence(error)
    assert re.search(place, str(error)), str(error)
    assert remedy in str(error)


SCHEMA_CASES = {
    "not_in_schema": ('[["a", "count"]]', "a,b\n1,2\n3,4\n", "lacks column b", "add it"),
    "not_in_table": ('[["a","count"],["b","count"],["c","count"]]', "a,b\n1,2\n", "c", "take it"),
    "other_order": ('[["b", "count"], ["a", "count"]]', "a,b\n1,2\n3,4\n", "order", "reorder"),
    "words_as_count": (
        '[["a", "count"], ["b", "categorical"]]',
        f"a,b\n{WORD},2\nx,4\n",
        "column a, lines 2, 3: 2 values are not numbers as the schema says",
        "categorical",
    ),
    "date_kind": ('[["a", "date"], ["b", "count"]]', f"a,b\n{WORD},2\nx,4\n", "column a", "YYYY"),
    "number_as_date": (
        '[["a", "date"], ["b", "count"]]',
        f"a,b\n{NUMBER},2\n1,4\n",
        "a, l",
        "YYYY",
    ),
}


@pytest.mark.parametrize("name", SCHEMA_CASES)
def test_schema_that_does_not_fit(name: str) -> None:
    variables, content, place, remedy = SCHEMA_CASES[name]
    toml = "".join(
        f'[[variable]]\nname = "{variable}"\nkind = "{kind}"\n'
        for variable, kind in re.findall(r'\["(\w+)", ?"(\w+)"\]', variables)
    )
    error = refusal(content, Schema.from_toml(toml))
    check_sentence(error)
    assert re.search(place, str(error)), str(error)
    assert remedy in str(error)


def test_levels_that_lack_a_value_of_the_table() -> None:
    schema = Schema.from_toml(
        '[[variable]]\nname = "a"\nkind = "ordered"\nlevels = ["low", "high"]\n'
        '[[variable]]\nname = "b"\nkind = "count"\n'
    )
    error = refusal(f"a,b\nlow,1\n{WORD},2\n", schema)
    assert isinstance(error, SchemaError)
    check_sentence(error)
    assert "column a" in str(error)


@pytest.mark.parametrize(
    "name",
    ["people.xls", "people.csv.gz", "people.txt", "people", "", "people.pkl", "../../people.ods"],
)
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="save the table as CSV") as caught:
        parse(name, (HEADER + ROWS).encode())
    assert "/" not in str(caught.value)


def test_a_hostile_file_name_is_tamed() -> None:
    name = "a\x1b[31m\n" + "x" * 500 + ".csv"
    with pytest.raises(InputError) as caught:
        parse(name, b"")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200
