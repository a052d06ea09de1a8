// Sliders of live_sliders.py. Each position goes to the channel, which sends the last one. A key that
// repeats counts as dragging. Presets, Undo and Redo are buttons of this component: each element of
// Streamlit would be a message and a rendering of its own.

const TYPED = 4; // digits of a value that was typed
const LET_GO = ["pointerup", "pointercancel", "keyup"];

function make(parent, tag, attributes = {}) {
  const node = parent.appendChild(document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

class Sliders {
  constructor(root) {
    this.root = root;
    this.seq = 0;
    this.presets = make(root, "div", { class: "rwn-presets" });
    this.body = make(root, "div", { class: "rwn-sliders-body" });
    this.steps = make(root, "div", { class: "rwn-presets" });
    this.all = new Map();
    this.released = () => this.release();
    for (const kind of LET_GO) window.addEventListener(kind, this.released);
    this.follow = ({ controls, seq }) => this.setData({ ...controls[this.kind], seq });
    channel.listeners.add(this.follow);
  }

  /** The slider that is dragged; axes hold still meanwhile. */
  set dragging(name) {
    this.held = name;
    channel.dragging = name !== undefined;
  }

  get dragging() {
    return this.held;
  }

  setData({ kind, sliders, large, pairs, presets, steps, seq }) {
    if (seq < this.seq) return;
    this.seq = seq;
    this.kind = kind;
    this.root.classList.toggle("rwn-large", large);
    this.root.classList.toggle("rwn-pairs", pairs);
    this.offer(this.presets, presets);
    this.offer(this.steps, steps);
    const names = sliders.map((each) => each.name);
    if (names.join() !== [...this.all.keys()].join()) {
      this.body.replaceChildren();
      this.all = new Map(names.map((name) => [name, new Slider(this.body, this, name)]));
    }
    for (const each of sliders) this.all.get(each.name).setData(each);
  }

  /** Show buttons, each of which sends an edit. */
  offer(row, buttons) {
    const known = JSON.stringify(buttons);
    if (row.known === known) return;
    row.known = known;
    row.hidden = !buttons.length;
    const names = buttons.map((each) => each.name);
    if (names.join() !== [...row.children].map((each) => each.textContent).join()) {
      row.replaceChildren();
      for (const { name, edit } of buttons) {
        const button = make(row, "button", { type: "button" });
        button.textContent = name;
        button.addEventListener("click", () => channel.send(edit));
      }
    }
    buttons.forEach(({ help, chosen, disabled = false }, i) => {
      row.children[i].title = help;
      row.children[i].disabled = disabled;
      if (chosen !== undefined) row.children[i].setAttribute("aria-pressed", chosen);
    });
  }

  /** A user moved a slider, or typed its value. */
  move(name, value) {
    this.dragged = this.dragging;
    channel.send({ [this.kind]: { [name]: value }, held: this.dragging !== undefined });
  }

  /** Send the last position once more, as one that is not dragged. */
  release() {
    const name = this.dragging;
    this.dragging = undefined;
    if (!name || this.dragged !== name) return;
    this.dragged = undefined;
    this.move(name, this.all.get(name).value);
  }

  remove() {
    for (const kind of LET_GO) window.removeEventListener(kind, this.released);
    channel.listeners.delete(this.follow);
  }
}

class Slider {
  constructor(parent, group, name) {
    Object.assign(this, { group, name });
    const id = uniqueName();
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
    this.note = make(this.node, "p", { class: "rwn-slider-note", id: `${id}-note` });
    this.range.setAttribute("aria-describedby", this.note.id);
    this.field.addEventListener("change", () => {
      if (this.field.checkValidity() && this.field.value !== "") return this.setValue(this.field.valueAsNumber);
      this.field.value = ""; // what cannot be taken gives way to what holds
      this.show();
    });
  }

  setValue(value) {
    this.value = value;
    this.show();
    this.group.move(this.name, value);
  }

  setData(state) {
    // a slider that is dragged, or was moved since, must not jump
    const own = this.group.dragging === this.name || channel.pending(this.group.kind, this.name);
    const known = JSON.stringify(state);
    if (known === this.known && (own || this.value === state.value)) return;
    this.known = known;
    this.state = state;
    const { title, help = "", note = "", low, high, step, most } = state;
    this.note.hidden = !note;
    if (this.note.textContent !== note) this.note.textContent = note;
    if (this.label.textContent !== title) this.label.textContent = this.label.title = title;
    this.explain.hidden = !help;
    this.explain.setAttribute("aria-label", `Explain ${title}`);
    if (this.tip.textContent !== help) this.tip.textContent = help;
    this.output.hidden = most !== undefined;
    this.field.hidden = most === undefined;
    if (most !== undefined) {
      this.field.setAttribute("aria-label", `${title}, typed`);
      Object.assign(this.field, { min: low, max: most, step: state.digits ? "any" : 1 });
    }
    Object.assign(this.range, { min: low, max: high, step });
    this.range.disabled = low === high || Boolean(note);
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
    if (this.field.getRootNode().activeElement !== this.field || this.field.value === "") this.field.value = Number(this.value.toFixed(Math.max(digits, TYPED)));
  }
}
