//! Small dense symmetric matrices: a hundred players take a hundred rows.

/// A symmetric matrix. Only the lower triangle is kept, row by row.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Symmetric {
    size: usize,
    lower: Vec<f64>,
}

/// The lower triangle `L` with `L L^T` the factored matrix.
pub(super) struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

fn place(row: usize, column: usize) -> usize {
    let (row, column) = if row >= column { (row, column) } else { (column, row) };
    row * (row + 1) / 2 + column
}

impl Symmetric {
    pub(super) fn zero(size: usize) -> Self {
        Self { size, lower: vec![0.0; size * (size + 1) / 2] }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.lower[place(row, column)]
    }

    /// Adds to an entry, and to its mirror image.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.lower[place(row, column)] += value;
    }

    /// Empties a row and its column.
    pub(super) fn clear(&mut self, row: usize) {
        (0..self.size).for_each(|column| self.lower[place(row, column)] = 0.0);
    }

    /// Makes a row and its column those of the identity.
    pub(super) fn isolate(&mut self, row: usize) {
        self.clear(row);
        self.add(row, row, 1.0);
    }

    /// Factors a matrix all of whose eigenvalues are above zero. A prior on every parameter sees to that; what
    /// rounding leaves of a pivot is kept above zero.
    pub(super) fn cholesky(&self) -> Cholesky {
        let mut lower = self.lower.clone();
        for row in 0..self.size {
            let (above, this) = lower.split_at_mut(place(row, 0));
            for column in 0..=row {
                let product = if column == row {
                    dot(&this[..column], &this[..column])
                } else {
                    let from = place(column, 0);
                    dot(&this[..column], &above[from..from + column])
                };
                let rest = this[column] - product;
                this[column] = if column == row {
                    rest.max(f64::MIN_POSITIVE).sqrt()
                } else {
                    rest / above[place(column, column)]
                };
            }
        }
        Cholesky { size: self.size, lower }
    }

    /// `self * inner * self`.
    pub(super) fn around(&self, inner: &Self) -> Self {
        let size = self.size;
        let (outer, inner) = (self.full(), inner.full());
        let product = multiply(&outer, &inner, size);
        let product = multiply(&product, &outer, size);
        let mut result = Self::zero(size);
        for row in 0..size {
            for column in 0..=row {
                result.lower[place(row, column)] = product[row * size + column];
            }
        }
        result
    }

    /// Both triangles, row by row.
    fn full(&self) -> Vec<f64> {
        let entry = |at: usize| self.get(at / self.size, at % self.size);
        (0..self.size * self.size).map(entry).collect()
    }

    /// The covariance of `x_i - sum of weights_k x_k`. Parameters beyond the weights stay as they are.
    pub(super) fn make_relative(&mut self, weights: &[f64]) {
        let count = weights.len();
        let to_reference = |row: usize| -> f64 {
            weights.iter().enumerate().map(|(column, weight)| weight * self.get(row, column)).sum()
        };
        let with_reference: Vec<f64> = (0..count).map(to_reference).collect();
        let of_reference: f64 = weights.iter().zip(&with_reference).map(|(weight, x)| weight * x).sum();
        for row in 0..count {
            for column in 0..=row {
                self.lower[place(row, column)] += of_reference - with_reference[row] - with_reference[column];
            }
        }
    }
}

/// The scalar product, in four sums side by side: one alone would wait for each addition to end.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; 4];
    for (a, b) in a.zip(b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    rest + sums.iter().sum::<f64>()
}

/// The product of two square matrices, the inner loop along rows.
fn multiply(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let mut product = vec![0.0; size * size];
    for (row_of_a, row) in a.chunks_exact(size).zip(product.chunks_exact_mut(size)) {
        for (&factor, row_of_b) in row_of_a.iter().zip(b.chunks_exact(size)) {
            row.iter_mut().zip(row_of_b).for_each(|(sum, x)| *sum += factor * x);
        }
    }
    product
}

impl Cholesky {
    /// Solves for the vector that the matrix turns into `right`.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for row in 0..self.size {
            let (row_of_l, diagonal) = self.row(row);
            x[row] = (x[row] - dot(row_of_l, &x[..row])) / diagonal;
        }
        for row in (0..self.size).rev() {
            let (row_of_l, diagonal) = self.row(row);
            let value = x[row] / diagonal;
            x[row] = value;
            row_of_l.iter().zip(&mut x).for_each(|(l, x)| *x -= l * value);
        }
        x
    }

    /// A row left of the diagonal, and the diagonal.
    fn row(&self, row: usize) -> (&[f64], f64) {
        let from = place(row, 0);
        (&self.lower[from..from + row], self.lower[from + row])
    }

    pub(super) fn inverse(&self) -> Symmetric {
        let mut inverse = Symmetric::zero(self.size);
        let mut unit = vec![0.0; self.size];
        for column in 0..self.size {
            unit[column] = 1.0;
            let x = self.solve(&unit);
            unit[column] = 0.0;
            for (row, &value) in x.iter().enumerate().skip(column) {
                inverse.lower[place(row, column)] = value;
            }
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let mut matrix = Symmetric::zero(3);
        for (row, column, value) in
            [(0, 0, 4.0), (1, 0, 1.0), (1, 1, 3.0), (2, 0, -1.0), (2, 1, 0.5), (2, 2, 2.0)]
        {
            matrix.add(row, column, value);
        }
        let cholesky = matrix.cholesky();
        let product = multiply(&matrix.full(), &cholesky.inverse().full(), 3);
        for (at, value) in product.into_iter().enumerate() {
            let expected = if at % 4 == 0 { 1.0 } else { 0.0 };
            assert!((value - expected).abs() < 1e-12, "{at}: {value}");
        }
        let solved = cholesky.solve(&[4.0, 1.0, -1.0]);
        for (value, expected) in solved.into_iter().zip([1.0, 0.0, 0.0]) {
            assert!((value - expected).abs() < 1e-12, "{value}");
        }
    }

    #[test]
    fn scalar_products_of_any_length_are_right() {
        for length in 0..11 {
            let a: Vec<f64> = (0..length).map(f64::from).collect();
            let expected: f64 = a.iter().map(|x| x * x).sum();
            assert!((dot(&a, &a) - expected).abs() < 1e-9, "{length}");
        }
    }
}
