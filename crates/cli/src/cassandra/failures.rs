//! The driver's errors in the words of the command line.

use std::io::ErrorKind;
use std::time::Duration;

use scylla::errors::{
    ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind as Setup, DbError,
    ExecutionError, MetadataError, NewSessionError, PrepareError, RequestAttemptError,
};
use tokio::net::TcpStream;

use super::target::PASSWORD_VARIABLE;
use crate::answer::Failure;
use crate::duration::within;

/// Why there is no session. The driver tells only of the contact point that it tried last, so each is
/// tried once more.
pub(super) async fn no_session(
    contacts: &[String],
    error: &NewSessionError,
    timeout: Option<Duration>,
) -> Failure {
    if let Some(setup) = setup_error(error) {
        match setup {
            Setup::MissingAuthentication => {
                return Failure::told(format!(
                    "the cluster asks who we are: give --user, and the password in the \
                     environment's {PASSWORD_VARIABLE}"
                ));
            }
            Setup::DbError(DbError::AuthenticationError, said) => {
                return Failure::told(format!("the cluster refused --user: {said}"));
            }
            _ => {}
        }
    }
    let mut reasons = Vec::new();
    for contact in contacts {
        let reason = match within(timeout, TcpStream::connect(contact.as_str())).await {
            Ok(Ok(_)) => format!("{contact} took the connection, but {}", inner(error)),
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                format!("{contact} refused the connection")
            }
            Ok(Err(error)) => format!("{contact}: {error}"),
            Err(_) => format!("{contact} did not answer in time (--timeout)"),
        };
        reasons.push(reason);
    }
    Failure::told(format!(
        "no contact point answered: {}; is Cassandra running there?",
        reasons.join(", ")
    ))
}

/// The contact points take connections, and that is all.
pub(super) fn silence(contacts: &[String], patience: Duration) -> Failure {
    Failure::told(format!(
        "no session with the cluster within {patience:?} at {}; is this Cassandra? A longer \
         --timeout gives it more time",
        contacts.join(", ")
    ))
}

fn setup_error(error: &NewSessionError) -> Option<&Setup> {
    match connection_error(error)? {
        ConnectionError::ConnectionSetupRequestError(setup) => Some(setup.get_error()),
        _ => None,
    }
}

fn connection_error(error: &NewSessionError) -> Option<&ConnectionError> {
    match error {
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(
            ConnectionPoolError::Broken {
                last_connection_error,
            },
        )) => Some(last_connection_error),
        _ => None,
    }
}

/// What is at the core of it.
fn inner(error: &NewSessionError) -> String {
    match connection_error(error) {
        Some(error) => format!("does not do as Cassandra does: {error}"),
        None => error.to_string(),
    }
}

/// Why a query was not taken.
pub(super) fn not_prepared(error: &PrepareError) -> Failure {
    let reason = match error {
        PrepareError::AllAttemptsFailed { first_attempt } => attempt(first_attempt),
        other => other.to_string(),
    };
    Failure::told(format!("--query: {reason}"))
}

/// Why a read failed.
pub(super) fn reason(error: &ExecutionError) -> String {
    match error {
        ExecutionError::RequestTimeout(limit) => format!("no answer within {limit:?} (--timeout)"),
        ExecutionError::EmptyPlan => "the policy has no node to ask".to_owned(),
        ExecutionError::LastAttemptError(error) => attempt(error),
        other => other.to_string(),
    }
}

fn attempt(error: &RequestAttemptError) -> String {
    match error {
        RequestAttemptError::DbError(kind, said) if said.is_empty() => kind.to_string(),
        RequestAttemptError::DbError(_, said) => said.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_database_said_is_shown_and_not_the_layers_around_it() {
        let said = || "unconfigured table t".to_owned();
        let answered = RequestAttemptError::DbError(DbError::Invalid, said());
        assert_eq!(
            reason(&ExecutionError::LastAttemptError(answered.clone())),
            said()
        );
        let error = PrepareError::AllAttemptsFailed {
            first_attempt: answered,
        };
        let expected = Failure::told("--query: unconfigured table t");
        assert_eq!(not_prepared(&error), expected);
        let wordless = RequestAttemptError::DbError(DbError::Overloaded, String::new());
        let wordless = reason(&ExecutionError::LastAttemptError(wordless));
        assert_eq!(wordless, DbError::Overloaded.to_string());
        let late = ExecutionError::RequestTimeout(Duration::from_millis(20));
        assert_eq!(reason(&late), "no answer within 20ms (--timeout)");
    }
}
