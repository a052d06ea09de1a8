# One call of the command: its arguments, its messages, its refusals.

#' Run the command rwn.
#'
#' @param ... The subcommand and its arguments, as `arguments` writes them.
#' @return Its standard output, line by line; what it says is the attribute "messages".
rwn <- function(...) {
  said <- tempfile("rwn")
  printed <- tempfile("rwn")
  on.exit(unlink(c(said, printed)))
  program <- Sys.getenv("RWN_COMMAND", "rwn")
  if (!nzchar(Sys.which(program))) {
    stop("The command ", program, " is not there; install it in the program's folder with ",
         "python -m pip install . , or name it in the environment variable RWN_COMMAND.", call. = FALSE)
  }
  code <- system2(program, shQuote(c(...)), stdout = printed, stderr = said, env = libraries())
  messages <- readLines(said, warn = FALSE, encoding = "UTF-8")
  if (code != 0) {
    why <- grep("^(note: |[a-z]+ing [0-9])", messages, value = TRUE, invert = TRUE)
    refuse(sub("^rwn: ", "", paste(why, collapse = " ")), code)
  }
  structure(readLines(printed, warn = FALSE, encoding = "UTF-8"), messages = messages)
}

# R puts folders of the system before those of a Python elsewhere, which then loads a library
# of another version.
libraries <- function() {
  path <- strsplit(Sys.getenv("LD_LIBRARY_PATH"), ":", fixed = TRUE)[[1]]
  own <- path[nzchar(path) & !grepl("^(/usr)?/lib(/|$)", path) & path != R.home("lib")]
  paste0("LD_LIBRARY_PATH=", shQuote(paste(own, collapse = ":")))
}

# A condition of class rwn_refusal, with the exit code of the command.
refuse <- function(text, code = 2L) {
  stop(structure(class = c("rwn_refusal", "error", "condition"),
                 list(message = text, call = NULL, code = code)))
}

# The options of a command: key_file = "k" is --key-file k; TRUE is a flag; c(age = 2) is
# age=2; c(1, 2) is 1,2; a list repeats the option for each of its elements.
arguments <- function(options) {
  named <- names(options)
  if (length(options) && (is.null(named) || any(!nzchar(named)))) {
    refuse("Give every option its name, such as epsilon = 2.")
  }
  unlist(lapply(seq_along(options), function(i) {
    one_option(paste0("--", gsub("_", "-", named[i])), options[[i]])
  }))
}

one_option <- function(flag, value) {
  if (is.null(value) || identical(value, FALSE)) return(NULL)
  if (identical(value, TRUE)) return(flag)
  if (is.list(value)) return(unlist(lapply(value, function(each) one_option(flag, each))))
  if (!is.null(names(value))) {
    return(as.vector(rbind(flag, paste0(names(value), "=", plain(value)))))
  }
  c(flag, paste(plain(value), collapse = ","))
}

# Numbers with all their digits: 0.1 stays 0.1, and 100000 is not 1e+05.
plain <- function(value) {
  if (!is.numeric(value)) return(as.character(value))
  vapply(value, function(each) {
    short <- format(each, digits = 15, scientific = FALSE)
    if (is.na(each) || as.numeric(short) == each) short
    else format(each, digits = 17, scientific = FALSE)
  }, "", USE.NAMES = FALSE)
}

# A folder that this user alone can open; it goes with the function that called.
private_folder <- function(frame = parent.frame()) {
  folder <- tempfile("rwn")
  dir.create(folder, mode = "0700")
  do.call(on.exit, list(bquote(unlink(.(folder), recursive = TRUE)), add = TRUE), envir = frame)
  folder
}

# The path of a table: itself, a demo, or a data frame that is written there.
table_path <- function(data, folder, name) {
  if (is.character(data) && length(data) == 1) return(data)
  if (!is.data.frame(data)) {
    refuse("The table must be a data frame, an sdcMicro object or the path of a file.")
  }
  path <- file.path(folder, name)
  saveRDS(plain_frame(data), path)
  path
}
