"""The report of a dataset's release, from the masking to the file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rwn_cli.main import run

N = 600


def _table() -> pd.DataFrame:
    numbers = np.random.default_rng(8)
    x = numbers.normal(50, 9, N)
    place = numbers.choice(["north", "south"], N).astype(object)
    place[7], place[11] = "hermitage", "lighthouse"
    sparse = np.full(N, np.nan)
    sparse[:4] = 777_123.25
    return pd.DataFrame(
        {
            "x": x,
            "y": x + numbers.normal(0, 3, N),
            "place": place,
            "sparse": sparse,
            "person": [f"name-{number:05d}" for number in range(N)],
        }
    )


def test_a_report_has_the_facts_and_no_value_of_the_original_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "cellar-seven", tmp_path / "out"
    source.mkdir()
    table = _table()
    table[:250].to_parquet(source / "a.parquet", index=False)
    table[250:].to_parquet(source / "b.parquet", index=False)
    key, record, report = (tmp_path / name for name in ("key", "record.toml", "report.html"))
    masking = ["mask-dataset", str(source), str(out), "--k", "4", "--drop", "person"]
    masking += ["--workers", "1", "--key-file", str(key), "--record", str(record)]
    assert run(masking) == 0
    auditing = ["audit-dataset", str(source), str(out), "--drop", "person", "--sample", "50"]
    auditing += ["--response", "y", "--predictor", "x", "--key-file", str(key)]
    both = ["--record", str(record), "--report"]
    assert run([*auditing, *both, str(report)]) == 0
    assert run([*auditing, *both, str(report.with_suffix(".json"))]) == 0

    text = report.read_text(encoding="utf-8")
    facts = {
        fact["key"]: fact["content"]
        for fact in json.loads(report.with_suffix(".json").read_text())["facts"]
    }
    released = pd.read_parquet(out)
    means = {row[0]: row[1:3] for row in facts["changed"]["table"]["rows"]}
    assert means["x"] == [f"{each['x'].mean():.4g}" for each in (table, released)]
    assert means["sparse"] == ["–", "–"]
    levels = {row[1]: row[3] for row in facts["levels"]["table"]["rows"] if row[0] == "place"}
    assert levels["north"] == str((released["place"] == "north").sum())
    assert ["parameter k", "4"] in facts["parameters"]["table"]["rows"]
    assert ["released rows in the sample", "50"] in facts["linkage"]["table"]["rows"]
    assert any("true one" in row[0] and "%" in row[1] for row in facts["linkage"]["table"]["rows"])
    assert "person" in facts["data"]["lines"][1]
    assert "What changed" in text

    secret = key.read_text().strip().splitlines()[-1]
    hidden = [*table["person"], *map(str, table["x"]), "hermitage", "lighthouse", "777123", "777,1"]
    for said in (text, json.dumps(facts, ensure_ascii=False), record.read_text()):
        assert not [value for value in hidden if value in said]
        assert source.name not in said
        assert secret not in said

    kinds = tmp_path / "kinds.toml"
    variables = [("x", "continuous"), ("y", "continuous"), ("place", "ordered")]
    variables += [("sparse", "count"), ("person", "categorical")]
    kinds.write_text(
        "".join(f'[[variable]]\nname = "{name}"\nkind = "{kind}"\n' for name, kind in variables)
    )
    capsys.readouterr()
    assert run([*auditing, *both, str(report), "--schema", str(kinds)]) == 3
    assert "in another way" in capsys.readouterr().err
    (out / next(out.iterdir()).name).write_bytes(b"changed")
    capsys.readouterr()
    assert run([*auditing, *both, str(report)]) == 3
    assert "not the one that the record was made of" in capsys.readouterr().err
    assert run([*auditing, "--report", str(report)]) == 2
