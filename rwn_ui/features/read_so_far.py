"""A release that is being judged: the limits read so far, and the measure that is read now."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.read_so_far import ReadSoFar
from rwn_core.tuning.goal import number_words
from rwn_ui.background.job import Job
from rwn_ui.server.messages import escaped


def draw(policy: rwn.Policy, job: Job) -> None:
    """One line below the bar; after Cancel what was read until then."""
    read: ReadSoFar | None = job.so_far
    if read is not None:
        st.caption(escaped(words(policy, read, running=job.running)))


def words(policy: rwn.Policy, read: ReadSoFar, *, running: bool) -> str:
    """Write the limits that were read, and the measure that is read now."""
    limits = [
        f"{rwn.MEASURES[limit.measure].title_as(standing)} {number_words(limit.measure, value)} "
        f"(limit {number_words(limit.measure, limit.at_most)})"
        for limit in policy.limits
        if limit.measure in read.values
        for value, standing in [read.values[limit.measure]]
    ]
    now = f"Reading now: {rwn.MEASURES[read.now].title}. " if running else ""
    if not limits:
        return f"{now}No limit is read yet."
    open_ = len(policy.limits) - len(limits)
    rest = f" {open_} of {len(policy.limits)} limits are open." if open_ else ""
    return f"{now}So far: {'; '.join(limits)}.{rest}"
