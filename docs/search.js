// The search of the built site. A page that is opened from a file may not fetch: the index is a script.
const found = document.getElementById("mkdocs-search-results");
const box = document.getElementById("mkdocs-search-query");

function load(name) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${base_url}/search/${name}`;
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
}

function entry(page) {
  const [article, heading, link, text] = ["article", "h3", "a", "p"].map((tag) => document.createElement(tag));
  link.href = `${base_url}/${page.location}`;
  link.textContent = page.title;
  text.textContent = page.text.slice(0, 200);
  heading.append(link);
  article.append(heading, text);
  return article;
}

function matches(index, words) {
  const terms = lunr.tokenizer(words);
  return index.query((query) => {
    query.term(terms, { boost: 10 });
    query.term(terms, { wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false });
  });
}

async function begin() {
  await load("lunr.js");
  await load("index.js"); // sets SEARCH_PAGES
  const pages = new Map(SEARCH_PAGES.map((page) => [page.location, page]));
  const index = lunr(function () {
    this.ref("location");
    this.field("title", { boost: 10 });
    this.field("text");
    SEARCH_PAGES.forEach((page) => this.add(page));
  });
  const show = () => {
    const results = box.value.trim() ? matches(index, box.value) : [];
    found.replaceChildren(...results.map((each) => entry(pages.get(each.ref))));
    if (!results.length) found.textContent = "No page has these words.";
  };
  box.value = new URLSearchParams(location.search).get("q") ?? "";
  box.addEventListener("input", show);
  box.form.addEventListener("submit", (event) => event.preventDefault());
  show();
}

if (found) begin();
