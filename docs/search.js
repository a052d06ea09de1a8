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

// Pages that have all words, as they are or as beginnings; where none has, those that have some.
function matches(index, words) {
  const terms = [...new Set(lunr.tokenizer(words).map(String))];
  const scores = terms.map((term) => {
    const hits = index.query((query) => {
      query.term(term, { boost: 10 });
      query.term(term, { wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false });
    });
    return new Map(hits.map((hit) => [hit.ref, hit.score]));
  });
  const refs = [...new Set(scores.flatMap((each) => [...each.keys()]))];
  const whole = refs.filter((ref) => scores.every((each) => each.has(ref)));
  const total = (ref) => scores.reduce((sum, each) => sum + (each.get(ref) ?? 0), 0);
  return (whole.length ? whole : refs).sort((a, b) => total(b) - total(a));
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
    found.replaceChildren(...results.map((ref) => entry(pages.get(ref))));
    if (!results.length) found.textContent = "No page has these words.";
  };
  box.value = new URLSearchParams(location.search).get("q") ?? "";
  box.addEventListener("input", show);
  box.form.addEventListener("submit", (event) => event.preventDefault());
  show();
}

if (found) begin();
