// Paints the marks of a chart: lines, markers, cells, boxes and bars, with the colors of a scale.

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
      if (trace.texttemplate) {
        const fill = shade((value - zmin) / (zmax - zmin));
        paintCell(plot, trace, fill, i, j, lefts[j + 1] - lefts[j]);
      }
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

/** Write a cell's text, dark on light, where the cell is as wide; a pointer shows it in any case. */
function paintCell(plot, { x: columns, y: rows, text, textfont }, shade, i, j, width) {
  const { ctx, x, y } = plot;
  const [r, g, b] = channels(shade);
  font(plot, textfont);
  ctx.fillStyle = 0.3 * r + 0.6 * g + 0.1 * b < 140 ? "#fff" : "#444";
  Object.assign(ctx, { textAlign: "center", textBaseline: "middle" });
  const words = plain(text[i][j]);
  if (ctx.measureText(words).width < width) ctx.fillText(words, x(columns[j]), y(rows[i]));
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
  // arrows at the edge of the plot, within it
  "triangle-up"(ctx, x, y, r) {
    ctx.moveTo(x, y);
    ctx.lineTo(x + 1.3 * r, y + 2 * r);
    ctx.lineTo(x - 1.3 * r, y + 2 * r);
    ctx.closePath();
  },
  "triangle-right"(ctx, x, y, r) {
    ctx.moveTo(x, y);
    ctx.lineTo(x - 2 * r, y + 1.3 * r);
    ctx.lineTo(x - 2 * r, y - 1.3 * r);
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
