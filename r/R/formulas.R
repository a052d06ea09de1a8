# Names of variables from formulas, which say what to do and compute nothing.

# A character vector as it is, or the names of a formula with one side: ~ age + sex.
variable_names <- function(given) {
  if (!inherits(given, "formula")) return(given)
  if (length(given) != 2L) refuse("Names need a formula with one side, such as ~ age + sex.")
  plain_names(given[[2L]])
}

# The options of a regression: income ~ age + sex.
regression <- function(formula) {
  if (is.null(formula)) return(list())
  if (!inherits(formula, "formula") || length(formula) != 3L) {
    refuse("A regression needs a formula with two sides, such as income ~ age + sex.")
  }
  list(response = plain_names(formula[[2L]]), predictor = as.list(plain_names(formula[[3L]])))
}

# The names of a sum; a function or a product would be another model, and is refused.
plain_names <- function(term) {
  if (is.name(term) && !identical(term, quote(.))) return(as.character(term))
  if (is.call(term) && identical(term[[1L]], quote(`+`)) && length(term) == 3L) {
    return(c(plain_names(term[[2L]]), plain_names(term[[3L]])))
  }
  refuse(paste0("A formula may add names of variables, such as ~ age + sex, and do no more; ",
                "it has: ", paste(deparse(term), collapse = " "), "."))
}
