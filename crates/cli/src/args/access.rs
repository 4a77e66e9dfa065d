//! The options that say how nodes are connected to: who asks, and what secures the connection.

use std::path::PathBuf;

use clap::Args;

/// How nodes are connected to.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Access {
    /// Who asks, for nodes that want to know; the password is in --password-file, else in the
    /// environment's `STEERSMAN_PASSWORD`
    // `cassandra` has one of its own, under the same name here too, which stands in for it there.
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) user: Option<String>,

    /// The file that holds the password of --user and nothing else but a newline
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) password_file: Option<PathBuf>,

    /// Connects by TLS, to nodes whose certificate a trusted authority has signed for their host
    #[arg(long, global = true)]
    pub(crate) tls: bool,

    /// With --tls: the certificates of the authorities to trust instead of the system's, as PEM
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) ca: Option<PathBuf>,

    /// With --tls: the certificate to show to nodes that want one, as PEM
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) cert: Option<PathBuf>,

    /// With --cert: its private key, as PEM, if it is in another file
    #[arg(id = "private_key", long = "key", value_name = "FILE", global = true)]
    pub(crate) key: Option<PathBuf>,

    /// With --tls: the host that certificates must be for, whatever the addresses of nodes are
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) server_name: Option<String>,

    /// With --tls: takes any certificate, and so anybody who is on the way to the nodes; warns
    #[arg(long, global = true)]
    pub(crate) insecure: bool,
}

impl Access {
    /// The names of its options.
    pub(super) const OPTIONS: [&'static str; 8] = [
        "user",
        "password_file",
        "tls",
        "ca",
        "cert",
        "private_key",
        "server_name",
        "insecure",
    ];

    /// The first option that means nothing without --tls.
    pub(crate) fn only_with_tls(&self) -> Option<&'static str> {
        [
            ("--ca", self.ca.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--server-name", self.server_name.is_some()),
            ("--insecure", self.insecure),
        ]
        .into_iter()
        .find_map(|(option, given)| given.then_some(option))
    }
}
