# The package against the command: Rscript r/tests/package.R FOLDER
library(rwn)
folder <- commandArgs(TRUE)[1]
if (is.na(folder)) { # by R CMD check, also where the command is not there
  if (!nzchar(Sys.which(Sys.getenv("RWN_COMMAND", "rwn")))) quit(status = 0)
  folder <- tempfile("rwn")
  dir.create(folder)
}
set.seed(1)
n <- 200
table <- data.frame(age = round(runif(n, 18, 90)), income = round(exp(rnorm(n, 7, 0.4)), 2),
                    sex = factor(sample(c("f", "m"), n, TRUE)),
                    weight = round(runif(n, 1, 4), 3), region = sample(letters[1:4], n, TRUE))
check <- function(what, true) if (!isTRUE(true)) stop(what, call. = FALSE)
refused <- function(code) tryCatch({ code; "" }, rwn_refusal = conditionMessage)

# a schema with roles, and a release of it
schema <- rwn_schema(table, keys = c("age", "sex", "region"), confidential = "income",
                     weight = "weight", out = file.path(folder, "schema.toml"))
masked <- rwn_mask(table, epsilon = 2, k = 15, seed = 1, order = "original", schema = schema)
check("a data frame of the same shape", identical(dim(masked), dim(table)))
check("factors stay factors", is.factor(masked$sex))
check("something is masked", mean(masked$income != table$income) > 0.5)
again <- rwn_mask(table, epsilon = 2, k = 15, seed = 1, order = "original", schema = schema)
check("the same key gives the same release", identical(unclass(masked)$age, unclass(again)$age))

# files for the comparison with the shell and with Python
saveRDS(table, file.path(folder, "table.rds"))
out <- rwn_mask(table, file.path(folder, "r.csv"), epsilon = 2, k = 15, seed = 1,
                weight = c(age = 2), slice = list(c("age", "sex")), schema = schema,
                record = file.path(folder, "record.toml"))
check("the path comes back", out == file.path(folder, "r.csv"))
# its messages name the variables that change little
check("messages are there", length(attr(out, "messages")) > 0)

# names and formulas do what options do
named <- rwn_mask(table, k = 15, epsilon = 2, seed = 1, order = "original", schema = schema,
                  weights = c(age = 2), slices = list(~ age + sex))
texts <- rwn_mask(table, k = 15, epsilon = 2, seed = 1, order = "original", schema = schema,
                  weight = c(age = 2), slice = list(c("age", "sex")))
check("formulas and options give the same", identical(named$age, texts$age))
roles <- rwn_mask(table, k = 15, seed = 1, order = "original", confidential = ~ income,
                  keys = ~ age + sex, as_is = "region")
check("what stays as it is", identical(as.character(roles$region), as.character(table$region)))

# results say what they are
shown <- capture.output(print(masked))
check("a release is shown", grepl("Masked table: 200 records, 5 variables", shown[1]))
check("with few rows", length(shown) < 15)
check("and summarized", any(grepl("rows|SHA|written|changed", capture.output(summary(masked)))))
asked <- rwn_audit(table, masked, income ~ age + weight, measure = list("regression", "correlation"),
                   schema = schema)
check("a regression by its formula", !is.na(asked$value[asked$measure == "regression"]))
check("an audit is shown", any(grepl("utility", capture.output(print(asked)))))
none <- rwn_audit(table, masked, measure = list("prediction", "correlation"), schema = schema)
check("a reason where there is none", nchar(none$reason[none$measure == "prediction"]) > 10)
check("and summarized", any(grepl("not applicable", capture.output(summary(none)))))

# audit, sweep, report
read <- rwn_audit(table, masked, measure = list("correlation", "bayes_linkage"), method = "rwn",
                  set = c(epsilon = 2, k = 15), schema = schema)
check("two measures", identical(sort(read$measure), c("bayes_linkage", "correlation")))
check("a worst case between 0 and 1", read$value[read$measure == "bayes_linkage"] <= 1)
tried <- rwn_sweep(table, epsilon = c(0, 0.5), k = c(3, 5), measure = list("correlation"),
                   releases = 2, seed = 1, workers = 1, schema = schema)
check("a row for each setting", nrow(tried) == 4)
check("a sweep is shown", grepl("Sweep: 4 rows", capture.output(print(tried))[1]))
check("and summarized", any(grepl("lowest", capture.output(summary(tried)))))
saveRDS(table, file.path(folder, "original.rds"))
rwn_report(file.path(folder, "record.toml"), file.path(folder, "report.html"),
           original = file.path(folder, "original.rds"))
check("a report", file.size(file.path(folder, "report.html")) > 1000)

# roles of an sdcMicro object, in all that takes one
table$home <- rep(seq_len(n / 4), each = 4)
table$layer <- sample(c("town", "land"), n, TRUE)
other <- "sdcMicro" # where it is there; nothing here needs it
if (requireNamespace(other, quietly = TRUE)) {
  object <- getExportedValue(other, "createSdcObj")(table, keyVars = c("sex", "region"), numVars = c("income"),
                                   weightVar = "weight", hhId = "home", strataVar = "layer")
} else {
  setClass("sdcMicroObj", representation(
    origData = "data.frame", keyVars = "ANY", numVars = "ANY", weightVar = "ANY", hhId = "ANY",
    strataVar = "ANY", sensibleVar = "ANY", pramVars = "ANY"
  ))
  object <- new("sdcMicroObj", origData = table, keyVars = c(3L, 5L), numVars = 2L,
                weightVar = 4L, hhId = 6L, strataVar = 7L, sensibleVar = NULL, pramVars = NULL)
}
schema <- rwn_schema(object, confidential = "age")
text <- readLines(schema)
role <- function(name) text[match(paste0('name = "', name, '"'), text) + 1L]
for (key in c("sex", "region", "income")) check("keys", role(key) == 'role = "key"')
check("weight", role("weight") == 'role = "sampling weight"')
check("household", role("home") == 'role = "household"')
check("stratum", role("layer") == 'role = "stratum"')
check("what is named here comes before", role("age") == 'role = "confidential"')
release <- rwn_mask(object, epsilon = 2, k = 5, seed = 1, order = "original")
check("an object is masked, without its households", identical(
  names(release), setdiff(names(table), "home")))
read <- rwn_audit(object, release, measure = "correlation")
check("an object is compared with its release", read$value > 0)
tried <- rwn_sweep(object, k = c(3, 5), releases = 2, measure = "correlation")
check("settings are tried on an object", identical(sort(unique(tried$k)), c(3L, 5L)))

# one sentence for what is wrong; nothing of a cell
check("a wrong option", grepl("epsilon", refused(rwn_mask(table, epsilon = -1))))
check("no name", grepl("its name", refused(rwn_mask(table, NULL, 2, 5, 1, 7))))
check("a weight without a name", grepl("name of its variable", refused(rwn_mask(table, weights = 2))))
check("a product", grepl("do no more", refused(rwn_mask(table, slices = ~ age * sex))))
check("a function", grepl("do no more", refused(rwn_audit(table, masked, log(income) ~ age))))
check("a dot", grepl("do no more", refused(rwn_audit(table, masked, income ~ .))))
check("one side", grepl("two sides", refused(rwn_audit(table, masked, ~ age))))
check("two sides", grepl("one side", refused(rwn_mask(table, keys = age ~ sex))))
check("no table", grepl("data frame", refused(rwn_mask(1:3, k = 3))))
check("no such variable", grepl("incme", refused(rwn_schema(table, keys = "incme"))))
check("two roles", grepl("two roles: age", refused(
  rwn_schema(table, keys = "age", confidential = "age"))))

# JSON by hand
same <- identical(rwn:::from_json('{"a":[1,-2.5e1,null],"b":{"c":"x\\"\\u00e4\\n"},"d":[],"e":true}'),
                  list(a = list(1, -25, NULL), b = list(c = "x\"\u00e4\n"), d = list(), e = TRUE))
check("JSON", same)
check("no JSON", grepl("not JSON|too early", refused(rwn:::from_json('{"a": 1'))))
cat("all of the package holds\n")
