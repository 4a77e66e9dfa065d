//! What others see of the client is what the page on observability says, and nothing that is secret.

mod balance;
mod capture;
mod counted;
mod documented;
mod logs;
mod page;
mod spans;
