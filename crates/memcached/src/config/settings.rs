//! A config from names and settings, and the settings that make up a config.

use super::Config;
use super::near::nearest;
use super::option::{OPTIONS, Spec};
use super::setting::Setting;
use crate::error::{Error, Result};

/// The longest name that an error repeats, in characters.
const REPEATED: usize = 40;

/// What a source gives: a setting for each option at most.
pub(super) struct Settings([Option<Setting>; OPTIONS.len()]);

impl Settings {
    pub(super) fn new() -> Self {
        Self([const { None }; OPTIONS.len()])
    }

    /// Takes the setting of the option of that name.
    pub(super) fn put(&mut self, name: &str, setting: Setting) -> Result<()> {
        let known = OPTIONS.iter().zip(&mut self.0);
        let Some((option, slot)) = known.into_iter().find(|(option, _)| option.name == name) else {
            return Err(unknown(name));
        };
        if slot.is_some() {
            return Err(Error::config(
                option.name,
                "it is given twice: leave one of them out",
            ));
        }
        *slot = Some(setting);
        Ok(())
    }

    /// The config that has these settings, and the defaults otherwise.
    pub(super) fn config(&self) -> Result<Config> {
        let mut config = Config::default();
        for (option, setting) in OPTIONS.iter().zip(&self.0) {
            if let Some(setting) = setting {
                (option.set)(&mut config, setting)
                    .map_err(|why| Error::config(option.name, why))?;
            }
        }
        config.check()?;
        Ok(config)
    }
}

fn unknown(name: &str) -> Error {
    let shown: String = name.chars().take(REPEATED).collect();
    let nearest = nearest(name, OPTIONS.iter().map(|option| option.name)).unwrap_or_default();
    Error::config(
        "config",
        format!("there is no option {shown:?}; the nearest is `{nearest}`"),
    )
}

impl Config {
    /// What differs from the defaults, whether it can be read back or not.
    pub(super) fn changed(&self) -> impl Iterator<Item = (&'static Spec, Setting)> {
        let default = Self::default();
        OPTIONS.iter().filter_map(move |option| {
            let setting = (option.get)(self)?;
            (Some(&setting) != (option.get)(&default).as_ref()).then_some((option, setting))
        })
    }

    /// Fails with the first option of which `read` has another value, read back from what was written.
    pub(super) fn check_written(&self, read: &Self) -> Result<()> {
        if read == self {
            return Ok(());
        }
        let differs = |option: &&Spec| (option.get)(self) != (option.get)(read);
        // What looks the same is a path with other bytes.
        let option = OPTIONS.iter().find(differs).map_or("config", |at| at.name);
        Err(Error::config(
            option,
            "it has a value that cannot be written: a node's name that reads as something else, a path that is not UTF-8, or a number that is none",
        ))
    }

    /// What differs from the defaults, such that it makes the same config again.
    #[cfg(feature = "serde")]
    pub(super) fn settings(&self) -> Result<Vec<(&'static Spec, Setting)>> {
        let mut settings = Settings::new();
        for (option, setting) in self.changed() {
            settings.put(option.name, setting)?;
        }
        self.check_written(&settings.config()?)?;
        Ok(self.changed().collect())
    }

    /// Refuses options that contradict each other.
    pub(super) fn check(&self) -> Result<()> {
        let contradiction = |option, why: String| Err(Error::config(option, why));
        let only_over_tls = [
            ("tls_roots", self.tls_roots.is_some()),
            ("tls_extra_ca", self.tls_extra_ca.is_some()),
            ("tls_cert", self.tls_cert.is_some()),
            ("tls_key", self.tls_key.is_some()),
            ("tls_server_name", self.tls_server_name.is_some()),
            ("tls_verify", !self.tls_verify),
        ];
        if let Some((option, _)) = only_over_tls.iter().find(|(_, given)| *given && !self.tls) {
            return contradiction(option, "it has no effect while `tls` is off".to_owned());
        }
        if self.tls_key.is_some() && self.tls_cert.is_none() {
            return contradiction("tls_key", "give `tls_cert` too".to_owned());
        }
        if let Some((option, _)) = only_over_tls[..2].iter().find(|(_, given)| *given)
            && !self.tls_verify
        {
            return contradiction(
                option,
                "it has no effect while `tls_verify` is off".to_owned(),
            );
        }
        if self.password.is_some() && self.password_file.is_some() {
            return contradiction("password_file", "leave it or `password` out".to_owned());
        }
        let password = [
            ("password", self.password.is_some()),
            ("password_file", self.password_file.is_some()),
        ];
        if let Some((option, _)) = password.iter().find(|(_, given)| *given)
            && self.user.is_none()
        {
            return contradiction(option, "give `user` too".to_owned());
        }
        // With none at all it is the maximum that is wrong, which the client finds when it is built.
        if self.min_connections > self.max_connections && self.max_connections > 0 {
            let (min, max) = (self.min_connections, self.max_connections);
            return contradiction(
                "min_connections",
                format!("{min} is above `max_connections`, which is {max}"),
            );
        }
        if self.backoff_max < self.backoff_initial {
            let (max, initial) = (self.backoff_max, self.backoff_initial);
            return contradiction(
                "backoff_max",
                format!("{max:?} is below `backoff_initial`, which is {initial:?}"),
            );
        }
        Ok(())
    }
}
