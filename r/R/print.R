# How results are shown: what was found first, and no more rows than fit.

plain_frame <- function(x) {
  class(x) <- setdiff(class(x), c("rwn_release", "rwn_audit", "rwn_sweep"))
  attr(x, "messages") <- attr(x, "sha256") <- NULL
  x
}

print.rwn_release <- function(x, n = 6L, ...) {
  cat("Masked table:", nrow(x), "records,", ncol(x), "variables\n")
  if (!is.null(attr(x, "sha256"))) cat("SHA-256", attr(x, "sha256"), "\n")
  print(utils::head(plain_frame(x), n), ...)
  if (nrow(x) > n) cat("and", nrow(x) - n, "more; summary() says what the command said\n")
  invisible(x)
}

summary.rwn_release <- function(object, ...) {
  structure(list(records = nrow(object), variables = ncol(object),
                 messages = attr(object, "messages"), columns = summary(plain_frame(object))),
            class = "summary.rwn_release")
}

print.summary.rwn_release <- function(x, ...) {
  cat("Masked table:", x$records, "records,", x$variables, "variables\n")
  writeLines(strwrap(x$messages, exdent = 2L))
  print(x$columns, ...)
  invisible(x)
}

print.rwn_audit <- function(x, ...) {
  shown <- plain_frame(x)
  for (side in unique(shown$side)) {
    rows <- shown[shown$side == side & !is.na(shown$value), c("title", "value", "baseline", "unit")]
    cat(side, "\n", sep = "")
    print(rows, row.names = FALSE, digits = 3L, right = FALSE, ...)
  }
  left <- sum(is.na(shown$value))
  if (left > 0L) cat(left, "measures do not apply; summary() says why\n")
  invisible(x)
}

summary.rwn_audit <- function(object, ...) {
  shown <- plain_frame(object)
  known <- shown[!is.na(shown$value), ]
  risk <- known[known$side == "risk", ]
  structure(list(risk = risk[order(-(risk$value - ifelse(is.na(risk$baseline), 0, risk$baseline))), ],
                 utility = known[known$side != "risk", ],
                 not_applicable = shown[is.na(shown$value), c("title", "reason")]),
            class = "summary.rwn_audit")
}

print.summary.rwn_audit <- function(x, ...) {
  columns <- c("title", "value", "baseline", "unit")
  cat("risk, the readings farthest above their baselines first\n")
  print(x$risk[columns], row.names = FALSE, digits = 3L, right = FALSE)
  cat("utility\n")
  print(x$utility[columns], row.names = FALSE, digits = 3L, right = FALSE)
  if (nrow(x$not_applicable)) {
    cat("not applicable\n")
    writeLines(strwrap(paste0(x$not_applicable$title, ": ", x$not_applicable$reason), exdent = 2L))
  }
  invisible(x)
}

print.rwn_sweep <- function(x, n = 10L, ...) {
  cat("Sweep:", nrow(x), "rows\n")
  print(utils::head(plain_frame(x), n), ...)
  if (nrow(x) > n) cat("and", nrow(x) - n, "more\n")
  invisible(x)
}

summary.rwn_sweep <- function(object, ...) {
  shown <- plain_frame(object)
  numbers <- shown[vapply(shown, is.numeric, NA)]
  ends <- vapply(numbers, function(column) range(c(NA, column), na.rm = TRUE), c(0, 0))
  structure(list(rows = nrow(shown), ends = t(ends)), class = "summary.rwn_sweep")
}

print.summary.rwn_sweep <- function(x, ...) {
  cat("Sweep:", x$rows, "rows; lowest and highest of each column\n")
  colnames(x$ends) <- c("lowest", "highest")
  print(x$ends, digits = 3L)
  invisible(x)
}

# a file with its notice prints itself by the reader's own method, in rwn_intervals.R

summary.rwn_survey <- function(object, ...) {
  structure(list(intervals = object$notice$intervals$sentence), class = "summary.rwn_survey")
}

print.summary.rwn_survey <- function(x, ...) {
  if (!is.null(x$intervals)) writeLines(strwrap(x$intervals, exdent = 2L))
  invisible(x)
}
