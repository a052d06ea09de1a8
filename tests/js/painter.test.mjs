import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { paintRow, squared, thinNames } = load(["painter.js", "marks.js"], ["paintRow", "squared", "thinNames"]);

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

test("equal units make the longer side give way, also on axes shorter than 1", () => {
  const frame = { left: 0, right: 100, top: 10, bottom: 60 };
  const axes = (across, up) => ({ xaxis: { range: [0, across] }, yaxis: { range: up, scaleanchor: "x" } });
  const even = { ...frame, left: 25, right: 75 };
  for (const length of [0.5, 3]) assert.deepEqual(squared(frame, axes(length, [0, length])), even);
  assert.deepEqual(squared(frame, axes(4, [1, 0])), { ...frame, top: 22.5, bottom: 47.5 }, "turned round");
  for (const [across, up] of [[0, [0, 1]], [1, [2, 2]]]) assert.equal(squared(frame, axes(across, up)), frame);
});
