"""The public facts of a release as DDI-Codebook 2.5, the form in which archives keep them.

Elements stand in the order of the schema (DDI Alliance 2012, codebook.xsd).
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rwn_core.masking.option import method_words
from rwn_core.reporting.facts import Fact, Material

NAMESPACE = "ddi:codebook:2_5"
_OF_SURVEYS = {"sampling weight": {"wgt": "wgt"}, "time": {"temporal": "Y"}}
"""What the roles of a survey are as attributes of a variable."""
_NUMERIC = ("continuous", "count")


def codebook(material: Material, facts: Iterable[Fact]) -> bytes:
    """Write public facts as DDI-Codebook 2.5."""
    by_key = {fact.key: fact for fact in facts}
    root = Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    document = _add(root, "docDscr/citation")
    _add(document, "titlStmt/titl", material.name)
    _add(document, "prodStmt/prodDate", material.made, date=material.made)
    _study(root, material, by_key)
    _file(root, material)
    _variables(root, material, by_key["variables"])
    indent(root)
    text: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _add(parent: Element, path: str, text: str = "", **attributes: str) -> Element:
    """Add elements within each other; the innermost gets the text."""
    for tag in path.split("/"):
        parent = SubElement(parent, tag)
    parent.text = text or None
    parent.attrib.update(attributes)
    return parent


def _study(root: Element, material: Material, by_key: dict[str, Fact]) -> None:
    study = _add(root, "stdyDscr")
    citation = _add(study, "citation")
    title = _add(citation, "titlStmt")
    _add(title, "titl", material.name)
    _add(title, "IDNo", material.record["release"]["id"], agency="RWN")
    _add(citation, "verStmt/version", material.made, date=material.made)
    method = _add(study, "method")
    for key in ("loss", "totals"):
        _add(method, "notes", by_key[key].text, type=key, subject=by_key[key].title)
    _add(method, "anlyInfo/EstSmpErr", by_key["errors"].text)
    _add(method, "dataProcessing", by_key["treated"].text, type="statistical disclosure control")
    use = _add(study, "dataAccs/useStmt")
    _add(use, "conditions", by_key["use"].text)
    _add(use, "disclaimer", by_key["review"].text)


def _file(root: Element, material: Material) -> None:
    text = _add(root, "fileDscr/fileTxt")
    title = _add(text, "fileCitation/titlStmt")
    _add(title, "titl", material.name)
    _add(title, "IDNo", material.record["file"]["sha256"], agency="SHA-256")
    _add(text, "dimensns/caseQnty", str(material.records))
    _add(text, "fileType", material.record["file"]["format"])


def _variables(root: Element, material: Material, fact: Fact) -> None:
    described = _add(root, "dataDscr")
    table = fact.content.table
    treatment = {row[0]: row[1] for row in table.rows} if table is not None else {}
    name = method_words(material.method)["name"]
    said = material.record["table"]
    for label, kind, role in zip(material.variables, said["kinds"], said["roles"], strict=True):
        numeric = kind in _NUMERIC
        variable = _add(described, "var", name=label, intrvl="contin" if numeric else "discrete")
        variable.attrib.update(_OF_SURVEYS.get(role, {}))
        _add(variable, "labl", label)
        _add(variable, "security", f"{treatment[label]}: {name}" if label in treatment else "")
        _add(variable, "varFormat", type="numeric" if numeric else "character")
