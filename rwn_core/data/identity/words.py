"""Words in the name of a variable by the lists of ``words.toml``, and what identifies people."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from rwn_core.data.plain import toml_document

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=\D)|(?<=\D)(?=\d)")
_LEAST_STEM = 5  # letters of a stem that may stand anywhere within a word
_NO_ACCENT = str.maketrans("łŁøØđĐı", "lLoOdDi")  # letters that Unicode does not take apart


@cache
def _lists() -> dict[str, Any]:
    text = (files(__package__) / "words.toml").read_text(encoding="utf-8")
    return toml_document(text, "list of words")


def word_list(*keys: str) -> frozenset[str]:
    """Return a list of ``words.toml``; empty if there is none under these keys."""
    found: Any = _lists()
    for key in keys:
        found = found.get(key, "")
    return frozenset(found.split())


def plain_letters(text: str) -> str:
    """Return a text without accents, so that it compares with the lists."""
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss").translate(_NO_ACCENT))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


class Subject(StrEnum):
    """Subjects of variables that identify people."""

    PERSON = "names of people"
    CONTACT = "ways to contact people"
    ADDRESS = "addresses"
    NUMBER = "numbers of people, cases or objects"
    BIRTH = "dates of birth or death"
    PLACE = "coordinates"
    HOUSEHOLD = "numbers of households"
    TEXT = "free text"
    MOMENT = "times of events"
    POSTCODE = "postal codes"
    WEIGHT = "sampling weights"


_WORDS = {subject: word_list("subjects", subject.name.lower()) for subject in Subject}
_STEMS = {subject: word_list("stems", subject.name.lower()) for subject in Subject}
_MEASURES = word_list("measures")
_AMOUNTS = tuple(word_list("role_stems", "confidential"))
_SERIES = word_list("series")
_SURVEY = word_list("survey")
_BODY_WEIGHT = word_list("body_weight")
_BODIES = word_list("bodies")
_NUMBERED = word_list("numbered")
_EXPLICIT = word_list("explicit")
_EXPLICIT_WORDS = word_list("explicit_words")
_COUNTED_FIRST = word_list("counted_first")
_THINGS = word_list("things")


class NameWords:
    """Words and subjects in the name of a variable."""

    def __init__(self, name: str) -> None:
        plain = re.sub(r"^(ID|Id)(?=[a-z]{3})", "id ", plain_letters(name))  # as in IDunit
        parts = re.split(r"[\W_]+", _CAMEL.sub(" ", plain))
        # in lower case, without accents; camel case and digits are split
        self.words = tuple(part.lower() for part in parts if part)
        found = set(self.words)
        letters = [word for word in self.words if not word.isdigit()]
        # a quantity or a kind of something, such as household income or address type
        # or a compound that ends with an amount, such as hhincome
        compound = any(word.endswith(_AMOUNTS) for word in letters)
        self.is_measure = bool(found & _MEASURES) or compound or self._counts(letters)
        numbers = bool(letters) and (letters[-1] in _NUMBERED or letters[0] == "id")
        if numbers and not self._counts(letters):
            self.is_measure = False  # the number of something, such as tax_id
        self.is_series = bool(found & _SERIES)  # a unit of time or a rank: values may all differ
        self.is_thing = bool(found & _THINGS)  # what is named is a thing, such as a product
        # subjects by whole words, by stems, and by two words that say more together
        joined = "".join(letters)
        words = {*letters, joined, *(a + b for a, b in pairwise(letters))}
        about = {subject for subject in Subject if words & _WORDS[subject]}
        for subject, stems in _STEMS.items():
            if any(stem in joined for stem in stems if len(stem) >= _LEAST_STEM):
                about.add(subject)
        if any(len(word) > 3 and word.endswith(("nr", "num")) for word in letters):
            about.add(Subject.NUMBER)
        if set(letters) & _BODY_WEIGHT and set(letters) & _SURVEY:
            about.add(Subject.WEIGHT)
        self.subjects = frozenset(about - {Subject.WEIGHT} if set(letters) & _BODIES else about)
        # it can be nothing but given or family names
        named = any(stem in joined for stem in _EXPLICIT)
        self.is_explicit = named or bool(set(letters) & _EXPLICIT_WORDS)

    def _counts(self, letters: list[str]) -> bool:
        """True for "number of rooms", where a word of numbers comes first and counts the rest."""
        return len(letters) > 1 and letters[0] in _COUNTED_FIRST and letters[1] in ("of", "de")


@cache
def name_words(name: str) -> NameWords:
    """Split the name of a variable."""
    return NameWords(name)
