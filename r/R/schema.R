# Roles of variables: named here, or taken from an sdcMicro object.

#' Describe the variables of a table.
#'
#' @param data A data frame, an sdcMicro object or a path.
#' @param keys,confidential,weight,household,strata,identifiers Names of variables. Where none
#'   is given, the command guesses roles; where one is given, all others have the role "other".
#' @param out The file to write; a temporary one if left out.
#' @return The path of the schema, a TOML file to read and correct.
rwn_schema <- function(data, keys = NULL, confidential = NULL, weight = NULL, household = NULL,
                       strata = NULL, identifiers = NULL, out = tempfile(fileext = ".toml")) {
  given <- list(key = keys, confidential = confidential, `sampling weight` = weight,
                household = household, stratum = strata, identifier = identifiers)
  given <- lapply(given, variable_names)
  if (is(data, "sdcMicroObj")) {
    given <- sdc_roles(data, given)
    data <- slot(data, "origData")
  }
  folder <- private_folder()
  rwn("describe", table_path(data, folder, "table.rds"), "-o", out, "--overwrite")
  if (length(unlist(given))) writeLines(with_roles(readLines(out, encoding = "UTF-8"), given), out)
  out
}

# The schema that was given, or that of an sdcMicro object.
schema_of <- function(data, schema, folder) {
  if (is.null(schema) && is(data, "sdcMicroObj")) {
    schema <- rwn_schema(data, out = file.path(folder, "schema.toml"))
  }
  schema
}

# The variables of an sdcMicro object, by the names of their roles here.
sdc_roles <- function(object, given) {
  columns <- names(slot(object, "origData"))
  held <- function(name) {
    which <- slot(object, name)
    if (is.numeric(which)) columns[which] else which
  }
  found <- list(key = c(held("keyVars"), held("numVars"), held("pramVars")),
                confidential = held("sensibleVar"), `sampling weight` = held("weightVar"),
                household = held("hhId"), stratum = held("strataVar"), identifier = NULL)
  for (role in names(given)) if (length(given[[role]])) found[[role]] <- given[[role]]
  found
}

# The schema with these roles; its text has one block for each variable.
with_roles <- function(lines, given) {
  roles <- stats::setNames(rep(names(given), lengths(given)), unlist(given))
  if (anyDuplicated(names(roles))) {
    refuse(paste("One variable has two roles:", names(roles)[anyDuplicated(names(roles))]))
  }
  begins <- grep("^\\[\\[variable\\]\\]", lines)
  inside <- findInterval(seq_along(lines), begins) > 0
  lines <- lines[!(inside & grepl("^role = ", lines))]
  at <- grep('^name = ".*"', lines)
  named <- sub('^name = "(.*)".*$', "\\1", lines[at])
  unknown <- setdiff(names(roles), named)
  if (length(unknown)) refuse(paste("The table has no variable", paste(unknown, collapse = ", ")))
  wanted <- ifelse(named %in% names(roles), roles[named], "other")
  lines[at] <- sprintf('%s\nrole = "%s"', lines[at], wanted)
  lines
}
