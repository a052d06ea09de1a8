import assert from "node:assert/strict";
import test from "node:test";

import { Element } from "./elements.mjs";
import { load } from "./load.mjs";

globalThis.window = { addEventListener() {}, removeEventListener() {} };
const marked = new Set();
globalThis.document = Object.assign(globalThis.document ?? {}, {
  documentElement: { classList: { toggle: (name, on) => (on ? marked.add(name) : marked.delete(name)) } },
  querySelector: () => null,
});
const { Sheet } = load(["channel.js", "live_sliders.js", "sheet.js"], ["Sheet"]);
const K = { name: "k", title: "Neighbors k", help: "", low: 1, high: 9, step: 1, digits: 0, value: 5, most: 9 };
const group = (kind, ...sliders) => ({ kind, sliders, large: false, presets: [], steps: [] });

function made() {
  globalThis.channel = { listeners: new Set(), send() {}, pending: () => false };
  const sheet = new Sheet(new Element("div"));
  sheet.setData({ levers: group("levers", K), weights: group("weights"), seq: 1 });
  return sheet;
}

test("the sheet has sliders while it is open, and says so", () => {
  const sheet = made();
  assert.deepEqual([sheet.button.textContent, sheet.body.hidden, sheet.groups.length], ["Sliders", true, 0]);
  sheet.button.heard.click();
  assert.deepEqual([sheet.button.textContent, sheet.body.hidden, sheet.groups.length], ["Close the sliders", false, 2]);
  assert.deepEqual([sheet.button.attributes["aria-expanded"], marked.size], ["true", 1]);
  assert.equal(sheet.groups[0].sliders.all.get("k").value, 5);
  sheet.button.heard.click();
  assert.deepEqual([sheet.button.textContent, sheet.groups.length, marked.size], ["Sliders", 0, 0]);
  assert.equal(channel.listeners.size, 1, "only the sheet itself still hears");
});

test("another method's sliders take the place of those that are shown", () => {
  const sheet = made();
  sheet.show();
  sheet.setData({ levers: group("levers", { ...K, name: "width" }), seq: 2 });
  assert.deepEqual(sheet.groups.map(({ kind }) => kind), ["levers"]);
  assert.deepEqual([...sheet.groups[0].sliders.all.keys()], ["width"]);
  sheet.remove();
  assert.equal(channel.listeners.size, 0);
});
