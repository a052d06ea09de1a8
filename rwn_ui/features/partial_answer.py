"""What a judgement has read so far, while it runs and after Cancel."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.audit import ReadSoFar
from rwn_ui.background.job import Job
from rwn_ui.server.messages import escaped


def draw_read(policy: rwn.Policy, job: Job) -> None:
    """One line below the bar; after Cancel what was read until then."""
    read: ReadSoFar | None = job.so_far
    if read is not None:
        st.caption(escaped(read_words(policy, read, running=job.running)))


def read_words(policy: rwn.Policy, read: ReadSoFar, *, running: bool) -> str:
    """Write the limits that were read, and the measure that is read now."""
    limits = [
        f"{about.title_as(standing)} {about.words(value)} (limit {about.words(limit.at_most)})"
        for limit in policy.limits
        if limit.measure in read.values
        for about, (value, standing) in [(rwn.MEASURES[limit.measure], read.values[limit.measure])]
    ]
    now = f"Reading now: {rwn.MEASURES[read.now].title}. " if running else ""
    if not limits:
        return f"{now}No limit is read yet."
    open_ = len(policy.limits) - len(limits)
    more = f" {open_} of {len(policy.limits)} limits are open." if open_ else ""
    return f"{now}So far: {'; '.join(limits)}.{more}"
