"""A dataset that a user has opened: looked at and masked in processes of their own."""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rwn_core as rwn
from rwn_ui.background.job import Job
from rwn_ui.server.dataset_folders import (
    BegunRun,
    delete_run,
    key_file,
    record_file,
    run_file,
    run_lock,
    unfinished,
)

if TYPE_CHECKING:  # they bring the compiler, which a page does not wait for
    import pandas as pd

    from rwn_core.datasets.dataset import Dataset
    from rwn_core.datasets.dataset_preview import DatasetPreview
    from rwn_core.datasets.mask_dataset import DatasetRelease

_PATIENCE = 10.0  # seconds in which the workers of a cancelled masking end
_FOR_USERS = ("notice.html", "card.toml", "codebook.xml", "croissant.json", "healthdcat-ap.jsonld")


FIRST = rwn.RWN(k=5)  # the setting of a dataset that was opened


@dataclass(slots=True, kw_only=True)
class OpenDataset:
    """A dataset, what the user says of it, and what goes on with it."""

    name: str  # as it was typed
    path: Path
    dataset: Dataset
    schema: rwn.Schema  # what its columns are
    params: Any  # the setting
    # counts opened datasets, and how often schema or setting came from elsewhere than their fields;
    # part of the fields' keys
    version: int = 0
    keep: bool = False  # whether the secret of the release is kept in a file
    # name of the release; what the data are called in public; when it is looked at again
    target: str = ""
    title: str = ""
    review: str = ""
    contact: str = ""
    # by what they do: "look" has a DatasetPreview as its result, "plan" lines of text, "draw" a
    # DataFrame of random records, "mask" a DatasetRelease, "report" names of files
    jobs: dict[str, Job] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, name: str, path: Path, before: OpenDataset | None) -> OpenDataset:
        """Open a dataset in the place of another one."""
        from rwn_core.datasets.dataset import Dataset

        dataset = Dataset.at(path)
        return cls(
            name=name,
            path=path,
            dataset=dataset,
            schema=dataset.guessed_schema(),
            params=FIRST,
            version=0 if before is None else before.version + 1,
        )

    def key(self, what: str) -> str:
        """The key of a field."""
        return f"data.dataset.{self.version}.{what}"

    @property
    def running(self) -> bool:
        """True if one of its jobs is running."""
        return any(job.running for job in self.jobs.values())

    def cancel(self) -> None:
        """End its jobs."""
        for job in self.jobs.values():
            job.cancel()

    def erase(self) -> None:
        """End its jobs and delete what they leave, even if it could go on."""
        masking = self.jobs.get("mask")
        if masking is not None:
            masking.about = (masking.about[0], False)
        self.cancel()


def delete_if_forgotten(masking: Job) -> None:
    """Delete the work of a cancelled masking that cannot continue: it holds original values."""
    run, keep = masking.about
    if not keep:
        threading.Thread(target=_delete_unfinished, args=(run.target,)).start()


def look(dataset: Dataset, schema: rwn.Schema, params: Any, progress: Any) -> DatasetPreview:
    """Look at a dataset; the work of the process."""
    from rwn_core.datasets.dataset_preview import preview_dataset

    return preview_dataset(dataset, schema, params, progress=progress)


def plan(source: Path, schema: rwn.Schema, params: Any, progress: Any) -> list[str]:
    """Say what masking a dataset would take; the work of the process."""
    from rwn_core.datasets.dataset_plan import plan_dataset, plan_lines
    from rwn_core.datasets.prepare_run import RunOptions

    nowhere = Path(tempfile.gettempdir()) / f"rwn-plan-{secrets.token_hex(8)}"  # never written
    return plan_lines(plan_dataset(source, nowhere, params, RunOptions(schema=schema)))


def draw(dataset: Dataset, schema: rwn.Schema, progress: Any) -> pd.DataFrame:
    """Read random records of a dataset; the work of the process."""
    from rwn_core.data.sizes import LIVE_RECORDS
    from rwn_core.datasets.dataset_preview import random_records

    return random_records(dataset, schema, LIVE_RECORDS, progress=progress)


def mask_and_record(run: BegunRun, source: Path, keep: bool, progress: Any) -> DatasetRelease:
    """Mask a dataset and write its record next to the release; run in the process."""
    # Under a fresh secret, or under the one that lies in the release's key file already.
    from rwn_core.datasets.key_file import read_or_make_key
    from rwn_core.datasets.mask_dataset import mask_dataset
    from rwn_core.datasets.prepare_run import RunOptions
    from rwn_core.io.write import write_together
    from rwn_core.reporting.dataset_record import dataset_record
    from rwn_core.reporting.record_parts import FORGOTTEN, KEPT

    options = RunOptions(schema=run.schema, progress=progress)
    with run_lock(run):
        key = read_or_make_key(key_file(run.target)) if keep else None
        try:
            made = mask_dataset(source, run.target, run.params, seed=key, options=options)
        except Exception as error:
            # the secret that could continue it is gone, or it would end in the same way
            if not keep or isinstance(error, rwn.InputError | rwn.ParameterError):
                _delete_unfinished(run.target)
            raise
        words = KEPT if keep else FORGOTTEN
        text = dataset_record(made, run.params, run.schema, words, source)
        texts = {record_file(run.target): text}
        if keep:  # the record has no levels of ordered variables, and rwn reproduce needs them
            texts[run.target.with_name(f"{run.target.name}.schema.toml")] = run.schema.to_toml()
        write_together({path: each.encode("utf-8") for path, each in texts.items()})
    return made


def write_reports(
    target: Path, source: Path, title: str, review: str, progress: Any, contact: str = ""
) -> list[str]:
    """Write the reports of a release next to it; run in the process."""
    from rwn_core.datasets.key_file import read_key
    from rwn_core.io.write import write_together
    from rwn_core.reporting.context import Context, with_context
    from rwn_core.reporting.dataset_record import read_dataset_record
    from rwn_core.reporting.dataset_reports import internal_dataset_file, public_dataset_files
    from rwn_core.reporting.facts import Material

    text = record_file(target).read_text(encoding="utf-8")
    record = read_dataset_record(text, target)
    record = with_context(record, Context(), review=review, contact=contact)
    material = Material(record=record, title=title)
    public = public_dataset_files(
        material, source, target, _FOR_USERS, lambda share: progress(share / 2)
    )
    key = read_key(key_file(target)) if key_file(target).is_file() else None
    inside = internal_dataset_file(
        material, source, target, ".html", key, lambda share: progress(0.5 + share / 2)
    )
    folder = target.with_name(f"{target.name}.for-users")
    folder.mkdir(mode=0o700, exist_ok=True)
    files = {folder / name: content for name, content in public.items()}
    files[target.with_name(f"{target.name}.internal-report.html")] = inside
    write_together(files)
    return [str(path.relative_to(target.parent)) for path in files]


def _delete_unfinished(target: Path) -> None:
    """Delete what a cancelled masking leaves, also what a worker writes in its last moment."""
    left = (*unfinished(target), run_file(target))
    end = time.monotonic() + _PATIENCE
    while any(each.exists() for each in left) and time.monotonic() < end:
        delete_run(target)
        time.sleep(0.1)
