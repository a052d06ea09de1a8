"""A bad file on the Data page is one sentence, and the table before it stays.

One file for each way that leads to a refusal; what is refused at all says tests/bad_inputs.
"""

from __future__ import annotations

SECRET = "SENTINEL7731"  # stands in the bad files' cells and must never be seen again
ROWS = "\n".join(f"{i},{i * i % 17},{SECRET if i == 5 else 'abc'[i % 3]}" for i in range(30))
TABLE = f"a,b,c\n{ROWS}"
BAD_FILES = {
    "empty.csv": (b"", "empty.csv is empty", "choose a file"),
    "infinite.csv": (f"{TABLE}\ninf,2,a\n", "column a, line 32: 1 value is infinite", "replace"),
    "missing.csv": (
        "a,b,c\n" + "\n".join(f"{i},,{SECRET}{i % 2}" for i in range(30)),
        "column b: there are no values",
        "remove the column",
    ),
    "latin1.csv": (f"{TABLE}\n1,2,café\n".encode("latin-1"), "line 32: there are bytes", "UTF-8"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(100), "picture.csv is a PNG", "save the table"),
    "mixed.csv": (f"{TABLE}\n{SECRET},2,a\n", "column a, line 32: 1 value is not a", "leave the"),
    "quote.csv": (f'{TABLE}\n1,2,"{SECRET}\n', "line 32: a quote is opened", "close it"),
    "broken.parquet": (b"PAR1" + SECRET.encode() + b"PAR1", "broken.parquet is damaged", "again"),
}


def test_it_is_one_sentence_and_the_table_before_it_stays(open_page, caplog) -> None:
    screen = open_page("data")
    for name, (content, position, remedy) in BAD_FILES.items():
        screen.upload(name, content if isinstance(content, bytes) else content.encode("utf-8"))
        (shown,) = screen.errors
        sentence = shown.replace("\\", "")  # which keeps Markdown from reading names
        assert name in sentence
        assert position in sentence, sentence
        assert remedy in sentence, sentence
        assert sentence.endswith(".")
        assert sentence.count(". ") == 0, sentence
        assert screen.session.name == "bodyfat"
        assert SECRET not in screen.everything() + caplog.text
    screen.upload("good.csv", TABLE.encode("utf-8"))
    assert screen.errors == []
    assert screen.session.name == "good.csv"
