// Paints a chart (the Plotly dictionary of rwn_core/charts) on a canvas, in about a millisecond.
// It knows just what those charts use: ticks are stated, ranges are stated, nothing is measured.
// Plotly draws the same dictionary where a reader hovers, zooms or opens the full view.

function paint(canvas, chart, { width, height }, theme) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.lineJoin = "round";
  const { layout, data } = chart;
  const { l, r, t, b } = layout.margin;
  const frame = squared({ left: l, right: width - r, top: t, bottom: height - b }, layout);
  const x = scaleOf(layout.xaxis, frame.left, frame.right);
  const y = scaleOf(layout.yaxis, frame.bottom, frame.top);
  const plot = { ctx, x, y, frame, theme, width, size: layout.font.size };
  const shapes = layout.shapes ?? [];

  paintGrid(plot, layout);
  inside(plot, () => {
    for (const shape of shapes) if (shape.layer === "below") paintShape(plot, shape);
    for (const trace of data) PAINT[trace.type](plot, trace);
    for (const shape of shapes) if (shape.layer !== "below") paintShape(plot, shape);
  });
  for (const trace of data) if (trace.mode?.includes("text")) paintNames(plot, trace);
  for (const trace of data) if (trace.colorbar) paintScale(plot, trace);
  paintTicks(plot, layout, height);
  for (const note of layout.annotations ?? []) paintNote(plot, note);
}

/** Value -> pixel. An axis of type "log" states its range in powers of ten, as Plotly's does. */
function scaleOf(axis, start, end) {
  const [low, high] = axis.range;
  const factor = (end - start) / (high - low);
  const linear = (value) => start + (value - low) * factor;
  const place = axis.type === "log" ? (value) => linear(Math.log10(value)) : linear;
  return Object.assign(place, { linear, paper: (share) => start + share * (end - start) });
}

/** Equal units on both axes where the chart asks for them: the longer side gives way, as Plotly's. */
function squared(frame, { xaxis, yaxis }) {
  if (yaxis.scaleanchor !== "x") return frame;
  const [across, up] = [xaxis, yaxis].map(({ range: [low, high] }) => Math.abs(high - low));
  if (!(across > 0 && up > 0)) return frame; // nothing is drawn on axes without length
  const [wide, high] = [frame.right - frame.left, frame.bottom - frame.top];
  const unit = Math.min(wide / across, high / up);
  const [dx, dy] = [(wide - unit * across) / 2, (high - unit * up) / 2];
  return { left: frame.left + dx, right: frame.right - dx, top: frame.top + dy, bottom: frame.bottom - dy };
}

function inside({ ctx, frame }, act) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(frame.left, frame.top - 1, frame.right - frame.left, frame.bottom - frame.top + 2);
  ctx.clip();
  act();
  ctx.restore();
}

function font(plot, { size = plot.size, weight = 400 } = {}) {
  plot.ctx.font = `${weight} ${size}px ${plot.theme.family}`;
}

/** Texts are escaped for Plotly, which reads some HTML; a canvas wants the characters. */
function plain(text) {
  return text.includes("&") ? text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&") : text;
}

function paintGrid({ ctx, x, y, frame }, { xaxis, yaxis }) {
  ctx.beginPath();
  if (xaxis.showgrid !== false) for (const tick of xaxis.tickvals) {
    const at = Math.round(x(tick)) + 0.5;
    ctx.moveTo(at, frame.top);
    ctx.lineTo(at, frame.bottom);
  }
  if (yaxis.showgrid !== false) for (const tick of yaxis.tickvals) {
    const at = Math.round(y(tick)) + 0.5;
    ctx.moveTo(frame.left, at);
    ctx.lineTo(frame.right, at);
  }
  ctx.lineWidth = 1;
  ctx.strokeStyle = xaxis.gridcolor;
  ctx.stroke();
}

const SMALLEST = 7.5;         // pixels of a name next to its row
/** Write names smaller, down to what can be read, and then leave out every second, third, ... */
function thinNames(chart, { width, height }) {
  const { xaxis, yaxis, margin: { l, r, t, b } } = chart.layout;
  for (const [axis, length] of [[xaxis, width - l - r], [yaxis, height - t - b]]) {
    const { tickvals: [first, second], range: [low, high], tickfont } = axis;
    if (!tickfont?.size || second === undefined) continue;
    const apart = Math.abs(((second - first) / (high - low)) * length);
    const size = Math.max(SMALLEST, Math.min(tickfont.size, apart));
    const every = Math.ceil((0.98 * size) / apart);
    axis.tickfont = { ...tickfont, size };
    for (const part of ["tickvals", "ticktext"]) axis[part] = axis[part].filter((_, i) => i % every === 0);
  }
}

/** Write texts in a row and leave out those that would touch the one before. */
function paintRow(plot, texts, places, y) {
  let [last, end] = [-Infinity, 0];
  texts.forEach((text, i) => {
    const half = plot.ctx.measureText(text).width / 2;
    if (Math.abs(places[i] - last) < end + half + 3) return;
    plot.ctx.fillText(text, within(plot, text, places[i]), y);
    [last, end] = [places[i], half];
  });
}

function paintTicks(plot, { xaxis, yaxis }, height) {
  const { ctx, x, y, frame, theme } = plot;
  ctx.fillStyle = theme.color;
  font(plot, yaxis.tickfont);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  yaxis.tickvals.forEach((tick, i) => ctx.fillText(plain(yaxis.ticktext[i]), frame.left - 5, y(tick) + 0.5));
  font(plot, xaxis.tickfont);
  const upright = xaxis.tickangle === -90;
  if (!upright) Object.assign(ctx, { textAlign: "center", textBaseline: "top" });
  const [texts, places] = [xaxis.ticktext.map(plain), xaxis.tickvals.map(x)];
  if (upright) texts.forEach((text, i) => turned(ctx, text, places[i], frame.bottom + 4));
  else paintRow(plot, texts, places, frame.bottom + plot.size * 0.45);
  font(plot);
  Object.assign(ctx, { textAlign: "center", textBaseline: "bottom" });
  const [across, down] = [xaxis.title.text, yaxis.title.text];
  if (across) {
    const share = fitted(plot, plain(across), plot.width - 2);
    ctx.fillText(plain(across), within(plot, plain(across), x.paper(0.5)), height - 2);
    if (share < 1) font(plot);
  }
  ctx.textBaseline = "top";
  if (!down) return;
  const wide = ctx.measureText(plain(down)).width;
  const half = (fitted(plot, plain(down), height - 4) * wide) / 2 + 2;
  turned(ctx, plain(down), 2, Math.max(half, Math.min(y.paper(0.5), height - half)));
}

/** Take smaller type where a text is longer than its room; its share of the usual size. */
function fitted(plot, text, room) {
  const share = Math.min(1, room / plot.ctx.measureText(text).width);
  if (share < 1) font(plot, { size: share * plot.size });
  return share;
}

function turned(ctx, text, x, y) {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

function paintShape({ ctx, x, y }, { type, xref, yref, x0, x1, y0, y1, line, fillcolor }) {
  const across = xref === "paper" ? x.paper : x;
  const up = yref === "paper" ? y.paper : y;
  const [left, right, top, bottom] = [across(x0), across(x1), up(y1), up(y0)];
  if (type === "rect") {
    ctx.fillStyle = fillcolor;
    ctx.fillRect(left, top, right - left, bottom - top);
    return;
  }
  ctx.beginPath();
  ctx.moveTo(left, bottom);
  ctx.lineTo(right, top);
  strokeLine(ctx, line);
}

const DASHES = { solid: [], dash: [7, 5], dot: [2, 3] };
function strokeLine(ctx, { color, width, dash }) {
  ctx.setLineDash(DASHES[dash ?? "solid"]);
  ctx.lineWidth = width;
  ctx.strokeStyle = color;
  ctx.stroke();
  ctx.setLineDash([]);
}

const ALIGN = { left: "left", right: "right", center: "center" };
const BASE = { top: "top", bottom: "bottom", middle: "middle" };
function paintNote(plot, note) {
  const x = note.xref === "paper" ? plot.x.paper(note.x) : plot.x.linear(note.x);
  const y = note.yref === "paper" ? plot.y.paper(note.y) : plot.y.linear(note.y);
  plot.ctx.textAlign = ALIGN[note.xanchor];
  plot.ctx.textBaseline = BASE[note.yanchor];
  const inward = { left: 2, right: -2, center: 0 }[note.xanchor];
  const upward = { top: 3, bottom: -2, middle: 0 }[note.yanchor];
  paintText(plot, note.text, x + inward + (note.xshift ?? 0), y + upward - (note.yshift ?? 0), note.font);
}

/** Where to write a text that is to be at x, so that the canvas cuts off nothing of it. */
function within({ ctx, width }, text, x) {
  const wide = ctx.measureText(text).width;
  const before = { left: 0, center: wide / 2, right: wide }[ctx.textAlign];
  return Math.max(Math.min(x, width - 1 - wide + before), 1 + before);
}

/** A text over points, with a rim in the color of the page so that it can be read. */
function paintText(plot, text, x, y, style) {
  const { ctx, theme } = plot;
  const words = plain(text);
  font(plot, style);
  const at = within(plot, words, x);
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.background;
  ctx.strokeText(words, at, y);
  ctx.fillStyle = style.color;
  ctx.fillText(words, at, y);
}

function paintNames(plot, { x, y, text, textposition, textfont, marker }) {
  const [vertical, horizontal] = textposition.split(" ");
  const gap = marker.size / 2 + 3;
  const dx = { left: -gap, right: gap, center: 0 }[horizontal];
  const dy = { top: -gap, bottom: gap, middle: 0 }[vertical];
  // Plotly's "left" puts the text left of the point: it ends there.
  plot.ctx.textAlign = { left: "right", right: "left", center: "center" }[horizontal];
  plot.ctx.textBaseline = { top: "bottom", bottom: "top", middle: "middle" }[vertical];
  x.forEach((value, i) => paintText(plot, text[i], plot.x(value) + dx, plot.y(y[i]) + dy, textfont));
}

/** The color scale of a heatmap, right of the plot. */
function paintScale(plot, { colorscale, colorbar, zmin, zmax }) {
  const { ctx, frame, y, theme } = plot;
  const left = frame.right + plot.size;
  const fill = ctx.createLinearGradient(0, frame.bottom, 0, frame.top);
  for (const [at, color] of colorscale) fill.addColorStop(at, color);
  ctx.fillStyle = fill;
  ctx.fillRect(left, frame.top, colorbar.thickness, frame.bottom - frame.top);
  font(plot, colorbar.tickfont);
  Object.assign(ctx, { fillStyle: theme.color, textAlign: "left", textBaseline: "middle" });
  colorbar.tickvals.forEach((value, i) =>
    ctx.fillText(colorbar.ticktext[i], left + colorbar.thickness + 4, y.paper((value - zmin) / (zmax - zmin))));
}
