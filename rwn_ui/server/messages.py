"""Refusals and failures as one sentence, never with a value; the page lives on."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.components import v1 as components

from rwn_core.errors import NotApplicable, RWNError, log_fault

# what makes links, pictures, styles, formulas and icons
_MARKUP = re.compile(r"[\\`*_\[\]<>$~]|:(?=[\w/+-]+[:\[])")
# what becomes a link without any sign around it; an escape does not stop it
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_SAID = "refusals of this run"
_BEFORE = "refusals of the run before"
_AGAIN = "refusals to say again"
SENT = 0.05  # seconds in which Streamlit sends what a run has drawn
_STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def serve_plotly() -> None:
    """Serve the script of the charts, also where `streamlit run` has started the server."""
    # registered again without an effect; Streamlit names it by the module that registers it
    components.declare_component("plotly", path=str(files("plotly") / "package_data"))


def frame() -> None:
    """Streamlit's frame in this app's measures; every page calls it first."""
    st.html(f"<style>{_STYLE}</style>")
    _say_again()


def let_it_be_sent() -> None:
    """Wait until the sliders of a run are in the browser; a page with sliders calls it last."""
    # A slider that was moved during this run is next: Streamlit would drop the sliders not yet
    # sent, and the browser start them anew at their low ends.
    time.sleep(SENT)


def show_error(error: Exception) -> bool:
    """True if Streamlit is to show nothing more; shows an error that no page has caught."""
    with guarded():
        raise error
    return True


def escaped(text: str) -> str:
    """A text as Markdown that shows it and does nothing else; names are user input."""
    signs = _MARKUP.sub(lambda sign: "\\" + sign.group(), text)
    return _ADDRESS.sub("\u2060", signs)  # a word joiner, which is invisible


def informed(text: str) -> None:
    """Show a note."""
    st.info(escaped(text), icon=":material/info:")


def succeeded(text: str) -> None:
    """Show that something is done."""
    st.success(escaped(text), icon=":material/check_circle:")


def warned(text: str) -> None:
    """Show that something is done against a limit, or at a risk."""
    st.warning(escaped(text), icon=":material/priority_high:")


def refused(text: str) -> None:
    """Show why something is not done."""
    said = st.session_state.setdefault(_SAID, [])
    if text not in said:
        said.append(text)
    st.error(escaped(text), icon=":material/block:")


def redraw() -> NoReturn:
    """Draw the page again by itself, without a person's doing; what it just refused is kept."""
    before = st.session_state.get(_BEFORE, ())
    new = [text for text in st.session_state.get(_SAID, ()) if text not in before]
    st.session_state[_AGAIN] = new
    st.rerun()


def _say_again() -> None:
    """Say what was refused in the run before, where the page has drawn itself again after it."""
    st.session_state[_BEFORE] = st.session_state.get(_SAID, [])
    st.session_state[_SAID] = []
    for text in st.session_state.pop(_AGAIN, ()):
        st.toast(escaped(text), icon=":material/block:")


@contextmanager
def guarded() -> Iterator[None]:
    """Show what goes wrong inside as a sentence, and go on after it."""
    # Refusals speak for themselves. Anything else is logged as its type and the lines it passed,
    # because the text of a foreign error may hold a cell's value.
    try:
        yield
    except NotApplicable as reason:
        informed(str(reason))
    except RWNError as refusal:
        refused(str(refusal))
    except Exception as error:  # the last line of defense of a page
        number = log_fault(error)
        st.error(
            f"Unexpected error {number}: change a setting or reload the page to go on, and report "
            "the number if it comes again.",
            icon=":material/error:",
        )
