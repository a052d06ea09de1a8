"""Preview of a dataset before it is masked, and random records of it to tune on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.data.open_questions import open_questions
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_ui.background import dataset_job
from rwn_ui.background.dataset_job import OpenDataset
from rwn_ui.background.job import CANCELLED, Job
from rwn_ui.background.progress import wait_for
from rwn_ui.data.dataset_setting import take_over
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state.change_table import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.widgets.page_link import link_to

if TYPE_CHECKING:
    from rwn_core.datasets.dataset_preview import DatasetPreview


_ASKED = ("identifier", "household", "free text")
_ANSWER = "Set its role to identifier, or name it among those that identify nobody."


def draw(session: Session, opened: OpenDataset) -> None:
    """Buttons, what they have brought, and the way to the other pages and back."""
    _offer(opened)
    for shown in (_looked, _planned):
        with guarded():
            shown(opened)
    with guarded():
        _drawn(session, opened)
    _found(session, opened)


def _offer(opened: OpenDataset) -> None:
    dataset, about = opened.dataset, (opened.params, opened.schema)
    busy, columns = user_work().busy, st.columns(3)
    read = f"Reading {dataset.n:,} records"
    some = f"{LIVE_RECORDS:,} random" if dataset.n > LIVE_RECORDS else f"all {dataset.n:,}"
    jobs = {
        "look": ("Look at it", read, {"dataset": dataset, "params": opened.params}),
        "plan": ("What it takes", read, {"source": opened.path, "params": opened.params}),
        "draw": (f"Tune on {some} records", read, {"dataset": dataset}),
    }
    for column, (name, (label, words, given)) in zip(columns, jobs.items(), strict=True):
        key = f"data.dataset.{name}"
        if column.button(label, key=key, disabled=busy, width="stretch", help=_HELP[name]):
            work = getattr(dataset_job, name)
            opened.jobs[name] = Job(
                name, work, words=words, about=about, schema=opened.schema, **given
            )
            st.rerun()


_HELP = {
    "look": "Its columns, and random records with their neighborhoods in the full table.",
    "plan": "Time, memory and tasks of this setting, and what other candidates would do.",
    "draw": "The records become the table of the other pages; what is on them now is given up. "
    "Settings that are found there can be taken over here.",
}


def refuse(job: Job) -> None:
    """Show why a job has no result; a cancelled job is no error."""
    if job.refusal == CANCELLED:
        raise rwn.NotApplicable(CANCELLED)
    if job.refusal:
        raise rwn.InputError(job.refusal)


def _ended(opened: OpenDataset, name: str) -> Job | None:
    """A job that has a result; None where there is none, or how far it is on screen."""
    job = opened.jobs.get(name)
    if job is None:
        return None
    if job.running:
        wait_for(job, f"data.dataset.{name}.cancel")
        return None
    refuse(job)
    if name != "draw" and job.about != (opened.params, opened.schema):
        st.caption("What follows is of an earlier choice; ask for it again.")
    return job


def _looked(opened: OpenDataset) -> None:
    """Columns of all records, and random records with their neighborhoods."""
    job = _ended(opened, "look")
    if job is None:
        return
    found: DatasetPreview = job.result
    st.markdown("**Its columns**, from one pass over all records")
    st.dataframe(_columns(found), hide_index=True, width="stretch")
    shown = found.frame.copy()
    shown.index = pd.RangeIndex(1, len(shown) + 1, name="random record")
    st.markdown(escaped(_words(found, job.about[0])))
    shown.insert(0, "neighbors", found.sizes)
    shown.insert(1, "radius", found.radius)
    st.dataframe(shown, height=200, width="stretch")
    st.caption("This is the confidential original: it stays on the server.")
    for question in open_questions(found.frame, opened.schema):
        if question.kind in _ASKED:
            st.warning(escaped(f"{question.sentence} {_ANSWER}"))


def _columns(found: DatasetPreview) -> pd.DataFrame:
    statistics = found.statistics
    rows = [
        {
            "column": name,
            "mean": each.mean,
            "SD": each.sd,
            "missing": statistics.n - each.count,
            "levels": None,
        }
        for name, each in statistics.numbers.items()
    ]
    rows += [
        {
            "column": name,
            "mean": None,
            "SD": None,
            "missing": statistics.n - sum(each.values()),
            "levels": len(each),
        }
        for name, each in statistics.levels.items()
    ]
    table = pd.DataFrame(rows)
    for name in ("mean", "SD"):  # a moment since 1970 says nothing
        dates = [str(kind).startswith("datetime") for kind in found.frame[table["column"]].dtypes]
        table.loc[dates, name] = np.nan
    return table


def _words(found: DatasetPreview, params: rwn.RWN) -> str:
    """Describe the neighborhoods and their sizes."""
    n = found.statistics.n
    if found.among == n:
        whom = f"neighborhoods in the full table of {n:,}"
    else:
        whom = (
            f"neighborhoods among {found.among:,} random ones of {n:,} (Method 1): in the "
            "full table, which the whole dataset is masked with, radii are smaller"
        )
    said = (
        f"{len(found.records):,} random records, with {whom}. Median radius "
        f"{np.median(found.radius):.3g}, median size {np.median(found.sizes):,.0f}"
    )
    if params.epsilon is None:
        return f"{said}."
    few = float((found.within < (params.k or 0)).mean())
    return f"{said}; {few:.0%} of them have fewer than k within epsilon and fall back to k."


def _planned(opened: OpenDataset) -> None:
    """Cost of the masking, line by line."""
    job = _ended(opened, "plan")
    if job is None:
        return
    st.markdown("**What it takes**")
    lines = [("    - " if line[0] == " " else "- ") + escaped(line.strip()) for line in job.result]
    st.markdown("\n".join(lines))


def _drawn(session: Session, opened: OpenDataset) -> None:
    """The random records, which become the table of the other pages."""
    job = _ended(opened, "draw")
    if job is None:
        return
    del opened.jobs["draw"]
    schema = rwn.Schema(variables=job.about[1].released, question=job.about[1].question)
    data = rwn.Microdata.from_frame(job.result, schema)
    which = f"{data.n:,} random" if data.n < opened.dataset.n else f"all {data.n:,}"
    load(session, data, name=f"{opened.name}, {which} records", demo=None)
    st.rerun()


def _found(session: Session, opened: OpenDataset) -> None:
    """Tune on a sample of the dataset, and take the setting that was found there."""
    released = tuple(variable.name for variable in opened.schema.released)
    name, n = session.name, session.data.n
    if session.data.names != released or not name.startswith(f"{opened.name}, "):
        return
    st.markdown(f"**On the other pages**: {escaped(f'{name}, with {session.words}.')}")
    if opened.dataset.n > n:
        st.caption(escaped(_difference(opened.dataset.n, n)))
    left, right = st.columns(2)
    with left:
        link_to("pages/tune.py", "Tune these records", ":material/tune:")
    if right.button("Take the setting found there", key="data.dataset.take", width="stretch"):
        take_over(opened, session)
        st.rerun()


def _difference(n: int, sampled: int) -> str:
    """Difference between neighborhoods of a sample and of the full dataset."""
    return (
        f"Neighborhoods there are those among {sampled:,} records, not those of the full table: of "
        f"{n:,} records about {n / sampled:,.0f} times as many lie within the same epsilon "
        "(masking takes longer), and the k nearest are nearer (less is lost, and an intruder finds "
        "more). Look at it says radii and sizes in the full table. With Method 1 and "
        f"M = {sampled:,} they are about as large as there."
    )
