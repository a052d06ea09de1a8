import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { curvePoints } = load(["summary.js"], ["curvePoints"]);

test("a curve goes from its lowest number at the bottom to its highest at the top", () => {
  assert.equal(curvePoints([1, 3, 2]), "0,18 50,2 100,10");
});

test("a number that is missing leaves no point, and equal ones a flat line", () => {
  assert.equal(curvePoints([1, null, 2]), "0,18 100,2");
  assert.equal(curvePoints([5, 5]), "0,10 100,10");
});
