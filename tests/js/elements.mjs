// So much of a page's elements as the scripts need: children, attributes, events, texts.

class Words {
  constructor(data) {
    this.data = data;
  }
  get textContent() {
    return this.data;
  }
}

class Element {
  constructor(tag) {
    const styles = (this.styles = {}), classes = (this.classes = new Set());
    Object.assign(this, { tag, childNodes: [], heard: {}, attributes: {}, dataset: {}, checked: false, held: "" });
    this.style = { setProperty: (name, value) => (styles[name] = value) };
    this.classList = { add: (name) => classes.add(name), toggle: (name, on) => classes[on ? "add" : "delete"](name) };
  }
  get children() {
    return this.childNodes.filter((each) => each instanceof Element);
  }
  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }
  get lastElementChild() {
    return this.children.at(-1);
  }
  get textContent() {
    return this.childNodes.map((each) => each.textContent).join("");
  }
  set textContent(text) {
    this.childNodes = text === "" ? [] : [new Words(text)];
  }
  get value() {
    return this.held;
  }
  set value(value) {
    this.held = String(value); // as an input of a browser
  }
  get valueAsNumber() {
    return Number(this.held);
  }
  appendChild(child) {
    this.childNodes.push(child);
    child.parent = this;
    return child;
  }
  append(...more) {
    for (const each of more) this.appendChild(typeof each === "string" ? new Words(each) : each);
  }
  replaceChildren(...more) {
    this.childNodes = more;
  }
  remove() {
    this.parent.childNodes = this.parent.childNodes.filter((each) => each !== this);
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  addEventListener(name, hear) {
    this.heard[name] = hear;
  }
  querySelectorAll(tag) {
    return this.children.flatMap((each) => [...(each.tag === tag ? [each] : []), ...each.querySelectorAll(tag)]);
  }
  getRootNode() {
    return globalThis.document;
  }
  checkValidity() {
    return Number(this.held) >= this.min && Number(this.held) <= this.max;
  }
  focus() {
    globalThis.document.activeElement = this;
  }
  blur() {
    globalThis.document.activeElement = null;
  }
}

globalThis.Text = Words;
globalThis.document = {
  activeElement: null,
  createElement: (tag) => new Element(tag),
  createTextNode: (data) => new Words(data),
};

export { Element };
