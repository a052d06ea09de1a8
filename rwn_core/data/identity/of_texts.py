"""Rules for columns of texts: forms, names of people, addresses, free text, codes of one form."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from rwn_core.data.identity.profile import (
    Confidence,
    IdentityDoubt,
    Profile,
    Subject,
    patterns,
    plain_letters,
    word_list,
)

FEW = 20  # different values up to which a column is taken for categories
NEARLY_UNIQUE = 0.95  # different values for each record
OFTEN_NEW = 0.3  # the same, where the name or the form says more
NAMES = 0.5  # of the different texts that are common names of people
WORDY = 4.0  # words of a text, on average, from which it is free text
_FEWEST_NAMES = 6
_CODE_LETTERS = 6  # of a code that may number people
_CAPITALIZED = re.compile(r"[^\W\d_][^\W\d_'’.-]*([ ,'’-]+[^\W\d_][^\W\d_'’.-]*){0,3}")
_SIGNS = ("CJK", "HANGUL SYLLABLE", "HIRAGANA", "KATAKANA")  # scripts of one sign a syllable
_SIGNED = re.compile(r"([A-Z]\. ?){1,3}[A-Z]\w+")


_SUBJECTS = (Subject.NUMBER, Subject.CONTACT, Subject.HOUSEHOLD, Subject.PLACE, Subject.POSTCODE)
_COMMON_NAMES = word_list("given_names") | word_list("family_names")
_names = partial(IdentityDoubt, "names of people")
LEAST_SHARE = 0.6  # of the different texts that have one form, for a question
INITIALS = "initials of people"
NEARLY_ALL = 0.9  # the same, for the refusal of a public file
_FEWEST_DIGITS, _MOST_DIGITS = 7, 15  # of a telephone number
_PHONE = re.compile(r"(\+|00)?\(?\d[\d ()/.-]{5,22}\d( ?(x|ext\.?) ?\d+)?")
_DATE = re.compile(r"\d{4}[./-]\d{1,2}([./-]\d{1,2})?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}")


def find(profile: Profile) -> IdentityDoubt | None:
    """Say what texts look like that identify people; None where they do not."""
    texts = profile.texts
    rules = [_form, _person, _address, _free_text]
    if profile.numbers is None and profile.dates is None:
        rules += [_row_names, _code, _numbered, _unique]
    return None if not texts else next(filter(None, (rule(profile, texts) for rule in rules)), None)


def _form(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    form = common_form(texts)
    marked = sum(text[0] in "+0" for text in texts) > NAMES * len(texts)
    short = ("names of user accounts", "pseudonyms of people", INITIALS)
    weak = form in short or (form == "telephone numbers" and not marked)
    few = _FEWEST_NAMES if form == INITIALS else FEW
    if not form or (weak and not (profile.distinct > few or profile.about(Subject.CONTACT))):
        return None
    return IdentityDoubt(form, "its texts have this form")


def _person(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    """Names of people, by common names or by the name of the variable."""
    lettered = [text for text in texts if not any(map(str.isdigit, text))]
    if len(lettered) < NAMES * len(texts):
        return None
    words = _Lettered(profile, lettered)
    for applies, reason, confidence in _OF_PEOPLE:
        if applies(words):
            return _names(reason, confidence)
    return None


class _Lettered:
    """The different texts of a column without a digit."""

    def __init__(self, profile: Profile, texts: Sequence[str]) -> None:
        self.profile = profile
        self.texts = texts
        words = [re.findall(r"[a-z]{2,}", plain_letters(text).lower()) for text in texts]
        judged = [each for each in words if each]  # others are too short
        common = [len(each) <= 5 and not _COMMON_NAMES.isdisjoint(each) for each in judged]
        self.judged = len(judged)
        self.common = sum(common)
        self.capitalized = sum(_CAPITALIZED.fullmatch(text) is not None for text in texts)

    def most(self, count: int) -> bool:
        """True if a count is that of nearly all texts."""
        return count > 0.8 * len(self.texts)

    @property
    def rarely_repeat(self) -> bool:
        """True if many different texts are new in most records."""
        return self.profile.share > NAMES and self.profile.distinct > FEW

    @property
    def are_capitalized(self) -> bool:
        """True if nearly all are words with capital letters, and few in a text."""
        enough = self.capitalized >= 0.8 * len(self.texts)
        return enough and self.profile.words_each < WORDY


def _are_common_names(words: _Lettered) -> bool:
    return words.common >= max(_FEWEST_NAMES, NAMES * words.judged)


def _are_signed(words: _Lettered) -> bool:
    signed = sum(_SIGNED.fullmatch(text) is not None for text in words.texts)
    return words.most(signed) and words.profile.distinct > _FEWEST_NAMES


def _are_shaped_as_names(words: _Lettered) -> bool:
    shaped = sum(map(_has_the_shape_of_a_name, words.texts))
    if not words.most(shaped):
        return False
    people_without_capitals = words.profile.about(Subject.PERSON) and words.capitalized == 0
    return people_without_capitals or (words.rarely_repeat and not words.profile.words.is_thing)


def _are_called_so(words: _Lettered) -> bool:
    profile = words.profile
    if not words.are_capitalized:
        return False
    if profile.words.is_explicit and profile.distinct > 2:
        return True
    if not profile.about(Subject.PERSON) or profile.words.is_measure:
        return False
    if profile.words.is_thing:
        return words.rarely_repeat and words.common >= _FEWEST_NAMES // 2
    return profile.distinct > _FEWEST_NAMES and profile.share > _SELDOM_NEW


def _are_titled_pairs(words: _Lettered) -> bool:
    titled = sum(" " in text and text.istitle() for text in words.texts)
    return words.are_capitalized and words.rarely_repeat and titled > NAMES * len(words.texts)


_SELDOM_NEW = 0.02  # different values for each record, where the variable is called so
_OF_PEOPLE: tuple[tuple[Callable[[_Lettered], bool], str, Confidence], ...] = (
    (_are_common_names, "many of its texts are common names", Confidence.HIGH),
    (_are_signed, "its texts are initials before a word", Confidence.MODERATE),
    (
        _are_shaped_as_names,
        "its texts are two to four words, or two to four signs, that rarely repeat",
        Confidence.MODERATE,
    ),
    (_are_called_so, "the variable is called so, and its texts are words", Confidence.HIGH),
    (
        _are_titled_pairs,
        "its texts are words with capital letters that rarely repeat",
        Confidence.MODERATE,
    ),
)
"""Rules in their order, each with its reason and how sure it is."""


def _stands_in_a_name(character: str) -> bool:
    """True if a character is a letter, a mark of one, an apostrophe or a hyphen."""
    return unicodedata.category(character)[0] in "LM" or character in "'’-"


def _is_sign(character: str) -> bool:
    """True if a character is of a script that writes syllables or words."""
    return unicodedata.name(character, "").startswith(_SIGNS)


def _has_the_shape_of_a_name(text: str) -> bool:
    """True if a text is 2 to 4 words with capitals, or of a script without, or 2 to 4 signs."""
    words = [word for word in re.split(r"[\s,·・.]+", text.strip()) if word]
    letters = "".join(words)
    if not letters or not all(map(_stands_in_a_name, letters)):
        return False
    if all(map(_is_sign, letters)):
        return 2 <= len(letters) <= (4 if len(words) == 1 else 8)
    if not 2 <= len(words) <= 4 or not all(1 <= len(word) <= 16 for word in words):
        return False
    cased = [word for word in words if word[0].upper() != word[0].lower()]
    # small words inside a name, such as de, van, bin, are written small
    return all(word[0].isupper() for word in (words[0], words[-1]) if word in cased)


def _address(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    # Share of texts that read like a street with a number.
    street = patterns("addresses")["street"]
    share = sum(street.fullmatch(text) is not None for text in texts) / len(texts)
    named = profile.about(Subject.ADDRESS) and not profile.words.is_measure
    often = profile.share > OFTEN_NEW / 3
    if share > 0.3 and often and profile.distinct > FEW // 2:
        return IdentityDoubt("addresses", "its texts read like streets with numbers")
    if named and often and profile.distinct > FEW:
        return IdentityDoubt("addresses", "the variable is called so, and its texts often differ")
    return None


def _free_text(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    """Sentences, also in a column of few of them."""
    named = profile.about(Subject.TEXT) and not profile.words.is_measure
    new = profile.share > (OFTEN_NEW if named else 0.5)
    wordy = profile.words_each >= (2.0 if named else WORDY)
    enough = profile.distinct >= (4 if named else 8)
    if new and wordy and enough:
        return IdentityDoubt("free text", "its texts have many words and rarely repeat")
    if profile.distinct > max(FEW, 0.1 * profile.known) and profile.words_each >= WORDY:
        return IdentityDoubt("free text", "its texts have many words and often differ")
    return None


def _row_names(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    """Texts in a column that has the name of row names, however few."""
    if not profile.words.is_row_name or profile.share <= NEARLY_UNIQUE:
        return None
    return IdentityDoubt("names of the records", "its texts are row names, and none comes again")


def _shape(text: str) -> str:
    """Return a text with 9 for each digit and A for each letter."""
    return "".join(map(_sign, text))


def _sign(letter: str) -> str:
    if letter.isdigit():
        return "9"
    return "A" if letter.isalpha() else letter


def _code(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    """Codes of one form, a new one for nearly every record."""
    if profile.distinct <= FEW:
        return None
    shapes = Counter(map(_shape, texts))
    shape, times = shapes.most_common(1)[0]
    one_form = times >= 0.6 * len(texts) and len(shape) >= _CODE_LETTERS and shape.count("9") >= 3
    measured = re.fullmatch(r"[^9A]*9+[.,:/]9+([.,:/]9+)?[^9]*", shape) is not None
    numbered = profile.about(Subject.NUMBER, Subject.CONTACT, Subject.HOUSEHOLD, Subject.PLACE)
    if one_form and not measured and profile.share > (OFTEN_NEW / 3 if numbered else 0.5):
        sure = Confidence.HIGH if numbered else Confidence.MODERATE
        reason = "its codes have one form and differ"
        return IdentityDoubt("numbers of people or objects", reason, sure)
    return None


def _numbered(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    """Texts that often differ in a variable that is called like numbers or contacts."""
    subject = next(filter(profile.about, _SUBJECTS), None)
    if profile.words.is_measure or subject is None or profile.distinct <= FEW:
        return None
    often = OFTEN_NEW / 3
    most = Confidence.HIGH
    if subject is Subject.POSTCODE:
        often = OFTEN_NEW
        most = Confidence.MODERATE
    sure = most if profile.share > often else Confidence.LOW
    reason = "the variable is called so, and its texts often differ"
    return IdentityDoubt(str(subject), reason, sure)


def _unique(profile: Profile, texts: Sequence[str]) -> IdentityDoubt | None:
    quantity = sum(
        re.match(r"[<>~€$£]? ?-?\d+([.,]\d+)*( ?[\w%€$£/]+)?$", t) is not None for t in texts
    )
    clock = sum(re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", text) is not None for text in texts)
    if max(quantity, clock) > 0.6 * len(texts):
        return None
    if profile.distinct > FEW and profile.share > NEARLY_UNIQUE:
        reason = "nearly every record has a value of its own"
        return IdentityDoubt("names or numbers of people", reason)
    return None


def common_form(texts: Sequence[str], share: float = LEAST_SHARE) -> str:
    """Name the form that most of these different texts have; empty for none."""
    stripped = [text.strip() for text in texts]
    for what, pattern in patterns("forms").items() if texts else ():
        known = _CHECKED.get(what)
        fitting = sum(bool(pattern.fullmatch(e) or (known and known(e))) for e in stripped)
        if fitting >= share * len(texts):
            return what
    return ""


def passes_luhn(digits: str) -> bool:
    """True if the last digit is the check digit of a payment card."""
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def _is_phone(text: str) -> bool:
    """True if a text has a mark of a telephone number, or digits in groups; no date or decimal."""
    if not _PHONE.fullmatch(text) or _DATE.fullmatch(text) or re.fullmatch(r"\d+\.\d+", text):
        return False
    digits = sum(letter.isdigit() for letter in text)
    if not _FEWEST_DIGITS <= digits <= _MOST_DIGITS:
        return False
    grouped = re.fullmatch(r"\(?\d{2,5}\)?[ ./-]\d{2,8}([ ./-]\d{2,6})*.*", text) is not None
    thousands = re.fullmatch(r"[1-9]\d{0,2}([ .]\d{3})+", text) is not None
    leading = text[0] in "+(" or (text[0] == "0" and digits >= 9)
    return leading or (grouped and not thousands)


def _is_iban(text: str) -> bool:
    packed = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(packed):
        return False
    turned = packed[4:] + packed[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def _is_ip(text: str) -> bool:
    if text.count(".") != 3 and text.count(":") < 2:
        return False
    try:
        ipaddress.ip_address(text.split("/")[0])
    except ValueError:
        return False
    return True


_CHECKED: Mapping[str, Callable[[str], bool]] = {
    "account numbers": _is_iban,
    "numbers of payment cards": lambda text: (
        (digits := re.sub("[ -]", "", text)).isdecimal()
        and 13 <= len(digits) <= 19
        and passes_luhn(digits)
    ),
    "internet addresses of devices": _is_ip,
    "telephone numbers": _is_phone,
}
