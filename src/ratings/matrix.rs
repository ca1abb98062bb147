//! Symmetric positive definite matrices, as far as maximum likelihood needs them.

/// The Cholesky factor of a symmetric positive definite matrix, row by row.
pub(super) struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors a matrix given row by row; none if it is not positive definite.
    pub(super) fn of(mut matrix: Vec<f64>, size: usize) -> Option<Cholesky> {
        for row in 0..size {
            for column in 0..=row {
                let (head, tail) = matrix.split_at(row * size);
                let own = &tail[..column];
                let other =
                    if column == row { own } else { &head[column * size..column * size + column] };
                let dot: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                let rest = tail[column] - dot;
                matrix[row * size + column] = if column == row {
                    if rest <= 0.0 || !rest.is_finite() {
                        return None;
                    }
                    rest.sqrt()
                } else {
                    rest / matrix[column * size + column]
                };
            }
        }
        Some(Cholesky { size, lower: matrix })
    }

    /// Solves for a right-hand side.
    pub(super) fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        let at = |row: usize, column: usize| self.lower[row * self.size + column];
        for row in 0..self.size {
            let known: f64 = (0..row).map(|column| at(row, column) * right[column]).sum();
            right[row] = (right[row] - known) / at(row, row);
        }
        for row in (0..self.size).rev() {
            let later = row + 1..self.size;
            let known: f64 = later.map(|below| at(below, row) * right[below]).sum();
            right[row] = (right[row] - known) / at(row, row);
        }
        right
    }

    /// The diagonal of the inverse.
    pub(super) fn inverse_diagonal(&self) -> Vec<f64> {
        let unit = |one: usize| {
            let mut right = vec![0.0; self.size];
            right[one] = 1.0;
            right
        };
        (0..self.size).map(|one| self.solve(unit(one))[one]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_of_three() {
        let matrix = vec![4.0, 2.0, 0.0, 2.0, 5.0, 1.0, 0.0, 1.0, 3.0];
        let factor = Cholesky::of(matrix, 3).unwrap();
        let solved = factor.solve(vec![8.0, 15.0, 11.0]);
        for (got, expected) in solved.iter().zip([1.0, 2.0, 3.0]) {
            assert!((got - expected).abs() < 1e-12);
        }
        // det = 44; the cofactors on the diagonal are 14, 12 and 16.
        for (got, expected) in factor.inverse_diagonal().iter().zip([14.0, 12.0, 16.0]) {
            assert!((got - expected / 44.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::of(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::of(vec![f64::NAN], 1).is_none());
    }
}
