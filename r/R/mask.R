# Mask, audit, sweep, report.

#' Mask a table.
#'
#' @param data A data frame, an sdcMicro object or the path of a file.
#' @param out The file to write, such as "release.csv". Left out, the release is returned.
#' @param epsilon,k,q Radius in standard deviations, least size of a neighborhood, and
#'   modification probability. Without any, the recommended setting is used, and said.
#' @param ... Other options of `rwn mask`, with underscores: seed = 1, order = "original".
#' @param weights Weights in the distance by name, such as c(age = 2).
#' @param slices Variables that travel together: ~ age + sex, or a list of such formulas.
#' @param confidential,keys,as_is Names of variables, or a formula such as ~ income + debt.
#' @param schema A TOML file, such as rwn_schema() writes; if left out, roles are those
#'   of the sdcMicro object, or guessed.
#' @return A data frame of class "rwn_release", or invisibly the path `out`; attribute "sha256" is
#'   the file's, and attribute "messages" what the command said.
rwn_mask <- function(data, out = NULL, epsilon = NULL, k = NULL, q = NULL, ..., weights = NULL,
                     slices = NULL, confidential = NULL, keys = NULL, as_is = NULL,
                     schema = NULL) {
  folder <- private_folder()
  schema <- schema_of(data, schema, folder)
  if (is(data, "sdcMicroObj")) data <- slot(data, "origData")
  if (!is.null(weights) && is.null(names(weights))) {
    refuse("Give each weight the name of its variable, such as c(age = 2).")
  }
  if (!is.null(slices) && !is.list(slices)) slices <- list(slices)
  named <- list(epsilon = epsilon, k = k, q = q, weight = weights,
                slice = lapply(slices, variable_names),
                confidential = as.list(variable_names(confidential)),
                key = as.list(variable_names(keys)), as_is = as.list(variable_names(as_is)),
                schema = schema)
  target <- if (is.null(out)) file.path(folder, "release.rds") else out
  done <- rwn("mask", table_path(data, folder, "table.rds"), target,
              arguments(c(named, list(...))))
  result <- if (is.null(out)) readRDS(target) else out
  attr(result, "messages") <- attr(done, "messages")
  if (requireNamespace("tools", quietly = TRUE) && exists("sha256sum", asNamespace("tools"))) {
    attr(result, "sha256") <- unname(getExportedValue("tools", "sha256sum")(target))
  }
  if (!is.null(out)) return(invisible(result))
  class(result) <- c("rwn_release", class(result))
  result
}

#' Compare an original and a masked table, row i with row i.
#'
#' @param original A data frame, an sdcMicro object or a path.
#' @param masked A data frame or a path, in the original order.
#' @param formula The regression to keep, such as income ~ age + sex; plain names only.
#' @param ... Options of `rwn audit`: measure = list("linkage"), record = "record.toml".
#' @param schema A TOML file; if left out, roles are those of the sdcMicro object, or guessed.
#' @return A data frame with a row for each measure, of class "rwn_audit"; `reason` says why one does not
#'   apply.
rwn_audit <- function(original, masked, formula = NULL, ..., schema = NULL) {
  folder <- private_folder()
  schema <- schema_of(original, schema, folder)
  if (is(original, "sdcMicroObj")) original <- slot(original, "origData")
  printed <- rwn("audit", table_path(original, folder, "original.rds"),
                 table_path(masked, folder, "masked.rds"), "--json",
                 arguments(c(regression(formula), list(...), list(schema = schema))))
  rows <- from_json(printed)$measures
  field <- function(name, none) vapply(rows, function(row) {
    if (is.null(row[[name]])) none else row[[name]]
  }, none)
  found <- data.frame(measure = field("measure", ""), title = field("title", ""),
                      side = field("side", ""), value = field("value", NA_real_),
                      baseline = field("baseline", NA_real_), unit = field("unit", ""),
                      reason = field("not_applicable", ""))
  class(found) <- c("rwn_audit", class(found))
  found
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
  found <- read.csv(target, stringsAsFactors = FALSE, encoding = "UTF-8")
  class(found) <- c("rwn_sweep", class(found))
  found
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
