"""The file that the browser saves is the file that Python and the command line write."""

from __future__ import annotations

import hashlib
from pathlib import Path

import rwn_core as rwn
from rwn_cli import main
from rwn_core.reporting import read_record

SETTING = {"epsilon": 2.5, "k": 6, "q": 0.75}
LINK = "/?epsilon=2.5&k=6&q=0.75"


def download(app, form: str, *, fresh: bool) -> tuple[str, bytes]:
    """Save the released table; the popover stays open for another."""
    button = app.page.get_by_role("button", name="Download", exact=True)
    if not button.is_visible():
        app.page.get_by_role("button", name="Released data").click()
    switch = app.page.get_by_role("switch", name="Fresh secret key")
    switch = switch if switch.count() else app.page.get_by_role("checkbox", name="Fresh secret key")
    if switch.is_checked() != fresh:
        app.page.get_by_text("Fresh secret key").click()
        app.settle()
    radio = app.page.get_by_role("radio", name=form)
    if not radio.is_checked():
        radio.click()
        app.settle()
    return app.saved(button.click)


def test_seed_7_gives_the_same_bytes_in_the_browser_in_python_and_on_the_command_line(
    app, tmp_path: Path
) -> None:
    app.open(LINK)
    app.set_seed(7)
    for form in ("csv", "parquet"):
        name, content = download(app, form, fresh=False)
        assert name.endswith(f".{form}")
        release = rwn.mask(rwn.load_demo("bodyfat"), rwn.RWN(**SETTING), seed=7)
        assert content == release.to_bytes(form)
        path = tmp_path / f"release.{form}"
        options = [part for key, value in SETTING.items() for part in (f"--{key}", str(value))]
        assert main.run(["mask", "demo:bodyfat", str(path), *options, "--seed", "7"]) == 0
        assert content == path.read_bytes()


def test_a_fresh_key_never_gives_the_same_file_twice(app) -> None:
    app.open(LINK)
    (first_name, first), (_, second) = (download(app, "csv", fresh=True) for _ in range(2))
    assert first != second
    assert len(first.splitlines()) == len(second.splitlines()) == 242
    assert "bodyfat" not in first_name
    assert "7" not in first_name.split("-")[0]


def test_the_internal_record_is_that_of_the_file(app) -> None:
    app.open(LINK)
    _, content = download(app, "csv", fresh=True)
    digest = hashlib.sha256(content).hexdigest()
    app.page.get_by_text(digest).wait_for()
    app.settle()
    button = app.page.get_by_role("button", name="Internal record")
    name, text = app.saved(button.click)
    record = read_record(text.decode("utf-8"))
    assert digest[:12] in name
    assert record["file"]["sha256"] == digest
    assert record["file"]["size"] == len(content)
    assert record["setting"]["parameters"]["epsilon"] == 2.5
    assert "decision" not in record


def test_the_seeded_file_follows_the_sliders(app) -> None:
    app.open("/")
    _, first = download(app, "csv", fresh=False)
    app.page.keyboard.press("Escape")
    app.press("k", "ArrowRight")
    _, second = download(app, "csv", fresh=False)
    release = rwn.mask(rwn.load_demo("bodyfat"), rwn.RWN(epsilon=2.0, k=6), seed=1)
    assert first != second == release.to_bytes("csv")
