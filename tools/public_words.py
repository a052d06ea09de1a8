"""Search all files that leave the house, and what their formats say beside the cells, for words.

``python -m tools.public_words`` plants words where nothing may leave: identifiers, numbers of
households, labels of columns that are left out, who approves and why, the secret, the folder. It
makes a release in every format, and looks into each file as bytes, unpacked, and as read again.
The same search must find the words in the original, written in the same format.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.feather
import pyarrow.parquet

import rwn_core as rwn
from rwn_core.data.variable import Role
from rwn_core.io import writable
from rwn_core.io.reading import read_bytes
from rwn_core.io.write import table_bytes
from rwn_core.reporting.judged_release import Approval, judge_release
from rwn_core.reporting.release_folder import for_users, release_files, zipped

RECORDS = 300
_PLANTED = re.compile(r"QX[A-Z]+\d*Z|9{4}\d{5}")
WIDE = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=1.0),))


def original() -> rwn.Microdata:
    """A table with a name and a household for every record."""
    rng = np.random.default_rng(14)
    frame = pd.DataFrame(rng.normal(size=(RECORDS, 3)).round(2), columns=list("abc"))
    frame["town"] = rng.choice(["Ulm", "Rom", "Oslo"], RECORDS)
    frame["person"] = [f"QXPERSON{number:03d}Z" for number in range(RECORDS)]
    frame["home"] = [999900000 + number // 3 for number in range(RECORDS)]
    data = rwn.Microdata.from_frame(frame)
    inside = {
        "person": {"role": Role.IDENTIFIER, "label": "QXLABELZ of a person"},
        "home": {"role": Role.HOUSEHOLD, "label": "QXHOMEZ of a household"},
    }
    variables = (replace(each, **inside.get(each.name, {})) for each in data.schema.variables)
    data = data.with_schema(rwn.Schema(variables=tuple(variables)))
    return data.with_weights({"town": 0.0})  # else no donor had another town


def words_in(content: bytes, suffix: str) -> set[str]:
    """The planted words in a file: in its bytes, unpacked, and in what it says of its columns."""
    texts = [content.decode("latin-1"), content.decode("utf-16-le", "replace")]
    if content[:2] == b"\x1f\x8b":
        texts.append(gzip.decompress(content).decode("latin-1"))
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                texts += [name, *words_in(archive.read(name), Path(name).suffix)]
    if suffix == ".parquet":
        read = pyarrow.parquet.read_table(io.BytesIO(content))
        texts += [str(pyarrow.parquet.read_metadata(io.BytesIO(content)).metadata)]
        texts += [str(read.schema), read.to_pandas().to_csv()]
    if suffix == ".feather":
        read = pyarrow.feather.read_table(io.BytesIO(content))
        texts += [str(read.schema), read.to_pandas().to_csv()]
    if suffix in (".dta", ".sav", ".rds"):  # numbers are no text there
        texts.append(read_bytes(f"file{suffix}", content).frame.to_csv(float_format="%.0f"))
    return {word for text in texts for word in _PLANTED.findall(text)}


def released(data: rwn.Microdata, format: str, folder: Path) -> dict[str, bytes]:
    """All files of a release, one of them in this format."""
    key_file = folder / f"{format}.key"
    params = rwn.RWN(epsilon=1.0, k=5)
    judged = judge_release(data, params, format, WIDE, key_file=key_file)
    approval = Approval(by="QXNAMEZ", reason="QXREASONZ")
    return release_files(judged, data, approval, title="A table")


def main() -> int:
    """Print how many words each format's public files hold; exit with 1 if any does."""
    data = original()
    bad = 0
    planted = set(data.frame["person"]) | {str(home) for home in data.frame["home"]}
    with tempfile.TemporaryDirectory(prefix="QXFOLDERZ") as folder:
        for form in writable():
            files = released(data, form.key, Path(folder))
            secret = (Path(folder) / f"{form.key}.key").read_text(encoding="ascii").strip()
            public = for_users(files)
            found = words_in(zipped(public), ".zip")
            said = any(secret.encode() in content for content in public.values())
            inside = words_in(zipped(files), ".zip") - found
            seen = words_in(table_bytes(data.frame, form.key, data.schema), form.suffixes[0])
            lost = planted - seen  # which the search would not see in this format
            bad += len(found) + len(lost) + said + (not inside)
            sys.stdout.write(
                f"{form.key}: {len(public)} public files, {len(found)} of {len(planted)} planted "
                f"words, secret {'found' if said else 'not found'}; {len(inside)} words in the "
                f"internal files; {len(seen)} words seen in the original in this format\n"
            )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
