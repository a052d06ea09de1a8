# Read a masked file with its notice: a model in, 95 % intervals out, or the reason why not.
#
# This one file needs base R and nothing else. Copy it next to the masked file and its notice, then:
#
#   source("rwn_intervals.R")
#   survey <- load_released("release.csv", "notice.json")
#   released_interval(survey, wage ~ education + log(experience) + factor(region))
#   released_interval(survey, member ~ age + sex:age, "logistic")
#   released_interval(survey, "mean(wage)")  # median(wage), quantile(wage, 0.9), share(region = north)
#
# Intervals cover sampling and masking as if the file had half as many records; they hold for people
# who were sampled independently. A model across slices, or of too few records, is refused, and so is
# a term that reads other records than its own, such as scale(wage): it would change when half of the
# records are left out.

refused <- function(...) {
  stop(structure(class = c("rwn_refusal", "error", "condition"),
                 list(message = paste0(...), call = NULL, code = 3L)))
}

# A masked text file or a data frame, with the notice that belongs to it. Where R can compute the
# digest (4.5 and later), a file that the notice does not belong to is refused.
load_released <- function(file, notice) {
  content <- from_json(readLines(notice, warn = FALSE, encoding = "UTF-8"))
  if (!identical(content$format, "rwn notice 1") || is.null(content$sha256)) {
    refused("The notice has another form; get the reader that came with it.")
  }
  table <- file
  if (is.character(file)) {
    if (exists("sha256sum", asNamespace("tools"))) {
      if (get("sha256sum", asNamespace("tools"))(file) != content$sha256) {
        refused("The notice belongs to another file: its SHA-256 differs.")
      }
    }
    # text with the marks that the notice states
    separator <- if (grepl("\\.(tsv|tab)$", file)) "\t" else ","
    if (!is.null(content$marks$separator)) separator <- content$marks$separator
    names <- unlist(content$intervals$slices)
    table <- tryCatch(
      suppressWarnings(utils::read.csv(file, colClasses = "character", check.names = FALSE,
                                       na.strings = "", encoding = "UTF-8", sep = separator)),
      error = function(e) NULL
    )
    if (is.null(table) || !all(names %in% names(table))) {
      refused("Read the file as a data frame and give that: it is no such text.")
    }
    if (identical(content$marks$decimal, ",")) {
      table[] <- lapply(table, function(cells) {
        pointed <- sub(",", ".", cells, fixed = TRUE)
        if (all(is_number(pointed[!is.na(pointed)]))) pointed else cells
      })
    }
  }
  structure(list(table = table, notice = content), class = "rwn_survey")
}

# A file prints itself in five lines: what it is, and what can be asked of it.
print.rwn_survey <- function(x, ...) {
  notice <- x$notice
  or <- function(value, other) if (is.null(value)) other else value
  slices <- vapply(notice$intervals$slices, function(each) paste(unlist(each), collapse = ", "), "")
  shown <- paste(slices, collapse = " | ")
  if (nchar(shown) > 70L) shown <- paste(substr(shown, 1L, 70L), "...")
  first <- c(unlist(notice$intervals$slices), "x")[1L]
  refusal <- or(notice$intervals$refusal, "The file says nothing of intervals.")
  records <- format(NROW(x$table), big.mark = ",")
  cat(paste0(or(notice$title, "Masked microdata"), ": a masked file of ", records, " records"),
      paste0("Release ", or(notice$release, "?"), ", made on ", or(notice$made, "?")),
      paste0("Method: ", or(notice$method, "?")),
      if (nzchar(refusal)) refusal else paste("Intervals for variables of one slice:", shown),
      paste0("Ask: released_interval(survey, \"mean(", first, ")\"); see the notice for what holds"),
      sep = "\n")
  cat("\n")
  invisible(x)
}

# 95 % intervals of a model, a mean, a share, a median or a quantile.
released_interval <- function(survey, model, kind = "linear") {
  about <- survey$notice$intervals
  if (is.null(about)) refused("The file says nothing of intervals.")
  if (nzchar(about$refusal)) refused(about$refusal)
  if (!is.character(model)) model <- paste(deparse(model), collapse = " ")
  asked <- paste0("(*UCP)^\\s*(mean|median|quantile|share)\\s*\\(\\s*(`[^`]+`|[^\\W\\d][\\w.]*)\\s*",
                  "(?:(,|>=|<=|==?|>|<)\\s*(.+?)\\s*)?\\)\\s*$")
  asked <- regmatches(model, regexec(asked, model, perl = TRUE))[[1L]]
  formula <- tryCatch(stats::as.formula(if (length(asked)) paste("~", asked[3L]) else model),
                      error = function(e) refused(model, " cannot be read."))
  names <- all.vars(formula)
  same <- vapply(about$slices, function(each) sum(names %in% unlist(each)), 0)
  own <- unlist(about$slices[[which.max(same)]])
  outside <- setdiff(names, own)
  if (length(outside)) {
    refused("No interval: ", paste(outside, collapse = ", "), " lies outside of the slice ",
            paste(own, collapse = ", "), ". An interval holds for variables of one slice only.")
  }
  data <- stats::setNames(lapply(own, function(name) typed_column(survey$table[[name]])), own)
  if (length(asked)) return(interval_of_one(data[[names]], asked, about$factor, trimws(model)))
  # a formula sees the variables of one slice, the functions of base R and three of its packages
  own_functions <- list(log = function(x) transformed(x, "log"), C = factor,
                        sqrt = function(x) transformed(x, "sqrt"), square = function(x) x^2,
                        poly = stats::poly, bs = function(...) splines::bs(...),
                        ns = function(...) splines::ns(...))
  environment(formula) <- list2env(own_functions, parent = baseenv())
  old <- options(contrasts = c("contr.treatment", "contr.poly"))
  on.exit(options(old))
  frame <- tryCatch(stats::model.frame(formula, data, na.action = stats::na.omit),
                    rwn_refusal = stop, error = function(e) refused(model, " cannot be read."))
  of_one_record(formula, data)
  every <- stats::model.matrix(stats::terms(frame), frame)
  response <- stats::model.response(frame)
  two <- kind == "logistic"
  if (!kind %in% c("linear", "logistic", "poisson") || is.null(response) ||
        !identical(colnames(every)[1L], "(Intercept)") || (is.factor(response) && !two)) {
    refused("A model needs an intercept, a known kind, and a response of numbers.")
  }
  response <- as.numeric(response)
  if (two && length(unique(response)) != 2L) refused("The response must have two values.")
  if (two) response <- as.numeric(response == max(response))
  if (kind == "poisson" && min(response) < 0) refused("The response has negative values.")
  enough("the response", response)
  # the columns of a category, added, tell the records of its reference
  part <- attr(every, "assign")
  labels <- attr(stats::terms(frame), "term.labels")
  for (each in unique(part[-1L])) {
    enough(labels[each], rowSums(every[, part == each, drop = FALSE]))
  }
  for (each in seq_len(ncol(every))[-1L]) enough(colnames(every)[each], every[, each])
  freedom <- nrow(every) / 2 - ncol(every)
  if (freedom < 10) refused("The file has too few records for so many coefficients.")
  found <- robust_model(response, every[, -1L, drop = FALSE], kind)
  error <- about$factor * found$errors
  half <- stats::qt(0.975, freedom) * error
  structure(data.frame(term = colnames(every), estimate = found$values, error = error,
                       low = found$values - half, high = found$values + half),
            records = nrow(every))
}

# Refuse what changes when half of the records are left out, as scale(age) does. Intervals hold for
# means of functions of one record; a mean, a knot or a range that was read from the sample moves
# with it, and the standard error does not know of that.
of_one_record <- function(formula, data) {
  made <- function(rows) {
    part <- lapply(data, `[`, rows)
    stats::model.frame(formula, part, na.action = stats::na.pass)
  }
  rows <- seq_along(data[[1L]])
  whole <- made(rows)
  # halves that no order of the records follows
  halves <- lapply(c(0.6180339887498949, 0.4142135623730951, 0.7320508075688772),
                   function(step) ((rows - 1) * step) %% 1 < 0.5)
  for (half in c(halves, lapply(halves, `!`))) {
    alone <- tryCatch(made(half), error = function(e) NULL)  # it has no value without the others
    for (name in names(whole)) {
      if (!unchanged(whole[half, name], alone[, name])) {
        refused("No interval: ", name, " changes when half of the records are left out, so it is ",
                "no function of one record; state its numbers yourself, as in I(age - 40).")
      }
    }
  }
}

# Whether values of half of the records are those of all records, but for rounding.
unchanged <- function(before, after) {
  if (!is.numeric(before) && !is.logical(before)) {
    same_coding <- identical(attr(before, "contrasts"), attr(after, "contrasts"))
    return(same_coding && identical(as.character(before), as.character(after)))
  }
  before <- as.numeric(before)
  after <- as.numeric(after)
  if (!identical(is.na(before), is.na(after))) return(FALSE)
  known <- is.finite(before)
  spread <- if (sum(known) > 1L) stats::sd(before[known]) else 0
  moved <- abs(after[known] - before[known])
  all(moved <= 1e-14 * abs(before[known]) + 1e-9 * spread)
}

# The interval of a mean, a share or a quantile of one variable.
interval_of_one <- function(values, asked, factor, term) {
  what <- asked[2L]; sign <- asked[4L]; given <- asked[5L]
  values <- values[!is.na(values)]
  texts <- is.factor(values)
  if (texts) values <- as.character(values)
  n <- length(values)
  if (n < 60L) refused("Fewer than 60 records have a value.")
  signs <- switch(what, share = c("=", "==", ">", ">=", "<", "<="), quantile = ",", "")
  if (!sign %in% signs || (texts && !sign %in% c("=", "==")) ||
        !(texts || !nzchar(given) || is_number(given))) {
    refused(term, " cannot be read: see the examples of this reader.")
  }
  row <- function(estimate, error, low, high) {
    structure(data.frame(term = term, estimate = estimate, error = error, low = low, high = high),
              records = n)
  }
  if (what == "share") {
    if (!texts) given <- as.numeric(given)
    share <- mean(match.fun(if (sign == "=") "==" else sign)(values, given))
    z <- stats::qnorm(0.975)
    half <- n / 2
    center <- (share + z^2 / (2 * half)) / (1 + z^2 / half)
    reach <- z * sqrt(share * (1 - share) / half + z^2 / (4 * half^2)) / (1 + z^2 / half)
    return(row(share, NA_real_, center - reach, center + reach))
  }
  if (what == "mean") {
    enough(term, values)
    error <- factor * stats::sd(values) / sqrt(n)
    half <- stats::qt(0.975, n / 2 - 1) * error
    return(row(mean(values), error, mean(values) - half, mean(values) + half))
  }
  level <- if (what == "median") 0.5 else as.numeric(given)
  if (!isTRUE(n * min(level, 1 - level) >= 20)) {
    refused("Fewer than 20 records lie beyond ", term, ".")
  }
  reach <- 1.959963984540054 * sqrt(2 * level * (1 - level) / n)
  ranks <- pmin(pmax(ceiling(n * (level + c(-reach, reach))), 1), n)
  ends <- sort(values)[ranks]
  row(unname(stats::quantile(values, level)), NA_real_, ends[1L], ends[2L])
}

transformed <- function(values, transform) {
  made <- switch(transform, log = suppressWarnings(log(values)),
                 sqrt = suppressWarnings(sqrt(values)), square = values^2, values)
  if (any(!is.finite(made[!is.na(values)]))) refused(transform, " has no value for some records.")
  made
}

is_number <- function(texts) {
  grepl("^\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?\\s*$", texts, perl = TRUE)
}

# Numbers where all cells are numbers, else a factor; levels in the order of their bytes.
typed_column <- function(cells) {
  if (is.numeric(cells)) return(as.numeric(cells))
  texts <- as.character(cells)
  texts[!is.na(texts) & texts == ""] <- NA
  if (all(is_number(texts[!is.na(texts)]))) return(as.numeric(texts))
  factor(texts, levels = sort(unique(texts), method = "radix"))
}

# Too few records, or values of which nearly all are the same, are refused.
enough <- function(label, values) {
  if (length(values) < 60L) refused("Fewer than 60 records have all values.")
  if (length(values) - max(table(match(values, unique(values)))) < 30L) {
    refused("In ", label, " fewer than 30 records differ from the rest.")
  }
}

# All coefficients, the intercept first, and robust standard errors: HC3, or the sandwich.
robust_model <- function(response, columns, kind) {
  center <- colMeans(columns)
  unit <- apply(columns, 2L, stats::sd)
  scaled <- sweep(sweep(columns, 2L, center), 2L, unit, "/")
  if (ncol(columns)) {
    size <- svd(scaled, 0L, 0L)$d
    if (min(size) <= 0 || max(size) / min(size) > 30) {
      refused("Do not use this model: its predictors are nearly collinear.")
    }
  }
  exog <- cbind(1, scaled)
  if (kind == "linear") {
    fit <- stats::lm.fit(exog, response)
    parts <- qr.Q(fit$qr)
    bread <- chol2inv(qr.R(fit$qr))
    rest <- fit$residuals / (1 - rowSums(parts^2))
  } else {
    family <- if (kind == "logistic") stats::binomial() else stats::poisson()
    fit <- suppressWarnings(stats::glm.fit(exog, response, family = family,
                            control = stats::glm.control(epsilon = 1e-14, maxit = 100L)))
    weight <- fit$fitted.values * (if (kind == "logistic") 1 - fit$fitted.values else 1)
    bread <- chol2inv(qr.R(qr(exog * sqrt(weight))))
    rest <- response - fit$fitted.values
  }
  spread <- bread %*% crossprod(exog * rest) %*% bread
  # back to the units of the columns
  back <- diag(c(1, 1 / unit), 1L + length(unit))
  back[1L, -1L] <- -center / unit
  errors <- sqrt(diag(back %*% spread %*% t(back)))
  if (!all(is.finite(errors)) ||
        (kind != "linear" && (!fit$converged || any(sqrt(diag(spread))[-1L] > 50)))) {
    refused("The model has no finite estimate on this file.")
  }
  list(values = drop(back %*% fit$coefficients), errors = errors)
}

# JSON to R: objects become named lists, arrays lists, null NULL, numbers doubles.

from_json <- function(text) {
  # tokens: strings, numbers, words, and the six marks
  pattern <- '"([^"\\\\]|\\\\.)*"|-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null|[][{}:,]'
  text <- paste(text, collapse = "\n")
  tokens <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
  left <- gsub("[[:space:]]", "", gsub(pattern, "", text, perl = TRUE))
  if (nzchar(left)) refused("The text is not JSON.")
  at <- 0L
  take <- function() {
    at <<- at + 1L
    if (at > length(tokens)) refused("The JSON text ends too early.")
    tokens[at]
  }
  expect <- function(mark) if (take() != mark) refused("The text is not JSON.")
  several <- function(end, one) {
    found <- list()
    if (at < length(tokens) && tokens[at + 1L] == end) { take(); return(found) }
    repeat {
      found <- one(found)
      mark <- take()
      if (mark == end) return(found)
      if (mark != ",") refused("The text is not JSON.")
    }
  }
  value <- function() {
    token <- take()
    switch(token,
      "{" = several("}", function(found) {
        name <- json_text(take())
        expect(":")
        c(found, stats::setNames(list(value()), name))
      }),
      "[" = several("]", function(found) c(found, list(value()))),
      "true" = TRUE, "false" = FALSE, "null" = NULL,
      if (startsWith(token, '"')) json_text(token) else number(token)
    )
  }
  result <- value()
  if (at != length(tokens)) refused("The text is not JSON.")
  result
}

number <- function(token) {
  found <- suppressWarnings(as.numeric(token))
  if (is.na(found)) refused("The text is not JSON.")
  found
}

json_text <- function(token) {
  if (!startsWith(token, '"')) refused("The text is not JSON.")
  text <- substr(token, 2L, nchar(token) - 1L)
  while (grepl("\\\\u[0-9a-fA-F]{4}", text)) {
    code <- regmatches(text, regexpr("\\\\u[0-9a-fA-F]{4}", text))
    text <- sub(code, intToUtf8(strtoi(substr(code, 3L, 6L), 16L)), text, fixed = TRUE)
  }
  for (pair in list(c("\\n", "\n"), c("\\t", "\t"), c("\\r", "\r"), c("\\/", "/"),
                    c("\\\"", "\""), c("\\\\", "\\"))) {
    text <- gsub(pair[1], pair[2], text, fixed = TRUE)
  }
  text
}
