"""What a page shows while a job of the background is under way."""

from __future__ import annotations

import streamlit as st

from rwn_ui.background.job import Job

POLL_SECONDS = 0.7


def wait_for(job: Job, words: str, key: str) -> None:
    """Progress and Cancel; the page is drawn anew when the job ends.

    Parameters
    ----------
    job : Job
    words : str
        What is being done, as Markdown.
    key : str
        Of the button.
    """

    @st.fragment(run_every=POLL_SECONDS)
    def watch() -> None:
        job.poll()
        if not job.running:
            st.rerun()
        st.progress(min(job.share, 1.0), text=words)
        st.button("Cancel", key=key, on_click=job.cancel)

    watch()
