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
  const frame = { left: l, right: width - r, top: t, bottom: height - b };
  const x = scaleOf(layout.xaxis, frame.left, frame.right);
  const y = scaleOf(layout.yaxis, frame.bottom, frame.top);
  const plot = { ctx, x, y, frame, theme, size: layout.font.size };
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
  xaxis.tickvals.forEach((tick, i) => {
    const text = plain(xaxis.ticktext[i]);
    if (upright) turned(ctx, text, x(tick), frame.bottom + 4);
    else ctx.fillText(text, x(tick), frame.bottom + plot.size * 0.45);
  });
  font(plot);
  Object.assign(ctx, { textAlign: "center", textBaseline: "bottom" });
  const [across, down] = [xaxis.title.text, yaxis.title.text];
  if (across) ctx.fillText(plain(across), x.paper(0.5), height - 2);
  ctx.textBaseline = "top";
  if (down) turned(ctx, plain(down), 2, y.paper(0.5));
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

/** A text over points, with a rim in the color of the page so that it can be read. */
function paintText(plot, text, x, y, style) {
  const { ctx, theme } = plot;
  font(plot, style);
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.background;
  ctx.strokeText(plain(text), x, y);
  ctx.fillStyle = style.color;
  ctx.fillText(plain(text), x, y);
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

const PAINT = {
  scatter(plot, trace) {
    if (trace.mode.includes("lines")) paintLine(plot, trace);
    if (trace.mode.includes("markers")) paintMarkers(plot, trace);
  },

  heatmap(plot, trace) {
    const { x: columns, y: rows, z, zmin, zmax, colorscale, xgap = 0, ygap = 0 } = trace;
    const { ctx, x, y } = plot;
    const shade = ramp(colorscale);
    const lefts = borders(columns, z[0].length).map((v) => Math.round(x(v)));
    const tops = borders(rows, z.length).map((v) => Math.round(y(v)));
    z.forEach((row, i) => row.forEach((value, j) => {
      if (value === null) return;
      ctx.fillStyle = shade((value - zmin) / (zmax - zmin));
      ctx.fillRect(lefts[j], tops[i], lefts[j + 1] - lefts[j] - xgap, tops[i + 1] - tops[i] - ygap);
      if (trace.texttemplate) paintCell(plot, trace, shade((value - zmin) / (zmax - zmin)), i, j);
    }));
  },

  box({ ctx, x, y }, { q1, median, q3, lowerfence, upperfence, y: rows, width, line, fillcolor }) {
    const [low, first, middle, third, high] = [lowerfence, q1, median, q3, upperfence].map((v) => x(v[0]));
    const [top, bottom, center] = [y(rows[0] + width / 2), y(rows[0] - width / 2), y(rows[0])];
    const quarter = (bottom - top) / 4;
    ctx.fillStyle = fillcolor;
    ctx.fillRect(first, top, third - first, bottom - top);
    ctx.beginPath();
    ctx.rect(first, top, third - first, bottom - top);
    for (const at of [low, high]) {
      ctx.moveTo(at, center - quarter);
      ctx.lineTo(at, center + quarter);
    }
    for (const [from, to] of [[low, first], [third, high]]) {
      ctx.moveTo(from, center);
      ctx.lineTo(to, center);
    }
    ctx.moveTo(middle, top);
    ctx.lineTo(middle, bottom);
    strokeLine(ctx, line);
  },

  bar({ ctx, x, y }, { x: lengths, y: rows, width, offset, marker }) {
    ctx.fillStyle = marker.color;
    ctx.beginPath();
    lengths.forEach((length, i) => {
      const top = y(rows[i] + offset);
      ctx.rect(x(0), top, x(length) - x(0), y(rows[i] + offset + width) - top);
    });
    ctx.fill();
    strokeLine(ctx, marker.line);
  },
};

/** The text of a cell in the middle of it, dark on light and light on dark, as Plotly has it. */
function paintCell(plot, { x: columns, y: rows, text, textfont }, shade, i, j) {
  const { ctx, x, y } = plot;
  const [r, g, b] = channels(shade);
  font(plot, textfont);
  ctx.fillStyle = 0.3 * r + 0.6 * g + 0.1 * b < 140 ? "#fff" : "#444";
  Object.assign(ctx, { textAlign: "center", textBaseline: "middle" });
  ctx.fillText(plain(text[i][j]), x(columns[j]), y(rows[i]));
}

/** Stated borders of cells, or half a step around stated centers. */
function borders(places, cells) {
  return places.length > cells ? places : [...places, places.length].map((v) => v - 0.5);
}

function paintLine({ ctx, x, y }, { x: xs, y: ys, line, fill, fillcolor }) {
  ctx.beginPath();
  let open = false;
  let last;
  xs.forEach((value, i) => {
    if (value === null || ys[i] === null) return void (open = false);
    const [px, py] = [x(value), y(ys[i])];
    if (open && line.shape === "hv") ctx.lineTo(px, last);
    if (open) ctx.lineTo(px, py);
    else ctx.moveTo(px, py);
    [open, last] = [true, py];
  });
  if (fill) {
    ctx.fillStyle = fillcolor;
    ctx.fill();
  }
  strokeLine(ctx, line);
}

function paintMarkers({ ctx, x, y }, { x: xs, y: ys, marker }) {
  const { size, color, symbol, opacity = 1 } = marker;
  const hollow = symbol.endsWith("-open");
  const outline = OUTLINES[symbol.replace("-open", "")];
  ctx.globalAlpha = opacity;
  ctx.fillStyle = ctx.strokeStyle = color;
  ctx.lineWidth = marker.line?.width ?? Math.max(1, size / 6);
  ctx.beginPath();
  for (let i = 0; i < xs.length; i++) {
    if (xs[i] === null || ys[i] === null) continue;
    outline(ctx, x(xs[i]), y(ys[i]), size / 2);
  }
  if (hollow) ctx.stroke();
  else ctx.fill();
  ctx.globalAlpha = 1;
}

const OUTLINES = {
  circle(ctx, x, y, r) {
    ctx.moveTo(x + r, y);
    ctx.arc(x, y, r, 0, 2 * Math.PI);
  },
  square(ctx, x, y, r) {
    ctx.rect(x - r, y - r, 2 * r, 2 * r);
  },
  diamond(ctx, x, y, r) {
    const d = r * 1.3;
    ctx.moveTo(x, y - d);
    ctx.lineTo(x + d, y);
    ctx.lineTo(x, y + d);
    ctx.lineTo(x - d, y);
    ctx.closePath();
  },
};

const LEVELS = 64;
/** Color scale -> color of a share, from 64 colors mixed once. */
function ramp(stops) {
  const mixed = stops.map(([at, color]) => [at, channels(color)]);
  const colors = Array.from({ length: LEVELS + 1 }, (_, i) => {
    const share = i / LEVELS;
    const k = Math.max(1, mixed.findIndex(([at]) => at >= share));
    const [[a, from], [b, to]] = [mixed[k - 1], mixed[k]];
    const c = from.map((v, j) => v + ((to[j] - v) * (share - a)) / (b - a));
    return `rgba(${c[0] | 0},${c[1] | 0},${c[2] | 0},${c[3].toFixed(2)})`;
  });
  return (share) => colors[Math.round(Math.min(Math.max(share, 0), 1) * LEVELS)];
}

/** "#RRGGBB", "#RRGGBBAA" or "rgb(r,g,b)" -> [r, g, b, opacity]. */
function channels(color) {
  if (!color.startsWith("#")) return [...color.match(/\d+/g).map(Number), 1];
  const [r, g, b, a = 255] = color.slice(1).match(/../g).map((pair) => parseInt(pair, 16));
  return [r, g, b, a / 255];
}
