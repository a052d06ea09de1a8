# Processor seconds of four functions of sdcMicro, by the formulas of its source, in base R and C++,
# and of distance linkage by all pairs up to 10,000 records, which no function of sdcMicro has.
suppressMessages({library(MASS); library(Rcpp)})

cppFunction('
NumericMatrix exchanged(NumericMatrix given, double share) {
  int n = given.nrow();
  NumericMatrix result(n, given.ncol());
  std::vector<int> order(n), free(n);
  std::vector<double> ranked(n);
  for (int column = 0; column < given.ncol(); ++column) {
    const double* value = &given(0, column);
    for (int i = 0; i < n; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [value](int a, int b) { return value[a] > value[b]; });
    for (int i = 0; i < n; ++i) ranked[i] = value[order[i]];
    std::vector<char> taken(n, 0);
    for (int i = 0; i < n; ++i) {
      if (taken[i]) continue;
      int end = std::min(n, (int)(i + n * share)), count = 0;
      for (int j = i + 1; j < end; ++j) if (!taken[j]) free[count++] = j;
      if (!count) continue;
      int other = free[(int)(R::unif_rand() * count)];
      std::swap(ranked[i], ranked[other]);
      taken[i] = taken[other] = 1;
    }
    for (int i = 0; i < n; ++i) result(order[i], column) = ranked[i];
  }
  return result;
}')
cppFunction('
double linked(NumericMatrix x, NumericMatrix y) {  // rows: variables, columns: records
  int d = x.nrow(), n = x.ncol();
  double right = 0;
  for (int i = 0; i < n; ++i) {
    double least = R_PosInf, own = 0;
    int ties = 0;
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < d; ++k) sum += (y(k, i) - x(k, j)) * (y(k, i) - x(k, j));
      if (j == i) own = sum;
      if (sum < least) { least = sum; ties = 1; } else if (sum == least) ++ties;
    }
    if (own == least) right += 1.0 / ties;
  }
  return right / n;
}')
# sdcMicro takes data frames, and leaves out missing values
additive <- function(x) {
  apply(x, 2, function(v) v + rnorm(length(v), 0, 0.3 * sd(v, na.rm = TRUE)))
}
correlated <- function(x) x + mvrnorm(nrow(x), rep(0, ncol(x)), 0.25 * cov(na.omit(x)))
inside <- function(x, y) {
  width <- 0.05 * apply(y, 2, sd, na.rm = TRUE)
  mean(rowSums(x < t(t(y) - width) | x > t(t(y) + width), na.rm = TRUE) == 0)
}
linkage <- function(x, y) {
  size <- apply(x, 2, sd)
  linked(t(x) / size, t(y) / size)
}
seconds <- function(work) {
  work()
  median(sapply(1:3, function(i) sum(system.time(work(), gcFirst = TRUE)[1:2])))
}
x <- read.csv(commandArgs(TRUE)[1])
y <- additive(x)
cat(seconds(function() exchanged(as.matrix(x), 0.05)), seconds(function() additive(x)),
    seconds(function() correlated(x)), seconds(function() inside(x, y)),
    if (nrow(x) <= 10000) seconds(function() linkage(x, y)) else NA)
