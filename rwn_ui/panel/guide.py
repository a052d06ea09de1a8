"""A page's explanation in a few sentences, and the parts of the Tune page."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

TOUR = {
    "A masked copy": "The page compares one masked copy of your table with the original. This "
    "line states its setting, and the share of changed values of each variable.",
    "Move a slider": "A value is replaced by that of a random record nearby. ε is the radius of "
    "nearby, k the least number of neighbors, q the probability of a replacement. Drag a slider, "
    "or use the arrow keys: everything is drawn anew.",
    "What it gives away": "The first line is the verdict of your policy: how many limits are kept "
    "or broken, and the nearest or worst of them, compared with guessing in its help.",
    "What it costs": "Each picture compares the original (blue) with the masked copy (orange): "
    "correlations, regression, distributions. Point at one for its values; its corner enlarges "
    "it.",
    "Where to go from here": "Data opens your own table. Sweep and Compare find better settings "
    "and methods. Risk and Utility go into depth. Release makes the file that leaves. Learn "
    "explains the theory.",
}
"""The Tune page in five parts."""

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "data": (
            "The table of all other pages: a demo table, or a file of your own, which stays on "
            "this machine.",
            "State the role of each variable. An intruder may know the keys of a person, and wants "
            "to learn a confidential variable. Identifiers are never released.",
            "The program asks here if something is uncertain.",
        ),
        "tune": (
            "One masked copy of your table compared with the original, drawn anew with each move.",
            "The first line says whether the copy keeps the limits of your policy. Tiles and "
            "pictures below show its costs. Blue is the original, orange the masked copy.",
            "Pin a setting to compare it with others: each pin is marked in every picture. “More” "
            "in the sidebar has other controls and a trial file.",
        ),
        "utility": (
            "What analysts lose: each measure compares an analysis of the original with the same "
            "analysis of the masked copy.",
            "Begin with the analysis your users care for most: the regression, or one of your own "
            "in the analysis plan.",
        ),
        "risk": (
            "What intruders learn: each measure is an attack, and says what the intruder knows.",
            "A number means little by itself. Compare it with guessing, or with the same attack on "
            "people who are not in the table.",
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
            "Nine lessons on disclosure, masking and its price. Each is one idea with a picture "
            "that moves.",
            "All tables here are made up or public; nothing of your own table is shown.",
        ),
        "paper": (
            "Figures 1 to 9 of the paper of 2022, by their numbers, for your table and method. "
            "Curves run over one lever; the others stand as on Tune.",
            "A solid line is the original, a dashed one the mean of many releases. Nine of ten "
            "releases lie in the pale band.",
        ),
    }
)
"""What each page shows, by the page's name in the address."""


def guide(page: str) -> None:
    """Draw a popover that explains the page."""
    with st.container(key="guide"), st.popover("What am I looking at?", icon=":material/help:"):
        for sentence in WORDS[page]:
            st.markdown(sentence)
        for title, words in TOUR.items() if page == "tune" else ():
            st.markdown(f"**{title}.** {words}")
