# The figures of section 8 by plain R: Rscript figures_in_r.R FILE RELEASES
# Shares no code with the program. Prints name, mean and standard deviation over releases with q = 1
# and k = 5, at each epsilon; of the unmasked file the value and 0.
given <- commandArgs(trailingOnly = TRUE)
men <- as.matrix(read.csv(given[1]))
releases <- as.integer(given[2])
set.seed(2022)
terms <- c("bmi", "neck", "chest", "abdomen", "hip")
spread <- apply(men, 2, sd)
apart <- as.matrix(dist(scale(men)))
diag(apart) <- Inf
statistics <- function(table) {
  rows <- as.data.frame(table)
  fit <- lm(reformulate(terms, "siri"), rows)
  summed <- summary(fit)$coefficients
  names <- c("intercept", terms)
  shares <- prcomp(table, scale. = TRUE)$sdev^2
  shares <- shares / sum(shares)
  near <- as.matrix(dist(sweep(table, 2, spread, "/")))
  diag(near) <- Inf
  quarters <- quantile(apply(near, 1, min), c(.25, .5, .75))
  squared <- mahalanobis(table, colMeans(table), cov(table), tol = 1e-30)
  before <- cor(men)
  after <- cor(table)
  c(
    setNames(summed[, 1], paste("coefficient", names)),
    setNames(summed[, 2], paste("se", names)),
    "max cook" = max(cooks.distance(fit)),
    "max squared mahalanobis" = max(squared),
    setNames(quarters, paste("nearest distance,", c("lower quartile", "median", "upper quartile"))),
    "first component" = shares[[1]],
    "five components" = sum(shares[1:5]),
    "correlation change" = mean(abs(after - before)[upper.tri(before)])
  )
}
show <- function(values, at) {
  middle <- rowMeans(values)
  sds <- if (ncol(values) > 1) apply(values, 1, sd) else 0 * middle
  cat(sprintf("%s, %s\t%.10g\t%.10g\n", rownames(values), at, middle, sds), sep = "")
}
show(cbind(statistics(men)), "original")
for (epsilon in 0:6) {
  donors <- lapply(seq_len(nrow(men)), function(i) {
    union(order(apart[i, ])[1:5], which(apart[i, ] <= epsilon))
  })
  values <- sapply(seq_len(releases), function(one) {
    table <- men
    for (i in seq_len(nrow(men))) {
      from <- donors[[i]][sample.int(length(donors[[i]]), ncol(men), replace = TRUE)]
      table[i, ] <- men[cbind(from, seq_len(ncol(men)))]
    }
    statistics(table)
  })
  show(values, paste("epsilon", epsilon))
}
