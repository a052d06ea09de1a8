"""Masks the whole dataset into the folder of releases, and writes the reports of the release."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rwn_core.errors import InputError
from rwn_ui.background.dataset_job import (
    OpenDataset,
    delete_if_forgotten,
    mask_and_record,
    write_reports,
)
from rwn_ui.background.job import Job
from rwn_ui.background.progress import wait_for
from rwn_ui.data.dataset_look import refuse
from rwn_ui.server.dataset_folders import key_file, releases_folder, source_at, target_at
from rwn_ui.server.dataset_runs import BegunRun, begun_now, delete_run
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state.work import Work, user_work


def offer_stopped(work: Work, stopped: Sequence[BegunRun]) -> None:
    """Stopped maskings with a stored secret: each can continue, or be deleted."""
    own = work.dataset.jobs.get("mask") if work.dataset is not None else None
    mine = own.about[0].target if own is not None and own.running else None  # its process begins
    for number, run in enumerate(each for each in stopped if each.target != mine):
        left, middle, right = st.columns([3, 1, 1], vertical_alignment="center")
        left.markdown(
            escaped(
                f"{run.target.name}: a release of {run.source}, begun {run.begun} and not "
                "finished. What is left of it holds original values."
            )
        )
        if middle.button(
            "Go on", key=f"data.dataset.go_on.{number}", width="stretch", disabled=work.busy
        ):
            _resume(work, run)
        if right.button("Delete it", key=f"data.dataset.delete.{number}", width="stretch"):
            delete_run(run.target)
            st.rerun()


def _resume(work: Work, run: BegunRun) -> None:
    before, work.dataset = work.dataset, None
    opened = OpenDataset.at(run.source, source_at(run.source), before)
    opened.schema, opened.params, opened.keep = run.schema, run.params, True
    opened.target = run.target.name
    work.dataset = opened
    _begin(opened, run)


def draw(opened: OpenDataset) -> None:
    """Mask all records; then write what speaks of the release."""
    if releases_folder() is None:
        st.caption(
            "To mask it here the app needs a folder of releases (rwn app --releases); or use rwn "
            "mask-dataset."
        )
        return
    job = opened.jobs.get("mask")
    if job is not None and job.running:
        wait_for(job, "data.dataset.mask.cancel")
        st.caption(
            "It continues while other pages are open, and stops when this tab is closed. "
            + (_GOES_ON if job.about[1] else "What it leaves unfinished is then deleted.")
        )
        return
    with guarded():
        _offer(opened)
    if job is not None:
        refuse(job)
        _say_done(opened)
        _reports(opened)


_GOES_ON = "Its secret is kept, so that it can go on later."


def _offer(opened: OpenDataset) -> None:
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    opened.target = left.text_input(
        "Name of the release, a new folder within the folder of releases",
        opened.target,
        key=opened.key("target"),
    ).strip()
    opened.keep = st.toggle(
        "Store the secret of the release in a file next to it",
        opened.keep,
        key=opened.key("keep"),
        help="Then a stopped masking can continue, rwn reproduce can draw the release again, and "
        "the "
        "report can count the rows that are linked correctly. This file can undo the release. "
        "Without it the secret is forgotten.",
    )
    pressed = right.button(
        "Mask the whole dataset",
        key="data.dataset.mask",
        width="stretch",
        disabled=not opened.target or user_work().busy,
    )
    if pressed:
        target, source = target_at(opened.target), source_at(opened.name)
        if source != opened.path:
            raise InputError("The dataset lies elsewhere now; open it again.")
        _begin(opened, begun_now(opened.name, target, opened.schema, opened.params))


def _begin(opened: OpenDataset, run: BegunRun) -> None:
    opened.jobs.pop("report", None)
    opened.jobs["mask"] = Job(
        "mask",
        mask_and_record,
        words=f"Masking {opened.dataset.n:,} records",
        on_cancel=delete_if_forgotten,
        about=(run, opened.keep),
        run=run,
        source=opened.path,
        keep=opened.keep,
    )
    st.rerun()


def _say_done(opened: OpenDataset) -> None:
    job = opened.jobs["mask"]
    made, keep = job.result, job.about[1]
    secret = (
        f"Its secret is stored in {escaped(key_file(made.folder).name)}, for rwn reproduce. That "
        "file can undo the release: seal it or delete it."
        if keep
        else "The secret is forgotten."
    )
    st.success(
        f"{made.n:,} records were released as {made.files:,} file{'s' * (made.files != 1)} in "
        f"secret order, in the folder {escaped(made.folder.name)}. Its internal record is next to "
        f"it and stays in the house. {secret}",
        icon=":material/check_circle:",
    )


def _reports(opened: OpenDataset) -> None:
    """Offer the public files of the release, and the internal report."""
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    opened.title = left.text_input(
        "What the data are called, in public",
        opened.title,
        key=opened.key("title"),
        placeholder="Masked microdata",
    )
    opened.review = middle.text_input(
        "Looked at again on",
        opened.review,
        key=opened.key("review"),
        placeholder="in a year",
        help="A date such as 2030-01-31.",
    ).strip()
    opened.contact = st.text_input(
        "Whom users may ask, such as an address",
        opened.contact,
        key=opened.key("contact"),
        max_chars=200,
        placeholder="no contact is stated",
    )
    release = opened.jobs["mask"].result.folder
    if right.button(
        "Write its reports", key="data.dataset.report", width="stretch", disabled=user_work().busy
    ):
        opened.jobs["report"] = Job(
            "report",
            write_reports,
            words="Reading the dataset and its release",
            about=(release,),
            target=release,
            source=opened.path,
            title=opened.title.strip(),
            review=opened.review,
            contact=opened.contact.strip(),
        )
        st.rerun()
    job = opened.jobs.get("report")
    if job is None:
        st.caption(
            "The public notice, the card and the codebook for users, after the leak check, and the "
            "internal report. They are written next to the release."
        )
    elif job.running:
        wait_for(job, "data.dataset.report.cancel")
    else:
        refuse(job)
        *public, inside = job.result
        st.success(
            escaped(
                f"For users, with nothing of the original found in them: {', '.join(public)}. "
                f"For the house alone: {inside}."
            ),
            icon=":material/check_circle:",
        )
