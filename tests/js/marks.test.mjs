import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { borders, channels, ramp } = load(["painter.js", "marks.js"], ["borders", "channels", "ramp"]);

test("borders of cells are stated, or half a step around centers", () => {
  assert.deepEqual(borders([0, 2, 5], 2), [0, 2, 5]);
  assert.deepEqual(borders([0, 1, 2], 3), [-0.5, 0.5, 1.5, 2.5]);
});

test("colors are read in three notations", () => {
  assert.deepEqual(channels("#0072B2"), [0, 114, 178, 1]);
  assert.deepEqual(channels("#00000080"), [0, 0, 0, 128 / 255]);
  assert.deepEqual(channels("rgb(84,39,136)"), [84, 39, 136, 1]);
});

test("a color scale mixes its stops and ends at them", () => {
  const shade = ramp([[0, "#000000"], [0.5, "#ffffff"], [1, "#ff0000"]]);
  assert.equal(shade(0), "rgba(0,0,0,1.00)");
  assert.equal(shade(0.25), "rgba(127,127,127,1.00)");
  assert.equal(shade(0.5), "rgba(255,255,255,1.00)");
  assert.equal(shade(-3), shade(0));
  assert.equal(shade(7), "rgba(255,0,0,1.00)");
});
