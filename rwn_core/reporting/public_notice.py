"""The public notice: what users of a release must know, and nothing that the house must keep.

One list of facts in three forms: HTML for people, JSON for programs, by which a file is known
again, and DDI-Codebook for archives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from itertools import product
from types import MappingProxyType
from typing import Any

import orjson

from rwn_core.data.microdata import Microdata
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

FORMAT = "rwn notice 1"
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
    file = material.record["file"]
    document: dict[str, Any] = {
        "format": FORMAT,
        "title": material.name,
        # by which a file is known again
        "release": material.record["release"]["id"],
        "made": material.made,
        "method": f"{method_words(material.method)['name']} ({material.method.title})",
        "second_reading": file.get("second_reading", {}).get("words", NOT_DONE),
        "facts": entries,
        # what the readers of the file need
        "intervals": interval_facts(material.record),
    }
    document |= {name: file[name] for name in ("sha256", "marks") if name in file}
    document |= {"files": file["parts"]} if "parts" in file else {}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _codebook(material: Material, facts: Facts) -> bytes:
    """Write DDI-Codebook 2.5, the form in which archives keep the description of a file."""
    by_key = {fact.key: fact for fact in facts}
    table = material.record["table"]
    treated = by_key["variables"].content.table
    return rendered(
        "codebook.xml",
        material=material,
        fact=by_key,
        surveys=_OF_SURVEYS,
        variables=list(zip(material.variables, table["kinds"], table["roles"], strict=True)),
        treatment={row[0]: row[1] for row in treated.rows} if treated is not None else {},
        method=method_words(material.method)["name"],
    )


PUBLIC_FORMS: Mapping[str, Callable[[Material, Facts], bytes]] = MappingProxyType(
    {
        ".html": lambda material, facts: page(material.name, "", NOTICE, facts),
        ".json": _json,
        ".xml": _codebook,
    }
)
"""How a public file is written, by the ending of its name."""


def read_notice(text: str) -> dict[str, Any]:
    """Read a notice in JSON, as plain data."""
    notice = None
    with suppress(orjson.JSONDecodeError):
        notice = orjson.loads(text)
    if not isinstance(notice, dict) or notice.get("format") != FORMAT:
        raise InputError(
            "The file is no notice of this program: give the notice.json that came with the file."
        )
    digest = notice.get("sha256")
    if not isinstance(digest, str) or len(digest) != 64:
        raise InputError("The notice has no SHA-256 of a file; ask for the notice of the release.")
    parts = notice.get("files", [])
    tables = [part if isinstance(part, dict) else {} for part in parts]
    texts = [part.get(name) for part, name in product(tables, ("name", "sha256"))]
    if not (isinstance(parts, list) and all(isinstance(text, str) for text in texts)):
        raise InputError(
            "The notice's list of files is damaged; ask for the notice of the release."
        )
    return notice
