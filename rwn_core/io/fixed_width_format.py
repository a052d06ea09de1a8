"""Fixed width: lines of one length, with a DDI codebook that says where each variable stands."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from rwn_core.data.file_layout import known_encoding
from rwn_core.data.variable import NUMBERS, Code
from rwn_core.errors import InputError
from rwn_core.io.format import Feature, Format

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema

_NUMBER = r"^[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?$"
_WHOLE = r"^[+-]?[0-9]+$"
_LONGEST_WHOLE = 18  # digits that an integer of 64 bits holds whatever they are
_MOST_DECIMALS = 30
_LONGEST_LINE = 1_000_000  # characters


class _Tree(ElementTree.TreeBuilder):
    """The tree of a document without a DTD, and so without entities of its own."""

    def doctype(self, *about: object) -> None:
        """Refuse the document at its first sign of a DTD."""
        raise InputError("the codebook has a DOCTYPE, which is not read; get it again.")


@dataclass(frozen=True, slots=True)
class _Field:
    """One variable's place in the line, and what the codebook says of it."""

    name: str
    start: int  # characters before it
    end: int
    decimals: int  # the last digits of a number without a point
    is_text: bool
    about: Mapping[str, Any]  # label, value_labels and missing_codes


def read(
    file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
) -> Microdata:
    """Read the lines; behind the last NUL stands the codebook, see `table_content`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from rwn_core.io.limits import check_size, chosen_columns, in_file
    from rwn_core.io.value_labels import LabelledColumn, labelled_table

    lines, separator, codebook = content.rpartition(b"\0")
    if not separator or not codebook.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
        stem = file.rpartition(".")[0]
        raise InputError(
            f"{file} needs its DDI codebook ({stem}.xml) in the same folder: put both there, and "
            f"open it by rwn app {file}, a command or Python; a table with separators needs "
            "the ending of its format, such as .csv."
        )
    with in_file(file):
        fields, charset, described = _codebook(codebook)
    check_size(file, lines.count(b"\n"), len(fields))
    chosen, notices = chosen_columns(file, [field.name for field in fields], schema, layout)
    if described and described.lower() != file.lower():
        notices.append(f"The codebook names another file, {described}; check that it is of {file}.")

    rows = _lines_of_one_width(file, lines, fields, charset)
    texts = pa.array(rows, pa.large_string())
    # places are counted in characters; those of plain text are bytes, which are cut faster
    is_plain = lines.isascii()
    del rows, lines
    cut = pc.binary_slice if is_plain else pc.utf8_slice_codeunits
    source = texts.cast(pa.large_binary()) if is_plain else texts
    columns = []
    for field in (fields[place] for place in chosen):
        cells = cut(source, field.start, field.end).cast(pa.large_string())
        cells = pc.utf8_trim_whitespace(cells)
        values, is_number = _values(cells, field)
        if not (is_number or field.is_text):
            notices.append(
                f"{field.name} is numeric in the codebook and has cells that are no numbers, or "
                "too long for one: it is read as text."
            )
        columns.append(LabelledColumn(name=field.name, values=values, **field.about))
    data = labelled_table(file, columns, schema, notices)
    return data.with_schema(_with_decimals(data.schema, fields))


def _with_decimals(schema: Schema, fields: Sequence[_Field]) -> Schema:
    """Return a schema whose numbers have the decimals of the codebook, unless they have others."""
    decimals = {field.name: field.decimals for field in fields if field.decimals}
    for name, variable in schema.by_name.items():
        if name in decimals and variable.kind in NUMBERS and variable.decimals is None:
            schema = schema.replace_variable(name, decimals=decimals[name])
    return schema


def _lines_of_one_width(
    file: str, lines: bytes, fields: Sequence[_Field], charset: str
) -> list[str]:
    """Return the lines of a file, or refuse one that is not as wide as its codebook says."""
    width = max(field.end for field in fields)
    try:
        text = lines.removeprefix(codecs.BOM_UTF8).decode(charset)
    except UnicodeDecodeError:
        raise InputError(
            f"{file} is no text in {charset}, the encoding that its codebook names; get both again."
        ) from None
    rows = text.replace("\r\n", "\n").rstrip("\n\x1a").split("\n")
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise InputError(
                f"{file}, line {number:,}: it has {len(row):,} characters, and the codebook "
                f"describes {width:,}; get the extract again, together with its codebook."
            )
    return rows


def _codebook(content: bytes) -> tuple[list[_Field], str, str]:
    """Read the variables of a codebook, the encoding of its file and the file's name."""
    from rwn_core.io.limits import shown

    root = _parsed(content)
    fields = []
    charset = "utf-8"
    described = ""
    several = False
    groups = set()
    for element in root.iter():
        if element.tag == "fileStrc":
            several |= element.get("type", "rectangular") != "rectangular"
        elif element.tag == "fileName":
            described = _words(element)
        elif element.tag == "fileType":
            charset = _charset(element.get("charset", charset))
        elif element.tag == "var":
            fields.append(_field(element))
            several |= len(element.findall("location")) > 1
            groups.add(_record_type(element))
    if several or len(groups) > 1:
        raise InputError(
            "the codebook describes several types of records (a hierarchical extract); choose the "
            "rectangular extract."
        )
    if not fields:
        raise InputError("the codebook describes no variables; choose its DDI codebook.")
    return fields, charset, described and shown(described)


def _parsed(content: bytes) -> ElementTree.Element:
    """Read a codebook; its elements have their names without a namespace."""
    try:
        parser = ElementTree.XMLParser(target=_Tree())
        parser.feed(content)
        root: ElementTree.Element = parser.close()
    except InputError:
        raise
    except (ElementTree.ParseError, ValueError, LookupError):
        raise InputError("the codebook is no complete XML document; get it again.") from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def _charset(stated: str) -> str:
    """Return an encoding of one byte a character by its name; UTF-8 for any other."""
    encoding = known_encoding(stated) or ""
    return encoding if encoding.startswith(("iso8859", "cp125")) else "utf-8"


def _record_type(element: ElementTree.Element) -> tuple[str | None, ...]:
    """Return what says of which type of records a variable is."""
    marks = ("rectype", "files", "RecSegNo", "RecSegRef", "fileid")
    places = [element, *element.findall("location")]
    return tuple(place.get(mark) for place, mark in product(places, marks))


def _field(element: Any) -> _Field:
    """Read one variable."""
    name = element.get("name") or element.get("ID") or ""
    location = element.find("location")
    form = element.find("varFormat")
    try:
        start = int(location.get("StartPos"))
        width = int(location.get("width") or int(location.get("EndPos")) - start + 1)
        end = int(location.get("EndPos") or start + width - 1)
        decimals = int(element.get("dcml") or 0)
        fine = 1 <= start <= end == start + width - 1 <= _LONGEST_LINE
        if not fine or not 0 <= decimals <= _MOST_DECIMALS:
            raise ValueError
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            f"the codebook gives no place in the line for {name or 'a variable'}, or a wrong one; "
            "get it again."
        ) from None
    is_text = form is not None and form.get("type") == "character"
    about = {"label": _words(element.find("labl")), **_categories(element, is_text, decimals)}
    return _Field(name, start - 1, end, decimals, is_text, about)


def _categories(element: ElementTree.Element, is_text: bool, decimals: int) -> dict[str, Any]:
    """Read the labels of a variable's codes, and which of them stand for missing values."""
    labels = {}
    missing = []
    for category in element.findall("catgry"):
        written = _words(category.find("catValu"))
        label = _words(category.find("labl"))
        code = written if is_text else _code(written, decimals)
        if code in (None, ""):
            continue
        if label and (is_text or label != written):  # a number is no label of itself
            labels[code] = label
        if category.get("missing") == "Y":
            missing.append(code)
    return {"value_labels": labels, "missing_codes": tuple(missing)}


def _words(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _code(written: str, decimals: int) -> Code | None:
    """A number as a cell has it; None for a text."""
    from rwn_core.io.value_labels import plain_code

    if len(written) > _LONGEST_WHOLE or not re.search(_NUMBER, written):
        return None
    if not re.search(_WHOLE, written):
        return plain_code(float(written))
    return plain_code(float(f"{written}e-{decimals}") if decimals else int(written))


def _values(cells: pa.Array, field: _Field) -> tuple[pd.Series[Any], bool]:
    """The cells as numbers, if all of them are and the codebook says so; else as texts."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    is_blank = pc.is_in(cells, pa.array([""] if field.is_text else ["", "."], cells.type))
    cells = pc.if_else(is_blank, pa.scalar(None, cells.type), cells)
    long = pc.greater(pc.utf8_length(pc.utf8_ltrim(cells, "+-0")), _LONGEST_WHOLE)
    integers = pc.match_substring_regex(cells, _WHOLE)
    lossy = not field.decimals and pc.any(pc.and_(integers, long)).as_py()
    is_number = pc.all(pc.match_substring_regex(cells, _NUMBER)).as_py() is not False
    if field.is_text or lossy or not is_number:
        return pd.Series(pd.array(cells.to_pylist(), dtype="str")), False
    digits = pc.utf8_ltrim(cells, "+")
    if not field.decimals and pc.all(integers).as_py() is not False:
        types = {pa.int64(): pd.Int64Dtype()}.get if cells.null_count else None
        return digits.cast(pa.int64()).to_pandas(types_mapper=types), True
    power, nothing_between = (pa.scalar(each, cells.type) for each in (f"e-{field.decimals}", ""))
    scaled = pc.binary_join_element_wise(digits, power, nothing_between)
    return pc.if_else(integers, scaled, digits).cast(pa.float64()).to_pandas(), True


def read_again(content: bytes, frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Cut the lines of a fixed-width file by pandas, at the places of its codebook."""
    import io

    import pandas as pd
    import pyarrow as pa

    lines, _, codebook = content.rpartition(b"\0")
    fields, charset, _ = _codebook(codebook)
    stream = io.StringIO(lines.decode("utf-8-sig" if charset == "utf-8" else charset))
    how: dict[str, Any] = {"dtype": str, "na_filter": False, "skip_blank_lines": False}
    places = [(each.start, each.end) for each in fields]
    read = pd.read_fwf(stream, colspecs=places, header=None, **how)
    cells = [pa.array(read[place], pa.large_string()) for place in read]
    values = [_values(each, field)[0] for each, field in zip(cells, fields, strict=True)]
    return pd.DataFrame({field.name: each for field, each in zip(fields, values, strict=True)})


FORMAT = Format(
    key="fixed_width",
    title="fixed-width",
    noun="a fixed-width file",
    suffixes=(".dat", ".txt"),
    media_type="text/plain",
    read=read,
    write=None,
    keeps=frozenset({Feature.LABELS, Feature.VALUE_LABELS, Feature.MISSING_CODES}),
    demand="its DDI codebook in the same folder",
    companion=".xml",
    again=read_again,
    again_by="pandas",
)
