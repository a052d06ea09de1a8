// The form on the regression's card: what is explained, what explains it, further terms, the model.

class QuestionForm {
  constructor(parent, panel) {
    this.node = parent.appendChild(make("form", "rwn-ask"));
    this.text = this.node.appendChild(make("p"));
    this.panel = panel;
    const label = this.node.appendChild(make("label", "", "Response"));
    this.response = label.appendChild(make("select"));
    this.response.setAttribute("aria-label", "Response");
    const group = this.node.appendChild(make("fieldset"));
    group.appendChild(make("legend", "", "Predictors"));
    this.predictors = group.appendChild(make("div"));
    const further = this.node.appendChild(make("label", "", "Further terms"));
    this.terms = further.appendChild(make("input"));
    this.terms.setAttribute("aria-label", "Further terms");
    this.terms.placeholder = "square(one) + two:three";
    const model = this.node.appendChild(make("label", "", "Model"));
    this.kind = model.appendChild(make("select"));
    this.kind.setAttribute("aria-label", "Model");
    this.fit = this.node.appendChild(make("button", "rwn-button", "Fit"));
    this.node.addEventListener("input", () => this.check());
    this.node.addEventListener("submit", (event) => {
      event.preventDefault();
      const [response, kind] = [this.response.value, this.kind.value];
      const terms = this.terms.value.trim();
      panel.pick(this.send + JSON.stringify({ response, predictors: this.chosen, terms, kind }));
    });
  }

  show(form) {
    this.node.hidden = !form;
    const known = JSON.stringify(form ?? null);
    if (!form || known === this.known) return;
    this.known = known;
    this.send = form.send;
    setText(this.text, form.text);
    const { labels = {} } = this.panel.data ?? {};
    const called = (name) => (Object.hasOwn(labels, name) ? `${name} · ${labels[name]}` : name);
    this.response.replaceChildren(...form.responses.map((name) =>
      Object.assign(make("option", "", called(name)), { value: name, selected: name === form.response })));
    this.predictors.replaceChildren(...form.predictors.map((name) => {
      const label = make("label");
      const box = label.appendChild(make("input"));
      Object.assign(box, { type: "checkbox", value: name, checked: Boolean(form.chosen?.includes(name)) });
      label.append(called(name));
      return label;
    }));
    this.terms.value = form.terms ?? "";
    this.kind.replaceChildren(...(form.kinds ?? ["linear"]).map((kind) =>
      Object.assign(make("option", "", kind), { value: kind, selected: kind === form.kind })));
    this.check();
  }

  get boxes() {
    return [...this.predictors.querySelectorAll("input")];
  }

  get chosen() {
    return this.boxes.filter((box) => box.checked && !box.disabled).map((box) => box.value);
  }

  /** A response does not explain itself, and a regression needs a predictor. */
  check() {
    for (const box of this.boxes) box.disabled = box.value === this.response.value;
    this.fit.disabled = !this.chosen.length && !this.terms.value.trim();
  }
}
