"""The keyboard reaches everything, and shows where it is."""

from __future__ import annotations

FOCUS = """() => {
  const node = document.activeElement;
  const style = getComputedStyle(node);
  // Streamlit rings some of its widgets on a neighbor or a parent of the focused element
  const near = [node, node.parentElement, node.nextElementSibling, node.previousElementSibling,
                node.parentElement?.parentElement].filter(Boolean).map((n) => getComputedStyle(n));
  return {
    name: node.getAttribute('aria-label') || node.textContent.trim() || node.tagName,
    role: node.getAttribute('role') || node.tagName.toLowerCase(),
    inside: Boolean(node.closest('.rwn-panel')),
    visible: near.some((s) => (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0)
                              || s.boxShadow !== 'none'),
  };
}"""


def walk(app, presses: int) -> list[dict]:
    """Tab through the page and note where the focus is."""
    places = []
    for _ in range(presses):
        app.page.keyboard.press("Tab")
        places.append(app.page.evaluate(FOCUS))
    return places


def test_tab_reaches_every_control_with_a_visible_focus(app) -> None:
    app.open("/")
    places = walk(app, 70)
    names = [place["name"] for place in places]
    for wanted in (
        "Method",
        "Radius ε (standard deviations)",
        "Minimum neighbors k",
        "Modification probability q",
        "Pin A",
        "Pin B",
        "Explain the verdict",
        "Full view: Risk–utility map",
        "Full view: Distribution of siri",
    ):
        assert any(wanted in name for name in names), (wanted, names)
    for part in ("Variable weights", "Find what keeps", "More", "Standard"):
        assert any(part in name for name in names), (part, names)
    unseen = [place["name"] for place in places if place["inside"] and not place["visible"]]
    assert unseen == []


def test_tab_reaches_what_the_drawer_holds_once_it_is_open(app) -> None:
    app.open("/")
    assert not app.page.get_by_role("spinbutton", name="Seed of the trial").is_visible()
    app.open_more()
    names = [place["name"] for place in walk(app, 40)]
    for part in ("More options", "Seed of the trial", "Projector mode", "Aims", "Trial file"):
        assert any(part in name for name in names), (part, names)


def test_an_explanation_opens_with_the_focus_and_closes_with_escape(app) -> None:
    app.open("/")
    button = app.verdict.get_by_role("button")
    tip = app.verdict.get_by_role("tooltip")
    assert not tip.is_visible()
    button.focus()
    assert tip.is_visible()
    app.page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_a_setting_is_made_pinned_and_compared_without_a_mouse(app) -> None:
    app.open("/")
    app.page.get_by_role("button", name="Pin A").focus()
    app.page.keyboard.press("Enter")
    app.verdict.get_by_text("±0.0 pp vs A").wait_for()
    app.press("k", "PageUp")
    app.verdict.get_by_text("vs A").wait_for()
    app.page.get_by_role("button", name="Clear").focus()
    app.page.keyboard.press("Enter")
    app.verdict.get_by_text("vs A").wait_for(state="detached")
