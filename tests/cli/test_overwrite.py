"""No command replaces a file silently; a percentage is no limit on the command line either."""

from __future__ import annotations

from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_cli.main import app

RECORD = ("mask", "demo:bodyfat", "release.csv", "--k", "5", "--record", "record.toml")
KEYED = (*RECORD, "--key-file", "sealed.key")
SWEPT = ("--k", "60", "--q", "1", "--releases", "1", "--workers", "1")
SEARCH = ("--limit", "distance_linkage=0.5", "--workers", "1")
COMMANDS = {
    "mask": ("mask", "demo:bodyfat", "out.csv", "--k", "5"),
    "record": ("mask", "demo:bodyfat", "other.csv", "--k", "5", "--record", "out.toml"),
    "demo": ("demo", "bodyfat", "--out", "out.csv"),
    "sweep": ("sweep", "demo:bodyfat", *SWEPT, "--measure", "marginals", "-o", "out.csv"),
    "seek": ("seek", "demo:bodyfat", *SWEPT, "--limit", "distance_linkage=0.5", "-o", "out.toml"),
    "seek-slices": ("seek-slices", "small.csv", *SEARCH, "-o", "out.toml"),
    "report": ("report", "record.toml", "-o", "out.html"),
    "reproduce": ("reproduce", "record.toml", "--key", "sealed.key", "-o", "out.csv"),
}
OUTPUTS = {"-o", "--out"}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_file_that_is_there_is_replaced_only_with_overwrite(rwn_command, name: str) -> None:
    command = COMMANDS[name]
    out = next(Path(word) for word in command if word.startswith("out."))
    if name in ("report", "reproduce"):
        assert rwn_command(*KEYED)[0] == 0
    if name == "seek-slices":
        data = rwn.load_demo("bodyfat").frame[["age", "weight", "height"]]
        data.to_csv("small.csv", index=False)
    out.write_bytes(b"what was here before")
    code, _, said = rwn_command(*command)
    assert code == 4
    assert f"{out.name} exists; choose another name, or give --overwrite to replace it." in said
    assert out.read_bytes() == b"what was here before"
    if name != "seek-slices":  # it would search for a minute
        code, _, said = rwn_command(*command, "--overwrite")
        assert code == 0, said
        assert out.read_bytes() != b"what was here before"


def test_the_evidence_beside_a_record_is_not_replaced(rwn_command) -> None:
    Path("record.evidence.json").write_bytes(b"of another release")
    code, _, said = rwn_command(*RECORD)
    assert (code, "record.evidence.json exists" in said) == (4, True)
    assert not Path("release.csv").exists()


def test_every_command_that_writes_a_file_has_the_option() -> None:
    """A new command with an output and no --overwrite is found here."""
    import typer

    for command in app.registered_commands:
        made = typer.main.get_command_from_info(
            command, pretty_exceptions_short=False, rich_markup_mode=None
        )
        options = {name for param in made.params for name in param.opts}
        if options & OUTPUTS and made.name != "mask-dataset":  # which replaces nothing at all
            assert "--overwrite" in options, made.name
