"""No file leaves before it is said what its rows are, where they seem to belong together."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests import rows_together

BLOCKS = rows_together.blocks()
ROLES = ("--key", "height", "--confidential", "systolic")


@pytest.fixture(autouse=True)
def files(rwn_command) -> None:
    BLOCKS["panel"].to_csv("panel.csv", index=False)
    BLOCKS["visits, shuffled"].to_csv("visits.csv", index=False)
    BLOCKS["classes"].to_csv("classes.csv", index=False)
    BLOCKS["years"].to_csv("years.csv", index=False)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("panel", "several of one person or household: rows of equal height are similar in weight"),
        ("panel", "--rows-are person=height, --rows-are household=height, or --rows-are separate"),
        ("visits", "--rows-are person=code --drop code"),
        ("classes", "several of one cluster: .* --rows-are cluster=class"),
        ("years", "a series: year numbers them by time in equal steps; .* --rows-are series=year"),
    ],
)
def test_a_table_is_not_masked_before_it_is_said(rwn_command, name: str, sentence: str) -> None:
    said = rwn_command.refused(4, "mask", f"{name}.csv", "out.csv", "--k", 5)
    assert pd.Series([said]).str.contains(sentence).all(), said
    assert not Path("out.csv").exists()


def test_rows_of_one_height_are_masked_as_those_of_one_person(rwn_command) -> None:
    given = ("--k", 5, *ROLES, "--rows-are", "person=height", "--seed", 1)
    said = rwn_command.done("mask", "panel.csv", "out.csv", *given)
    assert "400 records of 40 people by height" in said
    assert "height" in pd.read_csv("out.csv").columns


def test_a_number_of_people_is_left_out_and_counts_them(rwn_command) -> None:
    given = ("--k", 5, "--rows-are", "person=code", "--drop", "code", "--seed", 1)
    said = rwn_command.done("mask", "visits.csv", "out.csv", *given)
    assert "300 records of 60 people by code" in said
    assert "code" not in pd.read_csv("out.csv").columns


def test_separate_people_are_counted_in_rows(rwn_command) -> None:
    given = ("--k", 5, *ROLES, "--rows-are", "separate", "--seed", 1)
    said = rwn_command.done("mask", "panel.csv", "out.csv", *given)
    assert "400 records, 5 variables" in said


def test_a_schema_with_the_file_answers_for_every_command(rwn_command) -> None:
    Path("rows.toml").write_text(
        "".join(f'[[variable]]\nname = "{name}"\nkind = "continuous"\n' for name in BLOCKS["panel"])
        + '[rows]\nof = "person"\nby = ["height"]\n'
    )
    given = ("--k", 5, "--schema", "rows.toml", "--seed", 1)
    said = rwn_command.done("mask", "panel.csv", "out.csv", *given)
    assert "400 records of 40 people by height" in said


@pytest.mark.parametrize("command", ["find", "recommend"])
def test_no_setting_is_looked_for_before_it_is_said(rwn_command, command: str) -> None:
    said = rwn_command.refused(4, command, "years.csv")
    assert "--rows-are series=year" in said


def test_a_description_asks_and_names_the_options(rwn_command) -> None:
    shown = rwn_command.shown("describe", "classes.csv")
    assert "open: Rows look like several of one cluster" in shown
    assert "--rows-are cluster=class, --rows-are household=class, or --rows-are separate" in shown


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("people", "Rows must be one of: separate, person, household, cluster, series."),
        ("person=size", "The statement of rows names the variable size"),
        ("person", "Rows of one person need the variables that are equal in them"),
    ],
)
def test_a_wrong_statement_is_refused(rwn_command, rows: str, sentence: str) -> None:
    said = rwn_command.refused(2, "mask", "panel.csv", "out.csv", "--k", 5, "--rows-are", rows)
    assert sentence in said


def test_a_dataset_is_asked_for_its_rows_as_a_table_is(rwn_command) -> None:
    BLOCKS["panel"].to_parquet("panel.parquet", index=False)
    given = ("mask-dataset", "panel.parquet", "out", "--k", 5, "--seed", 1)
    assert "--rows-are person=height" in rwn_command.refused(4, *given)
    assert not Path("out").exists()
    rwn_command.done(*given, "--rows-are", "person=height")
