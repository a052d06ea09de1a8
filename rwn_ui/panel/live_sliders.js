// Sliders of live_sliders.py. A move is sent when the server has answered the last one, so positions
// in between are skipped, but the last one never. A key that repeats counts as dragging. Presets are
// buttons of this component: each element of Streamlit would be a message and a rendering of its own.

const LET_GO = ["pointerup", "pointercancel", "keyup"];
const REST = 400; // milliseconds without a move, after which the page follows
const LONGEST = 1500; // milliseconds after a move in which a pending picture goes before that run
const BUSY = [40, 60, 80]; // milliseconds until a busy endpoint is asked again
const PICTURE = "application/octet-stream"; // not the login page of a proxy
const NOT_YET = "not yet"; // in place of a picture: ask again
const REFUSED = 20; // busy answers in a row, after which a run is asked for
const PATIENCE = 3000; // milliseconds without an answer, after which a newer position is sent

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".rwn-sliders");
  const sliders = (root.rwnSliders ??= new Sliders(root));
  sliders.send = (move) => setStateValue("move", move);
  sliders.setData(JSON.parse(new TextDecoder().decode(data)));
  return () => setTimeout(() => root.isConnected || sliders.remove());
}

function make(parent, tag, attributes = {}) {
  const node = parent.appendChild(document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function show(picture) {
  window.dispatchEvent(new CustomEvent("rwn-picture", { detail: picture }));
}

class Sliders {
  constructor(root) {
    this.root = root;
    this.presets = make(root, "div", { class: "rwn-presets" });
    this.body = make(root, "div", { class: "rwn-sliders-body" });
    this.all = new Map();
    this.moves = new Map(); // unanswered positions
    this.count = 0;
    this.refused = 0;
    this.dirty = false;
    this.released = () => this.release();
    for (const kind of LET_GO) window.addEventListener(kind, this.released);
    this.wanted = (event) => this.onPoll(event);
    window.addEventListener("rwn-more", this.wanted);
  }

  setData({ sliders, answered, large, presets, endpoint }) {
    this.endpoint = endpoint;
    this.root.classList.toggle("rwn-large", large);
    this.offer(presets);
    const names = sliders.map((each) => each.name);
    if (names.join() !== [...this.all.keys()].join()) {
      this.body.replaceChildren();
      this.all = new Map(names.map((name) => [name, new Slider(this.body, this, name)]));
    }
    const known = !this.last || answered === this.last.stamp;
    if (this.last && !this.last.answered && known) this.answer();
    // a run that a move at the endpoint has overtaken has older positions than the picture
    const old = !known && this.last.endpoint;
    if (known && !this.sentDragging) this.cancelFollow(); // this run was later than the move
    for (const each of sliders) this.all.get(each.name).setData(each, old);
  }

  /** Show the presets; each moves all sliders. */
  offer(presets) {
    this.presets.hidden = !presets.length;
    const names = presets.map((each) => each.name);
    if (names.join() !== [...this.presets.children].map((each) => each.textContent).join()) {
      this.presets.replaceChildren();
      for (const name of names) {
        const button = make(this.presets, "button", { type: "button" });
        button.textContent = name;
        button.addEventListener("click", () => this.choose(name));
      }
    }
    presets.forEach(({ help, chosen }, i) => {
      this.presets.children[i].title = help;
      this.presets.children[i].setAttribute("aria-pressed", chosen);
    });
  }

  /** A user chose a preset: earlier moves do not count. */
  choose(name) {
    this.moves.clear();
    this.preset = name;
    this.dirty = true;
    this.flush();
  }

  /** A user moved a slider, or typed its value. */
  move(name, value) {
    this.moves.set(name, value);
    this.dirty = true;
    this.dragged = this.dragging;
    this.flush();
  }

  /** Send the last position once more, as one that is not dragged. */
  release() {
    const name = this.dragging;
    this.dragging = undefined;
    if (!name || this.dragged !== name) return;
    this.dragged = undefined;
    this.moves.set(name, this.all.get(name).value);
    this.dirty = true;
    this.flush();
  }

  flush() {
    if (this.busy || !this.dirty) return;
    const stamp = `${Date.now()}.${++this.count}`;
    const values = Object.fromEntries(this.moves);
    this.dirty = false;
    this.busy = true;
    const preset = this.preset;
    this.last = { stamp, values, preset, answered: false };
    this.waiting = setTimeout(() => this.next(), PATIENCE);
    this.sendMove({ stamp, values, preset, dragging: this.dragging !== undefined });
  }

  /** Fetch the picture at once; the page follows later. Without a picture it is a run. */
  async sendMove(move) {
    this.cancelFollow();
    const picture = this.endpoint && (await this.fetch({ move }));
    if (this.gone || this.last.stamp !== move.stamp) return; // a later one holds this one, too
    if (!picture) return this.run(move);
    this.last.endpoint = true;
    show(picture);
    this.shown = performance.now();
    this.followAtRest();
    this.answer();
  }

  followAtRest() {
    this.cancelFollow();
    this.following = setTimeout(() => this.follow(), REST);
  }

  cancelFollow() {
    clearTimeout(this.following);
    this.following = undefined;
  }

  /** A run brings the rest of the page to the positions of the sliders. */
  follow() {
    this.following = undefined;
    const stamp = `${this.last.stamp} idle`;
    this.run({ stamp, values: {}, dragging: this.dragging !== undefined, idle: true });
  }

  run(move) {
    this.sentDragging = move.dragging;
    this.send(move);
  }

  async fetch(question) {
    const signal = AbortSignal.timeout(PATIENCE);
    for (const busy of BUSY) {
      const picture = await this.post(question, signal);
      if (picture !== NOT_YET) return picture;
      await new Promise((again) => setTimeout(again, busy));
    }
    return null;
  }

  async post(question, signal) {
    const { address, ...identity } = this.endpoint;
    const body = JSON.stringify({ ...identity, ...question });
    try {
      const answer = await fetch(address, { method: "POST", body, signal, cache: "no-store" });
      if (answer.status === 202) return NOT_YET;
      if (answer.status === 200 && answer.headers.get("content-type") === PICTURE)
        return new Uint8Array(await answer.arrayBuffer());
    } catch {
      // the connection is broken, as a run will find
    }
    return null;
  }

  /** A panel polls for pending readings: a picture with them, empty until they are there. */
  async onPoll(event) {
    if (event.defaultPrevented || !this.endpoint) return;
    event.preventDefault();
    if (this.busy || this.asking) return;
    this.asking = true;
    const { waits, run } = event.detail;
    const picture = await this.post({ waits }, AbortSignal.timeout(PATIENCE));
    this.asking = false;
    this.refused = picture === NOT_YET ? this.refused + 1 : 0;
    if (this.busy || this.gone) return;
    if (this.following && performance.now() - this.shown < LONGEST) this.followAtRest();
    if (!picture || this.refused > REFUSED) run(); // also where the last run came to no end
    else if (picture.length && picture !== NOT_YET) show(picture);
  }

  answer() {
    clearTimeout(this.waiting);
    this.last.answered = true;
    if (this.preset === this.last.preset) this.preset = undefined;
    for (const [name, value] of Object.entries(this.last.values))
      if (this.moves.get(name) === value) this.moves.delete(name);
    requestAnimationFrame(() => this.next());
  }

  next() {
    this.busy = false;
    this.flush();
  }

  remove() {
    this.gone = true;
    clearTimeout(this.waiting);
    clearTimeout(this.following);
    for (const kind of LET_GO) window.removeEventListener(kind, this.released);
    window.removeEventListener("rwn-more", this.wanted);
  }
}

let ids = 0;
class Slider {
  constructor(parent, group, name) {
    Object.assign(this, { group, name });
    const id = `rwn-slider-${++ids}`;
    this.node = make(parent, "div", { class: "rwn-slider" });
    const head = make(this.node, "div", { class: "rwn-slider-head" });
    this.label = make(head, "label", { for: id });
    this.field = make(head, "input", { type: "number" });
    this.explain = make(head, "button", { type: "button" });
    this.explain.textContent = "?";
    this.tip = make(head, "span", { role: "tooltip", id: `${id}-tip` });
    this.explain.setAttribute("aria-describedby", this.tip.id);
    this.explain.addEventListener("keydown", (event) => event.key === "Escape" && this.explain.blur());
    this.output = make(this.node, "output", { for: id, "aria-hidden": "true" });
    this.text = this.output.appendChild(document.createTextNode(""));
    this.range = make(this.node, "input", { type: "range", id });
    this.range.addEventListener("pointerdown", (event) => {
      if (event.button === 0) group.dragging = name;
    });
    this.range.addEventListener("keydown", (event) => {
      if (event.repeat) group.dragging = name;
    });
    this.range.addEventListener("blur", () => group.release());
    this.range.addEventListener("input", () => this.setValue(this.range.valueAsNumber));
    this.field.addEventListener("change", () => {
      if (this.field.checkValidity() && this.field.value !== "") this.setValue(this.field.valueAsNumber);
      else this.show();
    });
  }

  setValue(value) {
    this.value = value;
    this.show();
    this.group.move(this.name, value);
  }

  setData(state, old) {
    this.state = state;
    const { title, help = "", low, high, step, most } = state;
    if (this.label.textContent !== title) this.label.textContent = this.label.title = title;
    this.explain.hidden = !help;
    this.explain.setAttribute("aria-label", `Explain ${title}`);
    if (this.tip.textContent !== help) this.tip.textContent = help;
    this.output.hidden = most !== undefined;
    this.field.hidden = most === undefined;
    if (most !== undefined) {
      this.field.setAttribute("aria-label", `${title}, typed`);
      Object.assign(this.field, { min: low, max: most, step: "any" });
    }
    Object.assign(this.range, { min: low, max: high, step });
    this.range.disabled = low === high;
    // a slider that is dragged, or was moved since, must not jump
    const own = old || this.group.dragging === this.name || this.group.moves.has(this.name);
    if (!own || this.value === undefined) this.value = state.value;
    this.show();
  }

  show() {
    const { low, high, digits } = this.state;
    const text = this.value.toFixed(digits);
    const share = high > low ? (this.value - low) / (high - low) : 0;
    this.node.style.setProperty("--share", Math.min(Math.max(share, 0), 1));
    if (this.range.valueAsNumber !== this.value) this.range.value = this.value;
    this.range.setAttribute("aria-valuetext", text);
    if (this.output.textContent !== text) this.text.data = text; // in place, as setText of the panel
    if (document.activeElement !== this.field || this.field.value === "") this.field.value = Number(text);
  }
}
