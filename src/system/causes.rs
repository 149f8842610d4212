//! An error as one line, for those who see nothing else of it.

/// An error and what caused it, from the outside in: `cannot be read: no such file`.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_what_they_caused() {
        let error =
            anyhow::anyhow!("no such file").context("the log cannot be read").context("nothing is rated");
        assert_eq!(with_causes(&*error), "nothing is rated: the log cannot be read: no such file");
    }
}
