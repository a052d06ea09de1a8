"""Name and values of one column for the identity rules: words by ``words.toml``, a profile."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.plain import toml_document

# decides: rows of a column that the identity gate reads, in `BLOCKS` of consecutive ones
PROFILE_ROWS = 20_000
BLOCKS = 10  # runs of equal values need neighbors that stay together
TEXTS = 2_000  # different texts that are examined for their form
_DATE_TEXT = (
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{4}/\d{1,2}/\d{1,2}"
    r"|\d\d[./-]\d\d[./-]\d\d|\d{1,2}[./]\d{4}|\d{4}[./]\d{1,2}"
    r"|\d{1,2}[ -]?[A-Za-z]{3,9}\.?[ -]?\d{4}"
)
_DIGITS = re.compile(r"-?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)")
_MOMENT_TEXT = (
    rf"(?:{_DATE_TEXT})[T ]+\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?(?: ?Z|[+-]\d\d:?\d\d)?"
)


class Profile:
    """One column in the form that the rules read."""

    def __init__(self, column: pd.Series[Any]) -> None:
        """Profile a column; a long one is sampled at fixed places."""
        known = block_rows(column).dropna()
        self.name = str(column.name)
        self.words = name_words(str(column.name))
        self.known = len(known)  # values that are not missing
        # the number of each value among the different ones, in the order of the rows
        self.codes, different = pd.factorize(known)
        if isinstance(different, pd.CategoricalIndex):
            different = different.astype(different.categories.dtype)
        self.different: Any = different

    @property
    def distinct(self) -> int:
        """Number of different values."""
        return len(self.different)

    @property
    def share(self) -> float:
        """Different values for each known one: 1 where no value comes again."""
        return self.distinct / self.known if self.known else 0.0

    def about(self, *subjects: Subject) -> bool:
        """True if the name of the variable is about one of these subjects."""
        return any(subject in self.words.subjects for subject in subjects)

    @cached_property
    def texts(self) -> list[str]:
        """Different texts, at most `TEXTS`; none of a column of numbers or dates."""
        if self._is_time_type:
            return []
        some = self.different[:TEXTS].tolist()
        return [value.strip() for value in some if isinstance(value, str) and value.strip()]

    @cached_property
    def _is_time_type(self) -> bool:
        return pd.api.types.is_datetime64_any_dtype(self.different.dtype)

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The different values as numbers; None of texts that are none, and of dates."""
        # shape (m,), m different values
        dtype = self.different.dtype
        if pd.api.types.is_bool_dtype(dtype) or self._is_time_type:
            return None
        if pd.api.types.is_numeric_dtype(dtype):
            return np.asarray(self.different.astype(np.float64))
        if not self.texts or not all(map(_DIGITS.fullmatch, self.texts)):
            return None
        values = pd.to_numeric(pd.Index(self.different).astype(str), errors="coerce")
        numbers = np.asarray(values, dtype=np.float64)
        return numbers if np.isfinite(numbers).all() else None

    @cached_property
    def integers(self) -> NDArray[np.float64] | None:
        """The different values where all of them are integers, also as floats or texts."""
        # shape (m,), m different values
        numbers = self.numbers
        if numbers is None or not len(numbers):
            return None
        return numbers if np.isfinite(numbers).all() and (numbers % 1 == 0).all() else None

    @cached_property
    def decimals(self) -> int:
        """Decimals that nine in ten of the numbers need at most, 15 where there is no end."""
        if self.numbers is None or not len(self.numbers):
            return 0
        values = self.numbers[:TEXTS]
        slack = 1e-12 * np.maximum(1.0, np.abs(values))
        close = ((np.abs(values.round(n) - values) <= slack).mean() >= 0.9 for n in range(15))
        return next((places for places, enough in enumerate(close) if enough), 15)

    @cached_property
    def dates(self) -> pd.DatetimeIndex | None:
        """The different values as moments, where they are dates in any common notation."""
        if self._is_time_type:
            return pd.DatetimeIndex(pd.to_datetime(self.different, utc=True))
        if self.integers is not None:
            return _days_of_integers(self.integers)
        return _moments_of_texts(pd.Series(self.texts, dtype="str"))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of occurrences of each distinct value."""
        # shape (m,), m different values
        return np.bincount(self.codes, minlength=self.distinct)

    @cached_property
    def runs(self) -> int:
        """Runs of equal values in the order of the rows."""
        return int((np.diff(self.codes) != 0).sum()) + 1 if self.known else 0

    @cached_property
    def words_each(self) -> float:
        """Words of a text, on average."""
        return sum(len(text.split()) for text in self.texts) / max(len(self.texts), 1)


def _days_of_integers(integers: NDArray[np.float64]) -> pd.DatetimeIndex | None:
    """Return integers as days, where nearly all are days of six or eight digits in one order."""
    # shape (m,), m different values
    if len(integers) < 2 or integers.min() < 10_100 or integers.max() > 2100_12_31 * 10:
        return None
    texts = pd.Series(integers.astype(np.int64).astype(str))
    length = 6
    orders = ("%d%m%y", "%m%d%y", "%y%m%d")
    if integers.max() >= 10_000_00:
        length = 8
        orders = ("%Y%m%d", "%d%m%Y", "%m%d%Y")
    if texts.str.len().min() < length - 1 or texts.str.len().max() > length:
        return None
    for order in orders:
        days = pd.to_datetime(texts.str.zfill(length), format=order, errors="coerce", utc=True)
        lived = days.dt.year.between(1850, 2100)
        # six digits fit many numbers: days of the whole month and months of the whole year do not
        many = days.dt.day.nunique() >= 8 and days.dt.month.nunique() >= 6
        if lived.mean() > 0.97 and (length == 8 or many):
            return pd.DatetimeIndex(days[lived])
    return None


def _moments_of_texts(texts: pd.Series[str]) -> pd.DatetimeIndex | None:
    """Return texts as moments, where all look like dates and nearly all are."""
    if not len(texts) or not texts.str.fullmatch(f"{_DATE_TEXT}|{_MOMENT_TEXT}").all():
        return None
    # day or month first: whichever more texts allow
    read = (
        pd.to_datetime(texts, errors="coerce", utc=True, dayfirst=first, format="mixed")
        for first in (False, True)
    )
    best = max(read, key=lambda moments: int(moments.notna().sum()))
    return pd.DatetimeIndex(best.dropna()) if best.notna().mean() > 0.9 else None


_Rows = TypeVar("_Rows", "pd.Series[Any]", pd.DataFrame)


def block_rows(column: _Rows) -> _Rows:
    """All rows, or the rows of evenly spaced blocks of a long column."""
    n = len(column)
    if n <= PROFILE_ROWS:
        return column
    length = PROFILE_ROWS // BLOCKS
    starts = np.linspace(0, n - length, BLOCKS).astype(np.int64)
    rows = (starts[:, np.newaxis] + np.arange(length)).ravel()
    return column.take(rows)


class Confidence(StrEnum):
    """The degrees of trust in a rule; a low one gives a notice and stops no release."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class IdentityDoubt:
    """A reason why a variable may identify people; a rule of one column leaves its name out."""

    looks_like: str  # what the variable looks like, in plain words
    reason: str  # what the rule saw, without a value
    confidence: Confidence = Confidence.HIGH
    variable: str = ""

    @property
    def stops(self) -> bool:
        """True if no release leaves before the doubt is answered."""
        return self.confidence is not Confidence.LOW

    @property
    def sentence(self) -> str:
        """Return the suspicion and its reason as one sentence."""
        return f"{self.variable} looks like {self.looks_like}: {self.reason}."


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


@cache
def patterns(key: str) -> dict[str, re.Pattern[str]]:
    """Return the regular expressions of a table of ``words.toml``, in its order."""
    return {name: re.compile(each) for name, each in _lists()[key].items()}


def plain_letters(text: str) -> str:
    """Return a text without accents, so that it compares with the lists."""
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss").translate(_NO_ACCENT))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


class Subject(StrEnum):
    """The subjects of variables that identify people."""

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
_AMOUNTS = tuple(word_list("role_stems", "confidential"))
_OF = {key: frozenset(words.split()) for key, words in _lists().items() if isinstance(words, str)}


class NameWords:
    """The words and subjects in the name of a variable."""

    def __init__(self, name: str) -> None:
        plain = re.sub(r"^(ID|Id)(?=[a-z]{3})", "id ", plain_letters(name))  # as in IDunit
        parts = re.split(r"[\W_]+", _CAMEL.sub(" ", plain))
        # in lower case, without accents; camel case and digits are split
        self.words = tuple(part.lower() for part in parts if part)
        self._letters = [word for word in self.words if not word.isdigit()]
        self._joined = "".join(self._letters)
        self.is_measure = self._counts_things() or self._is_amount()
        self.is_series = self._has("series")  # a unit of time or a rank: values may all differ
        self.is_thing = self._has("things")  # what is named is a thing, such as a product
        self.is_of_others = self._has("others") or self._has_stem("others", _LEAST_STEM + 1)
        self.is_row_name = self._joined in _OF["row_names"]
        self.subjects = frozenset(self._subjects())
        # it can be nothing but given or family names
        self.is_explicit = self._has_stem("explicit") or self._has("explicit_words")

    def _counts_things(self) -> bool:
        """True if a word of numbers comes first and counts the rest, as in number of rooms."""
        if len(self._letters) < 2:
            return False
        first, second = self._letters[:2]
        return first in _OF["counted_first"] and second in ("of", "de")

    def _is_amount(self) -> bool:
        """True if it is a quantity or a kind of something, such as household income.

        Or a compound that ends with an amount, such as hhincome; but not the number of something,
        such as tax_id.
        """
        if self._letters and (self._letters[-1] in _OF["numbered"] or self._letters[0] == "id"):
            return False
        return self._has("measures") or any(word.endswith(_AMOUNTS) for word in self._letters)

    def _subjects(self) -> set[Subject]:
        """Return the subjects by whole words, by stems, and by two words that say more together."""
        words = {*self._letters, self._joined, *(a + b for a, b in pairwise(self._letters))}
        about = {subject for subject in Subject if words & _WORDS[subject]}
        for subject, stems in _STEMS.items():
            if any(stem in self._joined for stem in stems if len(stem) >= _LEAST_STEM):
                about.add(subject)
        if any(len(word) > 3 and word.endswith(("nr", "num")) for word in self._letters):
            about.add(Subject.NUMBER)
        if self._has("body_weight") and self._has("survey"):
            about.add(Subject.WEIGHT)
        return about - {Subject.WEIGHT} if self._has("bodies") else about

    def _has_stem(self, key: str, least: int = 0) -> bool:
        """True if some stem of at least so many letters is in the name."""
        return any(stem in self._joined for stem in _OF[key] if len(stem) >= least)

    def _has(self, key: str) -> bool:
        return not _OF[key].isdisjoint(self.words)


@cache
def name_words(name: str) -> NameWords:
    """Split the name of a variable."""
    return NameWords(name)
