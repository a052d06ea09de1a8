# Ten files of R, each with its cells as R itself reads them again: Rscript cells_in_r.R FOLDER
folder <- commandArgs(TRUE)[1]
table <- data.frame(
  whole = c(1L, NA, -3L, 2147483647L, 5L, 6L),
  number = c(1.5, NA, -0.1, 1e-300, 123456789.123456789, 1 / 3),
  truth = c(TRUE, NA, FALSE, TRUE, TRUE, FALSE),
  text = c("K\u00f6ln", NA, "NA", "a, b", "say \"no\"", "\u6771\u4eac"),
  stringsAsFactors = FALSE
)
sex <- factor(c("m", "f", NA, "f", "m", "m"), levels = c("f", "m", "never seen"))
never <- addNA(factor(c("never", "daily", NA, "daily", "never", NA)))
grade <- factor(c("low", "high", NA, "low", "mid", "high"), levels = c("low", "mid", "high"), ordered = TRUE)
day <- as.Date(c("2020-02-29", NA, "1969-12-31", "1900-01-01", "2100-03-01", "2020-01-01"))
moment <- as.POSIXct("2020-06-01 12:30:15", tz = "Europe/Vienna") + c(0, 86400, NA, 1, 2, 3)
labelled <- structure(
  c(1, 2, NA, 1, 2, 2),
  labels = c(yes = 1, no = 2), class = c("haven_labelled", "vctrs_vctr", "double")
)
latin <- iconv(c("caf\u00e9", "Ulm", "K\u00f6ln", "Ulm", "Ulm", NA), "UTF-8", "latin1")
files <- list(
  plain.rds = table,
  ascii.rds = cbind(table, sex),
  uncompressed.rds = data.frame(never, number = table$number),
  xz.rds = data.frame(grade, day),
  bzip2.rds = data.frame(moment, sex),
  named.rds = data.frame(whole = table$whole, row.names = c("a1", "b2", "c3", "d4", "e5", "f6")),
  labelled.rds = within(data.frame(day), labelled <- labelled),
  saved.rda = cbind(table, grade),
  ascii.rda = data.frame(latin, never, stringsAsFactors = FALSE),
  uncompressed.RData = data.frame(day, whole = table$whole, truth = table$truth)
)

cells <- function(column) {
  labels <- attr(column, "labels")
  if (!is.null(labels)) {
    said <- names(labels)[match(unclass(column), labels)]
  } else if (inherits(column, "POSIXct")) {
    said <- format(column, "%Y-%m-%d %H:%M:%S", tz = "UTC")
  } else if (is.double(column) && !inherits(column, "Date")) {
    said <- sprintf("%.17g", column)
  } else {
    said <- enc2utf8(as.character(column))
  }
  ifelse(is.na(column) | is.na(said), "<missing>", said)
}

for (name in names(files)) {
  path <- file.path(folder, name)
  people <- files[[name]]
  as_text <- startsWith(name, "ascii")
  how <- if (startsWith(name, "xz")) "xz" else if (startsWith(name, "bzip2")) "bzip2" else "gzip"
  packed <- !as_text && !startsWith(name, "uncompressed")
  if (endsWith(name, ".rds")) {
    saveRDS(people, path, ascii = as_text, compress = if (packed) how else FALSE)
    again <- readRDS(path)
  } else {
    save(people, file = path, ascii = as_text, compress = if (packed) how else FALSE)
    again <- get(load(path))
  }
  said <- as.data.frame(lapply(again, cells), stringsAsFactors = FALSE)
  if (.row_names_info(again) > 0) said <- cbind(row = rownames(again), said)
  lines <- c(paste(names(said), collapse = "\t"), do.call(paste, c(unname(said), sep = "\t")))
  target <- file(paste0(path, ".txt"), "wb")
  writeLines(lines, target, useBytes = TRUE)
  close(target)
}
