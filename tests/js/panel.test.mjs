import assert from "node:assert/strict";
import test from "node:test";

import { Element } from "./elements.mjs";
import { load } from "./load.mjs";

const { isDark, paint } = load(
  ["panel.js", "summary.js", "card.js", "painter.js", "marks.js", "full_view.js", "question_form.js"],
  ["isDark", "paint"],
);

test("a color is dark by how bright an eye sees it", () => {
  const dark = ["rgb(14, 17, 23)", "rgb(255, 0, 0)", "rgb(0, 0, 255)", "rgb(120, 120, 120)"];
  const light = ["rgb(255, 255, 255)", "rgb(0, 255, 0)", "rgba(200, 120, 90, 0.5)"];
  assert.deepEqual([...dark, ...light].map(isDark), [true, true, true, true, false, false, false]);
});

test("a panel is made once, and taken down once it has left the page", async () => {
  const made = [];
  globalThis.Panel = class {
    constructor(root) {
      made.push(this);
      this.root = root;
    }
    setData(data) {
      this.data = data;
    }
    remove() {
      this.removed = true;
    }
  };
  const { mount } = load(["panel_mount.js"], ["mount"]);
  const root = { isConnected: true }, sent = [];
  const given = {
    data: 1,
    parentElement: { querySelector: () => root },
    setTriggerValue: (name, value) => sent.push([name, value]),
  };
  mount(given);
  const leave = mount({ ...given, data: 2 });
  assert.equal(made.length, 1);
  assert.equal(made[0].data, 2);
  made[0].pick("point");
  made[0].run("edits");
  assert.deepEqual(sent, [["picked", "point"], ["edits", "edits"]]);
  const later = () => new Promise((done) => setTimeout(done));
  leave();
  await later();
  assert.equal(made[0].removed, undefined, "newer data overtook the call");
  root.isConnected = false;
  leave();
  await later();
  assert.equal(made[0].removed, true);
});

test("a panel that was just made shows the run's picture though a later one was answered", () => {
  globalThis.channel = { fromRun: () => false };
  const { Panel } = load(["panel.js"], ["Panel"]);
  const shown = [];
  const panel = Object.create(Panel.prototype);
  panel.update = function () { shown.push(this.data.stamp); };
  const bytes = (stamp) => new TextEncoder().encode(JSON.stringify({ endpoint: "here", stamp }));
  panel.setData(bytes("run"));
  panel.data = { stamp: "answered" };
  panel.setData(bytes("older"));
  assert.deepEqual(shown, ["run", "answered"]);
});

/** Where the title of the vertical axis is painted, and the fonts that were set. */
function painted({ wide, margin, height = 70 }) {
  globalThis.window = { devicePixelRatio: 1 };
  const calls = [], fonts = [];
  const ctx = new Proxy({ measureText: (text) => ({ width: text === "risk" ? wide : 4 }) }, {
    get: (target, name) => target[name] ?? ((...args) => void calls.push([name, ...args])),
    set: (target, name, value) => (name === "font" && fonts.push(value), true),
  });
  const axis = (title) => ({
    range: [0, 1], tickvals: [], ticktext: [], gridcolor: "#ccc", tickfont: {}, title: { text: title },
  });
  const layout = { margin, font: { size: 10 }, xaxis: axis(""), yaxis: axis("risk") };
  const theme = { family: "serif", color: "#111", background: "#fff" };
  paint({ getContext: () => ctx }, { data: [], layout }, { width: 120, height }, theme);
  return { at: calls.filter(([name]) => name === "translate").at(-1).slice(1), fonts };
}

test("the title of the vertical axis stays on the canvas, and is smaller on a low one", () => {
  const even = { l: 10, r: 10, t: 10, b: 10 };
  assert.deepEqual(painted({ wide: 20, margin: even }).at, [2, 35], "at the middle of its axis");
  assert.deepEqual(painted({ wide: 40, margin: { ...even, t: 0, b: 60 } }).at, [2, 22], "not above the canvas");
  assert.deepEqual(painted({ wide: 40, margin: { ...even, t: 60, b: 0 } }).at, [2, 48], "not below it");
  const low = painted({ wide: 132, margin: even });
  assert.deepEqual(low.at, [2, 35]);
  assert.ok(low.fonts.some((font) => font.includes(" 5px") || font.startsWith("5px")), low.fonts.join("; "));
});

test("a card is drawn again when its size has changed, and first when it is seen", () => {
  const { Panel } = load(["panel.js"], ["Panel"]);
  const drawn = [];
  const card = { plot: 1, node: 2, visible: true, drawn: {}, size: { width: 10, height: 20 }, draw: () => (drawn.push({ ...card.size }), true), describe() {} };
  const panel = Object.assign(Object.create(Panel.prototype), { cards: [card] });
  const resize = (width, height, target = 1) => panel.resized([{ target, contentRect: { width, height } }]);
  for (const [width, height, target] of [[10, 20], [0, 0], [11, 20, 3], [11, 20], [11, 21], [11, 21]]) resize(width, height, target);
  assert.deepEqual(drawn, [{ width: 11, height: 20 }, { width: 11, height: 21 }]);
  panel.onVisible([{ target: 2, isIntersecting: false }, { target: 5, isIntersecting: true }]);
  resize(12, 21);
  assert.equal(drawn.length, 2);
  panel.onVisible([{ target: 2, isIntersecting: true }]);
  assert.deepEqual(drawn.at(-1), { width: 12, height: 21 });
  Object.assign(card, { visible: false, drawn: { chart: {} } });
  resize(13, 21);
  assert.deepEqual(drawn.at(-1), { width: 13, height: 21 }, "its picture of the old size is not stretched");
});

test("a screen reader hears the setting and, where there is one, its verdict", () => {
  const { Panel } = load(["panel.js"], ["Panel"]);
  const said = (data) => {
    const panel = Object.assign(Object.create(Panel.prototype), { data, news: new Element("p") });
    panel.announce();
    return panel.news.textContent;
  };
  const summary = { text: "k = 5" };
  assert.equal(said({ summary }), "k = 5.");
  assert.equal(said({ summary, verdict: { text: "Kept", nearest: "", price: "80 %" } }), "k = 5. Kept; 80 %.");
});
