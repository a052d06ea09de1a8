"""The internal record: schema, context, project, and a release that comes out again."""

import hashlib
import io
import json
import os
import re
import runpy
import sys
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli import main
from rwn_core import Analysis, AnalysisPlan, InputError, Microdata, ParameterError, ReleaseError
from rwn_core.reporting import ReleasedFile, internal_record, read_record, release_folder
from rwn_core.reporting.context import QUESTIONS, Context, context_in, with_context
from rwn_core.reporting.facts import Audience, facts_for
from rwn_core.reporting.facts.outside import treatments
from rwn_core.reporting.judged_release import Approval, JudgedRelease, judge_release
from rwn_core.reporting.project import Project
from rwn_core.reporting.public_notice import PUBLIC_FORMS, public_file, unchecked_file
from rwn_core.reporting.release_folder import RECORD, for_users, release_files, write_folder, zipped
from rwn_core.reporting.release_record import follows
from rwn_core.reporting.scenario import Decision, SavedSearch, Scenario
from rwn_core.tuning import Grid, Limit, Plan, Policy, Setting
from tests import tables
from tests.core.reporting.conftest import quickly_made_of
from tests.core.reporting.records_by_hand import by_hand, said

PARAMS = rwn.RWN(epsilon=2.5, k=6)
MEASURES = ("correlation", "bayes_linkage", "prediction")


@pytest.fixture(scope="module")
def bodyfat() -> Microdata:
    return rwn.load_demo("bodyfat").with_weights({"age": 2.0})


def decision(setting: Setting | None, **more: object) -> Decision:
    one = Scenario(name="Careful", setting=setting, **more)
    return Decision(scenarios=(one,), chosen="Careful", reason="Keeps it.", date="2026-03-31")


def record(
    data: Microdata,
    decided: Decision | None = None,
    measures: tuple[str, ...] = ("correlation",),
    **more: object,
) -> tuple[str, bytes]:
    release = rwn.mask(data, PARAMS, precision={"age": 5.0}, **more)
    content = release.to_bytes("csv")
    file = ReleasedFile.of(content, "csv", seeded="seed" in more)
    about = {"decision": decided, "measures": measures, "policy": Policy(limits=())}
    return internal_record(data, release, file, **about), content


def read_plain_values(given: dict[str, object]) -> dict[str, object]:
    """What a TOML file holds of values: lists for tuples, and nothing for None."""
    known = {name: value for name, value in given.items() if value is not None}
    tuples = {name: list(value) for name, value in known.items() if isinstance(value, tuple)}
    return known | tuples


def test_it_is_true_of_its_file(bodyfat):
    text, content = record(bodyfat, measures=MEASURES)
    told = read_record(text)
    assert told["file"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert told["file"]["size"] == len(content)
    assert told["file"]["records"] == told["table"]["records"] == 241
    assert told["table"]["fingerprint"] == bodyfat.fingerprint
    parameters = told["setting"]["parameters"]
    assert {"epsilon", "k", "q"} <= set(parameters)
    given = {name: getattr(PARAMS, name) for name in parameters}
    assert told["setting"] == {
        "method": "rwn",
        "parameters": read_plain_values(given),
        "weights": {"age": 2.0},
        "precision": {"age": 5.0},
        "slices": [],
    }
    linkage = told["readings"]["bayes_linkage"]
    assert linkage["value"] > linkage["baseline"]
    assert "held-out" in told["readings"]["prediction"]["not_applicable"]
    assert told["program"]["numpy"] == np.__version__
    assert "decision" not in told
    assert "stays in the house" in told["note"]


def test_it_carries_the_decision_and_says_whether_it_was_followed(bodyfat):
    chosen = Setting(params=PARAMS, weights=(("age", 2.0),), precision=(("age", 5.0),))
    decided = decision(chosen, table=bodyfat.fingerprint)
    told = read_record(record(bodyfat, decided)[0])["decision"]
    assert follows(decided, chosen.resolved(bodyfat), bodyfat)
    assert told["hash"] == decided.hash
    assert told["followed"] is True
    assert told["meeting"]["reason"] == "Keeps it."
    assert told["meeting"]["scenario"][0]["name"] == "Careful"
    others = [
        decision(Setting(params=rwn.RWN(epsilon=2.5, k=5), precision=(("age", 5.0),))),
        decision(chosen, table="ab" * 32),
        decision(None),
        Decision(scenarios=decided.scenarios, reason="Not yet."),
    ]
    for other in others:
        assert not follows(other, chosen.resolved(bodyfat), bodyfat)


def test_it_names_no_seed_no_donor_and_no_value(bodyfat):
    text, _ = record(bodyfat, seed=4711)
    assert not re.search(r"(?<![\w.])4711(?!\w)", text)  # digits of a number or a hash may be so
    assert "a seed, which is no secret" in text
    values = {f"{v:g}" for v in bodyfat.matrix(bodyfat.numeric_names).ravel() if v % 1}
    words = set(
        re.sub(r"[0-9.]+( to [0-9.]+)? %", " ", text).replace(",", " ").replace('"', " ").split()
    )
    assert not (values - {"2.5", "0.5"}) & words
    assert "seed" not in read_record(text)["setting"]["parameters"]


def test_the_verdict_of_the_limits_is_in_the_record(bodyfat):
    release = rwn.mask(bodyfat, rwn.RWN(k=5), seed=1)
    file = ReleasedFile.of(release.to_bytes("csv"), "csv", seeded=True)

    def told(**limits: float) -> dict[str, Any]:
        policy = Policy(limits=tuple(Limit(measure=k, at_most=most) for k, most in limits.items()))
        text = internal_record(bodyfat, release, file, measures=("correlation",), policy=policy)
        made = dict(read_record(text))
        assert [each["measure"] for each in made["limit"]] == list(limits)
        assert set(limits) <= set(made["readings"])
        return made["verdict"]

    broken = told(bayes_linkage=0.05, distance_linkage=0.9)
    assert broken["kept"] is False
    assert "most of all Worst-case linkage" in broken["words"]
    # the planted wrong case: what could be read holds, and something could not
    some = told(distance_linkage=0.9, prediction=1.0)
    assert (some["kept"], set(some["not_judged"])) == (False, {"prediction"})
    assert told(distance_linkage=0.9)["kept"] is True


def test_a_change_anywhere_is_seen(bodyfat):
    text, _ = record(bodyfat)
    assert read_record(text)
    with pytest.raises(InputError, match="changed after it was frozen"):
        read_record(text.replace("age = 5.0", "age = 4.0"))
    with pytest.raises(InputError, match="no internal record"):
        read_record(decision(None).frozen())


SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "release-record.schema.json"


LIMIT = Limit(measure="marginals", at_most=0.9, source="Handbook", set_by="Board")


def of_table(data: Microdata, params: Any, form: str) -> dict[str, Any]:
    release = rwn.mask(data, params)
    file = ReleasedFile.of(release.to_bytes(form), form)
    policy = Policy(limits=(LIMIT,))
    read = ("marginals", "association_loss")
    made = read_record(internal_record(data, release, file, measures=read, policy=policy))
    context = {"purpose": "Teaching", "access": "on request", "contact": "Ada, data@x.org"}
    approval = {"by": "Ada Lovelace", "reason": "A lesson", "exception": False}
    return {**made, "context": context, "approval": approval}


RECORDS = {
    "bodyfat": (rwn.RWN(epsilon=2.0, k=5), "csv"),
    "pima": (rwn.SoftRWN(q=0.8, kernel="gaussian"), "parquet"),
    "holes": (rwn.PRAM(change=0.3), "tsv"),
}


def without(record: dict[str, Any], *path: str) -> dict[str, Any]:
    """A record that lacks a field."""
    first, *rest = path
    if rest:
        return {**record, first: without(record[first], *rest)}
    return {name: value for name, value in record.items() if name != first}


def with_value(record: dict[str, Any], value: Any, *path: str) -> dict[str, Any]:
    """A record with another value in a field."""
    first, *rest = path
    return {**record, first: with_value(record.get(first, {}), value, *rest) if rest else value}


def test_records_of_releases_follow_the_published_schema():
    """Of those of datasets `test_internal_report` tells."""
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    validator.check_schema(validator.schema)
    records = {name: of_table(tables.table(name, 80), *made) for name, made in RECORDS.items()}
    for name, made in records.items():
        assert [each.message for each in validator.iter_errors(made)] == [], name
    record = records["bodyfat"]
    (limit,) = record["limit"]
    assert (limit["source"], limit["set_by"]) == ("Handbook", "Board")
    faults = [
        *(without(record, name) for name in ("limit", "verdict", "program", "table", "identity")),
        without(record, "file", "sha256"), without(record, "table", "fingerprint"),
        without(record, "verdict", "not_judged"),
        with_value(record, [without(limit, "at_most")], "limit"),
        with_value(record, [{**limit, "at_most": "0.9"}], "limit"),
        with_value(record, [{**limit, "sourced": "x"}], "limit"),
        with_value(record, "0f" * 31, "file", "sha256"),
        with_value(record, "sorted", "file", "order"), with_value(record, -1, "table", "records"),
        with_value(record, ["number"], "table", "kinds"),
        with_value(record, "yes", "verdict", "kept"),
        with_value(record, "anybody", "context", "access"),
        with_value(record, {"reason": "none"}, "readings", "marginals"),
        with_value(record, "12", "donors"), with_value(record, "0f" * 32, "file", "secret"),
        with_value(record, "", "approval", "by"),
        with_value(record, "rwn internal record 1", "format"),
    ]  # fmt: skip
    assert [number for number, each in enumerate(faults) if validator.is_valid(each)] == []


TEST = "Two students on 2026-05-06, 12.5 hours with a telephone book: 3 claims, 1 true."
FULL = Context(
    recipient="University of Vogon",
    purpose="Teaching of 2026",
    controller="The university",
    legal_basis="Consent",
    special_categories="Health; by consent",
    impact_assessment="Made in spring, no high risk left",
    retention="Until the course ends; then deleted",
    anonymity="They hold no other data about these people",
    access="on request",
    people="Patients; told by letter",
    controls="Contract",
    motives="Betelgeuse press",
    capacity="Skilled",
    harms="Loss of work",
    monitoring="Yearly search",
    incident_plan="Withdraw the file",
    contact=" desk@x.org ",
    review="2030-01-31",
    decided_by="Trillian",
    intruder_test=TEST,
)


def test_every_field_is_asked_and_comes_back():
    assert {each.name for each in QUESTIONS} == {each.name for each in fields(Context)}
    assert Context.from_dict(FULL.to_dict()) == FULL
    assert (FULL.contact, FULL.missing) == ("desk@x.org", ())
    assert Context().to_dict() == {}
    assert Context(purpose="x").missing[:2] == ("recipient", "controller")
    plain = project(table())
    made = replace(plain, context=FULL)
    assert Project.from_toml(made.to_toml()) == made
    assert context_in(made.to_toml()) == (FULL, made.table)
    assert context_in('[context]\npurpose = "x"\n') == (Context(purpose="x"), "")
    assert with_context({"a": 1}, FULL, contact="")["context"]["contact"] == "desk@x.org"
    assert with_context({"context": {}}, Context(), contact="y")["context"] == {"contact": "y"}
    with pytest.raises(InputError, match="no context"):
        context_in(plain.to_toml())


def test_the_house_reads_every_answer_and_the_public_four():
    material = by_hand(context=FULL.to_dict())
    (inside,) = (f for f in facts_for(Audience.INTERNAL, material) if f.key == "context")
    text = " ".join(said(inside.content))
    shown = {form: unchecked_file(material, form).decode() for form in PUBLIC_FORMS}
    for each in QUESTIONS:
        answer = getattr(FULL, each.name)
        assert answer in text
        assert {answer in content for content in shown.values()} == {each.public}, each.name
    assert not any("Two students" in content for content in shown.values())


FRAME = pd.DataFrame({"pay": [1234.5, 2345.5, 3456.5, 4567.5], "age": [41, 42, 43, 44]})
FRAME.insert(1, "rank", ["Zuse", "Lovelace", "Zuse", "Hopper"])


def table(**changes: object) -> Microdata:
    """The table as it is opened, or with its rank described in another way."""
    data = Microdata.from_frame(FRAME)
    if not changes:
        return data
    return data.with_schema(data.schema.replace_variable("rank", **changes))


def project(data: Microdata) -> Project:
    steps = {"weights": (("age", 3.0),), "precision": (("pay", 100.0),)}
    present = Scenario(name="present", table=data.fingerprint, seed=7, policy=Policy(),
                       setting=Setting(params=rwn.RWN(epsilon=1.0, k=2), **steps))  # fmt: skip
    made = Decision(scenarios=(present,), chosen="present", reason="fine", date="2026-01-02")
    project = Project.from_table(data, present, "2026-01-02")
    return replace(project, scenarios=(replace(present, name="mild"),), decisions=(made,))


def test_all_choices_come_back_and_no_value_of_the_table_not_even_a_level():
    made = project(table(role="key", group="who"))
    again = Project.from_toml(made.to_toml())
    assert again == made
    assert again.describe(table()) == table(role="key", group="who").schema
    assert again.decisions[0].hash == made.decisions[0].hash
    text = project(table(kind="ordered", levels=("Hopper", "Lovelace", "Zuse"))).to_toml()
    text = text.replace(table().fingerprint, "")
    assert not any(str(value) in text for value in FRAME.to_numpy().ravel())


def test_an_order_that_the_table_does_not_know_is_not_guessed():
    made = project(table(kind="ordered", levels=("Zuse", "Hopper", "Lovelace")))
    assert made.describe(table()).variable("rank").kind == rwn.Kind.CATEGORICAL
    known = table(kind="ordered", levels=("Zuse", "Hopper", "Lovelace"))
    assert made.describe(known) == known.schema


def test_what_is_no_project_of_this_table_is_refused():
    made = project(table())
    other = Microdata.from_frame(FRAME.assign(age=[1, 2, 3, 4]))
    with pytest.raises(InputError, match="another table"):
        made.describe(other)
    text = made.to_toml()
    for old, new in (
        ("rwn project 1", "rwn project 0"),
        ('role = "', 'part = "'),
        ('role = "', 'role = "un'),
        ("k = 2", "k = -2"),
        ('saved = "2026-01-02"', ""),
    ):
        assert old in text
        with pytest.raises(InputError):
            Project.from_toml(text.replace(old, new)).describe(table())


FULL_PROJECT = Scenario(
    name="Careful",
    note='for the "March" file\nsecond line',
    table="ab" * 32,
    setting=Setting.of("rwn", {"epsilon": 2.0, "k": 5, "q": 0.5}, {"age": 2.0}, {"weight": 10}),
    seed=7,
    search=SavedSearch(
        grid=Grid(
            axes={"epsilon": (0.5, 1.5), "k": (3, 5)},
            method=("rwn", "nbrs2015"),
            weights=({}, {"age": 2.0}),
            precision=({}, {"age": 5}),
        ),
        plan=Plan(measures=("correlation", "distance_linkage"), releases=4, seed=7),
    ),
    policy=Policy(limits=(replace(LIMIT, measure="bayes_linkage"), LIMIT)),
    readings={"correlation": {"median": 0.05, "low": 0.04, "high": 0.06}},
    analysis_plan=AnalysisPlan(
        analyses=(
            Analysis(name="Fat", kind="linear", tolerance=2.0, formula="siri ~ bmi + log(neck)"),
            Analysis(name="Ages", kind="table", tolerance=0.125, variables=("age", "bmi")),
            Analysis(name="Pairs", kind="measure", tolerance=0.125, measure="correlation"),
        )
    ),
)


def test_a_scenario_survives_its_file():
    text = FULL_PROJECT.to_toml()
    again = Scenario.from_toml(text)
    assert again.to_toml() == text
    grids = (each.search.grid.settings() for each in (again, FULL_PROJECT))
    assert len({tuple(setting.key for setting in grid) for grid in grids}) == 1
    assert again.search.plan == FULL_PROJECT.search.plan
    for name in ("name", "note", "setting", "policy", "analysis_plan"):
        assert getattr(again, name) == getattr(FULL_PROJECT, name)
    assert text.count("[[limit]]") == 2
    assert "[[analysis_plan]]" in text
    turned = {"correlation": dict(reversed(FULL_PROJECT.readings["correlation"].items()))}
    assert replace(FULL_PROJECT, readings=turned).to_toml() == text
    short = 'format = "rwn scenario 1"\n[setting.parameters]\nk = 5\n'  # as written by hand
    assert Scenario.from_toml(short).setting == Setting(params=rwn.RWN(k=5))


DECISION = Decision(
    scenarios=(FULL_PROJECT, Scenario(name="Light", setting=Setting(params=rwn.RWN(k=3)))),
    chosen="Careful",
    reason="Keeps the limit.",
    participants=("A. Steward", "B. Analyst"),
    date="2026-03-31",
    watched=("the oldest record",),
)


def test_a_frozen_meeting_is_read_back_and_its_hash_holds():
    text = DECISION.frozen()
    again = Decision.thaw(text)
    assert again.frozen() == text
    assert again.hash == DECISION.hash
    assert DECISION.hash in text
    for old, new in (("Keeps", "Breaks"), ("2026-03-31", "2026-04-01")):
        with pytest.raises(InputError, match="changed after it was frozen"):
            Decision.thaw(text.replace(old, new))
    with pytest.raises(ParameterError, match="one of the meeting"):
        Decision(scenarios=(FULL_PROJECT,), chosen="Bold")


PARAMS_JUDGED = rwn.RWN(epsilon=2.0, k=5)
WIDE = Policy(limits=(Limit(measure="distance_linkage", at_most=0.9),))
ADA = Approval(by="Ada Lovelace", reason="A lesson")


def meeting_of(data: Microdata, params: Any) -> Decision:
    return decision(Setting(params=params).resolved(data), table=data.fingerprint)


@pytest.fixture(scope="module")
def kept(bodyfat_table) -> JudgedRelease:
    """A release that keeps its policy."""
    return judge_release(bodyfat_table, PARAMS_JUDGED, "csv", WIDE, further=True)


@pytest.fixture(scope="module")
def broken(bodyfat_table) -> JudgedRelease:
    return judge_release(bodyfat_table, PARAMS_JUDGED, "csv", Policy())


@pytest.fixture(scope="module")
def files(bodyfat_table, broken) -> dict[str, bytes]:
    return release_files(broken, bodyfat_table, ADA, title="Body measurements", number=2)


def test_the_readings_are_those_of_the_very_file(bodyfat_table, kept):
    """By numpy, from the file's own bytes; another draw has other correlations."""
    names = list(bodyfat_table.names)

    def mean_change(frame: pd.DataFrame) -> float:
        one, two = (np.corrcoef(f[names].to_numpy().T) for f in (bodyfat_table.frame, frame))
        upper = np.triu_indices(len(names), 1)
        return float(np.abs(one - two)[upper].mean())

    told = kept.document["readings"]["correlation"]["value"]
    assert mean_change(pd.read_csv(io.BytesIO(kept.content))) == pytest.approx(told, abs=1e-9)
    other = rwn.mask(bodyfat_table, PARAMS_JUDGED).to_bytes("csv")
    assert abs(mean_change(pd.read_csv(io.BytesIO(other))) - told) > 1e-6
    assert kept.sha256 == hashlib.sha256(kept.content).hexdigest()
    assert kept.further == (True,) * 19


def test_a_name_is_always_needed_and_a_reason_where_something_is_not_kept(
    bodyfat_table, kept, broken
):
    followed, another = (
        meeting_of(bodyfat_table, each) for each in (PARAMS_JUDGED, rwn.RWN(epsilon=1.0, k=5))
    )
    for judged, by, meeting, missing in (
        (kept, "", followed, "Nobody answers"),
        (kept, "Ada", followed, ""),
        (kept, "Ada", another, "not what the meeting chose"),
        (kept, "Ada", None, "follows no decision"),
        (broken, "Ada", followed, "does not keep every limit"),
    ):
        lacks = judged.lacks(Approval(by=by, decision=meeting), bodyfat_table)
        assert missing in lacks
        assert bool(missing) == bool(lacks)
        given = Approval(by=by, reason="a reason", decision=meeting)
        assert not by or judged.lacks(given, bodyfat_table) == ""
    with pytest.raises(ReleaseError, match="give the reason"):
        release_files(broken, bodyfat_table, Approval(by="Ada", decision=followed))
    # nor does a title that tells a value of the original make a file
    rarest = f"Body fat up to {bodyfat_table.frame['siri'].max():g}"
    with pytest.raises(ReleaseError, match="public file would hold"):
        release_files(broken, bodyfat_table, ADA, title=rarest)


def test_the_record_says_who_answers_and_which_decision_is_followed(bodyfat_table, kept):
    meeting = meeting_of(bodyfat_table, PARAMS_JUDGED)
    made = release_files(kept, bodyfat_table, Approval(by=" Ada ", decision=meeting), number=3)
    record = read_record(made[RECORD].decode("utf-8"))
    assert record["approval"] == {"by": "Ada", "reason": "", "exception": False}
    assert record["draws"] == {"number": 3, "further": 19, "further_kept": 19}
    assert record["decision"]["followed"] is True
    assert record["decision"]["hash"] == meeting.hash
    assert Decision.thaw(made["internal/decision.toml"].decode("utf-8")) == meeting
    report = made["internal/internal-report.html"].decode("utf-8")
    assert "EXCEPTION" not in report
    assert "3, of which this is the last" in report


def test_the_folder_is_what_the_command_line_reads(files, tmp_path):
    left = tmp_path / ".part-rwn-left"  # by a program that was killed a long time ago
    left.mkdir()
    os.utime(left, (1, 1))
    folder = write_folder(files, tmp_path, "0123")
    assert not left.exists()
    (file,) = (folder / "for-users").glob("release-*.csv")
    assert main.run(["verify", str(file), str(folder / "for-users" / "notice.json")]) == 0
    record, out = str(folder / RECORD), str(tmp_path / "report.html")
    assert main.run(["report", record, "-o", out]) == 0
    report = files["internal/internal-report.html"]
    assert Path(out).read_bytes() == report.replace(b"Body measurements", b"Masked microdata")
    assert folder.stat().st_mode & 0o077 == 0
    with pytest.raises(ReleaseError, match="is there already"):
        write_folder(files, tmp_path, "0123")
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o600}
    # an exception is said in the house and never in public
    assert b"EXCEPTION: the release does not keep" in report
    for name, content in for_users(files).items():
        for secret in (b"Ada", b"A lesson", b"xception", b"limit is"):
            assert secret not in content, name


def test_a_folder_is_written_whole_or_not_at_all(files, tmp_path, monkeypatch):
    def full(contents) -> None:
        next(iter(contents)).write_bytes(b"a part of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_folder, "write_together", full)
    with pytest.raises(ReleaseError, match="No space left"):
        write_folder(files, tmp_path, "0123")
    assert list(tmp_path.iterdir()) == []
    for parent, why in ((Path("here"), "whole path"), (tmp_path / "none", "does not exist")):
        with pytest.raises(ReleaseError, match=why):
            write_folder(files, parent, "0123")


def test_a_release_of_hardly_anybody_keeps_nothing(bodyfat_table):
    few = rwn.NBRS2015(epsilon=1.0, q=1.0)
    judged = judge_release(bodyfat_table, few, "csv", WIDE, further=True)
    assert (judged.verdict.broken, judged.verdict.unread) == ((), {})
    assert not judged.verdict.kept
    assert judged.further == (False,) * 6
    assert "of the records are released" in judged.document["verdict"]["words"]


def test_a_masked_variable_without_a_changed_cell_stops_the_release():
    """Finding A15: nobody may answer for it, and the notice does not say what this draw did."""
    data = tables.table("rare flag")
    params = rwn.RWN(k=3)
    judged = judge_release(data, params, "csv", WIDE)
    assert judged.untouched == ("flag",)
    assert judged.lacks(ADA, data).startswith("flag is masked at this setting, but no cell changed")
    with pytest.raises(ReleaseError, match="flag is masked"):
        judged.record(data, ADA)
    material = quickly_made_of(data, params, ["cells_changed"])
    assert material.record["table"]["untouched"] == ["flag"]
    assert treatments(material)["flag"] == "masked"
    for suffix in PUBLIC_FORMS:
        with pytest.raises(ReleaseError, match="flag is masked"):
            public_file(material, data, suffix)
    # what the schema leaves or cannot change stops nothing
    left = data.with_schema(data.schema.replace_variable("flag", masked=False))
    constant = Microdata.from_frame(data.frame.assign(flag="no"))
    for each, k in ((left, 3), (constant, 3), (data, 200)):
        made = quickly_made_of(each, rwn.RWN(k=k), ["cells_changed"])
        assert made.record["table"]["untouched"] == []


TOLERANT = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))
SQUARES = "a,b\n" + "".join(f"{i * i % 31},{i % 7}\n" for i in range(40))


@pytest.fixture(scope="module")
def released(bodyfat_table, tmp_path_factory) -> tuple[Path, Path, Path]:
    """The folder of a soft kernel's release, with weights, slices and rounding; key, original."""
    place = tmp_path_factory.mktemp("release")
    data = bodyfat_table.with_weights({"age": 2.0}).with_slices([["siri", "neck"]])
    soft = rwn.SoftRWN(kernel="gaussian", balance=1.0, cap=0.2)
    params = rwn.Rounded(params=soft, precision={"age": 5.0})
    judged = judge_release(data, params, "csv", TOLERANT, key_file=place / "sealed.key")
    files = release_files(judged, data, Approval(by="Ada", reason="A lesson"))
    secret = (place / "sealed.key").read_bytes()
    assert not any(secret in content for content in files.values())
    data.frame.to_parquet(place / "original.parquet")
    return write_folder(files, place, "1"), place / "sealed.key", place / "original.parquet"


def test_the_command_gives_the_same_bytes_and_so_does_the_script_of_the_folder(
    released, capsys, monkeypatch, tmp_path
):
    folder, key, original = released
    (file,) = (folder / "for-users").glob("release-*.csv")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    out = tmp_path / "again.csv"
    asked = ["reproduce", str(folder), "--key", str(key), "--original", str(original)]
    assert main.run([*asked, "-o", str(out)]) == 0
    assert out.read_bytes() == file.read_bytes()
    assert digest in capsys.readouterr().err
    script = folder / "internal" / "reproduce.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(original), str(key)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.split() == [digest]


def test_another_key_or_table_is_refused(released, capsys, tmp_path, bodyfat_table):
    folder, key, original = released
    other = tmp_path / "other.key"
    other.write_text("0" * 64)
    asked = ["reproduce", str(folder), "--original"]
    assert main.run([*asked, str(original), "--key", str(other)]) == 4
    assert "the key, the schema or a version is another" in capsys.readouterr().err
    bodyfat_table.frame.iloc[::-1].to_parquet(tmp_path / "turned.parquet")
    assert main.run([*asked, str(tmp_path / "turned.parquet"), "--key", str(key)]) == 3
    with pytest.raises(rwn.ParameterError, match="one key draws one release"):
        judge_release(bodyfat_table, rwn.RWN(k=5), "csv", TOLERANT, key_file=key)


def test_a_record_of_the_command_line_is_enough(tmp_path, capsys):
    out, record, key = (str(tmp_path / name) for name in ("out.csv", "record.toml", "sealed.key"))
    source = tmp_path / "in.csv"
    source.write_text(SQUARES)
    made = ["mask", str(source), out, "--k", "5", "--record", record, "--key-file", key]
    assert main.run(made) == 0
    capsys.readouterr()
    assert main.run(["reproduce", record, "--key", key]) == 0
    assert hashlib.sha256(Path(out).read_bytes()).hexdigest() in capsys.readouterr().err
    assert main.run([*made[:-2], "--seed", "1", "--key-file", key]) == 2


def test_a_masking_that_was_stopped_leaves_no_key(tmp_path, monkeypatch, capsys):
    """Finding T11: the key of a run that was stopped before masking blocked the next one."""
    source, out, key = (tmp_path / name for name in ("in.csv", "out.csv", "sealed.key"))
    source.write_text(SQUARES)
    command = ["mask", str(source), str(out), "--k", "5", "--key-file", str(key)]

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("rwn_core.mask", stopped)
        assert main.run(command) in (1, 130)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]
    assert main.run(command) == 0
    assert len(key.read_text()) == 64
    assert key.stat().st_mode & 0o077 == 0
    out.unlink()
    assert main.run(command) == 2
    assert "one key draws one release" in capsys.readouterr().err
    assert main.run([*command[:-1], str(out)]) == 2


def test_a_release_that_was_not_judged_leaves_no_key(bodyfat_table, tmp_path, monkeypatch):
    key = tmp_path / "sealed.key"
    monkeypatch.setattr("rwn_core.reporting.judged_release.record_and_evidence", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        judge_release(bodyfat_table, rwn.RWN(k=5), "csv", TOLERANT, key_file=key)
    assert not key.exists()


def test_a_full_disk_is_no_policy(tmp_path, monkeypatch, capsys):
    """Finding T11: a sweep on a full disk left with 4, which is the code of a policy."""

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(SQUARES)
    monkeypatch.setattr(os, "fsync", full)
    assert main.run(["mask", str(source), str(out), "--k", "5"]) == 5
    sweeping = ["sweep", str(source), "--k", "3", "--releases", "2"]
    assert main.run([*sweeping, "-o", str(out)]) == 5
    assert "No space left on device" in capsys.readouterr().err
    assert not out.exists()
