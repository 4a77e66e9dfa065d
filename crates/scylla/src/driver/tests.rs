use super::*;

fn of(error: DbError) -> Outcome {
    outcome(&RequestAttemptError::DbError(error, String::new()))
}

#[test]
fn errors_that_tell_of_the_nodes_speed_are_failures() {
    let late = DbError::ReadTimeout {
        consistency: DriverConsistency::One,
        received: 0,
        required: 1,
        data_present: false,
    };
    assert_eq!(of(late), Outcome::Failed);
    assert_eq!(of(DbError::ServerError), Outcome::Failed);
    assert_eq!(of(DbError::TruncateError), Outcome::Failed);
    assert_eq!(of(DbError::Other(0x7777)), Outcome::Failed);
}

#[test]
fn quick_refusals_and_faulty_requests_say_nothing_of_it() {
    let unavailable = DbError::Unavailable {
        consistency: DriverConsistency::All,
        required: 3,
        alive: 2,
    };
    for refused in [unavailable, DbError::Overloaded, DbError::IsBootstrapping] {
        assert_eq!(of(refused), Outcome::Refused);
    }
    for rejected in [
        DbError::SyntaxError,
        DbError::Invalid,
        DbError::Unauthorized,
    ] {
        assert_eq!(of(rejected), Outcome::Rejected);
    }
    let busy = RequestAttemptError::UnableToAllocStreamId;
    assert_eq!(outcome(&busy), Outcome::Busy);
}

#[test]
fn levels_are_the_same_by_their_code() {
    for level in [
        DriverConsistency::Any,
        DriverConsistency::One,
        DriverConsistency::Two,
        DriverConsistency::Three,
        DriverConsistency::Quorum,
        DriverConsistency::All,
        DriverConsistency::LocalQuorum,
        DriverConsistency::EachQuorum,
        DriverConsistency::Serial,
        DriverConsistency::LocalSerial,
        DriverConsistency::LocalOne,
    ] {
        assert_eq!(consistency(level), Consistency::ALL[level as usize]);
    }
}
