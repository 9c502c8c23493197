#include "dialects/Kernel/Winograd.h"
#include <cmath>

using namespace sprig::kernel;

std::optional<WinogradLine> WinogradLine::get(int64_t outputs, int64_t window) {
  static const double four[] = {1.0}, six[] = {0.625, 1.5}, eight[] = {0.5, 1.0, 2.0};
  if (outputs < 1 || window < 1 || outputs > 8 || window > 8) return std::nullopt;
  switch (outputs + window - 1) {
  case 1: return WinogradLine(outputs, window, {});
  case 4: return WinogradLine(outputs, window, four);
  case 6: return WinogradLine(outputs, window, six);
  case 8: return WinogradLine(outputs, window, eight);
  default: return std::nullopt;
  }
}

llvm::SmallVector<double> WinogradLine::evenPolynomial(int64_t except) const {
  llvm::SmallVector<double> coefficients{1};
  for (int64_t i = 0; i < int64_t(points.size()); ++i) {
    if (i == except) continue;
    coefficients.insert(coefficients.begin(), 0);
    for (size_t k = 0; k + 1 < coefficients.size(); ++k) coefficients[k] -= points[i] * points[i] * coefficients[k + 1];
  }
  return coefficients;
}

/// The finite points in the order of the frequencies.
static llvm::SmallVector<double> finitePoints(llvm::ArrayRef<double> pairs) {
  llvm::SmallVector<double> all{0};
  for (double p : pairs) all.append({p, -p});
  return all;
}

std::vector<double> WinogradLine::filterMatrix() const {
  int64_t n = frequencies();
  std::vector<double> matrix(n * r, 0);
  matrix[n * r - 1] = 1; // infinity: the last tap
  if (n == 1) return matrix;
  llvm::SmallVector<double> finite = finitePoints(points);
  for (int64_t j = 0; j < n - 1; ++j) {
    double divisor = 1;
    for (double other : finite)
      if (other != finite[j]) divisor *= finite[j] - other;
    for (int64_t k = 0; k < r; ++k) matrix[j * r + k] = (k == 0 ? 1 : std::pow(finite[j], double(k))) / divisor;
  }
  return matrix;
}

std::vector<double> WinogradLine::inputMatrix() const {
  int64_t n = frequencies();
  std::vector<double> matrix(n * n, 0);
  if (n == 1) return {1};
  llvm::SmallVector<double> all = evenPolynomial();
  for (size_t k = 0; k < all.size(); ++k) {
    matrix[2 * k] = all[k];                   // 0
    matrix[(n - 1) * n + 2 * k + 1] = all[k]; // infinity
  }
  for (int64_t i = 0; i < int64_t(points.size()); ++i) {
    llvm::SmallVector<double> rest = evenPolynomial(i);
    for (size_t k = 0; k < rest.size(); ++k)
      for (int64_t side = 0; side < 2; ++side) {
        double *row = matrix.data() + (1 + 2 * i + side) * n;
        row[2 * k + 2] = rest[k];
        row[2 * k + 1] = (side ? -points[i] : points[i]) * rest[k];
      }
  }
  return matrix;
}

std::vector<double> WinogradLine::outputMatrix() const {
  int64_t n = frequencies();
  std::vector<double> matrix(m * n, 0);
  matrix[m * n - 1] = 1; // infinity: the last output
  if (n == 1) return matrix;
  llvm::SmallVector<double> finite = finitePoints(points);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n - 1; ++j) matrix[i * n + j] = i == 0 ? 1 : std::pow(finite[j], double(i));
  return matrix;
}
