"""The public notice: what users of a release must know, and nothing that the house must keep.

One list of facts in four forms: HTML for people, JSON for programs, DDI-Codebook for archives, and
the card, a small TOML that travels with the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import orjson

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import toml_text
from rwn_core.errors import InputError, ParameterError
from rwn_core.masking.option import method_words
from rwn_core.masking.second_reading import NOT_DONE
from rwn_core.reporting.facts import Audience, Fact, Material, facts_for
from rwn_core.reporting.facts.fact import interval_facts
from rwn_core.reporting.leak_check import (
    check_facts,
    check_file,
    check_release,
    rare_values,
    refuse_identifiers,
)
from rwn_core.reporting.page import page, rendered
from rwn_core.reporting.public_words import NOTICE
from rwn_core.reporting.release_record import require_original
from rwn_core.reporting.scenario import read_toml

FORMAT, CARD = "rwn notice 1", "rwn card 1"
Facts = tuple[Fact, ...]
_OF_SURVEYS = {"sampling weight": {"wgt": "wgt"}, "time": {"temporal": "Y"}}
"""What the roles of a survey are as attributes of a variable in DDI-Codebook."""


def public_file(material: Material, original: Microdata, name: str) -> bytes:
    """Write a public file, once the leak check has passed; its name's ending says its form."""
    return public_files(material, original, (name,))[name]


def public_files(material: Material, original: Microdata, names: Iterable[str]) -> dict[str, bytes]:
    """Write public files, once the leak check has passed on all of them."""
    forms = {name: require_form(name) for name in names}
    require_original(material.record, original)
    refuse_identifiers(original)
    rare = rare_values(original)
    contents = {name: unchecked_file(material, form) for name, form in forms.items()}
    for name, content in contents.items():
        check_file(content, forms[name], material, rare)
    return contents


def require_form(name: str) -> str:
    """Return the ending of a public form that a name has; refuse a name without one."""
    for form in PUBLIC_FORMS:
        if name.endswith(form):
            return form
    forms = ", ".join(PUBLIC_FORMS)
    raise ParameterError(f"A public file must end in one of: {forms}; choose one.")


def unchecked_file(material: Material, form: str) -> bytes:
    """Write the public facts without the check for values of the original."""
    check_release(material.record)
    facts = facts_for(Audience.PUBLIC, material)
    check_facts(facts)
    return PUBLIC_FORMS[form](material, facts)


def _json(material: Material, facts: Facts) -> bytes:
    entries = [
        {"key": fact.key, "title": fact.title, "lines": fact.content.lines}
        | (asdict(fact.content.table) if fact.content.table else {})
        for fact in facts
    ]
    document: dict[str, Any] = {"format": FORMAT, "title": material.name, "facts": entries}
    # what the readers of the file need
    document["intervals"] = interval_facts(material.record)
    file = material.record["file"]
    document |= {name: file[name] for name in ("sha256", "marks") if name in file}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _codebook(material: Material, facts: Facts) -> bytes:
    """Write DDI-Codebook 2.5, the form in which archives keep the description of a file."""
    by_key, table = {fact.key: fact for fact in facts}, material.record["table"]
    treated = by_key["variables"].content.table
    return rendered(
        "codebook.xml", material=material, fact=by_key, surveys=_OF_SURVEYS,
        variables=list(zip(material.variables, table["kinds"], table["roles"], strict=True)),
        treatment={row[0]: row[1] for row in treated.rows} if treated is not None else {},
        method=method_words(material.method)["name"],
    )  # fmt: skip


def _card(material: Material, facts: Facts) -> bytes:
    about = method_words(material.method)
    document: dict[str, Any] = {
        "format": CARD,
        "title": material.name,
        "release": material.record["release"]["id"],
        "made": material.made,
        **({"review": material.context.review} if material.context.review else {}),
        "sha256": material.record["file"]["sha256"],
        "records": material.records,
        "variables": list(material.variables),
        "method": f"{about['name']} ({material.method.title})",
        "words": material.does,
        "source": about["source"],
    }
    document |= {name: text for name, text in material.context.public.items() if text}
    file = material.record["file"]
    document["second_reading"] = file.get("second_reading", {}).get("words", NOT_DONE)
    document |= {"files": file["parts"]} if "parts" in file else {}
    return toml_text(document).encode("utf-8")


PUBLIC_FORMS: Mapping[str, Callable[[Material, Facts], bytes]] = MappingProxyType(
    {
        ".html": lambda material, facts: page(material.name, "", NOTICE, facts),
        ".json": _json,
        ".xml": _codebook,
        ".toml": _card,
    }
)
"""How a public file is written, by the ending of its name."""


def read_card(text: str) -> dict[str, Any]:
    """Read a card, as plain data."""
    card = read_toml(text, "card", CARD)
    digest = card.get("sha256")
    if not isinstance(digest, str) or len(digest) != 64:
        raise InputError("The card has no SHA-256 of a file; ask for the card of the release.")
    parts = card.get("files", [])
    tables = [part if isinstance(part, dict) else {} for part in parts]
    texts = [part.get(name) for part in tables for name in ("name", "sha256")]
    if not (isinstance(parts, list) and all(isinstance(text, str) for text in texts)):
        raise InputError("The card's list of files is damaged; ask for the card of the release.")
    return card
