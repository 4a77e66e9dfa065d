//! What others see of the client is what the page on observability says, and nothing that is secret.

mod capture;
mod counted;
mod documented;
mod logs;
mod page;
mod spans;
