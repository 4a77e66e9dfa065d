//! The options that can be written down: their names, and how their values are.

use steersman_selection::Scheme;

use super::Config;
use super::form::{
    Count, File, Form, Hedging, Limit, Name, Nodes, Optional, PolicyName, SchemeName, Secret,
    Share, Size, Source, Success, Switch, Time,
};
use super::setting::Setting;

/// One option.
pub(super) struct Spec {
    /// What it is called in every source, and the field of [`Config`] too.
    pub(super) name: &'static str,
    /// Its value; none if it has none that could be written.
    pub(super) get: fn(&Config) -> Option<Setting>,
    /// Takes a value, or says what is wrong with it.
    pub(super) set: fn(&mut Config, &Setting) -> Result<(), String>,
}

impl Spec {
    /// Whether its value must not be shown.
    pub(super) fn is_secret(&self) -> bool {
        self.name == "password"
    }
}

/// The option that is a field of that name, with a value of that form.
macro_rules! option {
    ($name:ident: $form:ty) => {
        Spec {
            name: stringify!($name),
            get: |config| <$form>::show(&config.$name),
            set: |config, given| {
                config.$name = <$form>::read(given)?;
                Ok(())
            },
        }
    };
}

/// All of them, in the order in which they are set and written.
pub(super) const OPTIONS: &[Spec] = &[
    option!(nodes: Nodes),
    option!(discovery: Optional<Source>),
    option!(discovery_interval: Time),
    option!(discovery_timeout: Limit),
    option!(resolve_interval: Limit),
    option!(placement: SchemeName),
    SLOT_BITS,
    option!(timeout: Limit),
    option!(max_connections: Count<usize>),
    option!(min_connections: Count<usize>),
    option!(purge_unused_connections_after: Limit),
    option!(connection_timeout: Limit),
    option!(purge_unhealthy_nodes: Switch),
    option!(autobatching: Switch),
    option!(autobatching_max_keys: Count<usize>),
    option!(max_in_flight: Count<usize>),
    option!(max_waiting: Count<usize>),
    option!(open_connection_above: Count<usize>),
    option!(stalled_after: Limit),
    option!(unhealthy_after: Count<u32>),
    option!(backoff_initial: Time),
    option!(backoff_max: Time),
    option!(backoff_jitter: Share),
    option!(max_value_size: Size),
    option!(key_prefix: Optional<Name>),
    option!(hash_long_keys: Switch),
    option!(user: Optional<Name>),
    option!(password: Optional<Secret>),
    option!(password_file: Optional<File>),
    option!(tls: Switch),
    option!(tls_roots: Optional<File>),
    option!(tls_extra_ca: Optional<File>),
    option!(tls_cert: Optional<File>),
    option!(tls_key: Optional<File>),
    option!(tls_server_name: Optional<Name>),
    option!(tls_verify: Switch),
    option!(replicas: Count<usize>),
    option!(read_policy: PolicyName),
    option!(write_success: Success),
    option!(attempt_timeout: Optional<Time>),
    option!(hedge: Hedging),
    option!(hedges_per_read: Share),
    option!(hedge_burst: Count<u32>),
    option!(next_on_miss: Switch),
    option!(repair: Limit),
];

/// A part of the placement, which is set before it.
const SLOT_BITS: Spec = Spec {
    name: "slot_bits",
    get: |config| match config.placement {
        Scheme::Rendezvous { slot_bits } => Some(Setting::Number(slot_bits.into())),
        _ => None,
    },
    set: |config, given| {
        let name = config.placement.name();
        if !matches!(config.placement, Scheme::Rendezvous { .. }) {
            return Err(format!(
                "it is for the placement rendezvous, and `placement` is {name}: leave one of them out"
            ));
        }
        let bits = Count::<u8>::read(given)?;
        let scheme = config.placement.with_slot_bits(bits);
        config.placement = scheme.map_err(|error| error.to_string())?;
        Ok(())
    },
};
