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

    fn row(&self, row: usize) -> &[f64] {
        &self.lower[row * self.size..][..=row]
    }

    /// Solves for a right-hand side.
    pub(super) fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        self.solve_lower(&mut right, 0);
        for row in (0..self.size).rev() {
            let (earlier, own) = right.split_at_mut(row);
            own[0] /= self.row(row)[row];
            for (value, factor) in earlier.iter_mut().zip(self.row(row)) {
                *value -= factor * own[0];
            }
        }
        right
    }

    /// Solves for a right-hand side by the factor alone; the rows before the first one have 0 in it.
    fn solve_lower(&self, right: &mut [f64], first: usize) {
        for row in first..self.size {
            let (earlier, own) = right.split_at_mut(row);
            let factors = self.row(row)[first..].iter();
            let known: f64 = factors.zip(&earlier[first..]).map(|(a, b)| a * b).sum();
            own[0] = (own[0] - known) / self.row(row)[row];
        }
    }

    /// The diagonal of the inverse, which is the transposed inverse of the factor times that inverse.
    pub(super) fn inverse_diagonal(&self) -> Vec<f64> {
        let mut column = vec![0.0; self.size];
        let squares = |one: usize| {
            column[one..].fill(0.0);
            column[one] = 1.0;
            self.solve_lower(&mut column, one);
            column[one..].iter().map(|value| value * value).sum()
        };
        (0..self.size).map(squares).collect()
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
