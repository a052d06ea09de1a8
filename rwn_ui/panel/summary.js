// What stands above the panel's cards: the verdict, the setting in one line, and the tiles.

class VerdictLine {
  constructor(node, panel) {
    Object.assign(this, { node, panel });
    const line = node.appendChild(make("p", "rwn-judged-line"));
    this.text = line.appendChild(make("b"));
    this.tip = helpOf(line, "the verdict");
    const second = node.appendChild(make("p", "rwn-nearest"));
    this.unmasked = second.appendChild(make("b"));
    this.nearest = second.appendChild(make("span"));
    const below = node.appendChild(make("div", "rwn-price"));
    this.price = below.appendChild(make("span"));
    this.menu = below.appendChild(make("details", "rwn-steps"));
    this.menu.appendChild(make("summary", "", "What to try"));
    const box = this.menu.appendChild(make("div"));
    this.answer = box.appendChild(make("p", "rwn-answer"));
    this.steps = box.appendChild(make("div"));
    this.caution = box.appendChild(make("p"));
    this.marks = below.appendChild(make("span", "rwn-against"));
  }

  show(verdict) {
    this.node.hidden = !verdict;
    if (!verdict) return;
    const { text, nearest, detail, price, state, help, against, quick, unmasked = "", is_final: final = true } = verdict;
    setText(this.answer, quick?.text ?? "");
    this.menu.hidden = !quick?.text && !quick?.steps.length;
    setText(this.caution, quick?.caution ?? "");
    this.caution.hidden = !quick?.caution;
    const take = ({ currentTarget }) => {
      this.menu.open = false;
      this.panel.pick(currentTarget.send);
    };
    fill(this.steps, quick?.steps ?? [], () => button("", "", "rwn-button", take), (step, { title, send }) => {
      setText(step, title);
      step.send = send;
      step.setAttribute("aria-label", title);
    });
    this.node.dataset.state = state ?? "";
    this.node.classList.toggle("rwn-follows", !final);
    setText(this.text, text);
    this.unmasked.hidden = !unmasked;
    this.unmasked.parentNode.classList.toggle("rwn-wraps", Boolean(unmasked));
    setText(this.unmasked, unmasked);
    setText(this.nearest, nearest.charAt(0).toUpperCase() + nearest.slice(1));
    setText(this.price, [price, detail].filter(Boolean).join(" · ").replaceAll(" %", "\u00a0%"));
    this.price.title = this.price.textContent; // names of variables may be longer than the line
    setText(this.tip, help);
    showAgainst(this.marks, against);
  }
}

class Summary {
  constructor(node) {
    this.node = node;
    const part = (name, parent = node) => parent.appendChild(make("span", `rwn-${name}`));
    this.setting = node.appendChild(make("details", "rwn-steps rwn-setting"));
    this.name = this.setting.appendChild(make("summary"));
    this.whole = this.setting.appendChild(make("div"));
    this.setting.addEventListener("toggle", () => this.tell());
    this.text = part("parameters");
    const legend = part("legend");
    for (const side of ["original", "released"]) part(side, legend).append(make("i"), side);
    this.changed = part("changed");
    this.share = part("share", this.changed);
    this.strip = part("strip", this.changed);
    this.strip.setAttribute("role", "img");
  }

  /** All of the setting, while it is asked for. */
  tell() {
    setText(this.whole, this.setting.open ? this.all : "");
  }

  show({ summary, changed }) {
    this.node.hidden = !summary && !changed;
    const named = Boolean(summary?.name);
    this.setting.hidden = !named;
    setText(this.name, summary?.name ?? "");
    this.all = [summary?.text, summary?.help].filter(Boolean).join(". ");
    this.tell();
    setText(this.text, summary?.levers ?? summary?.text ?? "");
    this.text.title = this.all;
    this.changed.hidden = !changed;
    this.changed.dataset.warned = Boolean(changed?.warning);
    this.changed.title = changed?.warning ?? "";
    if (!changed) return;
    const percent = (share) => `${Math.round(100 * share)} %`;
    const expected = changed.q == null ? "" : ` (q = ${changed.q}${changed.own ?? ""})`;
    const least = changed.least ? ` · ${changed.least}` : "";
    setText(this.share, `cells changed ${percent(changed.overall)}${expected}${least}`);
    this.share.title = this.share.textContent;
    const each = changed.names.map((name, i) => `${name} ${percent(changed.share[i])}`);
    this.strip.setAttribute("aria-label", `Share of changed cells by variable: ${each.join(", ")}`);
    fill(this.strip, each, () => make("i"), (bar, title, i) => {
      if (bar.title === title) return;
      bar.title = title;
      bar.style.setProperty("--share", changed.share[i]);
    });
  }
}

/** What answers no question of its page at once: cards and tables behind one click. */
class More {
  constructor(node) {
    this.node = node;
    this.title = node.appendChild(make("summary"));
    this.grid = node.appendChild(make("div", "rwn-grid"));
    this.tables = node.appendChild(make("div", "rwn-tables"));
  }

  show(first) {
    this.node.hidden = !first;
    setText(this.title, first?.more ?? "");
  }
}

/** A button that explains its part, and the text that it shows. */
function helpOf(parent, what) {
  const help = parent.appendChild(button("?", `Explain ${what}`.trim(), "rwn-help", () => help.focus()));
  help.addEventListener("keydown", (event) => event.key === "Escape" && help.blur());
  const tip = parent.appendChild(make("span", "rwn-tip"));
  tip.id = uniqueName();
  tip.setAttribute("role", "tooltip");
  help.setAttribute("aria-describedby", tip.id);
  return tip;
}

function showAgainst(node, against) {
  fill(node, against, () => make("span"), (mark, { text, better }) => {
    setText(mark, text);
    mark.dataset.better = better ?? "";
  });
}

function makeTile() {
  const tile = make("section", "rwn-tile");
  const part = (tag, name, parent = tile) => parent.appendChild(make(tag, `rwn-${name}`));
  const head = part("div", "label");
  head.appendChild(make("span"));
  helpOf(head, "");
  part("div", "value", part("div", "reading"));
  part("div", "verdict");
  part("div", "against");
  return tile;
}

const VERDICTS = { kept: "✓", over: "▲ over" };
function changeTile(node, tile) {
  const { label, original, released, state, limit, against = [], help = "", quiet = false } = tile;
  node.hidden = quiet;
  const [head, { firstChild: value }, verdict, marks] = node.children;
  const [name, explain, tip] = head.children;
  if (name.textContent !== label) {
    name.textContent = label;
    explain.setAttribute("aria-label", `Explain ${label}`);
  }
  explain.hidden = !help;
  setText(tip, help);
  setText(value, original ? `${original} → ${released}` : released);
  setText(verdict, state ? [VERDICTS[state], limit].filter(Boolean).join(" · ") : limit ?? "");
  node.dataset.state = state ?? "";
  showAgainst(marks, against);
}
