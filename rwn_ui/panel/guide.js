// "What am I looking at?" on every page, and a tour of the Tune page on the first visit. Neither
// covers what it speaks of, nor keeps anybody from working on.

const SEEN = "rwn.tour";     // remembered by the browser: the tour was taken or skipped
const LOOK = 300;            // milliseconds until the page is looked at again for the first target

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".rwn-guide");
  const guide = (root.rwnGuide ??= new Guide(root));
  guide.setData(data);
  return () => setTimeout(() => root.isConnected || guide.remove());
}

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

class Guide {
  constructor(root) {
    this.opener = root.appendChild(make("button", "rwn-guide-open"));
    this.opener.type = "button";
    this.opener.append(make("span", "", "What am I looking at?"));
    this.opener.setAttribute("aria-label", "What am I looking at?");
    this.opener.setAttribute("aria-expanded", "false");
    this.opener.addEventListener("click", () => (this.box.hidden ? this.explain() : this.close()));
    this.box = root.appendChild(make("section", "rwn-guide-box"));
    this.box.setAttribute("role", "dialog");
    this.box.hidden = true;
    this.box.addEventListener("keydown", (event) => this.pressed(event));
  }

  setData({ page, title, words, steps }) {
    const arrived = page !== this.page;
    Object.assign(this, { page, title, words, steps });
    if (!arrived) return;
    this.close();
    clearInterval(this.waiting);
    if (!steps.length || localStorage.getItem(SEEN)) return;
    this.waiting = setInterval(() => {
      if (!document.querySelector(steps[0].target)) return;
      clearInterval(this.waiting);
      this.show(0);
    }, LOOK);
  }

  remove() {
    clearInterval(this.waiting);
    this.mark(null);
  }

  explain() {
    this.at = null;
    const buttons = [["Close", () => this.close()]];
    if (this.steps.length) buttons.unshift(["Take the tour", () => this.show(0)]);
    this.fill(this.title, this.words, buttons);
  }

  show(at) {
    this.at = at;
    const { title, words, target } = this.steps[at];
    const last = at === this.steps.length - 1;
    const buttons = last ? [["Done", () => this.end()]] : [["Next", () => this.show(at + 1)]];
    if (at) buttons.push(["Back", () => this.show(at - 1)]);
    if (!last) buttons.push(["Skip", () => this.end()]);
    this.fill(`${at + 1} of ${this.steps.length} · ${title}`, [words], buttons);
    this.mark(document.querySelector(target));
  }

  fill(title, words, buttons) {
    const heading = make("h2", "", title);
    heading.id = "rwn-guide-title";
    this.box.setAttribute("aria-labelledby", heading.id);
    const row = make("div", "rwn-guide-buttons");
    for (const [text, act] of buttons) {
      const button = row.appendChild(make("button", "", text));
      button.type = "button";
      button.addEventListener("click", act);
    }
    this.box.replaceChildren(heading, ...words.map((each) => make("p", "", each)), row);
    this.box.hidden = false;
    this.opener.setAttribute("aria-expanded", "true");
    this.mark(null);
    row.firstElementChild.focus({ preventScroll: true });
  }

  /** Outline what a step speaks of. */
  mark(target) {
    this.marked?.removeAttribute("data-rwn-shown");
    this.marked = target;
    target?.setAttribute("data-rwn-shown", "");
    target?.scrollIntoView({ block: "nearest" });
  }

  end() {
    localStorage.setItem(SEEN, "1");
    this.close();
    this.opener.focus({ preventScroll: true });
  }

  close() {
    this.box.hidden = true;
    this.at = null;
    this.opener.setAttribute("aria-expanded", "false");
    this.mark(null);
  }

  pressed(event) {
    const touring = this.at !== null;
    if (event.key === "Escape") touring ? this.end() : (this.close(), this.opener.focus());
    else if (touring && event.key === "ArrowRight") this.at + 1 < this.steps.length && this.show(this.at + 1);
    else if (touring && event.key === "ArrowLeft") this.at > 0 && this.show(this.at - 1);
    else return;
    event.stopPropagation();
    event.preventDefault();
  }
}
