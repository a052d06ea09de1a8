// Sliders of live_sliders.py. A move is told when the picture of the last one is painted, which is
// when the server has answered it: Streamlit hands on the panel first. Moves in between are not
// told, but the last position always is. A key that is held is a hand on the slider, as a button of
// the mouse is. Starting points are buttons here and none of Streamlit's:
// each element of those is a message of its own, and each message a rendering of the whole page.

const LET_GO = ["pointerup", "pointercancel", "keyup"];
const REST = 400; // milliseconds without a move, after which the page follows
const LONGEST = 1500; // milliseconds after a move that it lets a picture go first that is waited for
const BUSY = [40, 60, 80]; // milliseconds until a page that is being drawn is asked again
const PICTURE = "application/octet-stream"; // no page of a proxy that wants a login
const NOT_YET = "not yet"; // in place of a picture: it may be asked again
const REFUSED = 20; // times that nothing is answered, after which it is a run
const PATIENCE = 3000; // milliseconds without an answer, after which a newer position is told

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".rwn-sliders");
  const sliders = (root.rwnSliders ??= new Sliders(root));
  sliders.tell = (move) => setStateValue("move", move);
  sliders.take(JSON.parse(new TextDecoder().decode(data)));
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
    this.moves = new Map(); // positions that the server has not answered
    this.count = 0;
    this.refused = 0;
    this.untold = false;
    this.released = () => this.release();
    for (const kind of LET_GO) window.addEventListener(kind, this.released);
    this.wanted = (event) => this.askMore(event);
    window.addEventListener("rwn-more", this.wanted);
  }

  take({ sliders, answered, large, presets, beside }) {
    this.beside = beside;
    this.root.classList.toggle("rwn-large", large);
    this.offer(presets);
    const names = sliders.map((each) => each.name);
    if (names.join() !== [...this.all.keys()].join()) {
      this.body.replaceChildren();
      this.all = new Map(names.map((name) => [name, new Slider(this.body, this, name)]));
    }
    const known = !this.last || answered === this.last.stamp;
    if (this.last && !this.last.answered && known) this.answer();
    // positions of a run that a move beside it has overtaken are not those of the picture
    const old = !known && this.last.beside;
    if (known && !this.toldHeld) this.stay(); // this run was later than the move
    for (const each of sliders) this.all.get(each.name).take(each, old);
  }

  /** Show the starting points; each moves all sliders. */
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

  /** A user chose a starting point: what was moved before does not count. */
  choose(name) {
    this.moves.clear();
    this.preset = name;
    this.untold = true;
    this.flush();
  }

  /** A user moved a slider, or typed its value. */
  move(name, value) {
    this.moves.set(name, value);
    this.untold = true;
    this.moved = this.held;
    this.flush();
  }

  /** The last position is told once more, as one that nobody holds. */
  release() {
    const name = this.held;
    this.held = undefined;
    if (!name || this.moved !== name) return;
    this.moved = undefined;
    this.moves.set(name, this.all.get(name).value);
    this.untold = true;
    this.flush();
  }

  flush() {
    if (this.busy || !this.untold) return;
    const stamp = `${Date.now()}.${++this.count}`;
    const values = Object.fromEntries(this.moves);
    this.untold = false;
    this.busy = true;
    const preset = this.preset;
    this.last = { stamp, values, preset, answered: false };
    this.waiting = setTimeout(() => this.next(), PATIENCE);
    this.ask({ stamp, values, preset, dragging: this.held !== undefined });
  }

  /** Have the picture alone, at once; the page follows at rest. A run gives what is no picture. */
  async ask(move) {
    this.stay();
    const picture = this.beside && (await this.fetch({ move }));
    if (this.gone || this.last.stamp !== move.stamp) return; // a later one holds this one, too
    if (!picture) return this.run(move);
    this.last.beside = true;
    show(picture);
    this.shown = performance.now();
    this.followAtRest();
    this.answer();
  }

  followAtRest() {
    this.stay();
    this.following = setTimeout(() => this.follow(), REST);
  }

  stay() {
    clearTimeout(this.following);
    this.following = undefined;
  }

  /** All is answered: a run brings the rest of the page to where the sliders are. */
  follow() {
    this.following = undefined;
    const stamp = `${this.last.stamp} rests`;
    this.run({ stamp, values: {}, dragging: this.held !== undefined, rests: true });
  }

  run(move) {
    this.toldHeld = move.dragging;
    this.tell(move);
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
    const { address, ...who } = this.beside;
    const body = JSON.stringify({ ...who, ...question });
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

  /** A panel asks for what it waits for: the picture with it, an empty one until it has arrived. */
  async askMore(event) {
    if (event.defaultPrevented || !this.beside) return;
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
      if (event.button === 0) group.held = name;
    });
    this.range.addEventListener("keydown", (event) => {
      if (event.repeat) group.held = name;
    });
    this.range.addEventListener("blur", () => group.release());
    this.range.addEventListener("input", () => this.moved(this.range.valueAsNumber));
    this.field.addEventListener("change", () => {
      if (this.field.checkValidity() && this.field.value !== "") this.moved(this.field.valueAsNumber);
      else this.show();
    });
  }

  moved(value) {
    this.value = value;
    this.show();
    this.group.move(this.name, value);
  }

  take(state, old) {
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
    // who holds a slider, or has moved it since, is not to feel it jump
    const own = old || this.group.held === this.name || this.group.moves.has(this.name);
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
