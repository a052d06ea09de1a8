// Draws the panel of panel.py: summary, tiles, chart cards and tables, each changed in place.
// Cards are painted by painter.js; Plotly takes a card over while a reader points at it or has
// zoomed it, and draws the full view. Texts come from the user's file: they are only ever set as
// text, never as HTML.

const SIZES = ["projector", "wide", "single", "meeting", "tall", "low"];
const PROJECTOR = 1.5;       // size against the normal one
const MEETING = 1.2;
const ADDRESS_MS = 250;      // milliseconds without a change before the address is written
const QUIET = 1200;          // milliseconds without a change before a screen reader announces

// ---------------------------------------------------------------- small helpers

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

/** In place where there is a text: a node that comes or goes makes the browser look at more. */
function setText(node, text) {
  if (node.textContent === text) return;
  const { firstChild } = node;
  if (text && firstChild instanceof Text && firstChild === node.lastChild) firstChild.data = text;
  else node.textContent = text;
}

/** Keep as many children as there are items, making missing ones, and change each. */
function fill(parent, items, create, change) {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  items.forEach((item, i) => change(parent.children[i] ?? parent.appendChild(create()), item, i));
}

function button(text, label, className, act) {
  const node = make("button", className, text);
  node.type = "button";
  node.setAttribute("aria-label", label);
  node.addEventListener("click", act);
  return node;
}

/** Keep the address shareable. Every step of a slider is no page to return to. */
function setAddress(query) {
  const wanted = `?${new URLSearchParams(query)}`;
  if (wanted !== location.search) history.replaceState(history.state, "", wanted);
}

/** Mark the page for large type. With :has(), its styles were looked at after every change. */
function markPage() {
  const { classList } = document.documentElement;
  classList.toggle("rwn-met", Boolean(document.querySelector(".rwn-meeting")));
  classList.toggle("rwn-enlarged", Boolean(document.querySelector(".rwn-projector")));
}

function isDark(color) {
  const [r, g, b] = color.match(/[\d.]+/g).map(Number);
  return 0.3 * r + 0.6 * g + 0.1 * b < 128;
}

// ---------------------------------------------------------------- the panel

class Panel {
  constructor(root) {
    this.root = root;
    this.cards = [];
    const part = (tag, name) => root.appendChild(make(tag, `rwn-${name}`));
    this.verdict = new VerdictLine(part("div", "judged"), this);
    this.summary = new Summary(part("header", "summary"));
    this.tiles = part("div", "tiles");
    this.candidates = new Candidates(part("div", "candidates"), this);
    this.question = part("h2", "question");
    this.grid = part("div", "grid");
    this.notice = part("p", "notice");
    this.tables = part("div", "tables");
    this.more = new More(part("details", "more"));
    this.news = part("p", "news");
    this.news.setAttribute("role", "status");
    this.view = new FullView(root, this);
    this.sizes = new ResizeObserver((changes) => this.resized(changes));
    this.sight = new IntersectionObserver((changes) => this.onVisible(changes), { rootMargin: "120px" });
    this.follow = (picture) => this.take(picture);
    channel.listeners.add(this.follow);
    this.fonts = () => this.redraw();
    document.fonts.addEventListener("loadingdone", this.fonts);
    this.printed = () => this.print();
    this.screened = () => this.draw();
    window.addEventListener("beforeprint", this.printed);
    window.addEventListener("afterprint", this.screened);
    // Plotly is large: it is read when a reader comes near, not while the first picture is made.
    root.addEventListener("pointerenter", () => loadPlotly().catch(() => {}), { once: true });
  }

  /** Streamlit calls with new bytes after a run, and with the same when the theme changed. */
  setData(bytes) {
    if (bytes === this.bytes) return this.update(this.data, true);
    this.bytes = bytes;
    const data = JSON.parse(new TextDecoder().decode(bytes));
    if (!data.endpoint) return this.take(data);
    this.byRun = (edits) => this.run(edits);
    Object.assign(channel, { endpoint: data.endpoint, run: this.byRun });
    // Streamlit may have an older one: the endpoint has answered a later move
    if (channel.fromRun(data)) return;
    this.data ??= data; // a panel that was just made has no picture yet
    this.update(this.data, true);
  }

  take(data) {
    this.data = data;
    this.update(data, false);
  }

  update(data, restyled) {
    for (const size of SIZES) this.root.classList.toggle(`rwn-${size}`, Boolean(data[size]));
    const compared = [data.verdict, ...(data.tiles ?? [])];
    this.root.classList.toggle("rwn-pinned", compared.some((each) => each?.against?.length));
    this.root.classList.toggle("rwn-judging", Boolean(data.verdict));
    markPage();
    // a canvas asks for the styles of the whole page: after a change of a text they are made anew
    this.bare = !this.cards.length;
    if (this.bare) this.write(data);
    this.fillCards(data.cards ?? []);
    this.readTheme(restyled);
    this.draw();
    if (!this.bare) this.write(data);
  }

  /** Everything but the charts. */
  write(data) {
    this.verdict.show(data.verdict);
    this.summary.show(data);
    setText(this.notice, data.changed?.warning ?? "");
    fill(this.tiles, data.tiles ?? [], makeTile, changeTile);
    this.tiles.hidden = !(data.tiles ?? []).some(({ quiet }) => !quiet);
    this.candidates.show(data.candidates);
    setText(this.question, data.first?.title ?? "");
    this.question.hidden = !data.first?.title;
    const isFirst = ({ title }) => !data.first || data.first.tables.includes(title);
    const shown = (tables) => [tables, () => make("section"), (node, table) => changeSection(node, table, data.labels)];
    fill(this.tables, ...shown((data.tables ?? []).filter(isFirst)));
    fill(this.more.tables, ...shown((data.tables ?? []).filter((table) => !isFirst(table))));
    this.more.show(data.first);
    clearTimeout(this.addressed);
    if (data.address && this.bare) setAddress(data.address);
    else if (data.address) this.addressed = setTimeout(() => setAddress(data.address), ADDRESS_MS);
  }

  /** Reading computed styles makes the browser style the whole page, so it is done when needed. */
  readTheme(restyled) {
    const scale = this.data.projector ? PROJECTOR : this.data.meeting ? MEETING : 1;
    if (this.theme && !restyled && this.theme.scale === scale) return;
    const style = getComputedStyle(this.root);
    const background = style.getPropertyValue("--st-background-color").trim() || "#fff";
    const dark = !isDark(style.color);
    this.theme = { color: style.color, family: style.fontFamily, dark, background, scale };
    this.root.classList.toggle("rwn-dark", dark);
  }

  fillCards(texts) {
    while (this.cards.length > texts.length) this.cards.pop().remove();
    const first = this.data.first?.cards ?? texts.length;
    texts.forEach((text, i) => {
      if (!this.cards[i]) this.cards[i] = this.addCard();
      const place = i < first ? this.grid : this.more.grid;
      if (this.cards[i].node.parentNode !== place) place.appendChild(this.cards[i].node);
      this.cards[i].text = text;
    });
    for (const card of this.cards) if (!card.size) card.measure();
  }

  addCard() {
    const card = new Card(this);
    this.grid.appendChild(card.node);
    this.sizes.observe(card.plot);
    this.sight.observe(card.node);
    return card;
  }

  draw() {
    const drawn = this.cards.filter((card) => card.visible && card.draw(this.theme));
    for (const card of drawn) card.describe();
    this.view.refresh();
    this.root.dataset.stamp = this.data.stamp ?? "";
    performance.clearMarks("rwn-drawn");
    performance.mark("rwn-drawn", { detail: this.data.stamp });
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.announce(), QUIET);
  }

  /** Draw every card for paper, those out of sight too. */
  print() {
    this.more.node.open = true;
    const paper = { ...this.theme, color: "#111", dark: false, background: "#fff" };
    for (const card of this.cards) if (card.draw(paper)) card.describe();
  }

  redraw() {
    if (!this.data) return;
    this.theme = { ...this.theme };
    this.draw();
  }

  /** Announce the state to a screen reader when the parameters rest, not at every step. */
  announce() {
    const { verdict } = this.data;
    const news = [this.data.summary?.text ?? ""];
    if (verdict) news.push([verdict.text, verdict.nearest, verdict.price].filter(Boolean).join("; "));
    setText(this.news, `${news.join(". ")}.`);
  }

  onVisible(changes) {
    for (const { target, isIntersecting } of changes) {
      const card = this.cards.find((c) => c.node === target);
      if (!card) continue;
      card.visible = isIntersecting;
      if (isIntersecting && card.draw(this.theme)) card.describe();
    }
  }

  resized(changes) {
    for (const { target, contentRect: { width, height } } of changes) {
      const card = this.cards.find((c) => c.plot === target);
      if (!card || !width || (card.size.width === width && card.size.height === height)) continue;
      card.size = { width, height };
      // out of sight, too, where a picture of the old size would be stretched
      if ((card.visible || card.drawn.chart) && card.draw(this.theme)) card.describe();
    }
  }

  remove() {
    this.sizes.disconnect();
    this.sight.disconnect();
    if (this.byRun && channel.run === this.byRun) channel.close();
    channel.listeners.delete(this.follow);
    document.fonts.removeEventListener("loadingdone", this.fonts);
    window.removeEventListener("beforeprint", this.printed);
    window.removeEventListener("afterprint", this.screened);
    clearTimeout(this.quiet);
    clearTimeout(this.addressed);
    for (const card of this.cards) card.remove();
    this.view.node.remove();
    markPage();
  }
}
