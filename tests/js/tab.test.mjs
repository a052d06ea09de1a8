import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

globalThis.MutationObserver = class {
  observe() {}
};
globalThis.document = { body: {} };
let posted = [];
globalThis.BroadcastChannel = class {
  postMessage(message) {
    posted.push(message);
  }
};
const { Tab } = load(["tab.js"], ["Tab"]);

function storage(start = {}) {
  const map = new Map(Object.entries(start));
  return { getItem: (name) => map.get(name) ?? null, setItem: (name, value) => map.set(name, value), map };
}

/** A tab with storages, and what it sends to the server. */
function opened(session = {}, local = {}) {
  posted = [];
  globalThis.sessionStorage = storage(session);
  globalThis.localStorage = storage(local);
  const sent = [];
  return { tab: new Tab(), sent, send: (name, value) => sent.push([name, value]) };
}

const FIRST = { token: "t1", browser: "proposed", answered: false, waits: true };

test("a new tab answers that it was none, stores its token and asks the other tabs", () => {
  const { tab, sent, send } = opened();
  tab.take(FIRST, send);
  tab.take(FIRST, send); // drawn once more before the answer has arrived
  assert.deepEqual(sent, [["answer", { tab: "", browser: "proposed" }]]);
  assert.equal(sessionStorage.map.get("rwn.tab"), undefined);
  tab.take({ ...FIRST, answered: true, waits: false }, send);
  assert.equal(sessionStorage.map.get("rwn.tab"), "t1");
  assert.equal(localStorage.map.get("rwn.tab"), "proposed");
  assert.deepEqual(posted, [{ ask: true }]);
  tab.hear({ token: "t0" });
  tab.hear({ token: "t9" }); // the first answer counts
  assert.deepEqual(sent.at(-1), ["other", "t0"]);
  assert.equal(sent.length, 2);
});

test("after a reload the earlier token is sent, and kept until the server has gone over", () => {
  const { tab, sent, send } = opened({ "rwn.tab": "t0" }, { "rwn.tab": "b" });
  tab.take(FIRST, send);
  assert.deepEqual(sent, [["answer", { tab: "t0", browser: "b" }]]);
  assert.equal(sessionStorage.map.get("rwn.tab"), "t0");
  tab.take({ ...FIRST, answered: true, waits: false }, send);
  assert.equal(sessionStorage.map.get("rwn.tab"), "t1");
  assert.deepEqual(posted, []); // no other tab is asked
  tab.hear({ token: "t9" });
  assert.equal(sent.length, 1);
});

test("a tab tells its token to a new one", () => {
  const { tab, send } = opened({ "rwn.tab": "t1" });
  tab.hear({ ask: true }); // not drawn yet
  assert.deepEqual(posted, []);
  tab.take({ ...FIRST, answered: true, waits: false }, send);
  tab.hear({ ask: true });
  assert.deepEqual(posted, [{ token: "t1" }]);
});
