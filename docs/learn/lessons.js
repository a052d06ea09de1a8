// The three lessons: what a move of a control computes, draws and says.

const DATA = JSON.parse(document.getElementById("points").textContent);
const RECORD = 30; // of the first lesson: one whose donors lie apart
const SHOWN = 8; // bars of the second lesson

const digits = (value, count) => value.toFixed(count).replace("-", "−");
const percent = (share) => `${digits(100 * share, share > 0 && share < 0.1 ? 1 : 0)} %`;
const many = (count, one, more) => `${count} ${count === 1 ? one : more}`;

// The last answer of a function, for as long as it is asked the same.
function remembered(compute) {
  let [asked, answer] = [null, null];
  return (...what) => {
    if (asked !== what.join()) [asked, answer] = [what.join(), compute(...what)];
    return answer;
  };
}

const theoremPoints = remembered((density, n) => {
  const sides = DATA.theorem[density].map((side) => standardized(side.slice(0, n)));
  return { sides, near: ranked(sides) };
});

function theorem(canvas, { epsilon, n, draw, density }) {
  const { sides, near } = theoremPoints(density, n);
  const [x, y] = sides;
  const counts = sizes(near, 1, epsilon);
  const chosen = donors(near, counts, draw);
  const [u, v] = sides.map((side, j) => chosen.map((pair) => side[pair[j]]));
  const plane = new Plane(canvas, sides);
  x.forEach((_, i) => plane.dot([x[i], y[i]], 2.4, "original", false, 0.6));
  u.forEach((_, i) => plane.dot([u[i], v[i]], 2.4, "released", true, 0.6));
  const [first, second] = chosen[RECORD].map((l) => [x[l], y[l]]);
  const [center, made] = [[x[RECORD], y[RECORD]], [u[RECORD], v[RECORD]]];
  plane.ball(center, Math.max(epsilon, reach(near[RECORD], 1)), "radius");
  plane.line([first, made, second], "ink", [4, 4]);
  for (const point of [center, first, second]) plane.dot(point, 5.5, "ink", false);
  plane.dot(made, 5.5, "released", true);
  const [right, up] = [made[0] < second[0] ? -1 : 1, made[1] < first[1] ? -1 : 1];
  plane.name("U", first, "ink", [0, -17 * up]); // it lies below or above (U, V), and V beside it
  plane.name("V", second, "ink", [-15 * right, 0]);
  plane.name("(U, V)", made, "released", [30 * right, 12 * up]);
  const [before, after] = [correlation(x, y), correlation(u, v)];
  return [
    `corr(X, Y) = ${digits(before, 3)} → corr(U, V) = ${digits(after, 3)}`,
    `Expected of all draws: ${digits(expectedCorrelation(x, y, near, counts), 3)}`,
    `The ball of the picture holds ${many(counts[RECORD], "donor", "donors")}.`,
  ];
}

const people = remembered(() => ranked(DATA.intruder.values.map(standardized)));

function intruder(canvas, { known, k, row, answer }) {
  const { values, names, donors: from, sources } = DATA.intruder;
  const [near, columns] = [people(), values.slice(0, known)];
  const released = columns.map((column, j) => column[from[row - 1][k - 1][j]]);
  const belief = posterior(columns, near, sizes(near, k, 0), released);
  const likeliest = [...belief.keys()].sort((a, b) => belief[b] - belief[a] || a - b);
  const possible = belief.filter((share) => share > 0).length;
  const shown = likeliest.slice(0, Math.min(SHOWN, possible));
  const source = sources[row - 1];
  bars(
    canvas,
    shown.map((i) => belief[i]),
    shown.map((i) => `record ${i + 1}`),
    shown.map((i) => (answer.open && i === source ? "the true source" : "")),
    SHOWN,
  );
  answer.querySelector("p").textContent =
    `Record ${source + 1} made this row. The intruder gave it ${percent(belief[source])}, ` +
    `place ${likeliest.indexOf(source) + 1} of ${possible}.`;
  return [
    `${many(possible, "original", "originals")} of ${near.length} could have made this row.`,
    `The likeliest has ${percent(belief[likeliest[0]])}.`,
    `Known of the row: ${released.map((value, j) => `${names[j]} ${+value.toFixed(2)}`).join(", ")}`,
  ];
}

const crowd = remembered(() => {
  const sides = DATA.neighborhood.map(standardized);
  return { sides, near: ranked(sides) };
});

function neighborhood(canvas, { epsilon, k, record }) {
  const { sides, near } = crowd();
  const [i, at] = [record - 1, (l) => sides.map((side) => side[l])];
  const count = sizes(near, k, epsilon)[i];
  const [kth, inside] = [reach(near[i], k), within(near[i], epsilon)];
  const [members, plane] = [new Set(near[i].records.slice(0, count)), new Plane(canvas, sides)];
  for (let l = 0; l < near.length; l++)
    if (l !== i) plane.dot(at(l), 3.4, members.has(l) ? "released" : "original", members.has(l));
  plane.ball(at(i), kth, "ink", [6, 5]);
  plane.ball(at(i), epsilon, "radius");
  plane.dot(at(i), 6.5, "ink", false);
  const tops = [["k", kth, "ink"], ["ε", epsilon, "radius"]].sort((a, b) => b[1] - a[1]);
  const [[, largest], [, smallest]] = tops;
  tops.forEach(([text, radius, ink], place) => {
    const end = (side) => [at(i)[0], at(i)[1] + side * radius];
    const side = (place ? [-1, 1] : [1, -1]).find((each) => plane.sees(end(each)));
    if (radius > 0 && side) plane.name(text, end(side), ink, [0, 11 * side]);
  });
  return [
    `Record ${record} has ${many(count, "donor", "donors")}: ` +
      (largest === smallest ? "both balls are the same." : `${kth > epsilon ? "k" : "ε"} decides.`),
    `${inside} within ε = ${digits(epsilon, 2)}; the ${k} nearest reach to ${digits(kth, 2)}.`,
    `k decides for ${percent(decidedByK(near, k, epsilon))} of all records.`,
  ];
}

const LESSONS = { theorem, intruder, neighborhood };
const CODE = {
  theorem: [donors, expectedCorrelation],
  intruder: [posterior],
  neighborhood: [within, sizes],
};

// Everything that a section's controls say now, by name.
function positions(section) {
  const found = {};
  for (const control of section.querySelectorAll("input, select"))
    found[control.name] = control.type === "range" ? Number(control.value) : control.value;
  found.answer = section.querySelector("details.guess");
  return found;
}

function show(section) {
  const canvas = section.querySelector("canvas");
  for (const slider of section.querySelectorAll("input"))
    section.querySelector(`output[for="${slider.id}"]`).value = slider.value;
  const lines = LESSONS[section.id](canvas, positions(section));
  canvas.setAttribute("aria-label", `${canvas.dataset.what} ${lines.join(" ")}`);
  section.querySelectorAll(".numbers li").forEach((item, j) => (item.textContent = lines[j]));
}

const sections = [...document.querySelectorAll("section")];
const showAll = () => sections.forEach(show);
for (const section of sections) {
  const guess = section.querySelector("details.guess");
  section.addEventListener("input", ({ target }) => {
    if (guess && target.name === "row") guess.open = false; // another row, another guess
    show(section);
  });
  guess?.addEventListener("toggle", () => show(section));
  section.querySelector(".own-code").textContent = CODE[section.id].join("\n\n");
}
for (const question of ["(prefers-color-scheme: dark)", "print"])
  matchMedia(question).addEventListener("change", showAll);
showAll();
