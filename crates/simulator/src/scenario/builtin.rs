//! The scenarios that come with the crate.

macro_rules! files {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".toml")))),*]
    };
}

/// By name, their files.
pub(super) const FILES: &[(&str, &str)] = files![
    "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12"
];

#[cfg(test)]
mod tests {
    use super::super::Scenario;

    #[test]
    fn all_are_valid_and_have_the_names_of_their_files() {
        for name in Scenario::names() {
            for scenario in Scenario::builtin(name).unwrap() {
                assert_eq!(scenario.name.split('/').next(), Some(name));
                assert_eq!(Scenario::builtin(&scenario.name), Ok(vec![scenario]));
            }
        }
        for unknown in ["", "s0", "s2/", "s2/no", "s1/any"] {
            let error = Scenario::builtin(unknown).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::UnknownScenario);
        }
    }
}
