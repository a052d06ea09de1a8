"""Randomization within neighborhoods as section 5 of the 2022 paper tells it, in plain Python."""

from functools import cache
from math import floor, fsum, sqrt


@cache
def chacha20_words(key, record, stream, block):
    """The sixteen keystream words of one address (RFC 8439, section 2.3)."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key]
    start += [record % 2**32, record // 2**32, stream, block]
    x = list(start)
    for turn in range(80):  # ten times four columns, then four diagonals
        a, skew = turn % 4, (turn // 4) % 2
        b, c, d = (4 * row + (a + row * skew) % 4 for row in (1, 2, 3))
        for one, two, three, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[one] = (x[one] + x[two]) % 2**32
            mixed = x[three] ^ x[one]
            x[three] = (mixed << bits | mixed >> (32 - bits)) % 2**32
    return [(new + old) % 2**32 for new, old in zip(x, start, strict=True)]


def uniform(key, record, stream, step):
    words = chacha20_words(key, record, stream, step // 8)
    high, low = words[2 * (step % 8) : 2 * (step % 8) + 2]
    return ((high * 2**32 + low) // 2**12 + 0.5) / 2**52


def z_scores(numbers):
    """Divisor n - 1; a missing number (None) counts 0, and so does all of a constant."""
    known = [number for number in numbers if number is not None]
    mean = fsum(known) / len(known)
    sd = sqrt(fsum((number - mean) ** 2 for number in known) / max(1, len(known) - 1))
    varies = min(known) < max(known)
    return [(x - mean) / sd if varies and x is not None else 0.0 for x in numbers]


def points(table):
    """Numbers, a dummy of each category, and a dummy of being missing: all z-scored."""
    axes = []
    for column in table:
        texts = any(isinstance(value, str) for value in column)
        axes += [] if texts else [z_scores(column)]
        for level in set(column) if texts else set(column) & {None}:
            axes.append(z_scores([float(value == level) for value in column]))
    return list(zip(*axes, strict=True))


def members(i, at, k, epsilon):
    """S_i, nearest first, ties by record number."""
    far = []
    for other, there in enumerate(at):
        squares = ((a - b) ** 2 for a, b in zip(at[i], there, strict=True))
        far += [(fsum(squares), other)] if other != i else []
    far.sort()
    radius = max(epsilon**2 if epsilon else 0.0, far[k - 1][0])
    ranked = []
    tie = 0
    before = 0.0
    for distance, other in far:
        tie = tie + (distance > before * (1 + 1e-9))
        before = distance
        ranked += [(tie, other)] if distance <= radius * (1 + 1e-9) else []
    return [other for _, other in sorted(ranked)]


def donor(i, j, near, q, key):
    """Whose value cell (i, j) gets; its own record's where the value is kept."""
    rank, step = 1, 1
    while (following := floor(rank / uniform(key, i, j, step)) + 1) <= len(near):
        rank = following
        step = step + 1
    return near[rank - 1] if uniform(key, i, j, 0) < q else i


def donors(table, k, epsilon, q, key):
    at = points(table)
    near = [members(i, at, k, epsilon) for i in range(len(at))]
    return [[donor(i, j, near[i], q, key) for j in range(len(table))] for i in range(len(at))]
