// Drawing on a canvas: points in the plane with balls around them, and bars.

const FONT = '"Source Sans 3", "Segoe UI", Helvetica, Arial, sans-serif';
const color = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// An empty picture in the canvas's own size, sharp on every screen.
function blank(canvas) {
  const [width, height] = [Number(canvas.dataset.width), Number(canvas.dataset.height)];
  const dense = Math.max(1, window.devicePixelRatio);
  [canvas.width, canvas.height] = [width * dense, height * dense];
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  pen.fillStyle = color("paper");
  pen.fillRect(0, 0, width, height);
  return { pen, width, height };
}

function write(pen, text, x, y, { ink = "ink", align = "center", size = 13, bold = false } = {}) {
  pen.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.lineWidth = 4; // a rim, so that it can be read over points
  pen.strokeStyle = color("paper");
  pen.setLineDash([]);
  pen.strokeText(text, x, y);
  pen.fillStyle = color(ink);
  pen.fillText(text, x, y);
}

// A plane in which a ball is round, with room for all points.
class Plane {
  constructor(canvas, [x, y]) {
    Object.assign(this, blank(canvas));
    const ends = [x, y].map((side) => [Math.min(...side) - 0.3, Math.max(...side) + 0.3]);
    const [across, up] = ends.map(([low, high]) => high - low);
    this.unit = Math.min((this.width - 46) / across, (this.height - 46) / up);
    this.middle = ends.map(([low, high]) => (low + high) / 2);
    this.grid();
  }

  place([x, y]) {
    const [a, b] = this.middle;
    return [this.width / 2 + 15 + (x - a) * this.unit, this.height / 2 - 12 - (y - b) * this.unit];
  }

  sees(point) {
    const [x, y] = this.place(point);
    return x > 0 && x < this.width && y > 20 && y < this.height - 60;
  }

  grid() {
    const { pen, width, height } = this;
    pen.strokeStyle = color("grid");
    pen.lineWidth = 1;
    for (let at = -12; at <= 12; at++) {
      const [x, y] = this.place([at, at]);
      const name = String(at).replace("-", "−");
      pen.beginPath();
      if (x > 34 && x < width) pen.moveTo(x, 0), pen.lineTo(x, height - 30);
      if (y > 0 && y < height - 30) pen.moveTo(30, y), pen.lineTo(width, y);
      pen.strokeStyle = color("grid");
      pen.lineWidth = 1;
      pen.stroke();
      if (x > 34 && x < width - 8) write(pen, name, x, height - 20, { ink: "soft", size: 12 });
      if (y > 8 && y < height - 36) write(pen, name, 18, y, { ink: "soft", size: 12 });
    }
    write(pen, "standard deviations", width - 6, height - 6, { ink: "soft", align: "right", size: 12 });
  }

  dot(point, radius, ink, filled, cover = 1) {
    const { pen } = this;
    pen.globalAlpha = cover;
    pen.beginPath();
    pen.arc(...this.place(point), radius, 0, 2 * Math.PI);
    pen.setLineDash([]);
    pen.lineWidth = 1.3;
    pen.strokeStyle = pen.fillStyle = color(ink);
    if (filled) pen.fill();
    else pen.stroke();
    pen.globalAlpha = 1;
  }

  line(points, ink, dash) {
    const { pen } = this;
    pen.beginPath();
    points.forEach((point) => pen.lineTo(...this.place(point)));
    pen.setLineDash(dash);
    pen.lineWidth = 1.6;
    pen.strokeStyle = color(ink);
    pen.stroke();
  }

  ball(center, radius, ink, dash = []) {
    const steps = [...Array(91).keys()].map((step) => (step * Math.PI) / 45);
    const at = (angle) => [radius * Math.cos(angle), radius * Math.sin(angle)];
    this.line(steps.map((angle) => at(angle).map((side, j) => center[j] + side)), ink, dash);
  }

  // A word beside a point, so many pixels to the right and up, and never outside.
  name(text, point, ink, [right, up]) {
    const [x, y] = this.place(point);
    const kept = (value, low, high) => Math.min(Math.max(value, low), high);
    const [across, down] = [kept(x + right, 40, this.width - 40), kept(y - up, 10, this.height - 44)];
    write(this.pen, text, across, down, { ink, bold: true, size: 15 });
  }
}

// A bar for each share, the first one on top; some are marked, and named beside their end.
function bars(canvas, shares, names, marks, places) {
  const { pen, width, height } = blank(canvas);
  const [left, bottom, step] = [92, height - 44, (height - 54) / places];
  const end = (share) => left + share * (width - left - 30);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    pen.fillStyle = color("grid");
    pen.fillRect(end(share), 4, 1, bottom - 4);
    write(pen, `${100 * share} %`, end(share), bottom + 14, { ink: "soft", size: 12 });
  }
  write(pen, "probability that the row is this person’s", width - 6, height - 10, {
    ink: "soft",
    align: "right",
    size: 12,
  });
  shares.forEach((share, place) => {
    const [y, tall] = [8 + place * step, step * 0.68];
    pen.setLineDash([]);
    pen.lineWidth = 1.5;
    pen.strokeStyle = color("original");
    pen.fillStyle = color(marks[place] ? "original" : "pale");
    pen.fillRect(left, y, end(share) - left, tall);
    pen.strokeRect(left, y, end(share) - left, tall);
    write(pen, names[place], left - 8, y + tall / 2, { align: "right" });
    if (!marks[place]) return;
    const fits = share < 0.7;
    write(pen, marks[place], end(share) + (fits ? 8 : -8), y + tall / 2, {
      align: fits ? "left" : "right",
      bold: true,
    });
  });
}
