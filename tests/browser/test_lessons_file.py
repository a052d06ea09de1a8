"""The lessons' own file: its JavaScript gives rwn_core's numbers, and every slider moves it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import rwn_core as rwn
from docs.learn import page as lessons
from rwn_core.evaluation.lessons import intruder, neighborhood
from rwn_core.evaluation.lessons.densities import DENSITIES, points_of
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.randomness import SecretKey

SECTIONS = ("theorem", "intruder", "neighborhood")
SEEN = """id => {
  const section = document.getElementById(id);
  return [section.querySelector('canvas').toDataURL(), section.querySelector('.numbers').innerText];
}"""
DRAWN_ANEW = """([id, was]) => new Promise((done) => {
  const canvas = document.getElementById(id).querySelector('canvas'), start = performance.now();
  const look = () => {
    if (canvas.toDataURL() !== was) done(true);
    else if (performance.now() - start > 10000) done(false);
    else setTimeout(look, 5);
  };
  look();
})"""
"""A browser tells a page of other colors, or of an opened answer, a moment later."""
EXPECTED = """([density, n, epsilon]) => {
  const { sides, near } = theoremPoints(density, n);
  return expectedCorrelation(...sides, near, sizes(near, 1, epsilon));
}"""
DRAWS = """([density, n, epsilon, draws, together]) => {
  const { sides: [x, y], near } = theoremPoints(density, n), counts = sizes(near, 1, epsilon);
  return [...Array(draws).keys()].map((seed) => {
    const pairs = donors(near, counts, seed + 1);
    const [u, v] = [pairs.map(([l]) => x[l]), pairs.map(([l, m]) => y[together ? l : m])];
    return [covariance(u, v), covariance(u, u), mean(u), mean(v)];
  });
}"""
BELIEFS = """cases => cases.map(([k, known, row]) => {
  const columns = DATA.intruder.values.slice(0, known), near = people();
  const donors = DATA.intruder.donors[row][k - 1];
  return posterior(columns, near, sizes(near, k, 0), columns.map((c, j) => c[donors[j]]));
})"""
COUNTS = """cases => cases.map(([k, epsilon]) => {
  const { near } = crowd();
  const [inside, reached] = [near.map((o) => within(o, epsilon)), near.map((o) => reach(o, k))];
  return [sizes(near, k, epsilon), inside, reached, decidedByK(near, k, epsilon)];
})"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as a teacher would copy it: alone in a folder."""
    path = tmp_path_factory.mktemp("class") / lessons.NAME
    path.write_text(lessons.text(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(chromium: Browser, file: Path) -> Iterator[Page]:
    """The page, opened without a server; a test fails on any complaint or request."""
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    opened, complaints, asked = context.new_page(), [], []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(file.as_uri())
    yield opened
    context.close()
    assert complaints == []
    assert set(asked) == {file.as_uri()}


def covariances(density: str, n: int, epsilon: float) -> np.ndarray:
    """Expected ones of all releases, in standard deviations of the original."""
    data = points_of(density, n)
    spread = np.array([data.values(name).std(ddof=1) for name in ("x", "y")])
    found = rwn.forecast(data, rwn.RWN(epsilon=epsilon, k=1)).covariances.to_numpy()
    return np.asarray(found / np.outer(spread, spread))


def test_expected_correlations_are_the_forecast_s(page: Page) -> None:
    cases = [("normal", 600, 0.1), ("banana", 300, 0.8), ("discrete", 50, 1.0), ("ring", 100, 4.0)]
    assert {density for density, _, _ in cases} < set(DENSITIES)
    for case in cases:
        truth = covariances(*case)
        expected = truth[0, 1] / np.sqrt(truth[0, 0] * truth[1, 1])
        assert page.evaluate(EXPECTED, case) == pytest.approx(expected, abs=1e-12)


def test_draws_have_the_forecast_s_covariance_and_copied_rows_have_not(page: Page) -> None:
    case, draws = ("normal", 100, 1.2), 200
    truth = covariances(*case)
    off = []
    for together in (False, True):
        found = np.array(page.evaluate(DRAWS, [*case, draws, together]))
        error = found.std(axis=0, ddof=1) / np.sqrt(draws)
        off.append((found.mean(axis=0)[:2] - truth[0, ::-1]) / error[:2])
    assert np.abs(off[0]).max() < 4
    assert abs(off[1][0]) > 8  # U and V of one donor: a planted fault
    assert abs(off[1][1]) < 4  # which leaves U itself as it is


def test_beliefs_are_bayes_rule_of_rwn_core_on_the_rows_of_the_app(page: Page) -> None:
    data = rwn.load_demo(lessons.DEMO)
    names, prepared = intruder.known_order(data), rwn.RWN(epsilon=0.0, k=1).preview(data)
    cases = [(k, known, row) for k in (1, 8, 30) for known in (1, 3, 15) for row in (0, 7, 11)]
    for (k, known, row), belief in zip(cases, page.evaluate(BELIEFS, cases), strict=True):
        made = prepared.with_levers(k=k).release(SecretKey.from_seed(intruder.SEED))
        assert made.law is not None
        rows = np.array([intruder.source_of(row, data.n)])
        truth = posteriors(made.law, made.masked, rows, names[:known]).toarray()[:, 0]
        np.testing.assert_allclose(belief, truth, rtol=0, atol=1e-12)
        assert belief[rows[0]] > 0


def test_neighborhoods_are_rwn_core_s(page: Page) -> None:
    prepared = rwn.RWN(epsilon=0.0, k=1).preview(neighborhood.table(0.0))
    cases = [(5, 0.6), (1, 0.0), (60, 3.0), (20, 0.25)]
    for (k, epsilon), told in zip(cases, page.evaluate(COUNTS, cases), strict=True):
        counts, within, reach, by_k = told
        at = prepared.with_levers(k=k, epsilon=epsilon)
        assert at.law is not None
        found = at.law.neighborhoods
        assert found is not None
        np.testing.assert_array_equal(counts, found.sizes)
        np.testing.assert_array_equal(within, found.within)
        lesson = neighborhood.neighborhood(at, record=neighborhood.OUTLIER)
        assert reach[neighborhood.OUTLIER] == pytest.approx(lesson.kth, abs=1e-12)
        assert by_k == pytest.approx(lesson.by_k, abs=1e-12)


def test_the_python_on_the_page_gives_the_numbers_on_screen(
    page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    page.reload()
    for code in page.locator("pre.python").all_text_contents():
        exec(html.unescape(code), {})
    correlation, beliefs, donors = re.split(r"\n(?=\[)|(?<=\])\n", capsys.readouterr().out.strip())
    assert f"Expected of all draws: {float(correlation):.3f}" in page.inner_text("#theorem")
    likeliest = float(beliefs.strip("[]").split()[0])
    assert f"The likeliest has {100 * likeliest:.0f} %" in page.inner_text("#intruder")
    assert f"Record 20 has {donors} donors" in page.inner_text("#neighborhood")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_slider_moves_picture_and_numbers_by_keyboard(page: Page, scheme: str) -> None:
    before = {name: page.evaluate(SEEN, name)[0] for name in SECTIONS}
    page.emulate_media(color_scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    if scheme == "dark":
        assert all(page.evaluate(DRAWN_ANEW, [name, was]) for name, was in before.items())
    moved = 0
    for name in SECTIONS:
        for slider in page.locator(f"#{name}").get_by_role("slider").all():
            assert slider.evaluate("node => node.labels[0].innerText.length > 5")
            was = page.evaluate(SEEN, name)
            slider.press("ArrowRight")
            now = page.evaluate(SEEN, name)
            assert now[0] != was[0], slider
            assert now[1] != was[1], slider
            moved += 1
    assert moved == 9
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    tall = page.evaluate("[...document.querySelectorAll('.lesson')].map(l => l.offsetHeight)")
    assert max(tall) < 720


def test_the_answer_is_folded_until_asked_and_again_at_the_next_row(page: Page) -> None:
    guess = page.locator("details.guess")
    row = page.get_by_role("slider", name="Released row")
    row.press("Home")
    assert guess.get_attribute("open") is None
    hidden = page.evaluate(SEEN, "intruder")[0]
    guess.locator("summary").press("Enter")
    assert page.evaluate(DRAWN_ANEW, ["intruder", hidden])
    source = intruder.source_of(0, 241) + 1
    assert f"Record {source} made this row" in guess.inner_text()
    row.press("ArrowRight")
    assert guess.get_attribute("open") is None
