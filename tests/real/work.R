# SPDX-License-Identifier: Apache-2.0
# Linear algebra by BLAS, closures, recursion, sorting and regular expressions.
set.seed(1)
a <- matrix(rnorm(160000), 400)
b <- a %*% a
s <- svd(a[1:200, 1:200])
l <- lm(rnorm(10000) ~ matrix(rnorm(100000), 10000))
x <- sapply(1:200000, function(i) i %% 7)
f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2)
z <- sort(runif(1e6))
cat(sum(x), f(22), dim(b), length(z), sum(gsub("a", "b", rep("banana", 1e5)) == "bbnbnb"), "\n")
