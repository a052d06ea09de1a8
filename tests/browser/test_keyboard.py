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
    places = []
    for _ in range(presses):
        app.page.keyboard.press("Tab")
        places.append(app.page.evaluate(FOCUS))
    return places


def test_tab_shows_where_it_is_at_every_control(opened) -> None:
    app = opened
    assert not app.page.get_by_text("The same in a shell").is_visible()
    places = walk(app, 110)  # the weights are in view
    names = [place["name"] for place in places]
    for wanted in (
        "Method",
        "Radius ε (standard deviations)",
        "Minimum neighbors k",
        "Modification probability q",
        "Keep this setting",
        "Explain the verdict",
        "Full view: Risk–utility map",
        "Full view: Distribution of siri",
        "Variable weights",
        "Suggest a setting",
        "More",
    ):
        assert any(wanted in name for name in names), (wanted, names)
    unseen = [place["name"] for place in places if place["inside"] and not place["visible"]]
    assert unseen == []
    app.open_more()
    names = [place["name"] for place in walk(app, 40)]
    for part in ("More options", "View", "Policy", "The same in a shell"):
        assert any(part in name for name in names), (part, names)


def test_keys_open_explanations_and_close_them(opened) -> None:
    app = opened
    page = app.page
    button = app.verdict.get_by_role("button")
    tip = app.verdict.get_by_role("tooltip")
    assert not tip.is_visible()
    button.focus()
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    opener = page.get_by_role("button", name="What am I looking at?")
    opener.press("Enter")
    page.get_by_text("One masked copy of your table compared").wait_for()
    page.get_by_text("Move a slider.").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("Move a slider.").wait_for(state="hidden")
