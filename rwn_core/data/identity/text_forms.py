"""Forms of texts that identify people: contacts, numbers with checksums, places, devices."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence

LEAST_SHARE = 0.6  # of the different texts that have one form, for a question
INITIALS = "initials of people"
NEARLY_ALL = 0.9  # the same, for the refusal of a public file
_FEWEST_DIGITS, _MOST_DIGITS = 7, 15  # of a telephone number
_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[A-Za-z]{2,}")
_URL = re.compile(r"(https?://|www\.)\S+|[\w-]+(\.[\w-]+)+/\S+", re.IGNORECASE)
_HANDLE = re.compile(r"@\w{2,30}")
_PHONE = re.compile(r"(\+|00)?\(?\d[\d ()/.-]{5,22}\d( ?(x|ext\.?) ?\d+)?")
_DATE = re.compile(r"\d{4}[./-]\d{1,2}([./-]\d{1,2})?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")
_SSN = re.compile(r"\d{3}-\d{2}-\d{4}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}")
_UUID = re.compile(r"\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_MAC = re.compile(r"([0-9A-F]{2}[:-]){5}[0-9A-F]{2}|([0-9A-F]{4}\.){2}[0-9A-F]{4}", re.IGNORECASE)
_WALLET = re.compile(r"[13][a-km-zA-HJ-NP-Z1-9]{25,34}|bc1[0-9a-z]{25,59}|0x[0-9a-fA-F]{40}")
_THREE_WORDS = re.compile(r"(///)?[^\W\d_]{2,20}(\.[^\W\d_]{2,20}){2}")
_HASH = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{16,128}", re.IGNORECASE)
_DIGEST = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{10,15}", re.IGNORECASE)
_INITIALS = re.compile(r"([^\W\d_]\. ?-?){2,4}")
_COORDINATE = r"[-+]?\d{1,3}\.\d{3,}°?"
_PAIR = re.compile(
    rf"[\[(]?\s{{0,9}}{_COORDINATE}\s{{0,9}}[NSEW]?\s{{0,9}}[,; ]\s{{0,9}}{_COORDINATE}\s{{0,9}}"
    r"[NSEW]?\s{0,9}[\])]?"
    r"|(SRID=\d+;)?\s{0,9}POINT\s{0,9}Z?\s{0,9}\(.*\)|\d{1,3}°\s{0,9}\d{1,2}['\u2032].*",
    re.IGNORECASE,
)
_ROAD = (
    r"(stra(ss|ß)e|str\.|gasse|weg|platz|allee|ring|ufer|damm|chaussee|steig|zeile|straat|laan|"
    r"vej|gatan|ulica|ul\.)"
)
_STREET = re.compile(
    rf"(.{{0,99}}{_ROAD}\b.{{0,99}}\d.*)"
    r"|(\d{1,9}\w?,? .{0,99}\b(street|st|avenue|ave|road|rd|lane|ln|drive|dr|court|ct|way|"
    r"boulevard|blvd|place|pl|terrace|close|crescent|square|hill|rue|chemin|place|impasse|quai)\b\.?.*)"
    r"|((calle|avenida|av\.|via|viale|piazza|plaza|rua|rue|c/)\s.{0,99}\d.*)",
    re.IGNORECASE,
)


def common_form(texts: Sequence[str], share: float = LEAST_SHARE) -> str:
    """Name the form that most of these different texts have; empty for none."""
    if not texts:
        return ""
    for what, test in _FORMS:
        if sum(test(text.strip()) for text in texts) >= share * len(texts):
            return what
    return ""


def street_share(texts: Sequence[str]) -> float:
    """Share of texts that read like a street with a number."""
    return sum(_STREET.fullmatch(text) is not None for text in texts) / max(len(texts), 1)


def passes_luhn(digits: str) -> bool:
    """True if the last digit is the check digit of a payment card."""
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_phone(text: str) -> bool:
    """True for a telephone number: a mark of one, or digits in groups; no date and no decimal."""
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


def _is_account(text: str) -> bool:
    """True for the form of an account number, whatever its checksum."""
    spaced = re.fullmatch(r"[A-Z]{2}\d{2}( [A-Z0-9]{4}){3,7}( [A-Z0-9]{1,4})?", text)
    return spaced is not None or (_IBAN.fullmatch(text) is not None and len(text) >= 15)


def _is_card(text: str) -> bool:
    digits = re.sub(r"[ -]", "", text)
    return digits.isdigit() and 13 <= len(digits) <= 19 and passes_luhn(digits)


def _is_ip(text: str) -> bool:
    if text.count(".") != 3 and text.count(":") < 2:
        return False
    try:
        ipaddress.ip_address(text.split("/")[0])
    except ValueError:
        return False
    return True


_FORMS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("social security numbers", _matches(_SSN)),
    ("e-mail addresses", _matches(_EMAIL)),
    ("web addresses", _matches(_URL)),
    ("names of user accounts", _matches(_HANDLE)),
    ("account numbers", _is_iban),
    ("account numbers", _is_account),
    ("numbers of payment cards", _is_card),
    ("internet addresses of devices", _is_ip),
    ("addresses of devices", _matches(_MAC)),
    ("unique identifiers", _matches(_UUID)),
    ("hashes, which are unique identifiers", _matches(_HASH)),
    ("pseudonyms of people", _matches(_DIGEST)),
    (INITIALS, _matches(_INITIALS)),
    ("coordinates", _matches(_PAIR)),
    ("addresses of three words", _matches(_THREE_WORDS)),
    ("addresses of wallets", _matches(_WALLET)),
    ("telephone numbers", _is_phone),
)
