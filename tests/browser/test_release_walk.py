"""The walk in a browser: from an SPSS file to one that leaves, its notice and a signed ledger."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np

import rwn_core as rwn
from rwn_cli import main
from rwn_core.reporting import read_record
from rwn_core.reporting.ledger import read_entries
from rwn_core.tuning import Setting
from tests.browser.app_tab import ALERTS

NAMES = rwn.load_demo("bodyfat").names


def open_spss(app, folder: Path) -> None:
    """Open a file of SPSS with its schema, both written by the demo command."""
    path = folder / "people.sav"
    assert main.run(["demo", "bodyfat", "-o", str(path), "--schema"]) == 0
    app.open("/").visit("Data")
    files = app.page.locator("input[type=file]")
    files.nth(1).set_input_files(path.with_suffix(".toml"))
    app.settle()
    files.first.set_input_files(path)
    app.page.get_by_test_id("stSidebar").get_by_text("people.sav · 241 × 15").wait_for()
    app.settle()


def press(app, name: str) -> None:
    app.page.get_by_role("button", name=name, exact=True).click()
    app.settle()


def fill(app, label: str, text: str) -> None:
    field = app.page.get_by_role("textbox", name=label)
    field.fill(text)
    field.press("Tab")
    app.settle()


def refused(app, words: str) -> None:
    """Wait for an error or a warning of these words."""
    app.page.locator(ALERTS).filter(has_text=words).first.wait_for()


def walk(app, tmp_path: Path) -> Path:
    """Walk through the page and all its refusals; the folder that was written."""
    app.page.get_by_role("link", name="Release", exact=True).click()
    app.page.get_by_text("A release that may leave the house").wait_for()
    app.settle()
    app.page.get_by_role("radio", name="spss", exact=True).click()
    app.settle()
    fill(app, "New file on this machine", str(tmp_path / "sealed.key"))
    app.page.get_by_text("I have looked at every variable").click()
    app.settle()
    press(app, "Draw the release and judge it")
    app.page.get_by_text("SHA-256 of the file").wait_for()
    app.settle()
    refused(app, "Refused. ")
    refused(app, " limits are broken")
    press(app, "Record")
    refused(app, "Nobody answers for the release; give a name.")
    fill(app, "Name of the person", "Ada Lovelace")
    press(app, "Record")
    refused(app, "give the reason for which it leaves all the same.")
    fill(app, "Reason, where", "A lesson for students")
    press(app, "Record")
    app.page.get_by_text("Ada Lovelace answers").wait_for()
    number = app.page.get_by_role("spinbutton", name="Releases to draw")
    number.fill("36")
    number.press("Tab")
    app.settle()
    press(app, "Judge the claims")
    app.page.get_by_text("judged over 36 releases").wait_for()
    app.settle()
    fill(app, "What the data are called", "Body fat of 87.3 at most")
    press(app, "Make the files")
    refused(app, "The public file would hold")
    fill(app, "What the data are called", "Body measurements")
    press(app, "Make the files")
    app.page.get_by_text("SHA256SUMS has").wait_for()
    fill(app, "Or a folder on this machine", str(tmp_path / "nowhere"))
    press(app, "Write")
    refused(app, "does not exist; create it first.")
    fill(app, "Or a folder on this machine", str(tmp_path))
    press(app, "Write")
    app.page.get_by_text("The files lie in").wait_for()
    fill(app, "Ledger on this machine", str(tmp_path / "ledger.txt"))
    refused(app, "end in .jsonl.")
    fill(app, "Ledger on this machine", str(tmp_path / "ledger.jsonl"))
    press(app, "Sign as Ada Lovelace")
    app.page.get_by_text("Entry 1, signed by Ada Lovelace").wait_for()
    (folder,) = tmp_path.glob("release-*")
    return folder


def test_the_walk_ends_with_a_file_a_notice_and_a_signed_ledger(app, tmp_path) -> None:
    open_spss(app, tmp_path)
    folder = walk(app, tmp_path)
    sums = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    for line in sums:
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    written = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert written == {line.split("  ")[1] for line in sums} | {"SHA256SUMS"}
    record = read_record((folder / "internal" / "internal-record.toml").read_text("utf-8"))
    (file,) = (folder / "for-users").glob("release-*.sav")
    assert rwn.read(file).names == NAMES
    assert record["file"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    given = {"by": "Ada Lovelace", "reason": "A lesson for students", "exception": True}
    assert record["approval"] == given
    assert record["verdict"]["kept"] is False
    claims = json.loads((folder / "for-users" / "claims.json").read_bytes())
    assert (claims["sha256"], claims["draws"]) == (record["file"]["sha256"], 36)
    assert "claims.json" in (folder / "for-users" / "notice.html").read_text("utf-8")
    (entry,) = read_entries((folder.parent / "ledger.jsonl").read_bytes())
    assert entry["release"] == record["release"]["id"]
    assert entry["release"] in folder.name
    assert (entry["by"], entry["kept"]) == ("Ada Lovelace", False)
    # the key and the original give the file again; the seed of the trial does not
    key, original = (str(folder.parent / name) for name in ("sealed.key", "people.sav"))
    assert main.run(["reproduce", str(folder), "--key", key, "--original", original]) == 0
    data, setting = rwn.load_demo("bodyfat"), Setting.from_dict(record["setting"])
    trial = rwn.mask(setting.applied_to(data), setting.params, seed=1)
    assert not np.array_equal(rwn.read(file).frame, trial.published().frame)
    name, content = app.saved(app.page.get_by_role("button", name="Download (for users)").click)
    assert "people" not in name
    assert entry["release"] in name
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert all(inside.startswith("for-users/") for inside in archive.namelist())
        for inside in archive.namelist():
            assert archive.read(inside) == (folder / inside).read_bytes()
