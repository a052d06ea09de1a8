"""Pages for auditors and the house: sections, datasets, scenarios, notebooks."""

from __future__ import annotations

import copy
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

import rwn_core as rwn
from rwn_cli import main
from rwn_core import RWN, AuditOptions, Microdata, Question, Role, audit_dataset
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import DatasetRelease, RunOptions, mask_dataset
from rwn_core.errors import InputError, ParameterError, ReleaseError
from rwn_core.measures.statistics.key_variables import class_sizes
from rwn_core.reporting import auditors_page, public_notice, public_words, read_record
from rwn_core.reporting import facts as listed
from rwn_core.reporting.auditors_page import auditors_file, unanswered, unchecked_page
from rwn_core.reporting.context import QUESTIONS, Context
from rwn_core.reporting.dataset_record import (
    RECORDED,
    dataset_record,
    public_dataset_files,
    rare_in_dataset,
    read_dataset_record,
)
from rwn_core.reporting.evidence import read_evidence
from rwn_core.reporting.facts import DATASET, FACTS, Audience, Content, Material, facts_for
from rwn_core.reporting.facts.inside import INSIDE
from rwn_core.reporting.facts.outside import OUTSIDE
from rwn_core.reporting.judged_release import Approval, judge_release
from rwn_core.reporting.leak_check import ALLOWED, rare_values
from rwn_core.reporting.page import MARK, internal_html, internal_json
from rwn_core.reporting.public_notice import PUBLIC_FORMS, unchecked_file
from rwn_core.reporting.release_record import OF_EACH_RECORD, shared_columns, shared_words
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning.policy import CLINICAL
from tests import tables
from tests.core.reporting.conftest import made_of, plant, quickly_made_of
from tests.core.reporting.records_by_hand import RECORD, by_hand, said
from tests.core.reporting.test_record import FULL


def told(material: Material) -> dict[str, object]:
    return {fact.key: fact for fact in facts_for(Audience.INTERNAL, material)}


def words(material: Material, key: str) -> str:
    content = told(material)[key].content
    rows = [" ".join(row) for row in content.table.rows] if content.table else []
    return "\n".join([*content.lines, *rows])


def test_it_is_one_marked_page_with_its_charts(material):
    html = internal_html(material).decode()
    assert html.count(MARK) == 2  # above everything, and where a window or a printer names it
    assert not re.search(r"""(?:src|href)=["']""", html.partition("<script")[0])
    data = html.partition('<script type="application/json" id="chart-data">')[2]
    charts = orjson.loads(data.partition("</script>")[0].replace("<\\/", "</"))
    assert len(charts) == len(material.evidence["charts"]) == html.count('id="chart-') - 1
    assert {"correlation", "regression", "distribution", "linkage_attacks", "record_risk"} <= {
        chart["key"] for chart in material.evidence["charts"]
    }
    assert "Plotly" in html
    for entry in FACTS:
        if entry.audience in (Audience.INTERNAL, Audience.BOTH):
            assert f'<section id="{entry.key}">' in html


def classes_table() -> Microdata:
    """Three keys; two people are alone, two share their keys, all others are many."""
    region = ["a"] * 20 + ["b"] * 20 + ["c", "d", "e", "e"]
    frame = pd.DataFrame({"region": region, "income": np.arange(44.0)})
    return tables.described(frame, region="key", income="confidential")


def test_anonymity_by_hand():
    material = made_of(classes_table(), rwn.RWN(k=1, q=0.0))
    assert words(material, "anonymity").splitlines()[1:] == [
        "2-anonymity 2 (4.5 %) 2 (4.5 %)",
        "3-anonymity 4 (9.1 %) 4 (9.1 %)",
        "5-anonymity 4 (9.1 %) 4 (9.1 %)",
    ]
    codes = np.array([[ord(each)] for each in classes_table().frame["region"]])
    assert (class_sizes(codes) < 3).sum() == 4


def test_what_is_not_at_hand_is_said(material):
    assert b"<script" not in internal_html(replace(material, evidence={}))
    document = orjson.loads(internal_json(material))
    assert document["note"] == MARK
    assert {fact["key"] for fact in document["facts"]} == set(told(material))
    with pytest.raises(InputError, match="none of this program"):
        read_evidence(b"{}")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (rwn.RWN(epsilon=np.linspace(1.0, 3.0, 44), k=5), "epsilon a value for each record"),
        (rwn.METHODS["random_swapping"](share=0.5, variables=("income",)), "income"),
        (rwn.METHODS["sampling"](left_out=0.25), "left_out 0.25"),
    ],
    ids=["radii", "names", "sampling"],
)
def test_parameters_of_any_kind_are_shown(params, said):
    material = quickly_made_of(classes_table(), params, ["cells_changed"])
    assert said in words(material, "parameters")
    assert internal_html(material)
    kept = 33 if "left_out" in said else 44  # of 44, a quarter is left out
    assert material.records == kept
    assert f"44 records; the file has {kept}." in words(material, "data")


SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "release-record.schema.json"


def judged(data: Microdata, params: object, policy: rwn.Policy, context: Context) -> Material:
    """Judge a release of a meeting's decision, with the context of its steward."""
    made = judge_release(data, params, "csv", policy)
    scenario = Scenario(name="mild", table=data.fingerprint, setting=made.setting)
    decision = Decision(
        scenarios=(scenario,), chosen="mild", reason="fits", date="2026-01-02",
        participants=("Ada", "Bob"),
    )  # fmt: skip
    approval = Approval(by="Ada", reason="x", decision=decision, context=context)
    return Material(record=read_record(made.record(data, approval)))


def sourced(limits: tuple[rwn.Limit, ...]) -> rwn.Policy:
    """State where each limit comes from."""
    return rwn.Policy(
        limits=tuple(replace(e, source=e.source or "Handbook 4", set_by="Board") for e in limits)
    )


USUAL = sourced(rwn.Policy().limits)
RELEASES = {
    "pima, soft kernel": lambda: (
        "pima", rwn.SoftRWN(kernel="gaussian", width=1.0), sourced(CLINICAL)
    ),
    "categories": lambda: (tables.table("categories"), rwn.PRAM(change=0.4), USUAL),
}  # fmt: skip


@pytest.mark.parametrize("name", RELEASES)
def test_every_question_is_answered(name):
    table, params, policy = RELEASES[name]()
    data = rwn.load_demo(table).take(np.arange(200)) if isinstance(table, str) else table
    material = judged(data, params, policy, FULL)
    validator = Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    assert [each.message for each in validator.iter_errors(material.record)] == []
    text = auditors_file(material, data).decode()
    assert unanswered(material) == []
    assert text.count("<section") == 5
    for answer in (FULL.recipient, FULL.retention, FULL.anonymity, "Board", "Ada", "Singling out"):
        assert answer in text
    for title in ("Worst-case linkage", "Attribute inference", *data.schema.names):
        assert title.casefold() in text.casefold()


def test_what_the_steward_did_not_state_is_said():
    left = unanswered(by_hand())
    assert "Who receives the file?" in left
    assert {"Who answers for the release?", "What did a meeting decide?"} <= {*left}
    text = unchecked_page(by_hand()).decode()
    for title in ("purpose", "recipient", "retention", "anonymous for this recipient, because"):
        assert f"<td>{title}</td><td>not stated</td>" in text


@pytest.mark.parametrize("missing", ["retention", "anonymity"])
def test_the_officers_questions_are_there_without_an_answer(missing):
    context = replace(FULL, **{missing: ""})
    material = by_hand(context=context.to_dict())
    (question,) = (each for each in QUESTIONS if each.name == missing)
    assert question.question in unanswered(material)
    assert f"<td>{question.title}</td><td>not stated</td>" in unchecked_page(material).decode()


@pytest.fixture
def small(bodyfat_table: Microdata, kept_material: Material) -> tuple[Material, Microdata]:
    return replace(kept_material, evidence={}), bodyfat_table


LEAKS = {
    "The heaviest man weighs 363.15.": "a number that the internal record does not have",
    "Key: " + "0f" * 32: "looks like a key",
    "Record 37 gave its value to another one.": "the number of a record",
    "It lies in /home/Zaphod/data.": "a path",
    "Made from survey.csv.": "the name of the original's file",
}


def test_a_planted_leak_is_refused(small, monkeypatch):
    material, data = small
    facts = auditors_page.FACTS
    assert auditors_file(material, data)
    for line, kind in LEAKS.items():
        said = Content(lines=(line,))
        entries = [
            replace(each, make=lambda _, said=said: said) if each.key == "file" else each
            for each in facts
        ]
        monkeypatch.setattr(auditors_page, "FACTS", entries)
        with pytest.raises(ReleaseError, match=kind) as refused:
            auditors_file(material, data)
        assert "363" not in str(refused.value)


def test_a_level_of_few_records_is_refused():
    data = tables.table("categories")
    frame = data.frame.assign(u=["Magrathea", *data.frame["u"][1:]])
    data = Microdata.from_frame(frame)
    release = rwn.mask(data, rwn.PRAM(change=0.4))
    file = rwn.reporting.ReleasedFile.of(b"", "csv")
    text = rwn.reporting.internal_record(data, release, file, measures=("cells_changed",))
    material = Material(record=read_record(text))
    assert auditors_file(material, data)
    stated = {**material.record, "context": {"motives": "To find people of Magrathea"}}
    for leaky in (replace(material, title="People of Magrathea"), Material(record=stated)):
        with pytest.raises(ReleaseError, match="fewer than 10 records"):
            auditors_file(leaky, data)


def test_another_table_is_refused(small):
    material, data = small
    with pytest.raises(InputError, match="not the table"):
        auditors_file(material, data.take(np.arange(100)))


EVIDENCE: dict[str, Any] = {"charts": [{"key": "correlation", "title": "Correlations"}]}


def section(key: str, material: Material) -> Content:
    (entry,) = (each for each in FACTS if each.key == key)
    return entry.make(material)


PLAIN = RECORD["setting"]
NO_KEYS = {"not_applicable": "There are no keys."}
MEETING = {
    "chosen": "", "reason": "Not yet.", "participants": ["Ada", "Grace"], "date": "2028-02-01",
    "watched": ["the oldest", "the richest"], "scenario": [{"name": "Mild"}, {}],
}  # fmt: skip
MEETINGS = {
    chosen: {"followed": bool(chosen), "hash": "12" * 32, "meeting": {**MEETING, "chosen": chosen}}
    for chosen in ("", "Mild")
}
HALF = dict.fromkeys([each["measure"] for each in RECORD["limit"]], 0.5)
VERDICT = {**RECORD["verdict"], "kept": True, "not_judged": {}, "shares": HALF, "judged": {}}
ONCE = {"number": 1, "further": 0, "further_kept": 0}
MATERIALS = {
    "": replace(by_hand(), evidence=EVIDENCE),
    "no readings": by_hand(table={**RECORD["table"], "removed": []}, readings={}),
    "no keys": replace(
        by_hand(readings={"k_anonymity": NO_KEYS, "repeated_releases": NO_KEYS}), evidence={}
    ),
    "radii": by_hand(setting={**PLAIN, "parameters": {"epsilon": OF_EACH_RECORD, "k": 5}}),
    "kept": by_hand(verdict=VERDICT),
    "exception": by_hand(
        approval={"by": "Ada", "reason": "", "exception": True},
        draws={"number": 2, "further": 4, "further_kept": 3},
    ),
    "one draw": by_hand(
        approval={"by": "Ada", "reason": "A lesson", "exception": False}, draws=ONCE
    ),
    "approved": by_hand(approval={"by": "Ada", "reason": "A lesson", "exception": False}),
    "not decided": by_hand(decision=MEETINGS[""]),
    "decided": by_hand(decision=MEETINGS["Mild"]),
}


def test_what_each_section_says(sentences):
    """Of every record only what differs from that of the first is written."""
    keys = [each.key for each in FACTS if each.audience is Audience.INTERNAL]
    first = {key: said(section(key, MATERIALS[""])) for key in keys}
    found = {f"{key}": lines for key, lines in first.items()}
    for name, material in MATERIALS.items():
        for key in keys:
            lines = said(section(key, material))
            if lines != first[key]:
                found[f"{key}, {name}"] = lines
    sentences("house", found)


def test_charts_are_handed_on():
    assert section("charts", MATERIALS[""]).charts == tuple(EVIDENCE["charts"])
    assert MATERIALS["radii"].setting.params.epsilon == 0.0


@pytest.mark.parametrize(
    ("key", "path"),
    [("data", ("table", "kinds")), ("anonymity", ("readings", "k_anonymity", "limits"))],
)
def test_lists_that_do_not_belong_together_are_never_cut_to_the_shorter(key, path):
    damaged = part = copy.deepcopy(RECORD)
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = part[path[-1]][:-1]
    with pytest.raises(ValueError, match=r"argument \d is (shorter|longer) than"):
        section(key, Material(record=damaged))


def test_no_day_of_review_is_told_that_nobody_stated():
    """Finding: the notice named a day a year later, which no person had chosen."""
    assert by_hand().made == "2028-02-29"
    for context, line in (
        ({}, "No day was stated on which the release is looked at again."),
        ({"review": "2031-05-30"}, "The release is looked at again by 2031-05-30."),
    ):
        material = by_hand(context=context)
        assert said(section("review", material)) == [line]
        rows = section("context", material).table.rows
        answer = dict(rows)["When is it looked at again?"]
        assert answer == context.get("review", "not stated")
        card = unchecked_file(material, ".toml").decode()
        assert ("review" in card) == bool(context)
    assert b"2029" not in unchecked_page(by_hand())
    assert by_hand().name == "Masked microdata"
    assert replace(by_hand(), title="Homes").name == "Homes"
    with pytest.raises(ParameterError, match="must be a date such as 2030-01-31; correct it"):
        _ = by_hand(context={"review": "2030-13-01"}).context


def test_variables_that_the_measures_take_as_keys_are_keys_in_every_table():
    """Finding: one clause called each variable "other" that the next one took for a key."""
    table = {**RECORD["table"], "roles": ["other", "confidential", "other"]}
    rows = section("data", by_hand(table=table)).table.rows
    kinds = {row[0]: row[3] for row in rows}
    assert [kinds[name] for name in ("age", "income", "sex")] == [
        "indirect identifier", "sensitive attribute", "indirect identifier"
    ]  # fmt: skip
    alone = section("data", by_hand(table=table, readings={})).table.rows
    assert {row[3] for row in alone if row[0] in ("age", "sex")} == {"other"}


def test_how_much_of_a_variable_changed_is_told():
    """Finding: "masked: yes" where one cell in a thousand changed."""
    read = {**RECORD["readings"]["cells_changed"], "share": [0.001, 0.0, 0.25]}
    table = {**RECORD["table"], "left_alone": []}
    material = by_hand(readings={"cells_changed": read}, table=table)
    data = {row[0]: row[6] for row in section("data", material).table.rows[:3]}
    assert data == {"age": "0.1 % of cells", "income": "0.0 % of cells", "sex": "no"}
    rows = {row[0]: row[2] for row in section("variables", material).table.rows}
    # 0 is not told apart from .1 %: it would say that each value is true
    few = "fewer than one in a hundred"
    assert rows == {"age": few, "income": few, "sex": "none"}
    unread = by_hand(readings={}, table=table)
    assert {row[2] for row in section("variables", unread).table.rows} == {"not measured", "none"}


SETTINGS = {
    "drawn by itself": ({}, ["equally likely", "replaced by the same"], ["common donor", "Chance"]),
    "slices": (
        {"slices": [["age", "income"]]},
        ["take their values from one common donor: age, income."],
        ["anew for every value"],
    ),
    "q": ({"q": 0.5}, ["Chance decides whether a masked value is kept"], ["with probability q"]),
    "soft": ({"kernel": "gaussian", "width": 1.0}, ["likelier to be its donors than"], ["equally"]),
    "balance": ({"kernel": "gaussian", "balance": 1.0}, ["about equally often"], ["own donor"]),
    "own": ({"kernel": "gaussian", "own": True}, ["may be its own donor"], ["equally often"]),
    "household": ({"outside_household": True}, ["of the record's own household"], []),
    "rounded": ({"precision": {"age": 5.0}}, ["but for rounding"], ["Types survive"]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_notice_says_what_the_method_does_at_this_setting(name):
    change, told, untold = SETTINGS[name]
    setting = {"method": "rwn", "parameters": {"k": 5}}
    for key, value in change.items():
        if key in ("slices", "precision"):
            setting[key] = value
        else:
            setting["parameters"][key] = value
    material = by_hand(setting=setting)
    for text in (
        " ".join(said(section("treated", material))),
        unchecked_file(material, ".toml").decode(),
        unchecked_file(material, ".html").decode().replace("&#x27;", "'").replace("&#39;", "'"),
    ):
        assert all(words in text for words in told), text
        assert not any(words in text for words in untold), text


N = 600
SECRET = rwn.SecretKey.from_seed(5)
KEY = "a fresh 256-bit secret, forgotten"
Made = tuple[Path, Path, rwn.Schema, rwn.Microdata]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A dataset of two files, its release, its schema, and the same table in memory."""
    base = tmp_path_factory.mktemp("notice")
    numbers = np.random.default_rng(8)
    x = numbers.normal(50, 9, N)
    place = np.where(np.arange(N) < 3, "Magrathea", np.where(np.arange(N) < 13, "Vogsphere", "E"))
    table = pd.DataFrame(
        {
            "x": x,
            "y": x + numbers.normal(0, 9, N),
            "rooms": numbers.integers(1, 6, N),
            "place": place,
            "day": pd.Timestamp("1978-03-08") + pd.to_timedelta(np.arange(N), unit="D"),
            "person": [f"Zaphod {number:05d}" for number in range(N)],
        }
    )
    (base / "in").mkdir()
    table[:250].to_parquet(base / "in" / "a.parquet", index=False)
    table[250:].to_parquet(base / "in" / "b.parquet", index=False)
    schema = Dataset.at(base / "in").guessed_schema()
    schema = schema.replace_variable("person", role=Role.IDENTIFIER)
    schema = replace(schema, question=Question(response="y", predictors=("x", "rooms")))
    options = RunOptions(schema=schema, workers=1, file_rows=300)
    mask_dataset(base / "in", base / "out", rwn.RWN(k=5), seed=SECRET, options=options)
    return base / "in", base / "out", schema, rwn.Microdata.from_frame(table).with_schema(schema)


def material(made: Made, out: Path | None = None, **about: Any) -> Material:
    """The record of a release, of these files or of others in their place."""
    folder = out or made[1]
    changed = dict.fromkeys([variable.name for variable in made[2].released], N // 2)
    files = len(list(folder.iterdir()))
    said = DatasetRelease(folder=folder, n=N, files=files, governed=0, changed=changed)
    asked = AuditOptions(key=SECRET, schema=made[2], measures=RECORDED)
    found = audit_dataset(made[0], made[1], asked)
    text = dataset_record(said, rwn.RWN(k=5), made[2], KEY, made[0], found)
    return Material(record=read_dataset_record(text, folder), **about)


def nothing(records: float) -> None:
    """No progress is shown."""


def public(made: Made, out: Path | None = None, **about: Any) -> dict[str, bytes]:
    return public_dataset_files(
        material(made, out, **about), made[0], out or made[1], tuple(PUBLIC_FORMS)
    )


def test_every_public_form_speaks_of_all_files(made):
    shares: list[float] = []
    known = material(made, title="Homes of 1978")
    files = public_dataset_files(known, made[0], made[1], tuple(PUBLIC_FORMS), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    file = known.record["file"]
    assert len(file["parts"]) == 2
    for content in files.values():
        each = [part["sha256"].encode() in content for part in file["parts"]]
        assert file["sha256"].encode() in content or all(each)
        assert b"Zaphod" not in content
    card = public_notice.read_card(files[".toml"].decode())
    assert card["files"] == file["parts"]
    assert b"Number of its files: 2." in files[".html"]
    assert b"It was measured on a random sample of the records." in files[".html"]
    assert b"relations between variables" in files[".html"]
    assert b'<var name="rooms"' in files[".xml"]
    assert b"person" not in files[".xml"].split(b"<dataDscr>")[1]


def test_an_internal_fact_of_a_dataset_is_not_made_public(made, monkeypatch):
    open_ = {each.key for each in DATASET if each.audience is not Audience.INTERNAL}
    assert open_ == ALLOWED - {"intervals"}  # of a dataset no balance is judged
    known = material(made)
    inside = [each for each in DATASET if each.audience is Audience.INTERNAL]
    assert len(inside) >= 8
    for entry in inside:
        wrong = replace(entry, audience=Audience.PUBLIC)
        monkeypatch.setattr(listed, "DATASET", (wrong,))
        with pytest.raises(ReleaseError, match="for the house alone; nothing public was written"):
            unchecked_file(known, ".html")
    levels = next(each for each in inside if each.key == "changed")
    plain = tuple(each for each in DATASET if each.key in ALLOWED)
    monkeypatch.setattr(listed, "DATASET", (*plain, replace(levels, audience=Audience.PUBLIC)))
    monkeypatch.setattr(public_notice, "check_facts", lambda facts: None)
    with pytest.raises(ReleaseError, match="the value of a risk measure"):
        public(made)


def test_a_planted_value_is_refused(made, monkeypatch):
    # a value of ten records is an aggregate
    plant(monkeypatch, "Many are from Vogsphere.", among="DATASET")
    assert b"Many are from Vogsphere." in public(made)[".html"]
    plant(monkeypatch, "Somebody from magrathea.", among="DATASET")
    with pytest.raises(ReleaseError, match="fewer than 10 records"):
        public(made)


def test_rare_values_are_those_of_the_table_in_memory(made, monkeypatch):
    source, _, schema, data = made
    monkeypatch.setattr("rwn_core.reporting.dataset_record.BATCH", 128)
    rare = rare_values(data)
    said = {*rare, "vogsphere", "e", 3.0, "nobody", 1e9}
    assert len(rare) > 3 * N
    assert rare_in_dataset(Dataset.at(source), schema, said, nothing) == rare
    some = {"zaphod 00599", "magrathea", "vogsphere"}
    found = rare_in_dataset(Dataset.at(source), schema, some, nothing)
    assert found == {"zaphod 00599", "magrathea"}


def _and_a_copy(path: Path) -> None:
    path.with_name(".part-000000.parquet.bak").write_bytes(b"PAR1")


def _under_another_name(path: Path) -> None:
    path.rename(path.with_name("zaphods-ward.parquet"))


def _other_values(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "x", pa.array([1e6] * len(table))), path)


@pytest.mark.parametrize("damage", [_and_a_copy, _under_another_name, _other_values])
def test_other_files_than_those_of_the_record_are_refused(damage, made, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(made[1], out)
    known = material(made, out)
    damage(out / "part-000000.parquet")
    with pytest.raises(ReleaseError, match="holds other files than those of the record") as refused:
        public_dataset_files(known, made[0], out, [".html"])
    assert "nothing public was written" in str(refused.value)


def test_released_texts_that_identify_people_are_refused_as_of_a_table(made, tmp_path):
    frame = pd.read_parquet(made[0]).assign(place=[f"z{i}@vogsphere.org" for i in range(N)])
    frame.to_parquet(tmp_path / "in.parquet", index=False)
    schema = made[2].replace_variable("place", confirmed=True)
    options = RunOptions(schema=schema, workers=1)
    out = tmp_path / "out"
    done = mask_dataset(tmp_path / "in.parquet", out, rwn.RWN(k=5), seed=SECRET, options=options)
    text = dataset_record(done, rwn.RWN(k=5), schema, KEY, tmp_path / "in.parquet")
    known = Material(record=read_dataset_record(text, out))
    with pytest.raises(ReleaseError, match="released variable place looks like e-mail addresses"):
        public_dataset_files(known, tmp_path / "in.parquet", out, [".html"])


def test_a_release_of_another_dataset_or_seed_gets_no_notice(made):
    known = material(made)
    source = {**known.record["source"], "size": 1}
    other = replace(known, record={**known.record, "source": source})
    with pytest.raises(InputError, match="not the dataset that the record was made of"):
        public_dataset_files(other, made[0], made[1], [".html"])
    file = {**known.record["file"], "key": "a seed, which is no secret"}
    seeded = replace(known, record={**known.record, "file": file})
    with pytest.raises(ReleaseError, match="drawn with a seed"):
        public_dataset_files(seeded, made[0], made[1], [".html"])


FILE = {
    "format": "parquet", "order": "shuffled", "key": "a fresh 256-bit secret, forgotten",
    "records": 1100, "size": 123456, "fell_back": 1234, "sha256": "cd" * 32,
    "parts": [{"name": "part-000000.parquet", "sha256": "ef" * 32}],
}  # fmt: skip


def section_sections(key: str, record: dict[str, Any]) -> Content:
    (entry,) = (each for each in DATASET if each.key == key)
    return entry.make(by_hand(**record))


def test_what_each_section_says_sections(sentences):
    cells = {"value": 0.125, "names": ["age", "town"], "share": [0.5, 0.25]}
    judged = {"words": "judged on 5,000 of 1,000,000 records", "records": 5000, "of": 1000000}
    only_k = {"file": FILE, "setting": {**RECORD["setting"], "parameters": {"k": 5}}}
    cases: dict[str, dict[str, Any]] = {
        "changed": {"readings": {"cells_changed": cells}},
        "judged": {"judged": judged},
        "judged, none": {},
        "files": {"file": FILE},
        "files, no radius": only_k,
        "file": {"file": FILE},
    }
    said_of = {
        case: said(section_sections(case.partition(",")[0], parts)) for case, parts in cases.items()
    }
    sentences("dataset", said_of)
    (first, *_), (sampled, *_) = (
        section_sections("loss", {**parts, "readings": RECORD["readings"]}).lines[1:] or ("",)
        for parts in ({}, {"judged": judged})
    )
    assert first != sampled == public_words.SAMPLED


def test_it_is_said_whether_missing_values_of_a_dataset_move(tmp_path):
    number = np.arange(200)
    frame = pd.DataFrame({"x": number * 1.5, "y": number % 7, "group": ["a", "b"] * 100})
    for name in (None, "x"):
        holes = frame if name is None else frame.assign(**{name: frame[name].where(number % 5 > 0)})
        source, out = tmp_path / f"{name}.parquet", tmp_path / f"out {name}"
        holes.to_parquet(source, index=False)
        made = mask_dataset(source, out, RWN(k=50), options=RunOptions(workers=1))
        schema = Dataset.at(source).guessed_schema()
        text = dataset_record(made, RWN(k=50), schema, "a fresh 256-bit secret", source)
        known = Material(record=read_dataset_record(text, out))
        files = public_dataset_files(known, source, out, (".html", ".xml"))
        for content in files.values():
            assert (public_words.MISSING.encode() in content) == (name is not None)


def lines(record: dict[str, object]) -> list[str]:
    said = []
    for entry in (*OUTSIDE, *INSIDE):
        if entry.key in ("variables", "data"):
            said += entry.make(Material(record=record)).lines
    return said


@pytest.mark.parametrize("masked", [True, False])
def test_household_columns_that_are_drawn_person_by_person_are_named(masked):
    data = tables.table("homes" if masked else "homes, region shown")
    release = rwn.mask(data, rwn.RWN(epsilon=9.0, k=90), seed=1)
    found = shared_columns(data, release.masked)["household"]
    names = ["hh_income", "region"]
    assert found == {
        "kept": [] if masked else ["region"],
        "split": names if masked else ["hh_income"],
    }
    table = {"variables": [], "kinds": [], "roles": [], "not_masked": [], "removed": ["hid"]}
    record = {
        "table": {**table, "records": data.n, "household": found},
        "file": {"records": data.n},
        "setting": {"method": "rwn"},
        "readings": {},
    }
    split = public_words.HOUSEHOLD["split"].format(names=", ".join(found["split"]))
    said = lines(record)
    assert said.count(split) == 2  # in the house and outside
    assert (public_words.HOUSEHOLD["kept"].format(names="region") in said) is not masked


def test_nothing_is_said_without_households_or_where_nobody_shares_one():
    data = tables.table("homes")
    undeclared = tables.described(data.frame, hid="other")
    assert shared_columns(undeclared, undeclared) == {}
    single = tables.described(data.frame.iloc[::3], hid="household")
    assert shared_columns(single, single) == {}
    assert shared_columns(data, data)["household"] == {"kept": ["hh_income", "region"], "split": []}


def counted(release: rwn.Release, name: str, unit: str) -> bool:
    """Whether any unit of the original has several values of a variable in the release."""
    masked = release.masked.frame[name].to_numpy()
    values: dict[object, set[object]] = {}
    for each, value in zip(release.original.frame[unit], masked, strict=True):
        values.setdefault(each, set()).add(value)
    return any(len(found) > 1 for found in values.values())


def test_columns_of_a_person_in_a_panel_are_named_as_a_count_has_them():
    data = tables.table("panel")
    release = rwn.mask(data, rwn.RWN(epsilon=9.0, k=90), seed=1)
    assert shared_columns(data, release.masked) == {"person": {"kept": ["sex"], "split": ["birth"]}}
    assert [counted(release, name, "pid") for name in ("birth", "sex")] == [True, False]
    said = shared_words(shared_columns(data, release.masked))
    assert said == (
        public_words.PERSON["kept"].format(names="sex"),
        public_words.PERSON["split"].format(names="birth"),
    )


@pytest.mark.parametrize(("make", "unit"), [("homes", "household"), ("panel", "person")])
def test_rwn_mask_says_it_and_so_does_the_notice(make, unit, tmp_path, capsys):
    data = tables.table(make)
    source, record = tmp_path / "t.csv", tmp_path / "r.toml"
    data.frame.to_csv(source, index=False)
    (tmp_path / "t.csv.toml").write_text(data.schema.to_toml())
    given = ["--epsilon", "9", "--k", "90", "--record", str(record)]
    assert main.run(["mask", str(source), str(tmp_path / "out.csv"), *given]) == 0
    table = read_record(record.read_text("utf-8"))["table"]
    (split,) = (each for each in shared_words(table) if "drawn" in each)
    assert table[unit]["split"]
    assert f"note: {split}" in capsys.readouterr().err
    assert lines(read_record(record.read_text("utf-8"))).count(split) == 2  # inside and outside
