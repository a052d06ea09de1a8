"""What the tests of the evaluation share: the table that most of them release."""

from __future__ import annotations

import pytest

import rwn_core as rwn


@pytest.fixture(scope="module")
def bodyfat() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")
