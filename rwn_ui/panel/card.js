// A chart's card: painted by painter.js, taken over by Plotly while a reader points at it or has
// zoomed it. So a redraw costs a millisecond, and hover and zoom are Plotly's.

const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false };
const DARK = { "#0072B2": "#56B4E9", "#D55E00": "#E98A3A", "#777777": "#A3A3A3",
               "#009E73": "#35C29A", "#B2182B": "#FF8080",
               "#7A3E9D": "#C9A0E6", "#8A6D00": "#D9BD45",
               // scales of changes and correlations: dark where nothing is to be seen
               "rgb(84,39,136)": "rgb(190,165,245)", "rgb(178,171,210)": "rgb(98,82,140)",
               "rgb(242,242,242)": "rgb(40,43,50)", "rgb(253,184,99)": "rgb(140,84,30)",
               "rgb(179,88,6)": "rgb(255,176,84)", "rgb(33,102,172)": "rgb(110,175,240)",
               "rgb(146,197,222)": "rgb(52,88,120)", "rgb(244,165,130)": "rgb(140,70,55)",
               "rgb(178,24,43)": "rgb(255,125,115)" };
const SETTLE = 300;          // milliseconds in which Plotly may still answer a pointer that left

let library;
/** Plotly, loaded once a page and only when it is first needed. */
function loadPlotly() {
  library ??= window.Plotly ? Promise.resolve(window.Plotly) : loadScript();
  return library;
}

async function loadScript() {
  const script = make("script");
  script.src = await channel.library();
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error("The chart library could not be loaded."));
    document.head.appendChild(script);
  });
  return window.Plotly;
}

/** The chart of a JSON text, in the colors and the size of the page. */
function readChart(text, theme, scale = theme.scale) {
  if (theme.dark) for (const [light, dark] of Object.entries(DARK)) text = text.replaceAll(light, dark);
  const chart = JSON.parse(text);
  if (chart.reason) return chart;
  if (scale !== 1) enlarge([...chart.data, chart.layout], scale);
  Object.assign(chart.layout.font, { family: theme.family, color: theme.color });
  return chart;
}

/** Multiply every length that was stated for the base font size. */
function enlarge(node, factor, owner = "") {
  for (const [name, value] of Object.entries(node)) {
    if (value && typeof value === "object") {
      if (typeof value[0] !== "number") enlarge(value, factor, name);
    } else if (typeof value === "number" && isLength(name, owner)) node[name] = value * factor;
  }
}

function isLength(name, owner) {
  return owner === "margin" || (name === "width" && owner === "line") ||
    ["size", "standoff", "xshift", "yshift", "thickness"].includes(name);
}

/** Keep the axes of an earlier picture while a slider is dragged; named points stay in sight. */
function holdAxes(chart, before) {
  if (!before || before.reason || chart.reason || before.key !== chart.key) return;
  const { layout } = chart;
  for (const name of ["xaxis", "yaxis"]) {
    const { type, range, tickvals, ticktext } = before.layout[name];
    if (type !== layout[name].type) return;
    // on an axis of the same ends ticks say what the heights stand for now
    if (String(range) !== String(layout[name].range)) Object.assign(layout[name], { range, tickvals, ticktext });
  }
  layout.margin = before.layout.margin;
  const into = ([from, to], value) => Math.min(Math.max(value, Math.min(from, to)), Math.max(from, to));
  const holds = ({ range }, ref, value) => ref === "paper" || into(range, value) === value;
  layout.annotations = layout.annotations?.filter(
    (note) => holds(layout.xaxis, note.xref, note.x) && holds(layout.yaxis, note.yref, note.y));
  for (const trace of chart.data) {
    if (!trace.mode?.includes("text") || layout.xaxis.type === "log") continue;
    for (const side of ["x", "y"]) trace[side] = trace[side].map((value) => into(layout[`${side}axis`].range, value));
  }
}

/** Say the whole name of a row under the pointer, where its axis has a shortened one. */
function nameWhole(data, whole) {
  if (!whole) return;
  for (const trace of data) if (trace.hovertemplate && !trace.text && !trace.hovertext) {
    trace.hovertext = Array.from(trace.y, (row) => whole[Math.round(row)] ?? "");
    trace.hovertemplate = `%{hovertext}<br>${trace.hovertemplate}`;
  }
}

class Card {
  constructor(panel) {
    this.node = make("figure", "rwn-card");
    const head = this.node.appendChild(make("figcaption"));
    this.title = head.appendChild(make("b"));
    this.note = head.appendChild(make("span", "rwn-note"));
    this.expand = head.appendChild(button("", "Full view", "rwn-expand", () => panel.view.open(this)));
    this.plot = this.node.appendChild(make("div", "rwn-plot"));
    this.plot.setAttribute("role", "img");
    this.canvas = this.plot.appendChild(make("canvas"));
    this.reason = this.plot.appendChild(make("p", "rwn-reason"));
    this.showForm = (form) => (this.form ??= form && new QuestionForm(this.plot, panel))?.show(form);
    this.plot.addEventListener("pointerenter", () => this.touch(panel));
    this.plot.addEventListener("pointerleave", () => this.leave());
    this.plot.addEventListener("pointerdown", () => this.press());
    this.drawn = {};
    this.count = 0;
  }

  measure() {
    const { width, height, top } = this.plot.getBoundingClientRect();
    this.size = { width, height };
    this.visible = top < innerHeight + 120;
  }

  /** Draw, unless this text is on screen already in this theme and size; whether it was drawn. */
  draw(theme) {
    const { text, size, drawn } = this;
    const held = Boolean(channel.dragging);
    if (drawn.text === text && drawn.theme === theme && drawn.size === size && (held || !drawn.held)) return false;
    const chart = readChart(text, theme);
    if (!chart.reason) thinNames(chart, size);
    if (held && drawn.theme === theme) holdAxes(chart, drawn.chart);
    this.drawn = { text, theme, size, held, chart };
    if (!chart.reason) paint(this.canvas, chart, size, theme);
    if (this.live) this.react(chart);
    return true;
  }

  /** Say in words what was drawn; after all cards, because each canvas asks for the page's styles. */
  describe() {
    const { title, note, alt, reason = "", form: asked } = this.drawn.chart;
    const form = reason ? asked : undefined; // a fitted regression is changed in the full view
    this.node.dataset.drawn = ++this.count;
    setText(this.title, title);
    this.title.title = title; // the pointer finds what a narrow card cuts
    setText(this.note, note);
    this.note.title = note;
    setText(this.reason, form ? "" : reason);
    this.showForm(form);
    this.plot.setAttribute("role", form ? "group" : "img");
    this.canvas.hidden = Boolean(reason);
    this.expand.setAttribute("aria-label", `Full view: ${title}`);
    this.expand.hidden = Boolean(reason);
    this.plot.setAttribute("aria-label", reason ? alt : `${alt}. ${note}`);
  }

  /** Let Plotly answer the pointer: hover, zoom by dragging, reset by a double click. */
  touch(panel) {
    this.touched = true;
    loadPlotly().then(() => {
      if (!this.touched || this.live || this.canvas.hidden || !this.drawn.chart) return;
      this.live = this.plot.appendChild(make("div", "rwn-live"));
      this.react(this.drawn.chart);
      this.live.on("plotly_relayout", () => this.zoom(panel));
      this.live.on("plotly_doubleclick", () => this.reset(panel));
      this.live.on("plotly_click", ({ points: [point] }) => {
        if (typeof point?.customdata === "string") panel.pick(point.customdata);
      });
    }, (error) => setText(panel.news, error.message));
  }

  /** Redraw in place: the node stays, and with it what the reader zoomed to. */
  react({ data, layout, large, reason }) {
    if (reason) return this.release();
    for (const trace of data) if (trace.colorbar) trace.showscale = true;
    nameWhole(data, large?.yaxis?.ticktext);
    const axes = structuredClone({ xaxis: layout.xaxis, yaxis: layout.yaxis }); // Plotly writes the zoom into them
    // Plotly's own ticks are for a zoomed chart; until then the painter's stay
    if (!this.zoomed) for (const axis of Object.values(axes)) axis.tickmode = "array";
    window.Plotly.react(this.live, data, { ...layout, ...axes, ...this.size }, CONFIG);
  }

  zoom(panel) {
    if (this.zoomed) return;
    this.zoomed = true;
    this.react(readChart(this.text, panel.theme));
  }

  /** Give the card back to the painter, unless it is zoomed; a drag may leave and come back. */
  leave() {
    this.touched = false;
    setTimeout(() => this.touched || this.pressed || this.zoomed || this.release(), SETTLE);
  }

  press() {
    this.pressed = true;
    const lift = () => {
      this.pressed = false;
      if (!this.touched) this.leave();
    };
    window.addEventListener("pointerup", lift, { once: true });
  }

  reset(panel) {
    setTimeout(() => {
      this.release();
      if (this.touched) this.touch(panel);
    }, SETTLE);
  }

  release() {
    if (this.live) {
      window.Plotly.purge(this.live);
      this.live.remove();
    }
    this.live = this.zoomed = null;
  }

  remove() {
    this.release();
    this.node.remove();
  }
}
