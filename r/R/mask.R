# Mask, audit, sweep, report.

#' Mask a table.
#'
#' @param data A data frame, an sdcMicro object or the path of a file.
#' @param out The file to write, such as "release.csv". Left out, the release is returned.
#' @param ... Options of `rwn mask`, with underscores: epsilon = 2, k = 5, q = 1,
#'   weight = c(age = 2), slice = list(c("sex", "age")), seed = 1, order = "original".
#' @param schema A TOML file, such as rwn_schema() writes; if left out, roles are those
#'   of the sdcMicro object, or guessed.
#' @return A data frame, or invisibly the path `out`; attribute "sha256" is the file's, and
#'   attribute "messages" what the command said.
rwn_mask <- function(data, out = NULL, ..., schema = NULL) {
  folder <- private_folder()
  schema <- schema_of(data, schema, folder)
  if (is(data, "sdcMicroObj")) data <- slot(data, "origData")
  target <- if (is.null(out)) file.path(folder, "release.rds") else out
  done <- rwn("mask", table_path(data, folder, "table.rds"), target,
              arguments(c(list(...), list(schema = schema))))
  result <- if (is.null(out)) readRDS(target) else out
  attr(result, "messages") <- attr(done, "messages")
  if (requireNamespace("tools", quietly = TRUE) && exists("sha256sum", asNamespace("tools"))) {
    attr(result, "sha256") <- unname(getExportedValue("tools", "sha256sum")(target))
  }
  if (is.null(out)) result else invisible(result)
}

#' Compare an original and a masked table, row i with row i.
#'
#' @param original A data frame, an sdcMicro object or a path.
#' @param masked A data frame or a path, in the original order.
#' @param ... Options of `rwn audit`: measure = list("linkage"), record = "record.toml".
#' @param schema A TOML file; if left out, roles are those of the sdcMicro object, or guessed.
#' @return A data frame with a row for each measure; `reason` says why one does not apply.
rwn_audit <- function(original, masked, ..., schema = NULL) {
  folder <- private_folder()
  schema <- schema_of(original, schema, folder)
  if (is(original, "sdcMicroObj")) original <- slot(original, "origData")
  printed <- rwn("audit", table_path(original, folder, "original.rds"),
                 table_path(masked, folder, "masked.rds"), "--json",
                 arguments(c(list(...), list(schema = schema))))
  rows <- from_json(printed)$measures
  field <- function(name, none) vapply(rows, function(row) {
    if (is.null(row[[name]])) none else row[[name]]
  }, none)
  data.frame(measure = field("measure", ""), title = field("title", ""),
             side = field("side", ""), value = field("value", NA_real_),
             baseline = field("baseline", NA_real_), unit = field("unit", ""),
             reason = field("reason", ""))
}

#' Try many settings.
#'
#' @param data A data frame, an sdcMicro object or a path.
#' @param ... Options of `rwn sweep`: epsilon = c(0, 1, 2), k = c(3, 5), limit = c(linkage = 0.05).
#' @param schema A TOML file; if left out, roles are those of the sdcMicro object, or guessed.
#' @return A data frame with a row for each setting and measure.
rwn_sweep <- function(data, ..., schema = NULL) {
  folder <- private_folder()
  schema <- schema_of(data, schema, folder)
  if (is(data, "sdcMicroObj")) data <- slot(data, "origData")
  target <- file.path(folder, "sweep.csv")
  rwn("sweep", table_path(data, folder, "table.rds"), "-o", target,
      arguments(c(list(...), list(schema = schema))))
  read.csv(target, stringsAsFactors = FALSE, encoding = "UTF-8")
}

#' Write the internal report of a release, or its public notice.
#'
#' @param record What rwn_mask(record = ...) wrote.
#' @param out Ends in .html or .json; a public one also in .xml or .toml.
#' @param ... Options of `rwn report`: public = TRUE, title = "Survey", original = "survey.csv".
#' @return Invisibly the path `out`.
rwn_report <- function(record, out, ...) {
  rwn("report", record, "-o", out, arguments(list(...)))
  invisible(out)
}
