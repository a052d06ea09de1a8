import assert from "node:assert/strict";
import test from "node:test";

import { Element } from "./elements.mjs";
import { load } from "./load.mjs";

const { QuestionForm } = load(["panel.js", "summary.js", "question_form.js"], ["QuestionForm"]);
const FORM = { send: "ask ", text: "Choose.", responses: ["a", "b"], predictors: ["a", "b", "c"], terms: "", kinds: ["linear", "logistic"], kind: "linear" };

function shown() {
  const sent = [], made = new QuestionForm(new Element("div"), { pick: (point) => sent.push(point) });
  made.show(FORM);
  return { made, sent };
}

test("a response does not explain itself, and a regression needs a predictor", () => {
  const { made } = shown();
  assert.equal(made.response.attributes["aria-label"], "Response");
  assert.equal(made.fit.disabled, true);
  made.response.value = "a";
  for (const box of made.boxes.slice(0, 2)) box.checked = true;
  made.node.heard.input();
  assert.deepEqual(made.boxes.map((box) => box.disabled), [true, false, false]);
  assert.deepEqual([made.chosen, made.fit.disabled], [["b"], false]);
  // a further term is enough
  made.boxes[1].checked = false;
  made.terms.value = "square(b)";
  made.node.heard.input();
  assert.equal(made.fit.disabled, false);
});

test("what is chosen is sent once the form is, and the page stays", () => {
  const { made, sent } = shown();
  made.response.value = "a";
  made.boxes[2].checked = true;
  made.terms.value = " b:c ";
  made.kind.value = "logistic";
  let stays = false;
  made.node.heard.submit({ preventDefault: () => (stays = true) });
  assert.equal(stays, true);
  assert.deepEqual(sent, ['ask {"response":"a","predictors":["c"],"terms":"b:c","kind":"logistic"}']);
});

test("the same form keeps what is checked, another one begins anew, and none is hidden", () => {
  const { made } = shown();
  made.boxes[1].checked = true;
  made.show({ ...FORM });
  assert.deepEqual(made.boxes.map((box) => box.checked), [false, true, false]);
  made.show({ ...FORM, predictors: ["c"] });
  assert.deepEqual(made.boxes.map((box) => [box.value, box.checked]), [["c", false]]);
  assert.equal(made.node.hidden, false);
  made.show(null);
  assert.equal(made.node.hidden, true);
});

test("a regression that is fitted is checked, and a label stands beside its name", () => {
  const panel = { pick: () => {}, data: { labels: { b: "Wage" } } };
  const made = new QuestionForm(new Element("div"), panel);
  made.show({ ...FORM, response: "b", chosen: ["c"] });
  assert.deepEqual(made.boxes.map((box) => box.checked), [false, false, true]);
  assert.deepEqual(made.response.children.map((each) => Boolean(each.selected)), [false, true]);
  assert.equal(made.response.children[1].value, "b");
});
