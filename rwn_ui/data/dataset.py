"""A dataset on the server's disk: opened, described, tried on a sample and masked as a whole.

It is never in memory, and stays on the server.
"""

from __future__ import annotations

import streamlit as st

from rwn_ui.background.dataset_job import OpenDataset
from rwn_ui.data import dataset_columns, dataset_look, dataset_masking, dataset_setting
from rwn_ui.server.dataset_folders import datasets_folder, source_at
from rwn_ui.server.dataset_runs import stopped_runs
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state.session import Session
from rwn_ui.state.work import Work, user_work

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
            dataset_masking.offer_stopped(work, stopped)
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
    pressed = right.button(
        "Open it", key="data.dataset.open", width="stretch", disabled=not name or work.busy
    )
    if pressed:
        before, work.dataset = work.dataset, None
        work.dataset = OpenDataset.at(name, source_at(name), before)


def _draw(session: Session, opened: OpenDataset) -> None:
    """All that is known of an open dataset, and what can be done with it."""
    dataset = opened.dataset
    files = f"{len(dataset.paths):,} file{'s' * (len(dataset.paths) != 1)}"
    st.markdown(
        escaped(f"{opened.name}: {dataset.n:,} records, {len(dataset.columns)} columns, {files}.")
    )
    with guarded():
        dataset_columns.take_file(opened)
    with guarded():
        dataset_columns.draw(opened)
    with guarded():
        dataset_setting.draw(opened)
    with guarded():
        dataset_look.draw(session, opened)
    with guarded():
        dataset_masking.draw(opened)
