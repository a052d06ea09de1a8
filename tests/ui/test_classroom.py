"""`rwn app --classroom`: large type, demo tables, and no way to open a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from rwn_cli.main import USAGE, run
from rwn_ui.server.environment import CLASSROOM_VARIABLE


@pytest.mark.parametrize("in_class", [True, False])
def test_a_class_sees_large_type_and_can_open_no_file(
    open_page, monkeypatch: pytest.MonkeyPatch, in_class: bool
) -> None:
    if in_class:
        monkeypatch.setenv(CLASSROOM_VARIABLE, "1")
    screen = open_page("data")
    choosers = len(screen.test.get("file_uploader"))
    for page in ("compare", "tune"):
        choosers += len(screen.visit(page).test.get("file_uploader"))
    assert screen.errors == []
    assert screen.session.projector == in_class
    assert (choosers == 0) == in_class
    words = " ".join(each.value for each in screen.visit("data").test.markdown)
    assert ("Open your table" in words) != in_class
    assert screen.test.selectbox(key="data.demo").options
    first = open_page("tune").test  # the page of an address without a name
    assert [each.label for each in first.radio][:1] == (["Lesson"] if in_class else [])


def test_a_file_of_the_command_line_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["app", str(tmp_path / "t.csv"), "--classroom", "--no-browser"]) == USAGE
    assert "leave the file out" in capsys.readouterr().err
