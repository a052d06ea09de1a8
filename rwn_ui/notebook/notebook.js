// The panel and its sliders in a notebook's cell. Messages of the widget take the place of posts;
// each view has a channel of its own.

const BUSY = "No answer from Python yet: a cell is running, or the kernel has stopped.";
const SLOW = 3000; // milliseconds without an answer before this is said
const POLL = 300; // milliseconds between two questions for what a picture lacks
const CLEAR = /^(transparent|rgba\(.*, 0\))$/;

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

class NotebookChannel extends Channel {
  constructor(model, note) {
    super();
    Object.assign(this, { model, note, count: 0, unanswered: new Map() });
    this.view = Math.random().toString(36).slice(2);
    this.receive = (message, buffers) => this.take(message, buffers);
    model.on("msg:custom", this.receive);
  }

  async post(question, signal) {
    if (!signal) return this.ask(question);
    while (!signal.aborted) {
      await sleep(POLL);
      const picture = signal.aborted || (await this.ask(question));
      if (picture) return picture;
    }
  }

  async ask(question) {
    const [buffer] = await this.request(question);
    return buffer && JSON.parse(new TextDecoder().decode(buffer));
  }

  /** Send a message; its answer's buffers. */
  request(question) {
    const { model, view } = this;
    const id = `${view}.${++this.count}`;
    const slow = setTimeout(() => { this.note.textContent = BUSY; }, SLOW);
    return new Promise((resolve) => {
      this.unanswered.set(id, (buffers) => {
        clearTimeout(slow);
        if (this.note.textContent === BUSY) this.note.textContent = "";
        resolve(buffers);
      });
      model.send({ ...question, id, view });
    });
  }

  /** Every view gets each message: an answer to its question, or a picture of what changed elsewhere. */
  take({ id, note }, buffers = []) {
    const own = this.unanswered.get(id);
    this.unanswered.delete(id);
    own?.(buffers);
    if (note !== undefined && (own || !id)) this.note.textContent = note;
    const other = !id || (!own && note !== undefined);
    if (other && buffers.length) this.show(JSON.parse(new TextDecoder().decode(buffers[0])));
  }

  async library() {
    const buffers = await this.request({ library: true });
    return URL.createObjectURL(new Blob(buffers, { type: "text/javascript" }));
  }

  leave() {
    this.close();
    this.model.off("msg:custom", this.receive);
    this.model.send({ left: true, view: this.view });
  }
}

/** Take over the notebook's colors and font under the names that styles have; true if they changed. */
function takeTheme(root) {
  const { color, fontFamily } = getComputedStyle(root);
  let [node, background] = [root, "transparent"];
  while (node && CLEAR.test(background)) {
    background = getComputedStyle(node).backgroundColor;
    node = node.parentElement ?? node.getRootNode().host;
  }
  const known = [color, fontFamily, background].join();
  if (root.known === known) return false;
  root.known = known;
  root.style.setProperty("--st-text-color", color);
  root.style.setProperty("--st-font", fontFamily);
  root.style.setProperty("--st-background-color", CLEAR.test(background) ? "Canvas" : background);
  return true;
}

function render({ model, el }) {
  const part = (parent, tag, name) => {
    const node = parent.appendChild(document.createElement(tag));
    node.className = name;
    return node;
  };
  const root = part(el, "div", "rwn-notebook");
  // JupyterLab takes the keys of any element that does not say this, such as a slider's arrow keys
  root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", ""));
  const side = part(root, "div", "rwn-notebook-side");
  const levers = part(side, "div", "rwn-sliders");
  const more = part(side, "details", "rwn-notebook-weights");
  part(more, "summary", "").textContent = "Weights of the variables";
  const weights = part(more, "div", "rwn-sliders");
  const main = part(root, "div", "rwn-notebook-main");
  const note = part(main, "p", "rwn-notebook-note");
  note.setAttribute("role", "status");
  takeTheme(root);
  const channel = new NotebookChannel(model, note);
  const [Panel, Sliders] = [ownPanel(channel), ownSliders(channel)];
  const panel = new Panel(part(main, "div", "rwn-panel"));
  panel.pick = (picked) => channel.send({ picked });
  const groups = Object.entries({ levers, weights }).map(([kind, node]) =>
    Object.assign(new Sliders(node), { kind }));
  const restyle = () => takeTheme(root) && panel.data && panel.update(panel.data, true);
  root.addEventListener("pointerenter", restyle);
  channel.ask({ seq: 0 }).then((picture) => {
    if (!picture) return;
    restyle();
    channel.show(picture);
  });
  return () => {
    for (const each of [panel, ...groups]) each.remove();
    channel.leave();
  };
}

export default { render };
