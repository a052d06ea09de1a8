import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { csv, csvCell, readable, escaped, enlarge } = load(
  ["panel.js", "summary.js", "card.js", "painter.js", "marks.js", "full_view.js", "question_form.js"],
  ["csv", "csvCell", "readable", "escaped", "enlarge"],
);

test("numbers are shown with four digits and a true minus", () => {
  assert.equal(readable(-3), "−3");
  assert.equal(readable(0.123456), "0.1235");
  assert.equal(readable(-1.5), "−1.5");
  assert.equal(readable(null), "–");
  assert.equal(readable("text"), "text");
});

test("a file holds full numbers, and no cell is a formula", () => {
  assert.equal(csvCell(0.123456), "0.123456");
  assert.equal(csvCell(-3), "-3");
  assert.equal(csvCell(null), "");
  for (const sign of ["=", "+", "-", "@", "\t", "\r"]) assert.match(csvCell(`${sign}1`), /^"?'/);
  assert.equal(csvCell('a "b", c'), '"a ""b"", c"');
  assert.equal(csv({ columns: ["x", "y"], rows: [[1, "a\nb"]] }), 'x,y\r\n1,"a\nb"\r\n');
});

test("texts for Plotly hold no markup", () => {
  assert.equal(escaped("<b> & c"), "&lt;b&gt; &amp; c");
});

test("lengths grow with the type, values do not", () => {
  const chart = { margin: { l: 10 }, font: { size: 12 }, line: { width: 2 }, width: 5, range: [1, 2] };
  enlarge(chart, 1.5);
  assert.deepEqual(chart, {
    margin: { l: 15 }, font: { size: 18 }, line: { width: 3 }, width: 5, range: [1, 2],
  });
});
