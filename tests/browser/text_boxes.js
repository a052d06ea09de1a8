// Finds texts that are cut, texts that collide, and texts too pale to be read; lists what a reader
// finds in the window. Run before a page's own scripts, it notes what is written on each canvas, too.

(() => {
  const written = new WeakMap(); // canvas -> what was written since it was wiped
  const canvases = CanvasRenderingContext2D.prototype;
  const around = (name, before) => {
    const own = canvases[name];
    canvases[name] = function (...given) {
      before(this, ...given);
      return own.apply(this, given);
    };
  };
  around("clearRect", (ctx, x, y, w, h) => {
    const { width, height } = ctx.canvas, here = placed(ctx, x, y, x + w, y + h);
    const whole = here[0] <= 0 && here[1] <= 0 && here[2] >= width - 1 && here[3] >= height - 1;
    const left = (text) => !whole && overlap(text.box, here).some((side) => side <= 0);
    written.set(ctx.canvas, (written.get(ctx.canvas) ?? []).filter(left));
  });
  around("fillText", (ctx, words, x, y) => {
    if (!String(words).trim() || !ctx.globalAlpha) return;
    const { actualBoundingBoxLeft: l, actualBoundingBoxRight: r, actualBoundingBoxAscent: a,
            actualBoundingBoxDescent: d } = ctx.measureText(words);
    const box = placed(ctx, x - l, y - a, x + r, y + d);
    if (!written.has(ctx.canvas)) written.set(ctx.canvas, []);
    written.get(ctx.canvas).push({ words: String(words), box });
  });

  /** A box of a canvas's own coordinates as [left, top, right, bottom] in its pixels. */
  function placed(ctx, left, top, right, bottom) {
    const points = [[left, top], [right, top], [left, bottom], [right, bottom]]
      .map(([x, y]) => new DOMPoint(x, y).matrixTransform(ctx.getTransform()));
    const xs = points.map((p) => p.x), ys = points.map((p) => p.y);
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }

  const overlap = ([a, b, c, d], [e, f, g, h]) => [Math.min(c, g) - Math.max(a, e), Math.min(d, h) - Math.max(b, f)];
  const parents = function* (node) {
    for (let at = node; at; at = at.parentElement ?? at.getRootNode().host) yield at;
  };
  const SILENT = "script, style, option, title, [data-testid=stSkipToContent], .rwn-news, .rwn-tip, [data-testid=stIconMaterial], " +
    "[data-testid=stTooltipContent], [role=tooltip], .rwn-live, dialog:not([open])";

  /** The texts of the page: words, lines, the visible part of each, and what hides the rest. */
  function* texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
      const owner = node.parentElement, words = node.data.trim();
      if (!words || owner.closest(SILENT)) continue;
      // over a narrow page the sidebar waits beside the window
      if (owner.closest("[data-testid=stSidebar]")?.getBoundingClientRect().right < 1) continue;
      if (!owner.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const { left, top, right, bottom, width, height } of range.getClientRects()) {
        if (width < 1) continue;
        const rim = 0.12 * height; // a line's box is higher than its letters
        yield { words, owner, ...seen(owner, [left, top + rim, right, bottom - rim]) };
      }
    }
  }

  /** What of a box can be seen, and whether it is cut where no scrolling brings the rest. */
  function seen(owner, box) {
    let [left, top, right, bottom] = box, cut = false, away = null, layer = "", titled = false;
    for (const at of parents(owner)) {
      const style = getComputedStyle(at);
      titled ||= Boolean(at.title);
      if (["fixed", "sticky"].includes(style.position)) layer = at.className || at.tagName;
      if (style.display === "inline" || at === document.body || at === document.documentElement) continue;
      const frame = at.getBoundingClientRect();
      const empty = frame.width <= 1 || frame.height <= 1;
      // for screen readers; around a whole page stands an empty box out of which all of it flows
      if (empty && style.overflow !== "visible") return { box, cut: false, gone: true };
      const shut = ["hidden", "clip"], hidden = at.closest("svg") === at && !shut.includes(style.overflowX);
      const bare = style.scrollbarWidth === "none" && ["auto", "scroll"].includes(style.overflowX);
      for (const [axis, low, high] of [["overflowX", frame.left, frame.right], ["overflowY", frame.top, frame.bottom]]) {
        if (style[axis] === "visible" && !hidden) continue;
        const [from, to] = axis === "overflowX" ? [left, right] : [top, bottom];
        const whole = shut.includes(style[axis]) || hidden || (bare && axis === "overflowX");
        const said = titled && style.textOverflow === "ellipsis"; // the pointer finds the rest
        if (whole && !said && (from < low - 1 || to > high + 1)) cut = true;
        if (!whole && (to <= low || from >= high)) away = at; // until somebody scrolls it
        if (axis === "overflowX") [left, right] = [Math.max(left, low), Math.min(right, high)];
        else [top, bottom] = [Math.max(top, low), Math.min(bottom, high)];
      }
    }
    if (left < -1 || right > innerWidth + 1) cut = true;
    const gone = right - left < 1 || bottom - top < 1 || isCovered(owner, (left + right) / 2, (top + bottom) / 2);
    return { box: away ? box : [left, top, right, bottom], cut, layer, gone, away };
  }

  /** Whether something opaque, such as the bar at the top, lies over a place of a text. */
  function isCovered(owner, x, y) {
    let hit = document.elementFromPoint(x, y);
    while (hit?.shadowRoot?.elementFromPoint(x, y) && hit.shadowRoot.elementFromPoint(x, y) !== hit)
      hit = hit.shadowRoot.elementFromPoint(x, y);
    for (const at of parents(hit)) {
      if ([...parents(owner)].includes(at)) return false;
      if (channels(getComputedStyle(at).backgroundColor)[3] > 0.9) return true;
    }
    return false;
  }

  const MOST = 2; // pixels that two texts may share
  const meet = (a, b) => overlap(a, b).every((side) => side > MOST);

  function collisions(all, where) {
    const found = [];
    all.forEach((one, i) => all.slice(0, i).forEach((two) => {
      if (one.owner && one.owner === two.owner) return;
      if (one.layer !== two.layer) return; // a bar that stays lies over what is scrolled
      if (meet(one.box, two.box)) found.push(`${where}“${two.words}” and “${one.words}” collide`);
    }));
    return found;
  }

  /** What was written on the canvases of the page, and can be seen. */
  function ofCanvases() {
    const found = [];
    for (const canvas of document.querySelectorAll("canvas")) {
      if (!canvas.checkVisibility({ visibilityProperty: true }) || canvas.closest("[data-testid=stDataFrame]")) continue;
      const all = written.get(canvas) ?? [];
      const place = canvas.closest(".rwn-card")?.querySelector("b")?.textContent ?? "a canvas";
      const ratio = canvas.width / canvas.getBoundingClientRect().width || 1;
      for (const { words, box } of all) {
        const [left, top, right, bottom] = box.map((value) => value / ratio);
        const { width, height } = canvas.getBoundingClientRect();
        if (left < -1 || top < -1 || right > width + 1 || bottom > height + 1) found.push(`${place}: “${words}” is cut`);
      }
      found.push(...collisions(all, `${place}: `));
    }
    return found;
  }

  window.textFaults = () => {
    const all = [...texts()].filter((text) => !text.gone || text.cut);
    const cut = all.filter((text) => text.cut).map((text) => `“${text.words}” is cut`);
    return [...new Set([...cut, ...collisions(all.filter((text) => !text.gone), ""), ...ofCanvases()])];
  };

  /** What a reader finds in the window: texts of the page and its fields, and those of pictures. */
  window.textsInWindow = () => {
    const isIn = ([left, top, right, bottom]) => right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    const page = new Map(); // a text of several lines is one
    for (const { words, owner, gone, box } of texts())
      if (!gone && isIn(box)) page.set(owner, (page.get(owner) ?? new Set()).add(words));
    const fields = [...document.querySelectorAll("input:not([type=range], [type=checkbox], [type=radio], [type=file]), textarea, select")]
      .filter((field) => field.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .filter((field) => { const { left, top, right, bottom, width } = field.getBoundingClientRect();
                           return width > 1 && isIn([left, top, right, bottom]); })
      .map((field) => field.selectedOptions?.[0]?.text || field.value || field.placeholder);
    const pictures = [...document.querySelectorAll("canvas")].flatMap((canvas) => {
      if (!canvas.checkVisibility({ visibilityProperty: true })) return [];
      const { left, top, width } = canvas.getBoundingClientRect(), ratio = canvas.width / width || 1;
      const inPage = (box) => box.map((value, i) => value / ratio + (i % 2 ? top : left));
      return (written.get(canvas) ?? []).filter(({ box }) => isIn(inPage(box))).map(({ words }) => words);
    });
    return { page: [...[...page.values()].flatMap((each) => [...each]), ...fields], pictures };
  };

  // ---------------------------------------------------------------- contrast

  const channels = (color) => {
    const probe = new OffscreenCanvas(1, 1).getContext("2d");
    probe.fillStyle = color;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [s, t, u]) => [r * a + s * (1 - a), g * a + t * (1 - a), b * a + u * (1 - a), 1];
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  window.paleTexts = () => {
    const found = new Set();
    for (const { words, owner, gone, away, box } of texts()) {
      const inert = owner.closest("[disabled], [aria-disabled=true]") || owner.closest("label")?.querySelector(":disabled");
      if ((gone && !away) || inert) continue;
      const behind = [...parents(owner)].filter((at) => {
        if (away && at.contains(away)) return true; // what is scrolled comes into the boxes around it
        const { left, top, right, bottom } = at.getBoundingClientRect();
        return overlap([left, top, right, bottom], box).every((side) => side > MOST);
      });
      const layers = behind.map((at) => channels(getComputedStyle(at).backgroundColor));
      const below = layers.reduceRight((under, layer) => over(layer, under), [255, 255, 255, 1]);
      const style = getComputedStyle(owner), [r, g, b, a] = channels(owner.closest("svg") ? style.fill : style.color);
      const opaque = [...parents(owner)].reduce((share, at) => share * getComputedStyle(at).opacity, a);
      const ink = over([r, g, b, opaque], below);
      const [high, low] = [light(ink), light(below)].sort((a, b) => b - a);
      const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.6 && style.fontWeight >= 600);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < (large ? 3 : 4.5)) found.add(`“${words}” has a contrast of ${ratio.toFixed(1)}`);
    }
    return [...found];
  };
})();
