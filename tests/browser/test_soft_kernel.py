"""A soft kernel on the Tune page: every control moves the picture, and Undo brings it back."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect


def asked(app) -> dict[str, str]:
    """What the address of the page says of the setting."""
    parts = parse_qs(urlsplit(app.page.url).query)["setting"][0].split("*")
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_control_of_a_soft_kernel_moves_the_picture(app) -> None:
    app.open("/")
    app.open_more()
    app.page.locator("summary", has_text="More options").click()
    app.page.get_by_role("button", name="Keep totals and spreads").click()
    app.shows("bandwidth = 1 · balance = 1 · q = 1")
    app.page.locator("summary", has_text="More options").click()
    expect(app.card("Neighborhood size").get_by_text("effective donors")).to_have_count(1)
    assert "bandwidth = 1.05 · balance = 1" in app.press("Bandwidth", "ArrowRight")
    assert "bandwidth = 1.05 · balance = 0.95" in app.press("Balance", "ArrowLeft")
    assert "bandwidth = 1.05 · balance = 0.95 · q = 0.95" in app.press("Modif", "ArrowLeft")
    for label, option, words in (
        ("Bandwidth", "fixed", "bandwidth = fixed"),
        ("Kernel", "exponential", "kernel = exponential"),
    ):
        app.pick(app.page.get_by_role("combobox", name=label, exact=True), option)
        app.shows(words)
    for label, number, words in (("Cap", "0.2", "cap = 0.2"), ("Bandwidth k", "12", "_k = 12")):
        field = app.page.get_by_role("spinbutton", name=label, exact=True)
        field.fill(number)
        field.press("Enter")
        app.shows(words)
    app.page.get_by_text("Own donors").click()
    app.shows("own = ")
    app.page.get_by_text("own donor up to").wait_for()
    app.until("() => location.search.includes('*own_donors*1')")
    shared, shown = asked(app), app.stamp.rpartition(" ")[0]
    assert shared["kernel"] == "exponential"
    assert (shared["width"], shared["balance"], shared["q"]) == ("1.05", "0.95", "0.95")
    app.page.reload()  # a link brings all of it back
    app.wait_for_cards()
    app.shows(shown)
    app.open_more()
    app.page.locator("summary", has_text="More options").click()
    app.page.get_by_role("button", name="As published").click()
    app.shows("ε = ")
    app.page.get_by_role("button", name="Undo").click()
    app.shows(shown)
    assert app.complaints == []
