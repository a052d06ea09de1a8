import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

const { Sliders } = load(["live_sliders.js"], ["Sliders"]);
globalThis.requestAnimationFrame = (act) => act();

/** Sliders without elements; `sent` is what the server gets. */
function sliders() {
  const sent = [];
  const made = Object.assign(Object.create(Sliders.prototype), {
    moves: new Map(), all: new Map(), count: 0, refused: 0, dirty: false, send: (move) => sent.push(move),
  });
  made.sendMove = (move) => made.run(move);
  return { made, sent };
}

const end = (made) => clearTimeout(made.waiting);

test("a move is sent at once, and the next one after its answer", () => {
  const { made, sent } = sliders();
  made.move("k", 5);
  made.move("k", 6);
  made.move("k", 7);
  assert.deepEqual(sent.map((move) => move.values), [{ k: 5 }]);
  made.answer();
  assert.deepEqual(sent.map((move) => move.values), [{ k: 5 }, { k: 7 }], "6 is skipped, 7 is not");
  made.answer();
  assert.equal(sent.length, 2);
  end(made);
});

test("the last position of a drag is sent once more, as not dragged", () => {
  const { made, sent } = sliders();
  made.all.set("q", { value: 0.4 });
  made.dragging = "q";
  made.move("q", 0.4);
  made.answer();
  made.release();
  assert.deepEqual(sent.map((move) => move.dragging), [true, false]);
  made.answer();
  made.release();
  assert.equal(sent.length, 2, "letting go twice sends nothing");
  end(made);
});

test("a preset forgets the moves before it and is sent once", () => {
  const { made, sent } = sliders();
  made.move("k", 5);
  made.move("k", 6);
  made.choose("Standard");
  made.answer();
  assert.deepEqual([sent[1].values, sent[1].preset], [{}, "Standard"]);
  made.answer();
  made.move("k", 8);
  assert.equal(sent[2].preset, undefined);
  end(made);
});

test("stamps differ", () => {
  const { made, sent } = sliders();
  made.move("k", 5);
  made.answer();
  made.move("k", 6);
  assert.notEqual(sent[0].stamp, sent[1].stamp);
  end(made);
});
