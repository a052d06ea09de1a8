import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { FullView } = load(
  ["panel.js", "summary.js", "card.js", "painter.js", "marks.js", "full_view.js", "question_form.js"],
  ["FullView"],
);
const axis = (more) => ({ nticks: 3, ...more });

/** A view without elements, of a chart with this table and these large settings. */
function view({ internal = false, large = {}, table = "/home/me/people.csv" } = {}) {
  const seen = { drawn: [], pictures: [], saved: [] };
  globalThis.window = {
    Plotly: {
      react: (...given) => seen.drawn.push(given),
      toImage: async (...given) => (seen.pictures.push(given), "data:"),
      purge: () => seen.drawn.push("purged"),
    },
  };
  globalThis.document = { createElement: () => ({ click() { seen.saved.push([this.href, this.download]); } }) };
  const layout = { margin: { t: 10, l: 5 }, xaxis: axis(), yaxis: axis({ nticks: 0 }), width: 300, height: 200, font: { size: 9 } };
  const made = Object.assign(Object.create(FullView.prototype), {
    card: { text: "{}" }, theme: { background: "#fff", scale: 2 },
    panel: { data: { table, summary: { text: "ε = 2 · k = 5" } } },
    plot: { clientWidth: 640, clientHeight: 480, data: [1], layout },
    title: { textContent: "A <b> title" },
    chart: { key: "correlation", note: "note", table: { internal }, data: [{ colorbar: {} }, {}], layout, large },
  });
  return { made, seen, layout };
}

test("a file's name has the table without its folder, and the setting; internal ones say so", () => {
  assert.equal(view().made.named("png"), "correlation-people.csv-epsilon-2-k-5.png");
  assert.equal(view({ internal: true, table: "C:\\data\\a.csv" }).made.named("csv"), "internal-correlation-a.csv-epsilon-2-k-5.csv");
  const long = view({ table: "x".repeat(200) }).made.named("csv");
  assert.equal(long, `correlation-${"x".repeat(80)}.csv`);
});

test("Plotly draws the chart large: more ticks, color bars, and room for a legend", () => {
  const { made, seen, layout } = view({ large: { legend: true, xaxis: { title: "x" } } });
  made.draw();
  const [plot, data, drawn, config] = seen.drawn[0];
  assert.equal(plot, made.plot);
  assert.deepEqual(data, [{ colorbar: {}, showscale: true }, {}]);
  assert.deepEqual([drawn.xaxis, drawn.yaxis], [{ nticks: 6, title: "x", automargin: true }, { nticks: 0, automargin: true }]);
  assert.deepEqual([drawn.width, drawn.height, drawn.paper_bgcolor, drawn.showlegend], [640, 480, "#fff", true]);
  assert.deepEqual(drawn.legend, { orientation: "h", x: 1, xanchor: "right", y: 1, yanchor: "bottom" });
  assert.equal(layout.margin.t, 34);
  assert.deepEqual(config, { displayModeBar: false, responsive: false, doubleClick: "reset", showTips: false });
  const plain = view();
  plain.made.draw();
  assert.deepEqual([plain.layout.margin.t, plain.layout.showlegend], [10, false]);
  const closed = view();
  closed.made.card = null;
  closed.made.draw();
  assert.deepEqual(closed.seen.drawn, [], "a view that was closed meanwhile draws nothing");
});

test("the picture has a head with title, number and setting", async () => {
  const { made, seen } = view();
  await made.savePicture();
  const [{ layout }, size] = seen.pictures[0];
  assert.equal(layout.title.text, "A &lt;b&gt; title · note · people.csv · ε = 2 · k = 5");
  assert.deepEqual([layout.title.x, layout.title.y], [0, 0.98]);
  assert.deepEqual(layout.margin, { t: 70, l: 5 });
  assert.deepEqual(size, { format: "png", scale: 2, width: 300, height: 260 });
  assert.equal(seen.saved[0][1], "correlation-people.csv-epsilon-2-k-5.png");
});

test("clearing gives the drawing back once", () => {
  const { made, seen } = view();
  made.clear();
  assert.deepEqual([seen.drawn, made.card, made.text], [["purged"], null, null]);
  made.plot.data = undefined;
  made.clear();
  assert.equal(seen.drawn.length, 1);
});
