// Every call and property of the canvas, for charts with all that is painted, against drawings.txt:
// a line for each act that is seen, after the path and the properties that it is done with.
// After a wanted change: UPDATE=1 node --test tests/js/drawings.test.mjs, and read the diff.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";

import { load } from "./load.mjs";

const { paint } = load(["painter.js", "marks.js"], ["paint"]);
const FILE = new URL("drawings.txt", import.meta.url);
const SEEN = /^(fill|stroke|clip|clearRect|fillRect|strokeRect|fillText|setTransform|save|restore)$/;
const THEME = { family: "serif", color: "#111", background: "#fff" };

function recorder() {
  const log = [];
  let before = [];
  const note = (name, text) => {
    before.push(text);
    if (!SEEN.test(name)) return;
    log.push(before.join("; "));
    before = [];
  };
  const said = (value) => (typeof value === "number" ? Number(value.toFixed(3)) : value);
  const ctx = new Proxy({}, {
    get: (target, name) => {
      if (name in target) return target[name];
      if (name === "measureText") return (text) => ({ width: 6 * text.length });
      return (...given) => {
        note(name, [name, ...given.map(said)].join(" "));
        return { addColorStop: (...stop) => note("stop", `stop ${stop.join(" ")}`), toString: () => "gradient" };
      };
    },
    set: (target, name, value) => {
      note(name, `${name} = ${said(value)}`);
      target[name] = value;
      return true;
    },
  });
  return { log, canvas: { width: 0, height: 0, getContext: () => ctx } };
}

function axis(range, more = {}) {
  const [low, high] = range;
  return {
    range, tickvals: [low, high], ticktext: [`${low} &lt;`, `${high}`], gridcolor: "#ccc",
    tickfont: { size: 9 }, title: { text: "title" }, ...more,
  };
}

function chart(data, xaxis, yaxis, more = {}) {
  const layout = { margin: { l: 31, r: 17, t: 13, b: 23 }, font: { size: 11 }, xaxis, yaxis, ...more };
  return { data, layout };
}

const NAMES = ["circle", "square", "diamond", "triangle-up", "triangle-right", "circle-open"];
const marks = NAMES.map((symbol, i) => ({
  type: "scatter", mode: "markers", x: [1 + i, null, 2 + i], y: [i, 3, null],
  marker: { size: 4 + i, color: `#00000${i}`, symbol, ...(i > 3 ? { opacity: 0.3 } : {}), ...(i === 5 ? { line: { width: 2 } } : {}) },
}));
const lines = ["solid", "dash", "dot"].map((dash, i) => ({
  type: "scatter", mode: "lines", x: [0, 2, null, 4, 6], y: [1, i, 2, null, 5],
  line: { color: "#123", width: 1 + i, dash, shape: i === 1 ? "hv" : undefined },
  ...(i === 2 ? { fill: "toself", fillcolor: "#eee" } : {}),
}));
const POSITIONS = ["top left", "bottom right", "middle center", "top center"];
const names = POSITIONS.map((textposition, i) => ({
  type: "scatter", mode: "markers+text", x: [i, 7 + i], y: [i, 4], text: ["a &amp; b", "right edge"], textposition,
  textfont: { size: 10, weight: 600, color: "#777" }, marker: { size: 6, color: "#000", symbol: "circle" },
}));
const shapes = [
  { type: "rect", layer: "below", xref: "paper", yref: "y", x0: 0, x1: 1, y0: 2, y1: 3, fillcolor: "#ddd" },
  { type: "line", xref: "x", yref: "paper", x0: 4, x1: 5, y0: 0, y1: 1, line: { color: "#f00", width: 2, dash: "dash" } },
];
const annotations = ["left", "right", "center"].flatMap((xanchor, i) => ["top", "bottom", "middle"].map((yanchor, j) => ({
  x: i / 2, y: j / 2, xref: i === 1 ? "x" : "paper", yref: j === 1 ? "y" : "paper", xanchor, yanchor,
  text: `${xanchor} ${yanchor}`, font: { color: "#333" }, ...(i === j ? { xshift: 5, yshift: 7 } : {}),
})));
const cells = {
  type: "heatmap", x: [0, 1, 2], y: [0, 1], z: [[0, 0.5, null], [1, 2, -1]], zmin: -0.5, zmax: 1.9, xgap: 1, ygap: 2,
  colorscale: [[0, "#ffffff"], [0.4, "rgb(9,99,199)"], [1, "#00000080"]], texttemplate: "%", text: [["a", "b", "c"], ["d", "e", "f"]],
  textfont: { size: 8 }, colorbar: { thickness: 12, tickfont: { size: 9 }, tickvals: [0, 0.3, 1], ticktext: ["0", ".3", "1"] },
};
const bordered = { ...cells, x: [0, 1, 2.5, 3], y: [0, 0.5, 1], xgap: undefined, ygap: undefined, texttemplate: undefined, colorbar: undefined };
const box = {
  type: "box", q1: [2], median: [3], q3: [5], lowerfence: [1], upperfence: [8], y: [2], width: 0.8,
  line: { color: "#000", width: 1 }, fillcolor: "#abc",
};
const bar = { type: "bar", x: [3, -1], y: [0, 1], width: 0.4, offset: -0.2, marker: { color: "#def", line: { color: "#000", width: 1 } } };

const CHARTS = {
  marks: chart([...marks, ...lines, ...names], axis([0, 10]), axis([0, 6]), { shapes, annotations }),
  logarithm: chart(marks.slice(0, 1), axis([-1, 2], { type: "log", tickangle: -90, showgrid: false }), axis([0, 6], { title: {} })),
  cells: chart([cells], axis([-0.5, 2.5], { title: {} }), axis([1.5, -0.5], { showgrid: false, scaleanchor: "x" })),
  borders: chart([bordered], axis([0.5, 3]), axis([0.2, 1], { scaleanchor: "x" })),
  boxes: chart([box, bar], axis([-2, 10]), axis([-1, 3])),
};

test("charts are painted as they were", () => {
  const texts = Object.entries(CHARTS).map(([name, drawn]) => {
    globalThis.window = { devicePixelRatio: name === "marks" ? 1.5 : undefined };
    const { log, canvas } = recorder();
    paint(canvas, drawn, { width: 301, height: 203 }, THEME);
    return `## ${name} ${canvas.width} x ${canvas.height}\n${log.join("\n")}\n`;
  });
  const text = texts.join("\n");
  if (process.env.UPDATE) writeFileSync(FILE, text);
  assert.equal(text, readFileSync(FILE, "utf8"));
});
