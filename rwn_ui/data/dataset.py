"""A dataset on the server's disk: opened, looked at and masked as a whole, never in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_ui.background.dataset_job import MaskingJob, OpenDataset, TimedJob, look, mask_and_record
from rwn_ui.background.job import Job
from rwn_ui.background.preparation import CANCELLED
from rwn_ui.background.progress import wait_for
from rwn_ui.messages import escaped, guarded
from rwn_ui.server.dataset_folders import datasets_folder, releases_folder, source_at, target_at
from rwn_ui.state.work import Work, own_work

if TYPE_CHECKING:
    from rwn_core.scale.dataset_preview import DatasetPreview

_NAMED = 12  # entries of the folder


def offer_dataset() -> None:
    """The control; nothing where no folder of datasets is offered."""
    folder = datasets_folder()
    if folder is None:
        return
    work = own_work()
    with st.expander(
        "A dataset on the server's disk, larger than memory",
        expanded=work.dataset is not None,
        icon=":material/database:",
    ):
        with guarded():
            _choose(
                work, sorted(each.name for each in folder.iterdir() if each.name[0] not in "._")
            )
        if work.dataset is not None:
            with guarded():
                _setting(work, work.dataset)
            with guarded():
                _looked(work.dataset)
            with guarded():
                _masked(work.dataset)


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
    pressed = right.button(
        "Open it", key="data.dataset.open", width="stretch", disabled=not name or work.busy
    )
    if pressed:
        from rwn_core.scale.dataset import Dataset  # when it is needed: few open a dataset

        work.dataset = None
        path = source_at(name)
        work.dataset = OpenDataset(name=name, path=path, dataset=Dataset.at(path))
        for key in ("removed", "k", "epsilon", "q", "target"):
            st.session_state.pop(f"data.dataset.{key}", None)


def _setting(work: Work, opened: OpenDataset) -> None:
    """What it has, what is left out, and how it is masked."""
    dataset = opened.dataset
    files = f"{len(dataset.paths):,} file{'s' * (len(dataset.paths) != 1)}"
    st.markdown(
        escaped(f"{opened.name}: {dataset.n:,} records, {len(dataset.columns)} columns, {files}.")
    )
    opened.removed = st.multiselect(
        "Direct identifiers: never read and never released",
        [name for name, _ in dataset.columns],
        opened.removed,
        key="data.dataset.removed",
    )
    columns = st.columns(3)
    opened.k = int(columns[0].number_input("k", 1, 10_000, opened.k, key="data.dataset.k"))
    opened.epsilon = columns[1].number_input(
        "Radius epsilon, in standard deviations",
        0.0,
        value=opened.epsilon,
        step=0.1,
        key="data.dataset.epsilon",
        help="Not the epsilon of differential privacy. 0 is none: the k nearest alone.",
    )
    opened.q = columns[2].number_input(
        "Modification probability q", 0.0, 1.0, opened.q, 0.05, key="data.dataset.q"
    )
    if st.button("Look at it", key="data.dataset.look", disabled=work.busy):
        opened.looking = TimedJob(
            "look",
            look,
            words=f"Reading {dataset.n:,} records",
            about=(_params(opened), _schema(opened)),
            dataset=dataset,
            schema=_schema(opened),
            params=_params(opened),
        )
        st.rerun()


def _params(opened: OpenDataset) -> rwn.RWN:
    return rwn.RWN(k=opened.k, epsilon=opened.epsilon or None, q=opened.q)


def _schema(opened: OpenDataset) -> rwn.Schema:
    """The columns as their types say; what is left out is an identifier."""
    guessed = opened.dataset.guessed_schema()
    left = set(opened.removed)
    variables = tuple(
        replace(each, role=rwn.Role.IDENTIFIER) if each.name in left else each
        for each in guessed.variables
    )
    if len(left) == len(variables):
        raise rwn.ParameterError("All columns are left out; keep at least one.")
    return replace(guessed, variables=variables)


def _looked(opened: OpenDataset) -> None:
    """Columns of all records, and random records with their neighborhoods."""
    job = opened.looking
    if job is None:
        return
    if job.running:
        wait_for(job, "data.dataset.look.cancel")
        return
    _refuse(job)
    found: DatasetPreview = job.result
    st.markdown("**Its columns**, from one pass over all records")
    st.dataframe(_columns(found), hide_index=True, width="stretch")
    shown = found.frame.copy()
    shown.index = pd.RangeIndex(1, len(shown) + 1, name="random record")
    params, schema = job.about
    st.markdown(escaped(_words(found, params)))
    if (params, schema) != (_params(opened), _schema(opened)):
        st.caption("This is of an earlier choice; look at it again.")
    shown.insert(0, "neighbors", found.sizes)
    shown.insert(1, "radius", found.radius)
    st.dataframe(shown, height=200, width="stretch")
    st.caption("This is the confidential original: it stays on the server.")


def _refuse(job: Job) -> None:
    """Say why a job has no result; that somebody cancelled it is no fault."""
    if job.refusal == CANCELLED:
        raise rwn.NotApplicable(CANCELLED)
    if job.refusal:
        raise rwn.InputError(job.refusal)


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
    """Of whom the neighborhoods are, and how large."""
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
    few = float((found.within < params.k).mean())
    return f"{said}; {few:.0%} of them have fewer than k within epsilon and fall back to k."


def _masked(opened: OpenDataset) -> None:
    """Mask all records, into the folder of releases."""
    folder, job = releases_folder(), opened.masking
    if folder is None:
        st.caption(
            "To mask it here the app needs a folder of releases (rwn app --releases); or use rwn "
            "mask-dataset."
        )
        return
    if job is not None and job.running:
        wait_for(job, "data.dataset.mask.cancel")
        st.caption("It goes on beside the other pages, and ends when this tab is closed.")
        return
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    opened.target = left.text_input(
        "Name of the release, a new folder within the folder of releases",
        opened.target,
        key="data.dataset.target",
    ).strip()
    pressed = right.button(
        "Mask the whole dataset",
        key="data.dataset.mask",
        width="stretch",
        disabled=not opened.target or own_work().busy,
    )
    if pressed:
        _mask(opened)
    if job is None:
        return
    _refuse(job)
    made = job.result
    st.success(
        f"{made.n:,} records were released as {made.files:,} file{'s' * (made.files != 1)} in "
        f"secret order, in the folder {escaped(made.folder.name)}; its internal record lies "
        "beside it and stays in the house. The secret is forgotten.",
        icon=":material/check_circle:",
    )


def _mask(opened: OpenDataset) -> None:
    target, source = target_at(opened.target), source_at(opened.name)
    opened.masking = MaskingJob(
        "mask",
        mask_and_record,
        words=f"Masking {opened.dataset.n:,} records",
        about=(target,),
        source=source,
        target=target,
        schema=_schema(opened),
        params=_params(opened),
    )
    st.rerun()
