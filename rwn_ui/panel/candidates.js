// Candidates of a meeting: a column each, the verdict first, the limits as large numbers. Arrow
// keys go between candidates; Enter marks one as chosen.

const STATES = { kept: "✓ ", over: "▲ " };

class Candidates {
  constructor(node, panel) {
    this.node = node;
    this.panel = panel;
    const table = node.appendChild(make("table"));
    this.names = table.appendChild(make("thead")).appendChild(make("tr"));
    this.names.appendChild(make("td"));
    this.body = table.appendChild(make("tbody"));
    this.notes = node.appendChild(make("div", "rwn-candidate-notes"));
    this.active = 0;
    this.names.addEventListener("keydown", (event) => this.move(event));
  }

  show(shown) {
    this.node.hidden = !shown;
    if (!shown) return;
    this.marks = shown.marks;
    const [corner] = this.names.children;
    setText(corner, shown.about);
    const heads = [null, ...shown.candidates];
    fill(this.names, heads, () => this.makeName(), (cell, each) => each && this.name(cell, each));
    [...this.names.querySelectorAll("button")].forEach((each, i) => {
      each.tabIndex = i === Math.min(this.active, shown.candidates.length - 1) ? 0 : -1;
    });
    fill(this.body, shown.rows, makeCandidateRow, changeCandidateRow);
    fill(this.notes, shown.notes, () => make("span"), setText);
  }

  makeName() {
    const cell = make("th");
    cell.scope = "col";
    const name = button("", "", "rwn-candidate", () => this.marks && this.panel.pick(name.value));
    cell.append(name, make("div", "rwn-candidate-verdict"), make("div", "rwn-candidate-which"));
    return cell;
  }

  name(cell, { name, state, verdict, which, chosen }) {
    const [head, said, broken] = cell.children;
    head.value = name;
    setText(head, name);
    head.setAttribute("aria-label", this.marks ? `${name}: mark as chosen` : name);
    head.setAttribute("aria-pressed", String(Boolean(chosen)));
    setText(said, `${STATES[state] ?? ""}${verdict}`);
    setText(broken, which);
    cell.dataset.state = state ?? "";
    cell.classList.toggle("rwn-chosen", Boolean(chosen));
  }

  move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const names = [...this.names.querySelectorAll("button")];
    if (!step || !names.includes(event.target)) return;
    event.preventDefault();
    this.active = (names.indexOf(event.target) + step + names.length) % names.length;
    names.forEach((each, i) => { each.tabIndex = i === this.active ? 0 : -1; });
    names[this.active].focus();
  }
}

function makeCandidateRow() {
  const row = make("tr");
  const head = row.appendChild(make("th"));
  head.scope = "row";
  head.append(make("span"), make("small"));
  return row;
}

function changeCandidateRow(row, { title, note, cells, kind }) {
  const [name, more] = row.firstChild.children;
  row.className = `rwn-row-${kind}`;
  setText(name, title);
  setText(more, note ?? "");
  fill(row, [null, ...cells], makeCandidateCell, (cell, each) => each && changeCandidateCell(cell, each));
}

function makeCandidateCell() {
  const cell = make("td");
  cell.append(make("span"), make("small"));
  return cell;
}

function changeCandidateCell(cell, { text, note, state }) {
  const [value, more] = cell.children;
  setText(value, `${state === "over" ? STATES.over : ""}${text}`);
  setText(more, note ?? "");
  cell.dataset.state = state ?? "";
}
