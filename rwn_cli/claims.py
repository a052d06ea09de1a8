"""The command `rwn claims`: what analysts may conclude from a release, as a file for them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import rwn_core as rwn
from rwn_cli.options import read_text
from rwn_cli.record_file import OriginalFile, RecordFile, read_original, read_record_file
from rwn_cli.terminal import (
    File,
    Overwrite,
    flag,
    least,
    option,
    progress,
    refuse_existing,
    say,
    write_all,
)


def claims(
    record: RecordFile,
    out: Annotated[Path, option("FILE.json", "The claims, to publish.", "-o", "--out")],
    plan: Annotated[
        File,
        option(
            "FILE.toml",
            "The analyses that users will run, as [[analysis]] tables; the regression of the "
            "schema if left out.",
        ),
    ] = None,
    draws: Annotated[int, least(36, "Releases of the setting that judge every claim.")] = 200,
    readers: Annotated[bool, flag("--readers", "Also write the readers for Python and R.")] = False,
    original: OriginalFile = None,
    overwrite: Overwrite = False,
) -> None:
    """Judge analyses and all pairs of numbers over many releases, and publish what holds.

    A claim holds in at least nine of ten releases: the sign, a bound on the change, a factor for
    the standard error. The file says nothing else, and is checked against the original before it is
    written. Analysts load it with rwn_claims.py or rwn_claims.R.
    """
    from rwn_core.evaluation.claims import claim_table
    from rwn_core.reporting.claims_file import claims_file
    from rwn_core.reporting.readers import READERS

    files = {out.with_name(name): content for name, content in READERS.items()} if readers else {}
    refuse_existing(overwrite, out, *files)
    read = read_record_file(record)
    data = read_original(read, original)
    setting = rwn.Setting.from_dict(read["setting"]).resolved(data)
    data = setting.applied_to(data)
    params = setting.params
    if setting.precision:
        params = rwn.Rounded(params=params, precision=setting.precision)
    asked = None if plan is None else rwn.AnalysisPlan.from_toml(read_text(plan, "analysis plan"))
    with progress("drawing releases") as report:
        table = claim_table(data, params, asked, draws=draws, progress=report)
    content = claims_file(read, data, table)
    write_all({out: content, **files}, overwrite=overwrite)
    for what, judged in (("analyses", table.analyses), ("pairs of numbers", table.pairs)):
        say(f"{sum(each.usable for each in judged)} of {len(judged)} {what} have a claim")
    if table.refusal:
        say(f"note: {table.refusal}")
    say(f"public file written to {out}; nothing of the original was found in it")
