"""A dataset on the server's disk: opened, described, tried on a sample and masked as a whole.

It is never in memory, and stays on the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.data.open_questions import open_questions
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_ui.background import dataset_job
from rwn_ui.background.dataset_job import (
    OpenDataset,
    delete_if_forgotten,
    mask_and_record,
    write_reports,
)
from rwn_ui.background.job import CANCELLED, Job
from rwn_ui.background.progress import wait_for
from rwn_ui.data import dataset_setting
from rwn_ui.data.dataset_setting import take_over
from rwn_ui.server.dataset_folders import (
    BegunRun,
    begun_now,
    datasets_folder,
    delete_run,
    key_file,
    releases_folder,
    source_at,
    stopped_runs,
    target_at,
)
from rwn_ui.server.messages import escaped, guarded, succeeded
from rwn_ui.state.change_table import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work, user_work
from rwn_ui.widgets.buttons import link_to

if TYPE_CHECKING:
    from rwn_core.datasets.dataset_preview import DatasetPreview

_NAMED = 12  # entries of the folder


def offer_dataset(session: Session) -> None:
    """The control; nothing where no folder of datasets is offered."""
    folder = datasets_folder()
    if folder is None:
        return
    work, stopped = user_work(), stopped_runs()
    with st.expander(
        "A dataset on the server's disk, larger than memory",
        expanded=work.dataset is not None or bool(stopped),
        icon=":material/database:",
    ):
        with guarded():
            offer_stopped(work, stopped)
        with guarded():
            _choose(
                work, sorted(each.name for each in folder.iterdir() if each.name[0] not in "._")
            )
        if work.dataset is not None:
            _draw(session, work.dataset)


def _choose(work: Work, names: list[str]) -> None:
    """Type the name of a dataset, and open it."""
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    name = left.text_input(
        "Folder of Parquet files, or one file, within the folder of datasets",
        "" if work.dataset is None else work.dataset.name,
        key="data.dataset.path",
        placeholder=names[0] if names else "The folder of datasets is empty",
    ).strip()
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    if names:
        st.caption(escaped(f"There are: {', '.join(names[:_NAMED])}{more}."))
    if right.button(
        "Open it", key="data.dataset.open", width="stretch", disabled=not name or work.busy
    ):
        _open(work, name)


def _open(work: Work, name: str) -> OpenDataset:
    """Open a dataset in the place of the one before, which goes first."""
    before, work.dataset = work.dataset, None
    work.dataset = OpenDataset.at(name, source_at(name), before)
    return work.dataset


def _draw(session: Session, opened: OpenDataset) -> None:
    """All that is known of an open dataset, and what can be done with it."""
    dataset = opened.dataset
    files = f"{len(dataset.paths):,} file{'s' * (len(dataset.paths) != 1)}"
    st.markdown(
        escaped(f"{opened.name}: {dataset.n:,} records, {len(dataset.columns)} columns, {files}.")
    )
    for part in (
        *(dataset_setting.take_file, dataset_setting.draw_columns, dataset_setting.draw),
        *(_offer, _looked, _planned, partial(_drawn, session), partial(_found, session)),
        draw_masking,
    ):
        with guarded():
            part(opened)


_ASKED = ("identifier", "household", "free text")
_ANSWER = "Set its role to identifier, or name it among those that identify nobody."


def _offer(opened: OpenDataset) -> None:
    """Buttons that look at the dataset, plan its masking, and draw records of it."""
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
    st.dataframe(_columns(found), lazy=False, hide_index=True, width="stretch")
    shown = found.frame.copy()
    shown.index = pd.RangeIndex(1, len(shown) + 1, name="random record")
    st.markdown(escaped(_words(found, job.about[0])))
    shown.insert(0, "neighbors", found.sizes)
    shown.insert(1, "radius", found.radius)
    st.dataframe(shown, lazy=False, height=200, width="stretch")
    st.caption("This is the confidential original: it stays on the server.")
    for question in open_questions(found.frame, opened.schema):
        if question.kind in _ASKED:
            st.warning(escaped(f"{question.sentence} {_ANSWER}"))


def _columns(found: DatasetPreview) -> pd.DataFrame:
    n, statistics = found.statistics.n, found.statistics
    rows: list[tuple[str, float | None, float | None, int, int | None]] = [
        (name, each.mean, each.sd, n - each.count, None)
        for name, each in statistics.numbers.items()
    ]
    rows += [
        (name, None, None, n - sum(levels.values()), len(levels))
        for name, levels in statistics.levels.items()
    ]
    table = pd.DataFrame(rows, columns=["column", "mean", "SD", "missing", "levels"])
    for name in ("mean", "SD"):  # a moment since 1970 says nothing
        dates = [str(kind).startswith("datetime") for kind in found.frame[table["column"]].dtypes]
        table.loc[dates, name] = np.nan
    return table


def _words(found: DatasetPreview, params: rwn.RWN) -> str:
    """Describe the neighborhoods and their sizes."""
    n = found.statistics.n
    whom = f"neighborhoods in the full table of {n:,}"
    if found.among != n:
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


def offer_stopped(work: Work, stopped: Sequence[BegunRun]) -> None:
    """Stopped maskings with a stored secret: each can continue, or be deleted."""
    own = work.dataset.jobs.get("mask") if work.dataset is not None else None
    mine = own.about[0].target if own is not None and own.running else None  # its process begins
    for number, run in enumerate(each for each in stopped if each.target != mine):
        left, middle, right = st.columns([3, 1, 1], vertical_alignment="center")
        left.markdown(
            escaped(
                f"{run.target.name}: a release of {run.source}, begun {run.started} and not "
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
    opened = _open(work, run.source)
    opened.schema, opened.params, opened.keep = run.schema, run.params, True
    opened.target = run.target.name
    _begin(opened, run)


def draw_masking(opened: OpenDataset) -> None:
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
        _offer_masking(opened)
    if job is not None:
        refuse(job)
        _say_done(opened)
        _reports(opened)


_GOES_ON = "Its secret is kept, so that it can go on later."


def _offer_masking(opened: OpenDataset) -> None:
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
    if right.button(
        "Mask the whole dataset",
        key="data.dataset.mask",
        width="stretch",
        disabled=not opened.target or user_work().busy,
    ):
        target, source = target_at(opened.target), source_at(opened.name)
        if source != opened.path:
            raise rwn.InputError("The dataset lies elsewhere now; open it again.")
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
    made, secret = job.result, "The secret is forgotten."
    if job.about[1]:
        secret = (
            f"Its secret is stored in {key_file(made.folder).name}, for rwn reproduce. That file "
            "can undo the release: seal it or delete it."
        )
    succeeded(
        f"{made.n:,} records were released as {made.files:,} file{'s' * (made.files != 1)} in "
        f"secret order, in the folder {made.folder.name}. Its internal record is next to it and "
        f"stays in the house. {secret}"
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
        succeeded(
            f"For users, with nothing of the original found in them: {', '.join(public)}. For the "
            f"house alone: {inside}."
        )
