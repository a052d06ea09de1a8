// Evaluates scripts of the app's components and hands out some of their names; no browser is needed.

import { readFileSync } from "node:fs";

const FOLDER = new URL("../../rwn_ui/panel/", import.meta.url);

export function load(files, names) {
  const texts = files.map((file) => readFileSync(new URL(file, FOLDER), "utf8"));
  const text = texts.join("\n").replace("export default function", "function mount");
  return new Function(`${text}\nreturn { ${names.join(", ")} };`)();
}
