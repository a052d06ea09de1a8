import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { scaleOf, squared, plain, within, paint, paintRow, thinNames } = load(
  ["painter.js", "marks.js"],
  ["scaleOf", "squared", "plain", "within", "paint", "paintRow", "thinNames"],
);

/** A chart of so many rows with names of nine pixels, and numbers across. */
function rows(count) {
  const names = Array.from({ length: count }, (_, i) => i);
  const yaxis = { tickvals: names, ticktext: names.map(String), range: [count - 0.5, -0.5], tickfont: { size: 9 } };
  const xaxis = { tickvals: [0, 1], ticktext: ["0", "1"], range: [0, 1] };
  return { layout: { xaxis, yaxis, margin: { l: 0, r: 0, t: 0, b: 0 } } };
}

test("names of rows are left out where rows are closer than letters are high, and not before", () => {
  for (const [count, height, left] of [[15, 121, 15], [15, 110, 8], [23, 140, 12], [40, 110, 14], [1, 5, 1]]) {
    const chart = rows(count);
    thinNames(chart, { width: 100, height });
    assert.equal(chart.layout.yaxis.tickvals.length, left, `${count} rows in ${height} pixels`);
    assert.equal(chart.layout.yaxis.ticktext.length, left);
    assert.deepEqual(chart.layout.xaxis.tickvals, [0, 1]);
  }
});

test("of texts in a row that would touch, the later one is left out", () => {
  const written = [];
  const ctx = { measureText: (text) => ({ width: 10 * text.length }), fillText: (text) => written.push(text) };
  paintRow({ ctx }, ["0.10", "0.11", "0.12"], [20, 50, 70], 0);
  assert.deepEqual(written, ["0.10", "0.12"]);
  paintRow({ ctx }, ["0", "1"], [70, 20], 0);
  assert.deepEqual(written.slice(2), ["0", "1"], "also from right to left");
});

test("a scale maps values, logarithms and shares of the paper to pixels", () => {
  const x = scaleOf({ range: [0, 10] }, 100, 200);
  assert.deepEqual([x(0), x(5), x(10), x.paper(0.25)], [100, 150, 200, 125]);
  const log = scaleOf({ type: "log", range: [0, 2] }, 0, 100);
  assert.deepEqual([log(1), log(10), log(100), log.linear(1)], [0, 50, 100, 50]);
  const up = scaleOf({ range: [0, 1] }, 300, 100);
  assert.deepEqual([up(0), up(1)], [300, 100]);
});

test("equal units make the longer side shorter, around its middle", () => {
  const frame = { left: 0, right: 400, top: 0, bottom: 100 };
  const axes = { xaxis: { range: [0, 1] }, yaxis: { range: [0, 1] } };
  assert.equal(squared(frame, axes), frame);
  axes.yaxis.scaleanchor = "x";
  assert.deepEqual(squared(frame, axes), { left: 150, right: 250, top: 0, bottom: 100 });
});

test("escaped texts become characters again, each once", () => {
  assert.equal(plain("a &lt;b&gt; &amp;lt;"), "a <b> &lt;");
  assert.equal(plain("plain"), "plain");
});

test("no text leaves the canvas at either side", () => {
  const plot = (textAlign) => ({ ctx: { textAlign, measureText: () => ({ width: 60 }) }, width: 100 });
  assert.equal(within(plot("left"), "word", 90), 39);
  assert.equal(within(plot("center"), "word", 5), 31);
  assert.equal(within(plot("right"), "word", 20), 61);
  assert.equal(within(plot("center"), "word", 50), 50);
});

/** A canvas that notes each call with its arguments. */
function recorder() {
  const calls = [];
  const ctx = new Proxy({ measureText: () => ({ width: 10 }) }, {
    get: (target, name) => target[name] ?? ((...given) => void calls.push([name, ...given])),
  });
  return { calls, canvas: { width: 0, height: 0, getContext: () => ctx } };
}

test("a chart is painted at the places that it states", () => {
  globalThis.window = { devicePixelRatio: 2 };
  const { calls, canvas } = recorder();
  const axis = {
    range: [0, 1], tickvals: [0, 1], ticktext: ["0", "1"], gridcolor: "#ccc", tickfont: {}, title: { text: "x" },
  };
  const chart = {
    data: [{
      type: "scatter", mode: "lines+markers", x: [0, null, 1], y: [0, 1, 1],
      line: { color: "#000", width: 1 }, marker: { size: 4, color: "#000", symbol: "circle" },
    }],
    layout: { margin: { l: 10, r: 10, t: 10, b: 10 }, font: { size: 10 }, xaxis: axis, yaxis: axis },
  };
  paint(canvas, chart, { width: 120, height: 70 }, { family: "serif", color: "#111", background: "#fff" });
  assert.deepEqual([canvas.width, canvas.height], [240, 140]);
  const arcs = calls.filter(([name]) => name === "arc").map(([, x, y, r]) => [x, y, r]);
  assert.deepEqual(arcs, [[10, 60, 2], [110, 10, 2]], "a missing value has no marker");
  const words = calls.filter(([name]) => name === "fillText").map(([, text]) => text);
  assert.deepEqual(words, ["0", "1", "0", "1", "x", "x"]);
});
