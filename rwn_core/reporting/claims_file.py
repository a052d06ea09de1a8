"""The claims file: what analysts may conclude from a release, as JSON that travels with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import product
from typing import Any

import orjson

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import plain_values
from rwn_core.data.regression import MODELS, Factor, Formula
from rwn_core.data.variable import Kind
from rwn_core.errors import ReleaseError
from rwn_core.evaluation import claims
from rwn_core.evaluation.claims import AnalysisClaims, Claim, ClaimTable, has_rare_levels
from rwn_core.reporting.facts.fact import interval_facts
from rwn_core.reporting.leak_check import LEAST, check_release, counted, refuse_identifiers
from rwn_core.reporting.release_record import require_original

FORMAT = "rwn claims 2"
Document = dict[str, Any]
_WORDS = {FORMAT, "number", "category", "date", *MODELS, "", "log", "sqrt", "square"} | {
    claims.FEW_ANSWERS,
    claims.NO_ANSWER,
    claims.TIED,
    claims.RARE_LEVELS,
    claims.CLUSTERED,
}


def claims_file(record: Mapping[str, Any], original: Microdata, table: ClaimTable) -> bytes:
    """Write the claims of a release, once the leak check has passed."""
    require_original(record, original)
    check_release(record)
    refuse_identifiers(original)
    document = claims_document(record, original, table)
    check_claims(document, record, original)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def claims_document(record: Mapping[str, Any], original: Microdata, table: ClaimTable) -> Document:
    """The claims as plain data."""
    return {
        "format": FORMAT,
        "release": record["release"]["id"],
        **{name: record["file"][name] for name in ("sha256", "marks") if name in record["file"]},
        "records": original.n,
        "draws": table.draws,
        "variables": [_variable(original, each.name) for each in original.schema.released],
        "models": [_model(original, each) for each in table.analyses],
        "refusal": table.refusal,
        "intervals": interval_facts(record),
        "pairs": [
            {"one": claim.pair[0], "other": claim.pair[1], **_claim(claim)} for claim in table.pairs
        ],
    }


def _variable(original: Microdata, name: str) -> Document:
    kind = original.schema.variable(name).kind
    if kind is not Kind.CATEGORICAL:
        return {"name": name, "kind": "date" if kind is Kind.DATE else "number"}
    levels = None if has_rare_levels(original, name) else _levels(original, name)
    return {"name": name, "kind": "category", "levels": levels}


def _levels(original: Microdata, name: str) -> list[str]:
    """The levels that occur, in the order of a design: the first is the reference."""
    codes, levels = original.codes(name)
    return [str(levels[code]) for code in sorted({*codes.tolist()} - {-1})]


def _model(original: Microdata, each: AnalysisClaims) -> Document:
    formula = Formula.parse(each.analysis.formula)
    # the factors of each slope, in the order of the design
    parts = [
        factors
        for term in formula.terms
        for factors in product(*(_columns(original, factor) for factor in term))
    ]
    return {
        "kind": each.analysis.kind,
        "formula": " ".join(each.analysis.formula.split()),
        "response": asdict(formula.response),
        "refusal": each.refusal,
        "claims": [
            {"factors": list(factors), **_claim(claim)}
            for factors, claim in zip(parts, each.claims, strict=bool(each.claims))
        ],
    }


def _columns(original: Microdata, factor: Factor) -> list[Document]:
    if original.schema.variable(factor.name).kind is not Kind.CATEGORICAL:
        return [asdict(factor)]
    return [{**asdict(factor), "level": level} for level in _levels(original, factor.name)[1:]]


def _claim(claim: Claim) -> Document:
    within = claim.within_standard_errors
    return {"sign": claim.sign, "within_standard_errors": within, "factor": claim.factor}


def check_claims(document: Document, record: Mapping[str, Any], original: Microdata) -> None:
    """Refuse a claims file that says more than names, frequent levels and the usual bounds."""
    file, release = record["file"], record["release"]
    about = interval_facts(record)
    texts = {*_WORDS, release["id"], file["sha256"], about["sentence"]}
    texts |= {*file.get("marks", {}).values()}
    names = {variable.name for variable in original.schema.released}
    for model in document["models"]:  # the grammar of a formula holds names and nothing else
        if names.issuperset(Formula.parse(model["formula"]).names):
            texts.add(" ".join(model["formula"].split()))
    for variable in original.schema.released:
        texts.add(variable.name)
        if variable.kind is Kind.CATEGORICAL:
            values = counted(original.frame[variable.name])
            texts |= {str(value) for _, value, count in values if count >= LEAST}
    numbers = {*claims.WITHIN, *claims.FACTORS, original.n, document["draws"]}
    numbers |= {about.get("factor"), about.get("records")}
    for value in plain_values(document):
        known = texts if isinstance(value, str) else numbers
        if value is not None and not isinstance(value, bool) and value not in known:
            raise ReleaseError(
                "The claims file would hold a value that it must not say; nothing public was "
                "written."
            )
