// Rules of the scripts (`make lint`). The files of a folder are put together, so each may use the others' names.
import { readFileSync, readdirSync } from "node:fs";

const DECLARED = /^(?:export )?(?:default )?(?:async )?(?:function|class|const|let) (\w+)/gm;
const BROWSER = `document window location history navigator localStorage sessionStorage fetch URL URLSearchParams Text
  AbortController Blob BroadcastChannel CanvasRenderingContext2D CustomEvent DOMParser DOMPoint Element Event FormData
  HTMLElement IntersectionObserver MutationObserver Node NodeFilter OffscreenCanvas Path2D ResizeObserver TextDecoder
  TextEncoder addEventListener removeEventListener atob btoa cancelAnimationFrame clearInterval clearTimeout console crypto
  devicePixelRatio getComputedStyle innerHeight innerWidth matchMedia performance print queueMicrotask
  requestAnimationFrame setInterval setTimeout structuredClone`.split(/\s+/);
const FOUND = `array-callback-return constructor-super default-case-last for-direction getter-return
  no-async-promise-executor no-class-assign no-compare-neg-zero no-cond-assign no-const-assign
  no-constant-binary-expression no-dupe-args no-dupe-class-members no-dupe-else-if no-dupe-keys no-duplicate-case no-eval
  no-ex-assign no-fallthrough no-func-assign no-implied-eval no-invalid-regexp no-loss-of-precision no-self-assign
  no-self-compare no-shadow-restricted-names no-sparse-arrays no-this-before-super no-undef no-unreachable
  no-unsafe-finally no-unsafe-negation no-unsafe-optional-chaining no-var prefer-const use-isnan valid-typeof`;
const RULES = {
  ...Object.fromEntries(FOUND.split(/\s+/).map((name) => [name, "error"])),
  eqeqeq: ["error", "always", { null: "ignore" }],
  "no-unused-vars": ["error", { vars: "local" }],
};

function declared(folder) {
  const place = new URL(folder, import.meta.url);
  const scripts = readdirSync(place).filter((name) => name.endsWith(".js"));
  const texts = scripts.map((name) => readFileSync(new URL(name, place), "utf8"));
  return texts.flatMap((text) => [...text.matchAll(DECLARED)].map((found) => found[1]));
}

function language(names, sourceType) {
  return { sourceType, globals: Object.fromEntries([...BROWSER, ...names].map((name) => [name, "readonly"])) };
}

const PANEL = declared("./rwn_ui/panel/");
const OUTSIDE = ["Plotly", "lunr", "base_url", "SEARCH_PAGES", "process", "ownPanel", "ownSliders"];
export default [
  { rules: RULES },
  { files: ["rwn_ui/panel/*.js"], languageOptions: language([...PANEL, ...OUTSIDE], "script") },
  {
    files: ["rwn_ui/panel/*_mount.js", "rwn_ui/panel/tab.js", "rwn_ui/notebook/*.js", "tests/**/*.mjs"],
    languageOptions: language([...PANEL, ...OUTSIDE], "module"),
  },
  { files: ["tests/**/*.js"], languageOptions: language(OUTSIDE, "script") },
  { files: ["docs/**/*.js"], languageOptions: language(OUTSIDE, "script") },
];
