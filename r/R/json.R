# JSON to R: objects become named lists, arrays lists, null NULL, numbers doubles.

from_json <- function(text) {
  # tokens: strings, numbers, words, and the six marks
  pattern <- '"([^"\\\\]|\\\\.)*"|-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null|[][{}:,]'
  text <- paste(text, collapse = "\n")
  tokens <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
  left <- gsub("[[:space:]]", "", gsub(pattern, "", text, perl = TRUE))
  if (nzchar(left)) refuse("The text is not JSON.")
  at <- 0L
  take <- function() {
    at <<- at + 1L
    if (at > length(tokens)) refuse("The JSON text ends too early.")
    tokens[at]
  }
  expect <- function(mark) if (take() != mark) refuse("The text is not JSON.")
  several <- function(end, one) {
    found <- list()
    if (at < length(tokens) && tokens[at + 1L] == end) { take(); return(found) }
    repeat {
      found <- one(found)
      mark <- take()
      if (mark == end) return(found)
      if (mark != ",") refuse("The text is not JSON.")
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
  if (at != length(tokens)) refuse("The text is not JSON.")
  result
}

number <- function(token) {
  found <- suppressWarnings(as.numeric(token))
  if (is.na(found)) refuse("The text is not JSON.")
  found
}

json_text <- function(token) {
  if (!startsWith(token, '"')) refuse("The text is not JSON.")
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
