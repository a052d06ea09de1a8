// The mathematics of the lessons: arrays in, numbers out, nothing of the page. The tests hold every
// function against rwn_core.
"use strict";

const TIE = 1e-9; // squared distances closer than this, relatively, count as equal

const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;

function covariance(x, y) {
  const [a, b] = [mean(x), mean(y)];
  return sum(x.map((value, i) => (value - a) * (y[i] - b))) / (x.length - 1);
}

const correlation = (x, y) => covariance(x, y) / Math.sqrt(covariance(x, x) * covariance(y, y));

function standardized(values) {
  const [center, spread] = [mean(values), Math.sqrt(covariance(values, values))];
  return values.map((value) => (value - center) / spread);
}

// Each record's other records, the nearest first, with their squared distances.
function ranked(columns) {
  return columns[0].map((_, i) => {
    const squared = new Float64Array(columns[0].length);
    for (const column of columns)
      for (let l = 0; l < squared.length; l++) squared[l] += (column[l] - column[i]) ** 2;
    const records = [...squared.keys()].filter((l) => l !== i);
    records.sort((a, b) => squared[a] - squared[b] || a - b);
    return { records, squared: records.map((l) => squared[l]) };
  });
}

// How many of the others lie within a radius, the boundary included.
function within(others, radius) {
  const limit = radius * radius * (1 + TIE);
  let [low, high] = [0, others.squared.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (others.squared[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The distance of the k-th nearest other record.
const reach = (others, k) => Math.sqrt(others.squared[k - 1]);

// How many donors each record has: the k nearest or all within epsilon, whichever are more.
const sizes = (near, k, epsilon) =>
  near.map((others) => within(others, Math.max(epsilon, reach(others, k))));

// Random numbers from 0 to 1, the same for everybody who begins with the same seed (mulberry32).
function generator(seed) {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// For each record the donors of U and of V, drawn independently of each other.
function donors(near, counts, seed) {
  const random = generator(seed);
  const one = (i) => near[i].records[Math.floor(random() * counts[i])];
  return near.map((_, i) => [one(i), one(i)]);
}

// The correlation of the expected covariances of all releases, without drawing one.
function expectedCorrelation(x, y, near, counts) {
  const inside = (values) => near.map((o, i) => o.records.slice(0, counts[i]).map((l) => values[l]));
  const spread = (values, center) => mean(values.map((value) => (value - center) ** 2));
  const [a, b] = [x, y].map((values) => {
    const groups = inside(values);
    const means = groups.map(mean);
    const drawn = mean(groups.map((group, i) => spread(group, means[i])));
    return { means, variance: covariance(means, means) + drawn };
  });
  return covariance(a.means, b.means) / Math.sqrt(a.variance * b.variance);
}

// The probability that each original made a released row, by the values that are known of it.
function posterior(known, near, counts, row) {
  const chance = near.map(({ records }, i) => {
    const people = records.slice(0, counts[i]);
    const shares = known.map(
      (values, j) => people.filter((l) => values[l] === row[j]).length / people.length,
    );
    return shares.reduce((product, share) => product * share, 1);
  });
  const total = sum(chance);
  return chance.map((value) => value / total);
}

// The share of records whose k nearest reach further than epsilon.
const decidedByK = (near, k, epsilon) =>
  mean(near.map((others) => (within(others, epsilon) < k ? 1 : 0)));
