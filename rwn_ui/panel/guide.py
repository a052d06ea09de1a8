"""What a page shows, in a few sentences, and a tour of the Tune page on the first visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "rwn_guide",
    html='<div class="rwn-guide"></div>',
    css=(_HERE / "guide.css").read_text(encoding="utf-8"),
    js=(_HERE / "guide.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One stop of a tour.

    Attributes
    ----------
    target : str
        A CSS selector of what is outlined.
    title, words : str
    """

    target: str
    title: str
    words: str


TOUR = (
    Step(
        ".rwn-summary",
        "A masked copy",
        "The page shows one masked copy of your table beside the original. This line says how it "
        "was made, and which share of each variable’s values changed.",
    ),
    Step(
        '[class*="st-key-tune"] .rwn-sliders, [data-testid="stSidebar"] .rwn-sliders',
        "Move a slider",
        "A value is replaced by that of a random record nearby. ε is how far nearby reaches, k how "
        "many neighbors everybody has at least, q how often a value is replaced. Drag one, or use "
        "the arrow keys: everything is drawn anew as you move.",
    ),
    Step(
        ".rwn-tiles",
        "What it gives away",
        "The first number is the limit of your policy that is nearest to breaking, or most broken. "
        "Others say what an intruder would find, and beside it what guessing would give.",
    ),
    Step(
        ".rwn-grid",
        "What it costs",
        "Each picture holds the original in blue against the masked copy in orange: correlations, "
        "regression, distributions. Point at one for its values; the corner enlarges it.",
    ),
    Step(
        '[data-testid="stHeader"]',
        "Where to go from here",
        "Data opens your own table. Sweep and Compare look for better settings and methods, Risk "
        "and Utility go into depth, Release makes the file that leaves, and Learn explains why.",
    ),
)
"""The Tune page in five steps."""

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "data": (
            "The table that all other pages work on: a demo table, or a file of your own, which "
            "stays on this machine.",
            "Say what each variable is. Keys are what an intruder may know of a person; a "
            "confidential variable is what they want to learn; identifiers are never released.",
            "What the program is not sure of, it asks here.",
        ),
        "tune": (
            "One masked copy of your table beside the original, drawn anew as you move a slider.",
            "The tiles above say what the copy gives away, against the limits of your policy; the "
            "pictures below say what it costs. Blue is the original, orange the masked copy.",
            "Pin a setting to keep it in view while you try others. What is downloaded here is a "
            "trial; the Release page makes the file that leaves.",
        ),
        "utility": (
            "What analysts lose: each measure compares an analysis of the original with the same "
            "analysis of the masked copy.",
            "Begin with the analysis your users care for most: the regression, or one of your own "
            "in the analysis plan.",
        ),
        "risk": (
            "What intruders learn: each measure is an attack, and says what the intruder knows.",
            "A number means little alone. Beside it stands what guessing would give, or what the "
            "same attack finds of people who are not in the table.",
            "The worst case assumes an intruder who holds your whole original table.",
        ),
        "compare": (
            "Settings and methods side by side: scenarios that you have saved, or several methods "
            "that are each tuned to the same loss or to your policy.",
            "A decision keeps what a meeting chose, with its reasons.",
        ),
        "sweep": (
            "Many settings tried one after the other: each point of the map is one, further right "
            "with less loss, lower with less risk.",
            "Goal seek looks for the least change that keeps your policy.",
        ),
        "release": (
            "Five steps from a setting to a file that may leave the house, with a public notice, "
            "an internal report and an entry in the ledger.",
            "What is judged here is the very file that is downloaded.",
        ),
        "learn": (
            "Six lessons on why masking works and where it breaks. Each is one idea with a picture "
            "that moves.",
            "All tables here are made up or public; nothing of your own table is shown.",
        ),
    }
)
"""What each page shows, by the page's name in the address."""


def guide(page: str) -> None:
    """Offer to say what a page shows.

    Parameters
    ----------
    page : str
        One of `WORDS`.
    """
    steps = TOUR if page == "tune" else ()
    data = {
        "page": page,
        "title": "What am I looking at?",
        "words": list(WORDS[page]),
        "steps": [asdict(step) for step in steps],
    }
    _mount(key="guide", data=data, height="content")
