//! The resolver of the operating system.

use super::{Resolved, Resolver, Resolving};

/// Asks the operating system (`getaddrinfo`), which heeds `/etc/hosts`, search domains and the
/// preference between IPv6 and IPv4. It does not say for how long an address is valid.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok(Resolved::new(tokio::net::lookup_host((host, port)).await?)) })
    }
}
