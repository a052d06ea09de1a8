import assert from "node:assert/strict";
import test from "node:test";

import { Element } from "./elements.mjs";
import { load } from "./load.mjs";

globalThis.window = { addEventListener() {}, removeEventListener() {} };
const { Sliders } = load(["channel.js", "live_sliders.js"], ["Sliders"]);
const K = { name: "k", title: "Neighbors k", help: "At least.", low: 1, high: 9, step: 1, digits: 0, value: 5 };
const Q = { name: "q", title: "Probability q", low: 0, high: 1, step: 0.01, digits: 2, value: 0.25, most: 1 };

/** The component with the sliders of k and q, and what it sends. */
function shown() {
  const sent = [], waiting = new Set();
  globalThis.channel = { // of another script of the page
    listeners: new Set(), send: (edit) => sent.push(edit), pending: (_, name) => waiting.has(name),
  };
  const made = new Sliders(new Element("div"));
  const set = (...sliders) => made.setData({ kind: "levers", sliders, large: false, presets: [], steps: [], seq: 1 });
  set(K, Q);
  return { made, sent, waiting, set, k: made.all.get("k"), q: made.all.get("q") };
}

test("a position is shown as text, as a share of the range and in the typed field", () => {
  const { k, q } = shown();
  assert.deepEqual([k.text.data, k.node.styles["--share"], k.range.value], ["5", 0.5, "5"]);
  assert.deepEqual([q.text.data, q.node.styles["--share"], q.field.value], ["0.25", 0.25, "0.25"]);
  assert.deepEqual([k.explain.hidden, k.field.hidden, k.output.hidden], [false, true, false]);
  assert.deepEqual([q.explain.hidden, q.field.hidden, q.output.hidden], [true, false, true]);
  assert.equal(k.range.attributes["aria-valuetext"], "5");
});

test("a range that begins elsewhere than at 0, and one of a single position", () => {
  const { k, set } = shown();
  set({ ...K, low: 5, high: 9, value: 6 }, Q);
  assert.equal(k.node.styles["--share"], 0.25);
  set({ ...K, low: 5, high: 5 }, Q);
  assert.deepEqual([k.node.styles["--share"], k.range.disabled], [0, true]);
});

test("a value that is typed stays while it is typed, and one that is not allowed goes", () => {
  const { q, sent, set } = shown();
  q.field.focus();
  q.field.value = "0.5";
  set(K, { ...Q, value: 0.4 });
  assert.equal(q.field.value, "0.5");
  q.field.blur();
  q.field.value = "7";
  q.field.heard.change();
  assert.deepEqual([q.field.value, sent], ["0.4", []]);
  q.field.value = "0.75";
  q.field.heard.change();
  assert.deepEqual(sent, [{ levers: { q: 0.75 }, held: false }]);
  assert.deepEqual([q.text.data, q.range.value], ["0.75", "0.75"]);
});

test("a slider that is dragged, or whose move is not answered, does not jump", () => {
  const { made, k, q, waiting, set } = shown();
  made.dragging = "k";
  waiting.add("q");
  set({ ...K, value: 8 }, { ...Q, value: 1 });
  assert.deepEqual([k.value, q.value], [5, 0.25]);
  made.dragging = undefined;
  waiting.clear();
  set({ ...K, value: 8 }, { ...Q, value: 1 });
  assert.deepEqual([k.value, q.value], [8, 1], "the same answer, once it is let go");
  k.setValue(3);
  set({ ...K, value: 8 }, { ...Q, value: 1 });
  assert.equal(k.value, 8, "what the server holds");
});

test("a drag is held until it is let go, and then sent once more", () => {
  const { made, k, q, sent } = shown();
  k.range.heard.pointerdown({ button: 2 });
  assert.equal(made.dragging, undefined, "another button");
  k.range.heard.pointerdown({ button: 0 });
  k.range.value = 7;
  k.range.heard.input();
  made.release();
  made.release();
  q.range.heard.keydown({ repeat: true });
  q.range.heard.blur();
  assert.deepEqual(sent, [{ levers: { k: 7 }, held: true }, { levers: { k: 7 }, held: false }]);
});

test("Escape closes an explanation, and other keys do not", () => {
  const { k } = shown();
  k.explain.focus();
  k.explain.heard.keydown({ key: "a" });
  assert.equal(document.activeElement, k.explain);
  k.explain.heard.keydown({ key: "Escape" });
  assert.equal(document.activeElement, null);
});

test("buttons send their edit, and are made anew for other names only", () => {
  const { made, sent } = shown();
  const undo = { name: "Undo", edit: { undo: true }, help: "Back" };
  made.offer(made.steps, [undo]);
  const [first] = made.steps.children;
  made.offer(made.steps, [{ ...undo, disabled: true, chosen: true }]);
  assert.equal(made.steps.children[0], first);
  assert.deepEqual([first.disabled, first.title, first.attributes["aria-pressed"]], [true, "Back", true]);
  first.heard.click();
  assert.deepEqual(sent, [{ undo: true }]);
  made.offer(made.steps, []);
  assert.deepEqual([made.steps.hidden, made.steps.children.length], [true, 0]);
});
