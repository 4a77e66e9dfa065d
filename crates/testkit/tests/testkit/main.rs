//! The embedded server and the fault proxy as their users see them: over sockets.

mod client;
mod faults;
mod hostile;
mod lifecycle;
mod proxy;
mod script;
mod session;
