import assert from "node:assert/strict";
import test from "node:test";

import { Element } from "./elements.mjs";
import { load } from "./load.mjs";

const { Candidates } = load(["panel.js", "candidates.js"], ["Candidates"]);
const CANDIDATES = ["A", "B", "C"].map((name, i) => (
  { name, state: ["kept", "over", null][i], verdict: "said", which: "", chosen: i === 1 }
));
const ROWS = [{ title: "Linked", note: null, kind: "limit", cells: [{ text: "3 %", state: "over" }, { text: "1 %" }, null] }];

function shown(marks = true) {
  const picked = [], made = new Candidates(new Element("div"), { pick: (name) => picked.push(name) });
  made.show({ about: "three", marks, candidates: CANDIDATES, rows: ROWS, notes: ["a", "b"] });
  return { made, picked, names: made.names.querySelectorAll("button") };
}

test("arrow keys go round the candidates, from a candidate only", () => {
  const { made, names } = shown();
  let kept = 0;
  const press = (key, target) => made.move({ key, target, preventDefault: () => (kept += 1) });
  press("ArrowLeft", names[0]);
  assert.equal(document.activeElement, names[2]);
  assert.deepEqual(names.map((each) => each.tabIndex), [-1, -1, 0]);
  press("ArrowRight", names[2]);
  assert.equal(document.activeElement, names[0]);
  press("Enter", names[0]);
  press("ArrowRight", made.names);
  assert.deepEqual([document.activeElement, kept], [names[0], 2]);
});

test("a candidate says its verdict, and what is marked", () => {
  const { made, picked, names } = shown();
  const cells = made.names.children.slice(1);
  assert.deepEqual(cells.map((each) => each.children[1].textContent), ["✓ said", "▲ said", "said"]);
  assert.deepEqual(names.map((each) => each.attributes["aria-pressed"]), ["false", "true", "false"]);
  assert.deepEqual(cells.map((each) => each.classes.has("rwn-chosen")), [false, true, false]);
  names[2].heard.click();
  assert.deepEqual(picked, ["C"]);
  const bare = shown(false);
  bare.names[2].heard.click();
  assert.deepEqual([bare.picked, bare.names[0].attributes["aria-label"]], [[], "A"]);
});

test("a row has its title first, then a cell for each candidate", () => {
  const { made } = shown();
  const [row] = made.body.children;
  assert.deepEqual(row.children.map((each) => each.textContent), ["Linked", "▲ 3 %", "1 %", ""]);
  assert.deepEqual(row.children.slice(1, 3).map((each) => each.dataset.state), ["over", ""]);
  assert.deepEqual(made.notes.children.map((each) => each.textContent), ["a", "b"]);
  made.show(null);
  assert.equal(made.node.hidden, true);
});
