import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { holdAxes } = load(["card.js"], ["holdAxes"]);

const axis = (low, high, type) => ({ range: [low, high], tickvals: [low, high], ticktext: [`${low}`, `${high}`], type });
function chart(key, top, data = [], annotations = [], type) {
  return { key, data, layout: { xaxis: axis(0, 10, type), yaxis: axis(0, top), margin: { l: top }, annotations } };
}

test("a dragged slider keeps ranges, ticks and margins of the picture before", () => {
  const moved = chart("cooks_distance", 5);
  holdAxes(moved, chart("cooks_distance", 1));
  assert.deepEqual(moved.layout.yaxis.range, [0, 1]);
  assert.deepEqual(moved.layout.yaxis.ticktext, ["0", "1"]);
  assert.deepEqual(moved.layout.margin, { l: 1 });
});

test("another chart, another kind of axis and a reason in its place hold nothing", () => {
  for (const before of [undefined, { ...chart("cooks_distance", 1), reason: "none" }, chart("mahalanobis", 1), chart("cooks_distance", 1, [], [], "log")]) {
    const moved = chart("cooks_distance", 5);
    holdAxes(moved, before);
    assert.deepEqual(moved.layout.yaxis.range, [0, 5]);
  }
  const without = { ...chart("cooks_distance", 5), reason: "none" };
  holdAxes(without, chart("cooks_distance", 1));
  assert.deepEqual(without.layout.yaxis.range, [0, 5]);
});

test("a named point beyond the held axes stands at their edge, and a label beyond is not drawn", () => {
  const named = { mode: "markers+text", x: [12], y: [-1] };
  const plain = { mode: "markers", x: [12], y: [-1] };
  const notes = [{ x: 3, y: 0.5 }, { x: 3, y: 4 }, { x: 3, y: 4, yref: "paper" }];
  const moved = chart("risk_utility_map", 5, [named, plain], notes);
  holdAxes(moved, chart("risk_utility_map", 1));
  assert.deepEqual([named.x, named.y], [[10], [0]]);
  assert.deepEqual([plain.x, plain.y], [[12], [-1]]);
  assert.deepEqual(moved.layout.annotations, [notes[0], notes[2]]);
});

test("a reversed axis holds as well", () => {
  const before = chart("risk_utility_map", 1);
  before.layout.xaxis.range = [1, 0];
  const named = { mode: "markers+text", x: [2], y: [0.5] };
  const moved = chart("risk_utility_map", 5, [named]);
  holdAxes(moved, before);
  assert.deepEqual(named.x, [1]);
});
