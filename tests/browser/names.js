// Finds controls without a name, pictures without words, headings that skip a level, names twice.

window.unnamed = () => {
  const shown = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const words = (ids) => (ids ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("");
  const name = (node) => [
    node.getAttribute("aria-label"), words(node.getAttribute("aria-labelledby")), node.title,
    [...(node.labels ?? [])].map((each) => each.textContent).join(""), node.alt, node.textContent,
  ].find((each) => each?.trim());
  const called = (node) => node.outerHTML.slice(0, 90);
  const controls = "button, a[href], input:not([type=hidden]), select, textarea, summary, [role=button], [role=slider], [role=tab]";
  const found = [...document.querySelectorAll(controls)].filter((node) => shown(node) && !name(node))
    .map((node) => `no name: ${called(node)}`);
  found.push(...[...document.querySelectorAll("img, [role=img]")]
    .filter((node) => shown(node) && !node.hasAttribute("alt") && !node.getAttribute("aria-label") && !node.closest("[aria-hidden=true]"))
    .map((node) => `no words: ${called(node)}`));
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(shown);
  headings.forEach((node, i) => {
    const [before, level] = [headings[i - 1], node].map((each) => Number(each?.tagName[1] ?? 6));
    if (level > before + 1) found.push(`h${level} after h${before}: ${node.textContent}`);
  });
  const ids = [...document.querySelectorAll("[id]:not([id^=glide-])")].map(({ id }) => id); // Streamlit's grids
  found.push(...new Set(ids.filter((id, i) => id && ids.indexOf(id) !== i).map((id) => `twice: ${id}`)));
  return found;
};
