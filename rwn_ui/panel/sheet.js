// The sliders on a phone: a sheet at the bottom of the window, below the chart that they move.
// Its sliders are there only while it is open.

const SHEET_OPEN = "rwn-sheet-open"; // a class of the page, for its styles

class Sheet {
  constructor(root) {
    this.root = root;
    this.groups = [];
    this.button = make(root, "button", { type: "button", "aria-expanded": "false" });
    this.body = make(root, "div", { class: "rwn-sheet-body", id: uniqueName(), role: "group", "aria-label": "Sliders" });
    this.button.setAttribute("aria-controls", this.body.id);
    this.button.addEventListener("click", () => (this.open ? this.close() : this.show()));
    root.addEventListener("keydown", (event) => this.pressed(event));
    this.follow = ({ controls, seq }) => controls && this.setData({ ...controls, seq });
    channel.listeners.add(this.follow);
    this.close();
  }

  get open() {
    return this.groups.length > 0;
  }

  setData(data) {
    this.data = data;
    if (this.open && Object.keys(this.kinds()).join() !== this.shown) this.show();
    for (const { kind, sliders } of this.groups) sliders.setData({ ...data[kind], seq: data.seq });
  }

  /** The groups of sliders that the method has. */
  kinds() {
    return Object.fromEntries(["levers", "weights"].filter((kind) => this.data[kind]).map((kind) => [kind, this.data[kind]]));
  }

  show() {
    this.empty();
    this.shown = Object.keys(this.kinds()).join();
    for (const [kind, data] of Object.entries(this.kinds())) {
      if (kind === "weights") make(this.body, "b").textContent = "Variable weights";
      const sliders = new Sliders(make(this.body, "div", { class: "rwn-sliders" }));
      sliders.setData({ ...data, seq: this.data.seq });
      this.groups.push({ kind, sliders });
    }
    this.say("Close the sliders");
    document.querySelector(".rwn-grid")?.scrollIntoView({ block: "start" });
  }

  close() {
    this.empty();
    this.say("Sliders");
  }

  say(words) {
    this.button.textContent = words;
    this.button.setAttribute("aria-expanded", String(this.open));
    this.body.hidden = !this.open;
    document.documentElement.classList.toggle(SHEET_OPEN, this.open);
  }

  pressed(event) {
    if (event.key !== "Escape" || !this.open || event.defaultPrevented) return;
    this.close();
    this.button.focus();
  }

  empty() {
    for (const { sliders } of this.groups) sliders.remove();
    this.groups = [];
    this.body.replaceChildren();
  }

  remove() {
    this.close();
    channel.listeners.delete(this.follow);
  }
}
