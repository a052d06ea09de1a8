"""The budget of all text from outside: letters, marks, depth, terms, seconds and memory.

What a text would become is counted while it is still a text. A page parses a text of up to
`LETTERS_AT_ONCE` itself; a longer one is parsed in a process with limits (`io.reading.parse_text`).
"""

from __future__ import annotations

from collections.abc import Sized

from rwn_core.errors import InputError, RWNError

LONGEST_DOCUMENT = 5_000_000  # letters of a TOML file
# decides: letters of a text that a page parses itself; a longer one is parsed in a process
LETTERS_AT_ONCE = 50_000
LONGEST_PARSING_S = 20.0  # seconds of a process that parses a longer one
PARSING_MEMORY = 2e9  # bytes that it may take
MOST_MARKS = 500_000  # its brackets, commas, points, quotes and signs of equality
DEEPEST = 20  # tables within tables
LARGEST_WHOLE_BITS = 256  # of a whole number
LONGEST_FORMULA = 5_000  # letters
MOST_TERMS = 500  # of a formula once its crossings are written out
MOST_FACTORS = 10  # variables of one product, or table of counts
MOST_TABLE_CELLS = 1_000_000  # of a registered table of counts
LONGEST_RULE = 500  # letters of an edit rule
MOST_RULES = 200
LONGEST_RULES = 20_000  # letters of all rules together
MOST_ANALYSES = 100
# decides: multiplications of registered analyses that a page runs itself; beyond, a job runs them
WORK_AT_ONCE = 50_000_000
LONGEST_LINK = 20_000  # letters of all parts of a page's address


def check_letters(text: str, most: int, what: str, refusal: type[RWNError] = InputError) -> None:
    """Refuse a text of too many letters; `what` is the subject of the sentence."""
    if len(text) > most:
        raise refusal(f"{what} has more than {most:,} letters; shorten it.")


def check_number(items: Sized, most: int, what: str, refusal: type[RWNError] = InputError) -> None:
    """Refuse a list of too many entries; `what` names the list and its entries."""
    if len(items) > most:
        raise refusal(f"{what} are more than {most:,}; take some out.")
