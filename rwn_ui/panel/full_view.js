// The full view of a card: the chart large by Plotly, its table, and both as files. Everything is
// made in the browser from the card's own chart.

const FULL = 1.25;
const LONGEST = 80;          // letters of a file's name about its table and setting

class FullView {
  constructor(root, panel) {
    this.panel = panel;
    this.node = root.appendChild(make("dialog", "rwn-view"));
    const head = this.node.appendChild(make("header"));
    this.title = head.appendChild(make("h2"));
    this.title.id = uniqueName();
    this.node.setAttribute("aria-labelledby", this.title.id);
    this.note = head.appendChild(make("span", "rwn-note"));
    head.append(
      button("CSV", "Download the table as CSV", "rwn-button", () => this.saveTable()),
      button("PNG", "Download the picture as PNG", "rwn-button", () => this.savePicture()),
      button("Close", "Close", "rwn-button", () => this.node.close()),
    );
    this.plot = this.node.appendChild(make("div", "rwn-view-plot"));
    this.plot.setAttribute("role", "img");
    this.form = new QuestionForm(this.node, panel);
    this.form.show(undefined);
    this.table = this.node.appendChild(make("section", "rwn-view-table"));
    this.table.tabIndex = 0;
    // the browser reports a closing later, when the view may be open again
    this.node.addEventListener("close", () => this.node.open || this.clear());
  }

  open(card) {
    this.clear();
    this.card = card;
    this.node.showModal();
    this.refresh();
  }

  /** Draw the open card anew, if what it shows has changed. */
  refresh() {
    const { theme } = this.panel;
    if (!this.card || (this.text === this.card.text && this.theme === theme)) return;
    Object.assign(this, { text: this.card.text, theme });
    this.chart = readChart(this.text, theme, theme.scale * FULL);
    if (this.chart.reason) return this.node.close();
    setText(this.note, this.chart.note);
    this.form.show(this.chart.form);
    this.plot.setAttribute("aria-label", `${this.chart.alt}. ${this.chart.note}`);
    this.showTable(JSON.parse(this.chart.table));
    loadPlotly().then(() => this.draw(), (error) => setText(this.plot, error.message));
  }

  /** Show the table behind the picture; where a move left it out, ask for it. */
  showTable(table) {
    this.chart.table = table ?? { columns: [], rows: [] };
    setText(this.title, this.internal && !/internal/.test(this.chart.title) ? `${this.chart.title} (internal)` : this.chart.title);
    changeTable(this.table, this.chart.table, this.panel.data.labels);
    if (table) return;
    const { chart } = this;
    channel.post({ card: chart.key }).then((whole) => whole && this.chart === chart && this.showTable(JSON.parse(whole.table)));
  }

  /** Whether the table behind the picture speaks of single records. */
  get internal() {
    return Boolean(this.chart.table.internal);
  }

  /** The table and the setting that are shown; of a table's name no folder. */
  get about() {
    const { table = "", summary } = this.panel.data;
    return [table.split(/[\\/]/).pop(), summary?.text].filter(Boolean).join(" · ");
  }

  /** A file's name with the table's and the setting; what is internal says so. */
  named(ending) {
    const about = this.about.replaceAll("ε", "epsilon").replace(/ = /g, "-").replace(/[^\p{L}\p{N}.]+/gu, "-");
    return `${this.internal ? "internal-" : ""}${this.chart.key}-${about.slice(0, LONGEST)}`.replace(/[-.]+$/, "") + `.${ending}`;
  }

  draw() {
    if (!this.card) return;
    const { data, layout, large = {} } = this.chart;
    for (const trace of data) if (trace.colorbar) trace.showscale = true;
    for (const name of ["xaxis", "yaxis"]) {
      const nticks = 2 * layout[name].nticks || 0;
      Object.assign(layout[name], { nticks }, large[name], { automargin: true });
    }
    Object.assign(layout, {
      width: this.plot.clientWidth, height: this.plot.clientHeight,
      paper_bgcolor: this.theme.background, showlegend: Boolean(large.legend),
      legend: { orientation: "h", x: 1, xanchor: "right", y: 1, yanchor: "bottom" },
    });
    layout.margin.t += large.legend ? 24 : 0;
    window.Plotly.react(this.plot, data, layout, { ...CONFIG, doubleClick: "reset" });
  }

  clear() {
    if (this.plot.data) window.Plotly.purge(this.plot);
    this.card = this.text = null;
  }

  /** The picture on its own: with title, number and parameters, as it may go into a document. */
  async savePicture() {
    const { data, layout } = this.plot;
    const { note } = this.chart;
    const text = [this.title.textContent, note, this.about].filter(Boolean).join(" · ");
    const head = 30 * this.theme.scale;
    const headed = {
      ...layout,
      title: { text: escaped(text), x: 0, xref: "paper", xanchor: "left", y: 0.98, yanchor: "top", font: layout.font },
      margin: { ...layout.margin, t: layout.margin.t + head },
    };
    const size = { width: layout.width, height: layout.height + head };
    save(await window.Plotly.toImage({ data, layout: headed }, { format: "png", scale: 2, ...size }), this.named("png"));
  }

  saveTable() {
    if (this.chart.table.columns.length) saveCsv(this.chart.table, this.named("csv"));
  }
}

function saveCsv(table, name) {
  const url = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
  save(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function save(url, name) {
  const link = make("a");
  Object.assign(link, { href: url, download: name });
  link.click();
}

// ---------------------------------------------------------------- tables

function csv({ columns, rows }) {
  return [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/** A text that a spreadsheet would run as a formula gets an apostrophe in front. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function changeSection(node, table, labels) {
  const text = JSON.stringify(table);
  if (node.rwnText === text) return;
  node.rwnText = text;
  changeTable(node, table, labels);
  node.rwnBar?.remove();
  if (table.file) node.prepend((node.rwnBar = tableButtons(table)));
}

/** The table as a file, and for a text or a spreadsheet, with tabs. */
function tableButtons(table) {
  const bar = make("p", "rwn-table-bar");
  const copy = button("Copy", "Copy the table", "rwn-button", async () => {
    const lines = [table.columns, ...table.rows].map((row) => row.map((cell) => cell ?? "").join("\t"));
    await navigator.clipboard.writeText(lines.join("\n"));
    setText(copy, "Copied");
    setTimeout(() => setText(copy, "Copy"), 1500);
  });
  bar.append(copy, button("CSV", "Download the table as CSV", "rwn-button", () => saveCsv(table, table.file)));
  return bar;
}

function makeTable() {
  const table = make("table");
  table.append(make("caption"), make("thead"), make("tbody"));
  table.tHead.appendChild(make("tr"));
  return table;
}

/** Fill a table; of a variable with a label both stand there. */
function changeTable(node, { title, columns, rows, caption }, labels = {}) {
  const table = (node.rwnTable ??= node.appendChild(makeTable()));
  const below = (node.rwnCaption ??= node.appendChild(make("p", "rwn-caption")));
  const kinds = columns.map((_, i) => (rows.some((row) => typeof row[i] === "number") ? "rwn-number" : ""));
  const change = (cell, text, i) => {
    setText(cell, text);
    cell.className = kinds[i];
  };
  setText(table.caption, title ?? "");
  setText(below, caption ?? "");
  table.caption.hidden = !title;
  below.hidden = !caption;
  fill(table.tHead.rows[0], columns, () => Object.assign(make("th"), { scope: "col" }), change);
  fill(table.tBodies[0], rows, () => make("tr"), (line, row) =>
    fill(line, row, () => make("td"), (cell, value, i) =>
      change(cell, Object.hasOwn(labels, value) ? `${value} · ${labels[value]}` : readable(value), i)));
}

function readable(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return String(value).replace("-", "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

/** Plotly reads some HTML in its texts. */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
