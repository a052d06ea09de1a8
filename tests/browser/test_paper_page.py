"""The Paper page in a browser: a figure by its number, its caption, and its curves."""

from __future__ import annotations

from playwright.sync_api import expect

from rwn_core.evaluation.paper_figures import PAPER_FIGURES

DRAWN = """title => {
  const card = document.querySelector('.rwn-card'), canvas = card?.querySelector('canvas');
  return card?.querySelector('b').textContent.startsWith(title) && canvas.width > 300
    && document.body.textContent.includes('9 of 10 draws');
}"""


def test_a_figure_is_found_by_its_number_and_its_address_opens_it_again(app, open_app):
    app.open("/")
    app.page.get_by_role("link", name="Paper", exact=True).click()
    app.until(DRAWN, "Figure 4: Regression coefficients")
    app.page.get_by_text("Figure 7 · Largest squared Mahalanobis distance").first.click()
    app.until(DRAWN, "Figure 7: Largest squared Mahalanobis distance")
    expect(app.page.get_by_text(PAPER_FIGURES[7].sees)).to_be_visible()
    app.page.wait_for_url("**/paper?**figure=7**")
    before = app.stamp
    app.page.get_by_role("slider", name="Minimum neighbors k").press("ArrowRight")
    assert "k = 6" in app.wait_for_change(before)
    app.until(DRAWN, "Figure 7")
    app.page.get_by_role("spinbutton", name="Releases at each position").fill("25")
    app.page.get_by_role("button", name="Draw them").click()
    app.shows("25 releases at each position")
    other = open_app()
    other.page.goto(app.page.url)
    other.until(DRAWN, "Figure 7: Largest squared Mahalanobis distance")
    assert "k = 6" in other.stamp
    # at the address of a page, Streamlit first asks for its server one folder too deep
    assert all("/paper/_stcore/" in each for each in other.complaints)
    other.complaints.clear()
