"""Every sentence that a public notice may say.

The leak check knows these sentences: what a public file holds beyond them, the method's own words,
names of variables, the number of records, dates and hashes, it refuses.
"""

from __future__ import annotations

TREATED = (
    "These data were masked before they left the institution that holds the original: a "
    "statistical method changed or removed values, so that persons are harder to recognize.",
    "The method is {method} ({title}).",
    "What it does: {words}",
    "Source of the method: {source}",
    "Its parameters, any random numbers that it drew and the order of the original records are "
    "not published. Rows stand in a random order.",
)
MISSING = (
    "Missing values are masked like values: who lacks a value in the release need not be who "
    "lacks it in the original."
)
MASKED, KEPT, ROUNDED = "masked", "released as in the original", "; rounded"
VARIABLES = (
    "Of each variable it is said whether the method may have changed it, and how many of its "
    "values differ from the original record's own, in order of magnitude."
)
HOUSEHOLD = {
    "kept": "One value for all people of a household, in the original and in this file: {names}.",
    "split": "One value for all people of a household in the original, drawn person by person in "
    "this file, where people of one household may differ: {names}.",
}
VARIABLE_COLUMNS = ("variable", "treatment", "values changed")
CHANGED_SHARES = (
    "fewer than one in a hundred",
    "fewer than one in ten",
    "a part",
    "about half",
    "most",
    "nearly all",
)
NONE_CHANGED, NOT_MEASURED = "none", "not measured"

AMOUNTS = (
    "almost nothing",
    "little",
    "a considerable part",
    "about half",
    "most",
    "nearly all",
)
"""How much information is lost, in order of magnitude."""
LOST = {
    "marginals": "distributions of single variables",
    "association_loss": "relations between variables",
    "subgroups": "sizes of small groups",
}
SAMPLED = "It was measured on a random sample of the records."
FADED = "The relations that faded most: {names}."
GONE = "Nearly gone: {names}."
INVENTED = "The file shows relations that the original does not have."
PAIR = "{one} with {other}"
LOSS = (
    "How much information was lost was measured against the original. It is given in order of "
    "magnitude only.",
    "Not every kind could be measured on these data.",
)
DESTROYED = "What the method destroys on any data: {words}"
LOSS_COLUMNS = ("what an analyst uses", "information lost")
CHANGED = {
    "nearly all": "Nearly all values may differ from the original record's own.",
    "most": "Most values may differ from the original record's own.",
    "about half": "About half of the values may differ from the original record's own.",
    "a part": "A part of the values differ from the original record's own.",
    "few": "Few values differ from the original record's own.",
}

ERRORS = (
    "Standard errors that a program computes from this file account for sampling and not for the "
    "masking. Do not rely on results that are only just significant.",
    "Masking shifts slopes and correlations; it does not only blur them. An interval may miss the "
    "original's value however wide it is, and a sign may be wrong.",
    "Slopes and correlations may be drawn toward zero, or toward the values of dense regions.",
)
JUDGED = "The institution judged the regression of {response} over several releases of this kind."
SINGLE = "The institution compared the regression of {response} with the original's."
MISSED = (
    "Intervals from this file miss the original slope of {names} more often than they should. The "
    "bias cannot be mended by wider intervals; do not use it."
)
TURNED = "The sign of the slope of {names} may be wrong."
HELD = "Intervals from such a file mostly hold the original slope of {names}."
UNJUDGED = "No slope was judged; take none from this file without asking."
ASK = "Where a result matters, ask for it to be repeated on the original: {contact}."
NOBODY = "Where a result matters, it must be repeated on the original; no contact was stated."

NEAR = (
    "a hundredth",
    "a fiftieth",
    "a twentieth",
    "a tenth",
    "a fifth",
    "a half",
)
MEANS = (
    "Means of numeric variables agree with the original's within {near} of a standard deviation."
)
SHARES = "Shares of categories agree with the original's within {near} of all records."
FAR_MEANS = (
    "The mean of a numeric variable differs much from the original's; publish no totals from it."
)
FAR_SHARES = "Shares of a category differ much from the original's; publish no totals from it."
TOTALS = "Totals that were published from the original are not reproduced exactly."
OTHER_TOTALS = (
    "Totals that were published from the original of any other variable are not reproduced exactly."
)
KEEPS = {
    "values": "Every value of {names} occurs as often as in the original: totals, counts and "
    "quantiles of each of them are exactly the original's.",
    "rows": "Combinations of the values of {names} occur as often as in the original.",
    "totals": "Totals and means of {names} are exactly the original's.",
    "order": "Of {names} no larger value of the original was released as a smaller one than "
    "another's.",
    "support": "Every value of {names} in the file is a value of the original.",
    "fixed": "Nothing was drawn at random: the same original always gives the same file.",
}
"""What every release of a method keeps, by the names of `rwn_core.laws.invariants.Invariants`."""

PURPOSE = "The file is released for this purpose: {purpose}."
ACCESS = {
    "public": "The file is public.",
    "on request": "The institution gives the file out on request.",
    "safe setting": "The file may be used in a safe setting only.",
}
REPORT = "If a person can be recognized in this file, report it: {contact}."
RESIDUAL = (
    "Masking lowers the risk of disclosure and does not remove it. It gives no differential "
    "privacy and no proof that somebody is or is not in the data."
)
USE = (
    "Do not try to recognize persons, and do not link these data with others for that purpose.",
    "A row is no person: its values may come from several people, or from none in that "
    "combination.",
    "Extreme values, rare categories and small groups are less reliable than the rest.",
    "Rules between variables, such as sums that must agree, may be broken in single rows.",
    RESIDUAL,
    "This notice speaks of this file alone. Do not put it together with another release of the "
    "same people.",
)

FILE = (
    "The file was made on {made} and has {records} records.",
    "Release {id}.",
    "SHA-256 of the file: {sha256}",
)
FILES = (
    "The release was made on {made} and has {records} records. Number of its files: {files}.",
    "Release {id}.",
    "SHA-256 of the list of its files: {sha256}",
    "The card of the release has the SHA-256 of each file.",
)
CLAIMS_FILE = "claims.json"
CLAIMS = (
    "The file claims.json says which results of analyses that were judged over many releases of "
    "this kind can be relied on. Read it with rwn_claims.py or rwn_claims.R."
)
CLAIM_TABLE = "Claim table for analysts"
REVIEW = "The release is looked at again by {review}."
NO_REVIEW = "No day was stated on which the release is looked at again."
NOTICE = "Public notice"
TITLES = (
    "How the data were treated",
    "Variables",
    "Information lost",
    "Standard errors and correction",
    "Agreement with totals",
    "Limits of use",
    "The file",
    "Review",
    NOTICE,
    "Masked microdata",
)


def vocabulary() -> tuple[str, ...]:
    """All sentences above, with their places for other words left empty."""
    parts: list[str] = [
        MISSING,
        MASKED,
        KEPT,
        ROUNDED,
        VARIABLES,
        *HOUSEHOLD.values(),
        MEANS,
        SHARES,
        FAR_MEANS,
        FAR_SHARES,
    ]
    parts += [
        TOTALS,
        OTHER_TOTALS,
        *KEEPS.values(),
        REVIEW,
        NO_REVIEW,
        *CHANGED_SHARES,
        *(NONE_CHANGED, NOT_MEASURED),
        DESTROYED,
        *TREATED,
        *VARIABLE_COLUMNS,
        *AMOUNTS,
        *LOSS,
        *LOSS_COLUMNS,
        *ERRORS,
        *(SAMPLED, FADED, GONE, INVENTED, PAIR),
        *(JUDGED, SINGLE, MISSED, TURNED, HELD, UNJUDGED, ASK, NOBODY),
    ]
    parts += [*LOST.values(), *CHANGED.values(), *NEAR, *USE]
    parts += [PURPOSE, *ACCESS, *ACCESS.values(), REPORT]
    parts += [*FILE, *FILES]
    parts += [CLAIMS, CLAIM_TABLE]
    return (*parts, *TITLES)
