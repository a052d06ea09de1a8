# Read a masked file with its claims: what may be concluded from a result, and what may not.
#
# This one file needs base R and nothing else. Copy it next to the masked file, then:
#
#   source("rwn_claims.R")
#   survey <- load_claims("release.csv", "claims.json")
#   fit_claimed(survey, "wage ~ education + log(experience)")
#   pair_claimed(survey, "wage", "education")
#
# A claim says how a number of this file differs from the number of the original. Standard errors
# are multiplied by the claim's factor. A model without a claim is fitted with a warning; a model
# that the claims refuse, or with nearly collinear predictors, is not fitted.

refused <- function(...) {
  stop(structure(class = c("rwn_refusal", "error", "condition"),
                 list(message = paste0(...), call = NULL, code = 3L)))
}

# A masked CSV file or a data frame, with the claims that belong to it. Where R can compute the
# digest (4.5 and later), a file that the claims do not belong to is refused.
load_claims <- function(file, claims) {
  content <- from_json(readLines(claims, warn = FALSE, encoding = "UTF-8"))
  if (!identical(content$format, "rwn claims 1")) {
    refused("The file of claims has another form; get the reader that came with it.")
  }
  table <- file
  if (is.character(file)) {
    if (exists("sha256sum", asNamespace("tools"))) {
      if (get("sha256sum", asNamespace("tools"))(file) != content$sha256) {
        refused("The claims belong to another file: its SHA-256 differs.")
      }
    }
    table <- utils::read.csv(file, colClasses = "character", check.names = FALSE,
                             na.strings = "", encoding = "UTF-8")
  }
  kinds <- lapply(content$variables, function(each) each[c("kind", "levels")])
  names(kinds) <- vapply(content$variables, function(each) each$name, "")
  structure(list(table = table, claims = content, variables = kinds), class = "rwn_survey")
}

# A linear, logistic or poisson model, with a row for each slope.
fit_claimed <- function(survey, formula, kind = "linear") {
  if (!is.character(formula)) formula <- paste(deparse(formula), collapse = " ")
  parsed <- parsed_formula(formula)
  claimed <- claimed_model(survey, kind, parsed)
  if (!is.null(claimed) && nzchar(claimed$refusal)) {
    refused("Do not use this model: ", claimed$refusal)
  }
  if (is.null(claimed)) refuse_tied(survey, parsed$terms)
  left <- model_response(survey, parsed$response, kind)
  made <- model_columns(survey, parsed$terms)
  every <- cbind(left, made$columns)
  every <- every[stats::complete.cases(every), , drop = FALSE]
  spread <- if (nrow(every)) apply(every, 2L, function(each) diff(range(each))) else 0
  if (nrow(every) <= ncol(every) || any(spread == 0)) {
    refused("The file has too few records, or a constant variable, for this model.")
  }
  scaled <- scale(every[, -1L, drop = FALSE])
  size <- svd(scaled, 0L, 0L)$d
  if (min(size) <= 0 || max(size) / min(size) > 30) {
    refused("Do not use this model: its predictors are nearly collinear.")
  }
  found <- fitted_model(every[, 1L], scaled, kind)
  keys <- if (is.null(claimed)) character() else vapply(claimed$claims, claim_key, "")
  if (is.null(claimed)) {
    warning("No claim covers this model: its standard errors ignore the masking, and its slopes ",
            "may be shifted. Ask for the model to be registered.", call. = FALSE)
  }
  rows <- lapply(seq_along(made$keys), function(i) {
    at <- match(made$keys[i], keys)
    claim <- if (is.na(at)) list() else claimed$claims[[at]]
    claim_row(made$terms[i], found$values[i], found$errors[i], claim)
  })
  structure(do.call(rbind, rows), intercept = found$intercept, records = nrow(every),
            covered = !is.null(claimed))
}

# The association of two variables with its claim, on the scale of Fisher's z.
pair_claimed <- function(survey, one, other) {
  same <- vapply(survey$claims$pairs, function(each) {
    setequal(c(each$one, each$other), c(one, other))
  }, NA)
  if (!any(same)) refused("There is no claim for ", one, " and ", other, ".")
  claim <- survey$claims$pairs[[which(same)[1L]]]
  term <- paste(claim$one, "~", claim$other)
  if (claim$kind == "association") return(claim_row(term, NA_real_, NA_real_, claim))
  value <- atanh(stats::cor(number_column(survey, claim$one), number_column(survey, claim$other),
                            use = "complete.obs"))
  claim_row(term, value, 1 / sqrt(max(survey$claims$records - 3, 1)), claim)
}

claim_row <- function(term, estimate, error, claim) {
  or_none <- function(value, none) if (is.null(value)) none else value
  factor <- or_none(claim$factor, NA_real_)
  half <- stats::qnorm(0.975) * factor * error
  data.frame(term = term, estimate = estimate, error = error, factor = factor,
             low = estimate - half, high = estimate + half, sign = or_none(claim$sign, NA),
             within = or_none(claim$within, NA_real_))
}

# A formula as lists of factors; a factor is c(name, transform).
parsed_formula <- function(text) {
  sides <- strsplit(text, "~", fixed = TRUE)[[1L]]
  if (length(sides) != 2L) {
    refused("A formula reads like: response ~ one + log(two) + three:four.")
  }
  terms <- list()
  for (part in strsplit(sides[2L], "+", fixed = TRUE)[[1L]]) {
    crossed <- lapply(strsplit(part, "*", fixed = TRUE)[[1L]], function(each) {
      lapply(strsplit(each, ":", fixed = TRUE)[[1L]], one_factor)
    })
    for (size in seq_along(crossed)) {
      for (some in utils::combn(length(crossed), size, simplify = FALSE)) {
        term <- unique(unlist(crossed[some], recursive = FALSE))
        key <- term_key(term)
        if (is.null(terms[[key]])) terms[[key]] <- term
      }
    }
  }
  list(response = one_factor(sides[1L]), terms = terms)
}

one_factor <- function(text) {
  text <- trimws(text)
  pattern <- "^(log|sqrt|square)\\((.*)\\)$"
  transform <- if (grepl(pattern, text)) sub(pattern, "\\1", text) else ""
  name <- trimws(sub(pattern, "\\2", text))
  if (!grepl("^(`[^`]+`|[[:alpha:]_.][[:alnum:]_.]*)$", name)) {
    refused("A part of the formula cannot be read.")
  }
  c(gsub("`", "", name, fixed = TRUE), transform)
}

claimed_model <- function(survey, kind, parsed) {
  plain <- function(factor) c(factor$name, factor$transform)
  wanted <- sort(vapply(parsed$terms, term_key, "", USE.NAMES = FALSE))
  for (model in survey$claims$models) {
    own <- sort(vapply(model$terms, function(term) term_key(lapply(term, plain)), ""))
    if (model$kind == kind && identical(plain(model$response), parsed$response) &&
        identical(own, wanted)) return(model)
  }
  NULL
}

# Terms that are, or could be, nearly collinear in the original, if not in this file.
refuse_tied <- function(survey, terms) {
  names <- unlist(lapply(terms, function(term) lapply(term, `[`, 1L)))
  own <- vapply(terms, term_key, "", USE.NAMES = FALSE)
  tied <- list()
  for (each in survey$claims$pairs) {
    if (isTRUE(each$tied)) {
      if (all(c(each$one, each$other) %in% names)) tied <- c(tied, list(c(each$one, each$other)))
    }
  }
  for (some in survey$claims$tied) {
    held <- vapply(some, function(text) {
      term_key(lapply(strsplit(text, ":", fixed = TRUE)[[1L]], one_factor)) %in% own
    }, NA)
    if (all(held)) tied <- c(tied, list(unlist(some)))
  }
  if (length(tied)) {
    refused("Do not use this model: ", paste(tied[[1L]], collapse = " and "),
            " are nearly collinear in the original.")
  }
  if (!is_examined(survey$claims$examined, terms)) {
    refused("The claims do not say whether the predictors of this model are nearly collinear ",
            "in the original. Ask for the model to be registered.")
  }
}

term_key <- function(term) paste(sort(vapply(term, paste, "", collapse = "\r")), collapse = "\n")

# Whether the sets of the claims name all that could be nearly collinear in a model.
is_examined <- function(examined, terms) {
  part <- function(term, i) vapply(term, `[`, "", i)
  other <- vapply(terms, function(term) length(term) > 1L || any(nzchar(part(term, 2L))), NA)
  if (examined != "all" || !any(other)) return(examined != "none" && !any(other))
  one_name <- vapply(terms, function(term) length(unique(part(term, 1L))) == 1L, NA)
  # one factor, a cube, or a product of two variables as they are
  simple <- vapply(seq_along(terms), function(i) {
    how <- sort(part(terms[[i]], 2L))
    length(how) == 1L || identical(how, if (one_name[i]) c("", "square") else c("", ""))
  }, NA)
  few <- (length(terms) <= 4L && sum(other) == 1L) || (length(terms) <= 3L && all(one_name))
  few && all(simple)
}

part_key <- function(name, transform, level) paste(name, transform, level, sep = "\r")

claim_key <- function(claim) {
  paste(sort(vapply(claim$factors, function(each) {
    part_key(each$name, each$transform, if (is.null(each$level)) "" else each$level)
  }, "")), collapse = "\n")
}

variable_kind <- function(survey, name) {
  kind <- survey$variables[[name]]$kind
  if (is.null(kind)) refused("The file has no variable ", name, ".")
  kind
}

variable_levels <- function(survey, name) {
  levels <- survey$variables[[name]]$levels
  if (is.null(levels)) {
    refused(name, " has levels of few records; no model may name them.")
  }
  unlist(levels)
}

number_column <- function(survey, name) {
  if (variable_kind(survey, name) != "number") refused(name, " is no number.")
  as.numeric(as.character(survey$table[[name]]))
}

transformed <- function(values, transform) {
  made <- switch(transform, log = suppressWarnings(log(values)),
                 sqrt = suppressWarnings(sqrt(values)), square = values^2, values)
  if (any(!is.finite(made[!is.na(values)]))) refused(transform, " has no value for some records.")
  made
}

model_response <- function(survey, response, kind) {
  name <- response[1L]
  if (kind == "logistic") {
    texts <- as.character(survey$table[[name]])
    levels <- if (variable_kind(survey, name) == "category") {
      variable_levels(survey, name)
    } else {
      as.character(sort(unique(as.numeric(texts))))
    }
    if (length(levels) != 2L) refused("The response ", name, " must have two values.")
    return(match(texts, levels) - 1)
  }
  if (!kind %in% c("linear", "poisson")) {
    refused("The kind of a model is linear, logistic or poisson.")
  }
  transformed(number_column(survey, name), response[2L])
}

model_columns <- function(survey, terms) {
  columns <- list()
  keys <- character()
  shown <- character()
  for (term in terms) {
    parts <- lapply(term, function(factor) factor_columns(survey, factor))
    # the first factor changes slowest, as in the design of the original
    grid <- rev(expand.grid(rev(lapply(parts, function(part) seq_along(part$keys)))))
    for (row in seq_len(nrow(grid))) {
      chosen <- unlist(grid[row, ])
      pick <- function(what) Map(function(part, i) part[[what]][[i]], parts, chosen)
      columns[[length(columns) + 1L]] <- Reduce(`*`, pick("columns"))
      keys <- c(keys, paste(sort(unlist(pick("keys"))), collapse = "\n"))
      shown <- c(shown, paste(unlist(pick("terms")), collapse = ":"))
    }
  }
  list(columns = do.call(cbind, columns), keys = keys, terms = shown)
}

factor_columns <- function(survey, factor) {
  name <- factor[1L]
  if (variable_kind(survey, name) == "category") {
    texts <- as.character(survey$table[[name]])
    levels <- variable_levels(survey, name)
    texts[!texts %in% levels] <- NA
    return(list(columns = lapply(levels[-1L], function(level) as.numeric(texts == level)),
                keys = part_key(name, "", levels[-1L]),
                terms = paste(name, "=", levels[-1L])))
  }
  shown <- if (nzchar(factor[2L])) paste0(factor[2L], "(", name, ")") else name
  list(columns = list(transformed(number_column(survey, name), factor[2L])),
       keys = part_key(name, factor[2L], ""), terms = shown)
}

# Slopes and standard errors in the units of the columns.
fitted_model <- function(response, scaled, kind) {
  center <- attr(scaled, "scaled:center")
  unit <- attr(scaled, "scaled:scale")
  exog <- cbind(1, scaled)
  if (kind == "linear") {
    fit <- stats::lm.fit(exog, response)
    spread <- chol2inv(fit$qr$qr[seq_len(ncol(exog)), , drop = FALSE]) *
      sum(fit$residuals^2) / (length(response) - ncol(exog))
  } else {
    family <- if (kind == "logistic") stats::binomial() else stats::poisson()
    fit <- suppressWarnings(stats::glm.fit(exog, response, family = family,
                            control = stats::glm.control(epsilon = 1e-14, maxit = 100L)))
    # weights of the last step, not of the one before it, which fit$qr has
    weight <- fit$fitted.values * (if (kind == "logistic") 1 - fit$fitted.values else 1)
    spread <- chol2inv(qr.R(qr(exog * sqrt(weight))))
    if (!fit$converged || max(sqrt(diag(spread))[-1L]) > 50) {
      refused("The model has no finite estimate on this file.")
    }
  }
  found <- unname(fit$coefficients)
  list(intercept = found[1L] - sum(found[-1L] * center / unit), values = found[-1L] / unit,
       errors = sqrt(diag(spread))[-1L] / unit)
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
