// The messages of a page and its server. Edits are posted one after another, those made meanwhile
// together; the picture with the highest number is shown. A post without edits waits at the server
// for readings that a picture lacks. Where posts are blocked, runs of the page do the same.

const LIBRARY = "component/rwn_ui.server.messages.plotly/plotly.min.js";
const PICTURE = "application/octet-stream"; // not the login page of a proxy
const LATER = 1000; // milliseconds until the server is asked again
const PATIENCE = 3000; // milliseconds that a run may take for its picture

/** A name for an element that no other of the page has, of whichever widget. */
function uniqueName() {
  window.rwnNames = (window.rwnNames ?? 0) + 1;
  return `rwn-${window.rwnNames}`;
}

class Channel {
  constructor() {
    this.seq = 0;
    this.queue = [];
    this.sent = [];
    this.listeners = new Set();
  }

  /** Add an edit. Moves of sliders that wait to be sent are merged. */
  send(edit) {
    const last = this.queue.at(-1);
    const kind = ["levers", "weights"].find((name) => edit[name] && last?.[name]);
    if (kind) Object.assign(last, edit, { [kind]: { ...last[kind], ...edit[kind] } });
    else this.queue.push(edit);
    this.flush();
  }

  /** True if a position is on its way to the server. */
  pending(kind, name) {
    return [...this.sent, ...this.queue].some((edit) => edit[kind]?.[name] !== undefined);
  }

  async flush() {
    if (this.busy || !this.queue.length) return;
    this.busy = true;
    this.waiting?.abort();
    [this.sent, this.queue] = [this.queue, []];
    const picture = await this.post({ edits: this.sent });
    if (!picture) {
      this.late = setTimeout(() => this.next(), PATIENCE);
      return this.run?.(this.sent);
    }
    this.sent = [];
    this.show(picture);
    requestAnimationFrame(() => this.next());
  }

  /** The next edits, or a wait for what the picture lacks. */
  next() {
    clearTimeout(this.late);
    this.late = undefined;
    this.busy = false;
    if (this.queue.length) this.flush();
    else this.wait();
  }

  /** Take the picture of a run; true if it is a newer one. */
  fromRun(picture) {
    if (!this.late) return this.show(picture);
    this.sent = [];
    const newer = this.show(picture);
    this.next();
    return newer;
  }

  show(picture) {
    if (picture.seq < this.seq) return false;
    this.seq = picture.seq;
    this.lacking = picture.waiting;
    for (const listener of this.listeners) listener(picture);
    if (picture.page) this.run?.([]); // more than the picture has changed
    this.wait();
    return true;
  }

  async wait() {
    this.waiting?.abort();
    if (this.busy || !this.lacking) return;
    const { signal } = (this.waiting = new AbortController());
    const picture = await this.post({ seq: this.seq }, signal);
    if (signal.aborted) return;
    if (picture) return this.show(picture);
    const again = () => (this.blocked ? this.run?.([]) : this.wait());
    setTimeout(() => signal.aborted || again(), LATER);
  }

  async post(question, signal) {
    if (!this.endpoint) return null;
    const { address, ...identity } = this.endpoint;
    const body = JSON.stringify({ ...identity, ...question });
    this.blocked = true;
    try {
      const answer = await fetch(address, { method: "POST", body, signal, cache: "no-store" });
      this.blocked = answer.status !== 204; // the server has no picture
      if (answer.status !== 200 || answer.headers.get("content-type") !== PICTURE) return null;
      const picture = await answer.json();
      this.blocked = false;
      return picture;
    } catch {
      return null; // the connection is broken, as a run will find
    }
  }

  /** Address of Plotly's script. */
  library() {
    return LIBRARY;
  }

  close() {
    this.waiting?.abort();
    this.endpoint = this.run = undefined;
  }
}
