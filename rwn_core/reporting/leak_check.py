"""The leak check: nothing public is written before it has passed.

It reads the finished file, not the way in which it was made, and lets nothing pass but the
sentences that a notice may say, the method's own words, names of variables, the number of records,
dates and hashes. What it refuses it names by its kind and its fact, never by its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Set
from functools import partial
from html.parser import HTMLParser
from itertools import chain
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import orjson
import pandas as pd

from rwn_core.data.identity.of_texts import NEARLY_ALL, common_form
from rwn_core.data.microdata import Microdata
from rwn_core.data.record_noun import spoken_of
from rwn_core.data.variable import Kind
from rwn_core.errors import ReleaseError
from rwn_core.evaluation.audit import untouched_words
from rwn_core.evaluation.valid_intervals import FACTOR
from rwn_core.masking.option import method_words
from rwn_core.measures import MEASURES
from rwn_core.reporting.dots import STEPS, picture
from rwn_core.reporting.facts import Audience, Fact, Material
from rwn_core.reporting.facts.fact import interval_facts
from rwn_core.reporting.public_words import vocabulary

LEAST = 10
"""Records that must share a value, so that naming it is naming an aggregate."""

ALLOWED = {"label", "treated", "variables", "loss", "intervals"} | {
    "errors",
    "totals",
    "use",
    "file",
    "review",
}
"""The facts that may be public, stated a second time: one slip of an audience opens nothing."""

FORMS = frozenset({"rwn notice 1", "2.5", "sha256"})
"""Texts that say which form a file has."""

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 12
_OWN = 0.9  # of the records that have a text of their own, from which on it names them
TOKEN = re.compile(r"\w+(?:[.,:+−-]\w+)*")
_PATH = re.compile(r"(?:[A-Za-z]:\\|\\\\|~/|\.\.?/|(?<![\w:/<])/)[\w.@ -]+(?:[/\\][\w.@ -]+)*")
RECORD = re.compile(r"\b(?:record|row|observation|case|person)s?\s*(?:no\.?|number|#)?\s*\d", re.I)
_LONG_SECRET = re.compile(r"[0-9A-Fa-f]{32,}|[A-Za-z0-9+/_]{43,}={0,2}")


def check_facts(facts: Iterable[Fact]) -> None:
    """Refuse a fact that is not for the public."""
    for fact in facts:
        if fact.key not in ALLOWED or fact.audience not in (Audience.PUBLIC, Audience.BOTH):
            raise ReleaseError(
                f'The fact "{fact.title}" is for the house alone; nothing public was written.'
            )


def check_release(record: Mapping[str, Any]) -> None:
    """Refuse to speak in public of a file that must stay inside."""
    file = record["file"]
    if file["order"] != "shuffled":
        raise ReleaseError(
            "The file has the original's row order, which names each record; mask again with "
            "--order shuffled before anything public is written."
        )
    if "seed" in file["key"]:
        raise ReleaseError(
            "The file was drawn with a seed that anybody can try; mask again without --seed "
            "before anything public is written."
        )
    if untouched := record["table"].get("untouched"):
        raise ReleaseError(f"{untouched_words(untouched)}.")


def _written_risks(readings: Mapping[str, Any]) -> set[str]:
    """Return every way in which a report writes the values of risk measures."""
    values = [
        reading["value"]
        for key, reading in readings.items()
        if MEASURES[key].side == "risk" and "value" in reading
    ]
    shapes = ("{:.4g}", "{:.3g}", "{:.2g}", "{:.0f}", "{:.1f}", "{:.2f}", "{:.3f}")
    written = set[str]()
    for value in values:
        for scaled in (value, 100 * value):
            written.update(shape.format(scaled) for shape in shapes)
    return written


def check_file(content: bytes, suffix: str, material: Material, rare: Set[Any]) -> None:
    """Refuse a public file that holds what must stay in the house."""
    # All tokens with digits that a public file may hold.
    file = material.record["file"]
    id = material.record["release"]["id"]
    n = material.records
    known = {str(FACTOR), material.made, material.context.review, file["sha256"], id}
    known |= {f"{n:,}", str(n), "SHA-256"}
    parts = file.get("parts", ())  # of a dataset
    if parts:
        known |= {f"{len(parts):,}", str(len(parts))}.union(*map(dict.values, parts))
    # a year in the steward's words is wanted, a value of few records is not
    stated = f"{material.name} {material.context.purpose}"
    tokens = (t for t in TOKEN.findall(stated) if known.issuperset(_LONG_SECRET.findall(t)))
    few = named(rare, [spoken_of(" . ".join(vocabulary()), material.noun)])
    risks = _written_risks(material.record["readings"])
    numbers = known | unlike(tokens, few)
    # Words about the method, and values that the release shows itself.
    method = material.method
    about = interval_facts(material.record)
    words = {*method_words(method).values(), material.does, method.title, about["sentence"]}
    words |= {*material.variables, *map(quote, material.variables), material.context.contact}
    longest_first = sorted(words - {""}, key=len, reverse=True)
    own = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    contact = material.context.contact
    check_shape(contact, material, numbers)
    # a number of a telephone is no value
    if found := {phrase for phrase in phrases(contact) & few.keys() if not phrase.isdigit()}:
        raise refusal(_of_few(found, few))
    kind = partial(_kind, few=few, risks=risks)
    for text in file_texts(content, suffix):
        if text not in FORMS:
            check_text(own.sub(" … ", text), material, numbers, few, kind)


RARE = f"a value that fewer than {LEAST} records of the original have"


def said_values(content: bytes, suffix: str, material: Material) -> set[Any]:
    """All that a public file says, in the form of `rare_values`."""
    texts = [*file_texts(content, suffix), material.name]
    tokens = set(chain.from_iterable(map(TOKEN.findall, texts)))
    return set[Any]().union(*map(of_either_sign, tokens), *map(phrases, texts))


def check_text(
    text: str,
    material: Material,
    numbers: set[str],
    few: Mapping[Any, str],
    kind: Callable[[str, str], str],
    file: str = "public file",
) -> None:
    """Refuse a text with another number than these, a rare value, or what looks like a secret."""
    check_shape(text, material, numbers)
    numeric = [token for token in TOKEN.findall(text) if any(map(str.isdigit, token))]
    if odd := [token for token in numeric if token not in numbers]:
        raise refusal(kind(odd[0], text), file)
    # the digits of a day or a count that may be said are the text of no value, such as of a code
    said = chain.from_iterable(map(phrases, numeric))
    digits = {phrase for phrase in said if phrase.replace(" ", "").isdigit()}
    if found := (phrases(text) & few.keys()) - digits:
        raise refusal(_of_few(found, few), file)


def check_shape(text: str, material: Material, numbers: set[str]) -> None:
    """Refuse a path, the name of the original's file, or what looks like a key."""
    if _PATH.search(text):
        raise refusal("a path of a file or folder")
    source = str(material.record.get("source", {}).get("file", ""))
    name = PurePath(source.replace("\\", "/")).name
    named = name and not _WORD.fullmatch(name)  # a folder's name may be a word that all notices say
    if named and name.casefold() in text.casefold():
        raise refusal("the name of the original's file")
    for secret in _LONG_SECRET.findall(text):
        if secret not in numbers:
            raise refusal("something that looks like a key")


def named(rare: Set[Any], said: Iterable[str]) -> dict[Any, str]:
    """Name the variables of rare values, but for those that texts say anyway; "" if unknown."""
    names = getattr(rare, "mapping", {})
    return {each: names.get(each, "") for each in rare - set().union(*map(phrases, said))}


def unlike(tokens: Iterable[str], few: Mapping[Any, str]) -> set[str]:
    """Return the tokens that neither are nor hold a rare value."""
    return {each for each in tokens if not (of_either_sign(each) | phrases(each)) & few.keys()}


def _of_few(found: Set[Any], few: Mapping[Any, str]) -> str:
    """Say that values are of few records, and of which variables, if that is known."""
    variables = ", ".join(sorted({few[each] for each in found} - {""}))
    return RARE.replace("value", f"value of {variables}") if variables else RARE


def _kind(token: str, text: str, few: Mapping[Any, str], risks: set[str]) -> str:
    """Describe a number that must not be published, if it can be identified."""
    if RECORD.search(text):
        return "the number of a record"
    if found := (of_either_sign(token) | phrases(text)) & few.keys():
        return _of_few(found, few)
    return "the value of a risk measure" if token in risks else "a number that no notice may say"


def phrases(text: str) -> set[Any]:
    """Every run of up to twelve words, in lower case."""
    words = _WORD.findall(text.casefold())
    spoken = set()
    for length in range(1, _LONGEST + 1):
        starts = range(len(words) - length + 1)
        spoken |= {" ".join(words[start : start + length]) for start in starts}
    return spoken


def refuse_identifiers(original: Microdata) -> None:
    """Refuse to speak in public of a table that shows each of its people."""
    if original.n < LEAST:
        raise ReleaseError(
            f"The table has fewer than {LEAST} records, so that each of them shows; nothing public "
            "was written."
        )
    for variable in original.schema.released:
        if variable.kind is not Kind.CATEGORICAL:
            continue
        texts = original.frame[variable.name].dropna().astype(str)
        different = texts.unique().tolist()
        form = common_form(different, NEARLY_ALL)
        if not form and len(texts) >= LEAST and len(different) >= _OWN * len(texts):
            form = "the name or number of a record, because nearly every one has its own"
        if form:
            raise ReleaseError(
                f"The released variable {variable.name} looks like {form}; make it an identifier, "
                "which no release holds, and mask again. Nothing public was written."
            )


def rare_values(original: Microdata) -> KeysView[Any]:
    """Values of few records: numbers as numbers, all others as text in lower case.

    The mapping behind the view names a variable that has the value.
    """
    rare: dict[Any, str] = {}
    for name in original.schema.names:
        values = counted(original.frame[name])
        rare |= {form: name for form, _, n in values if n < LEAST and form != ""}
    return rare.keys()


def counted(column: pd.Series[Any]) -> list[tuple[Any, Any, int]]:
    """Return each value of a column: its form in `rare_values`, itself, and its count."""
    known = column.dropna()
    counts = known.value_counts()
    counts = counts[counts > 0]
    values = counts.index.tolist()
    if pd.api.types.is_bool_dtype(known.dtype) or not pd.api.types.is_numeric_dtype(known):
        # A value as a text in lower case; a day without its hours.
        texts = (str(value).casefold().removesuffix(" 00:00:00") for value in values)
        forms: Iterable[Any] = (" ".join(_WORD.findall(text)[:_LONGEST]) for text in texts)
    else:
        forms = map(float, values)
    return list(zip(forms, values, counts.tolist(), strict=True))


def of_either_sign(token: str) -> set[Any]:
    """The number that a token is, and its negative: a minus before it is no part of the token."""
    try:
        number = float(token.replace(",", "").replace("−", "-"))
    except ValueError:
        return set()
    return {number, -number}


def refusal(what: str, file: str = "public file") -> ReleaseError:
    """Say what a file would hold."""
    written = "nothing public" if file == "public file" else "nothing"
    return ReleaseError(f"The {file} would hold {what}; {written} was written.")


def file_texts(content: bytes, suffix: str) -> list[str]:
    """Give the texts of a file, each by itself; a form is known by the end of its name."""
    return list(_READERS[suffix.rpartition(".")[2]](content.decode("utf-8")))


class _Texts(HTMLParser):
    """A parser that collects the texts of an HTML file."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the attributes, but for those of the page's form."""
        if tag != "meta":
            self.texts += [value for _, value in attrs if value]

    def handle_data(self, data: str) -> None:
        """Take a text or a comment, unless it is style."""
        if self.cdata_elem != "style" and data.strip():
            self.texts.append(data)

    handle_comment = handle_data


def _html(text: str) -> list[str]:
    for filled in STEPS:
        text = text.replace(picture(filled), "")  # known as a whole, with every number in it
    parser = _Texts()
    parser.feed(text)
    parser.close()
    return parser.texts


def leaves(node: object) -> Iterator[Any]:
    """Yield every name and value of plain data."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield name
            yield from leaves(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from leaves(value)
    else:
        yield node


def _plain(node: object) -> list[str]:
    return [str(each) for each in leaves(node) if each is not None]


def _xml(text: str) -> Iterator[str]:
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    for element in ElementTree.fromstring(text, parser=parser).iter():
        yield from (part for part in (element.text, element.tail) if part and part.strip())
        yield from element.attrib.values()


_READERS: dict[str, Any] = {
    "html": _html,
    "json": lambda text: _plain(orjson.loads(text)),
    "xml": _xml,
    "txt": lambda text: [" ".join(text.split())],
}
