import assert from "node:assert/strict";
import test from "node:test";

import { load } from "./load.mjs";

globalThis.window = {};
globalThis.requestAnimationFrame = (act) => act();
const { Channel } = load(["channel.js"], ["Channel"]);

/** A channel whose posts are answered by hand; `posts` is what the server gets. */
function channel() {
  const made = new Channel();
  const posts = [];
  const answers = [];
  made.post = (question) => {
    posts.push(question);
    return new Promise((resolve) => answers.push(resolve));
  };
  const answer = async (picture) => {
    answers.shift()(picture);
    await new Promise((next) => setTimeout(next));
  };
  return { made, posts, answer };
}

test("a move is sent at once, and those made meanwhile together after its picture", async () => {
  const { made, posts, answer } = channel();
  for (const k of [5, 6, 7]) made.send({ levers: { k }, held: true });
  made.send({ levers: { q: 0.4 }, held: false });
  assert.deepEqual(posts, [{ edits: [{ levers: { k: 5 }, held: true }] }]);
  assert.ok(made.pending("levers", "k") && made.pending("levers", "q"));
  await answer({ seq: 1 });
  assert.deepEqual(posts[1], { edits: [{ levers: { k: 7, q: 0.4 }, held: false }] });
  await answer({ seq: 2 });
  assert.ok(!made.pending("levers", "k"));
  assert.equal(posts.length, 2);
});

test("edits of different kinds keep their order", async () => {
  const { made, posts, answer } = channel();
  made.send({ levers: { k: 5 } });
  for (const edit of [{ levers: { k: 6 } }, { preset: "Strong" }, { levers: { k: 7 } }]) made.send(edit);
  await answer({ seq: 1 });
  assert.deepEqual(posts[1].edits, [{ levers: { k: 6 } }, { preset: "Strong" }, { levers: { k: 7 } }]);
});

test("a picture with a lower number is not shown", () => {
  const { made } = channel();
  const shown = [];
  made.listeners.add((picture) => shown.push(picture.seq));
  for (const seq of [3, 2, 4]) made.show({ seq });
  assert.deepEqual(shown, [3, 4]);
});

test("where there is no picture a run gets the edits, and the next ones follow its picture", async () => {
  const { made, posts, answer } = channel();
  const runs = [];
  made.run = (edits) => runs.push(edits);
  made.send({ undo: true });
  made.send({ levers: { k: 9 } });
  await answer(null);
  assert.deepEqual(runs, [[{ undo: true }]]);
  assert.equal(posts.length, 1);
  assert.equal(made.late === undefined, false);
  assert.ok(made.fromRun({ seq: 5 }));
  assert.equal(made.late, undefined);
  assert.deepEqual(posts[1], { edits: [{ levers: { k: 9 } }] });
});

test("a picture that lacks readings waits for them, and an edit comes first", async () => {
  const { made, posts, answer } = channel();
  made.show({ seq: 1, waiting: true });
  assert.deepEqual(posts, [{ seq: 1 }]);
  const { signal } = made.waiting;
  made.send({ levers: { k: 9 } });
  assert.ok(signal.aborted);
  await answer(null);
  await answer({ seq: 2, waiting: true });
  assert.deepEqual(posts.at(-1), { seq: 2 });
  await answer({ seq: 3, waiting: false });
  assert.equal(posts.length, 3);
});

test("a picture may ask for a run of the page", () => {
  const { made } = channel();
  const runs = [];
  made.run = (edits) => runs.push(edits);
  made.show({ seq: 1, page: true });
  assert.deepEqual(runs, [[]]);
});

test("what a picture lacks is asked for again after a while, unless a move came between", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { made, posts } = channel();
  const answers = [];
  made.post = (question) => {
    posts.push(question);
    return { then: (done) => answers.push(done) };
  };
  const pass = async () => {
    for (let i = 0; i < 5; i++) await null;
    context.mock.timers.tick(60_000);
    for (let i = 0; i < 5; i++) await null;
  };
  made.show({ seq: 1, waiting: true });
  await pass();
  answers.shift()(null);
  await pass();
  assert.deepEqual(posts, [{ seq: 1 }, { seq: 1 }]);
  answers.shift()(null);
  for (let i = 0; i < 5; i++) await null;
  made.waiting.abort();
  await pass();
  assert.equal(posts.length, 2);
});

test("what is no picture is taken for none: no content, a page to sign in, an error", async () => {
  const made = new Channel();
  made.endpoint = { address: "/here", token: "t" };
  const picture = "application/octet-stream";
  const answered = async (status, type) => {
    globalThis.fetch = async (address, { body }) => {
      assert.deepEqual([address, JSON.parse(body)], ["/here", { token: "t", edits: [] }]);
      return { status, headers: { get: () => type }, json: async () => ({ seq: 7 }) };
    };
    return made.post({ edits: [] });
  };
  assert.equal(await answered(204, ""), null);
  assert.equal(made.blocked, false);
  for (const [status, type] of [[200, "text/html"], [403, picture], [500, picture]]) {
    assert.equal(await answered(status, type), null);
    assert.equal(made.blocked, true);
  }
  assert.deepEqual(await answered(200, picture), { seq: 7 });
  assert.equal(made.blocked, false);
});
