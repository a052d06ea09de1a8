"""Pages for auditors and the house: sections, datasets, scenarios, notebooks."""

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
from rwn_core import AuditOptions, Microdata, Question, audit_dataset
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import DatasetRelease, RunOptions, mask_dataset
from rwn_core.errors import InputError, ParameterError, ReleaseError
from rwn_core.reporting import auditors_page, public_notice, public_words, read_record
from rwn_core.reporting import facts as listed
from rwn_core.reporting.auditors_page import (
    auditors_file,
    unanswered,
    unbounded_words,
    unchecked_page,
)
from rwn_core.reporting.context import QUESTIONS
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
from tests import tables
from tests.core.reporting.conftest import plant, quickly_made_of
from tests.core.reporting.records_by_hand import RECORD, by_hand, said
from tests.core.reporting.test_record import FULL

AT_NIGHT = {"marks": pytest.mark.nightly}


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
    inside = {each.key for each in facts_for(Audience.INTERNAL, material)}
    assert all(f'<section id="{key}">' in html for key in inside)
    assert b"<script" not in internal_html(replace(material, evidence={}))
    document = orjson.loads(internal_json(material))
    assert (document["note"], {fact["key"] for fact in document["facts"]}) == (MARK, inside)
    with pytest.raises(InputError, match="none of this program"):
        read_evidence(b"{}")


def classes_table() -> Microdata:
    """Three keys; two people are alone, two share their keys, all others are many."""
    region = ["a"] * 20 + ["b"] * 20 + ["c", "d", "e", "e"]
    frame = pd.DataFrame({"region": region, "income": np.arange(44.0)})
    return tables.described(frame, region="key", income="confidential")


@pytest.mark.parametrize(
    ("params", "line", "kept"),
    [
        (rwn.RWN(epsilon=np.linspace(1.0, 3.0, 44), k=5), "epsilon | a value for each record", 44),
        (rwn.RandomSwapping(share=0.5, variables=("income",)), "income", 44),
        (rwn.RandomSample(left_out=0.25), "left_out | 0.25", 33),
    ],
    ids=["radii", "names", "sampling"],
)
def test_parameters_of_any_kind_are_shown(params, line, kept):
    material = quickly_made_of(classes_table(), params, ["cells_changed"])
    assert any(line in each for each in said(section("parameters", material)))
    assert internal_html(material)
    assert material.records == kept
    assert f"44 records; the file has {kept}." in " ".join(said(section("data", material)))


SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "release-record.schema.json"


@pytest.mark.parametrize(
    ("name", "params", "policy"),
    [("categories", rwn.PRAM(change=0.4), rwn.Policy().limits),
     pytest.param("pima", rwn.SoftRWN(kernel="gaussian", width=1.0),
                  rwn.policy_called("Limits for clinical data").limits, **AT_NIGHT)],
)  # fmt: skip
def test_every_question_is_answered(name, params, policy):
    """A release of a meeting's decision, with its steward's context and sources of limits."""
    data = tables.table(name, 120 if name == "pima" else None)
    limits = (replace(e, source=e.source or "Handbook 4", set_by="Board") for e in policy)
    made = judge_release(data, params, "csv", rwn.Policy(limits=tuple(limits)))
    scenario = Scenario(name="mild", table=data.fingerprint, setting=made.setting)
    people = {"participants": ("Ada", "Bob"), "date": "2026-01-02"}
    decision = Decision(scenarios=(scenario,), chosen="mild", reason="fits", **people)
    approval = Approval(by="Ada", reason="x", decision=decision, context=FULL)
    material = Material(record=read_record(made.record(data, approval)))
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
    assert {"Who answers for the release?", "What did a meeting decide?"} <= {*left}
    for missing in auditors_page.OFFICER:
        (asked,) = (each for each in QUESTIONS if each.name == missing)
        material = by_hand(context=replace(FULL, **{missing: ""}).to_dict())
        assert asked.question in {*left} & {*unanswered(material)}
        for text in map(unchecked_page, (by_hand(), material)):
            assert f"<td>{asked.title}</td><td>not stated</td>" in text.decode()


def test_a_data_protection_officer_is_asked_what_the_law_asks():
    """Finding P8: no question on legal basis, controller, special categories and assessment."""
    asked = " ".join(unanswered(by_hand()))
    for words in ("legal basis", "controller", "special categories of data", "impact assessment"):
        assert words in asked
        assert f"{words}</td><td>not stated</td>" in unchecked_page(by_hand()).decode()


def test_numbers_that_no_limit_bounds_are_named_under_the_verdict(kept_material, bodyfat_table):
    """Finding P8: 33 % singling out stood in a kept release, and the verdict does not use it."""
    page = auditors_file(replace(kept_material, evidence={}), bodyfat_table).decode()
    _, _, limits = page.partition('<section id="limits">')
    verdict, _, rest = limits.partition("No limit bounds these numbers of this page, ")
    assert "KEPT." in verdict.upper()
    named, _, why = rest.partition("</p>")
    assert "because the policy states none: Singling out; Linkability" in named
    assert "WP216 asks, and names no number that may be tolerated" in why.partition("<table")[0]
    # every title named is one of an attack on the page, and none of a limit
    tried, _, _ = page.partition('<section id="limits">')
    titles = named.partition("states none: ")[2].rstrip(".").split("; ")
    assert [title for title in titles if f"<td>{title}</td>" not in tried] == []
    limited = {rwn.MEASURES[each["measure"]].title for each in kept_material.record["limit"]}
    assert limited.isdisjoint(titles)


def test_a_number_with_a_limit_is_not_named():
    limits = [{"measure": key, "at_most": 0.5} for key in ("singling_out", "linkability")]
    readings = {key: {"value": 0.25} for key in ("singling_out", "linkability", "inference")}
    words = unbounded_words(by_hand(limit=limits, readings=readings))
    assert "none: Inference." in words[0]
    assert words[1].startswith("For inference WP216 asks")
    assert (
        unbounded_words(by_hand(limit=[*limits, {"measure": "inference"}], readings=readings)) == ()
    )


LEAKS = {
    "The heaviest man weighs 363.15.": "a number that the internal record does not have",
    "Key: " + "0f" * 32: "looks like a key",
    "Record 37 gave its value to another one.": "the number of a record",
    "It lies in /home/Zaphod/data.": "a path",
    "Made from survey.csv.": "the name of the original's file",
}


def test_a_planted_leak_is_refused_and_another_table(kept_material, bodyfat_table, monkeypatch):
    material = replace(kept_material, evidence={})
    facts = auditors_page.FACTS
    assert auditors_file(material, bodyfat_table)
    with pytest.raises(InputError, match="not the table"):
        auditors_file(material, bodyfat_table.take(np.arange(100)))
    for line, kind in LEAKS.items():
        leak = Content(lines=(line,))
        entries = [
            replace(each, make=lambda _, leak=leak: leak) if each.key == "file" else each
            for each in facts
        ]
        monkeypatch.setattr(auditors_page, "FACTS", entries)
        with pytest.raises(ReleaseError, match=kind) as refused:
            auditors_file(material, bodyfat_table)
        assert "363" not in str(refused.value)


def test_a_level_of_few_records_is_refused():
    frame = tables.frame("categories")
    data = tables.described(frame.assign(u=["Magrathea", *frame["u"][1:]]))
    material = quickly_made_of(data, rwn.PRAM(change=0.4), ["cells_changed"])
    assert auditors_file(material, data)
    stated = {**material.record, "context": {"motives": "To find people of Magrathea"}}
    for leaky in (replace(material, title="People of Magrathea"), Material(record=stated)):
        with pytest.raises(ReleaseError, match="fewer than 10 records"):
            auditors_file(leaky, data)


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
NO_ROLES = {**RECORD["table"], "roles": ["other", "confidential", "other"]}
HARDLY = {**RECORD["readings"]["cells_changed"], "share": [0.001, 0.0, 0.25]}
MATERIALS = {  # of findings, too
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
    # what the measures take as keys are keys in every table
    "no roles": by_hand(table=NO_ROLES),
    "no roles, no readings": by_hand(table=NO_ROLES, readings={}),
    # of 0.1 % of the cells it is not said that the variable is masked
    "hardly masked": by_hand(
        table={**RECORD["table"], "left_alone": []}, readings={"cells_changed": HARDLY}
    ),
    "no day of review": by_hand(context={}),
    "a day of review": by_hand(context={"review": "2031-05-30"}),
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
    for context in ({}, {"review": "2031-05-30"}):
        material = by_hand(context=context)
        days = " ".join([*said(section("review", material)), *said(section("context", material))])
        assert ("2031-05-30" in days) == bool(context)
    assert b"2029" not in unchecked_page(by_hand())
    with pytest.raises(ParameterError, match="must be a date such as 2030-01-31; correct it"):
        _ = by_hand(context={"review": "2030-13-01"}).context


N = 600
SECRET = rwn.SecretKey.from_seed(5)
KEY = "a fresh 256-bit secret, forgotten"
Made = tuple[Path, Path, rwn.Schema, rwn.Microdata]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A dataset of two files, its release, its schema, and the same table in memory."""
    base = tmp_path_factory.mktemp("notice")
    number = np.arange(N)
    numbers = np.random.default_rng(8)
    x = numbers.normal(50, 9, N)
    table = pd.DataFrame({"x": x, "y": x + numbers.normal(0, 9, N)})
    table["rooms"] = numbers.integers(1, 6, N)
    table["place"] = np.where(number < 3, "Magrathea", np.where(number < 13, "Vogsphere", "E"))
    table["day"] = pd.Timestamp("1978-03-08") + pd.to_timedelta(number, unit="D")
    table["person"] = [f"Zaphod {each:05d}" for each in number]
    (base / "in").mkdir()
    table[:250].to_parquet(base / "in" / "a.parquet", index=False)
    table[250:].to_parquet(base / "in" / "b.parquet", index=False)
    schema = Dataset.at(base / "in").guessed_schema()
    schema = schema.replace_variable("person", role="identifier").with_rows("separate")
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


@pytest.fixture(scope="module")
def known(made: Made) -> Material:
    return material(made, title="Homes of 1978")


@pytest.fixture(scope="module")
def shares() -> list[float]:
    """The progress of the public files."""
    return []


@pytest.fixture(scope="module")
def forms(made: Made, known: Material, shares: list[float]) -> dict[str, bytes]:
    return public_dataset_files(known, made[0], made[1], tuple(PUBLIC_FORMS), shares.append)


def test_the_progress_of_public_files_rises_to_the_end(forms, shares):
    assert forms
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_record_of_two_files_is_of_the_schema_and_a_wrong_one_is_not(known):
    file = known.record["file"]
    assert len(file["parts"]) == 2
    validator = Draft202012Validator(json.loads(SCHEMA.read_bytes()))
    assert [each.message for each in validator.iter_errors(known.record)] == []
    for lacking in ({"file": {**file, "parts": 3}}, {"source": 3}):
        assert not validator.is_valid({**known.record, **lacking})


def test_every_public_form_speaks_of_all_files(known, forms):
    file = known.record["file"]
    for content in forms.values():
        each = [part["sha256"].encode() in content for part in file["parts"]]
        assert file["sha256"].encode() in content or all(each)
        assert b"Zaphod" not in content
    assert public_notice.read_notice(forms[".json"].decode())["files"] == file["parts"]


def test_the_public_page_says_how_many_files_and_how_it_was_measured(forms):
    assert b"Number of its files: 2." in forms[".html"]
    assert b"It was measured on a random sample of the records." in forms[".html"]
    assert b"relations between variables" in forms[".html"]


def test_the_codebook_has_the_variables_that_are_released_alone(forms):
    assert b'<var name="rooms"' in forms[".xml"]
    assert b"person" not in forms[".xml"].split(b"<dataDscr>")[1]


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


def and_a_copy(path: Path) -> None:
    path.with_name(".part-000000.parquet.bak").write_bytes(b"PAR1")


def under_another_name(path: Path) -> None:
    path.rename(path.with_name("zaphods-ward.parquet"))


def with_other_values(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "x", pa.array([1e6] * len(table))), path)


def test_other_files_than_those_of_the_record_are_refused(made, tmp_path):
    for number, damage in enumerate((and_a_copy, under_another_name, with_other_values)):
        out = tmp_path / f"{number}"
        shutil.copytree(made[1], out)
        known = material(made, out)
        damage(out / "part-000000.parquet")
        with pytest.raises(ReleaseError, match="other files than those of the record") as refused:
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


def of_dataset(key: str, record: dict[str, Any]) -> Content:
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
        case: said(of_dataset(case.partition(",")[0], parts)) for case, parts in cases.items()
    }
    sentences("dataset", said_of)
    (first, *_), (sampled, *_) = (
        of_dataset("loss", {**parts, "readings": RECORD["readings"]}).lines[1:] or ("",)
        for parts in ({}, {"judged": judged})
    )
    assert first != sampled == public_words.SAMPLED


def test_it_is_said_whether_missing_values_of_a_dataset_move(tmp_path):
    number = np.arange(200)
    frame = pd.DataFrame({"x": number * 1.5, "y": number % 7, "group": ["a", "b"] * 100})
    params = rwn.RWN(k=150)
    for name in (None, "x"):
        holes = frame if name is None else frame.assign(**{name: frame[name].where(number % 5 > 0)})
        source, out = tmp_path / f"{name}.parquet", tmp_path / f"out {name}"
        holes.to_parquet(source, index=False)
        done = mask_dataset(source, out, params, options=RunOptions(workers=1))
        text = dataset_record(done, params, Dataset.at(source).guessed_schema(), KEY, source)
        known = Material(record=read_dataset_record(text, out))
        for content in public_dataset_files(known, source, out, (".html", ".xml")).values():
            assert (public_words.MISSING.encode() in content) == (name is not None)


FAR = rwn.RWN(epsilon=9.0, k=90)


def both_sides(material: Material) -> list[str]:
    """What is said of the variables in the house and outside."""
    entries = (each for each in (*OUTSIDE, *INSIDE) if each.key in ("variables", "data"))
    return [line for entry in entries for line in entry.make(material).lines]


@pytest.mark.parametrize("masked", [True, False])
def test_household_columns_that_are_drawn_person_by_person_are_named(masked):
    data = tables.table("homes" if masked else "homes, region shown")
    found = shared_columns(data, rwn.mask(data, FAR, seed=1).masked)["household"]
    names = ["hh_income", "region"]
    assert found == {
        "kept": [] if masked else ["region"],
        "split": names if masked else ["hh_income"],
    }
    lines = both_sides(by_hand(table={**RECORD["table"], "household": found}))
    split = public_words.HOUSEHOLD["split"].format(names=", ".join(found["split"]))
    assert lines.count(split) == 2  # in the house and outside
    assert (public_words.HOUSEHOLD["kept"].format(names="region") in lines) is not masked


def test_nothing_is_said_without_households_or_where_nobody_shares_one():
    data = tables.table("homes")
    undeclared = tables.described(data.frame, hid="other")
    assert shared_columns(undeclared, undeclared) == {}
    single = tables.described(data.frame.iloc[::3], hid="household")
    assert shared_columns(single, single) == {}
    assert shared_columns(data, data)["household"] == {"kept": ["hh_income", "region"], "split": []}


def test_columns_of_a_person_in_a_panel_are_named_as_a_count_has_them():
    data = tables.table("panel")
    masked = rwn.mask(data, FAR, seed=1).masked
    found = shared_columns(data, masked)
    assert found == {"person": {"kept": ["sex"], "split": ["birth"]}}
    values = masked.frame[["birth", "sex"]].groupby(data.frame["pid"]).nunique().max()
    assert (values > 1).tolist() == [True, False]
    said = {name: public_words.PERSON[name].format(names=found["person"][name][0])
            for name in ("kept", "split")}  # fmt: skip
    assert shared_words(found) == tuple(said.values())


@pytest.mark.parametrize(
    ("make", "unit"), [("homes", "household"), pytest.param("panel", "person", **AT_NIGHT)]
)
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
    assert both_sides(Material(record=read_record(record.read_text("utf-8")))).count(split) == 2
