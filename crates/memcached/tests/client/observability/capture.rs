//! A subscriber that keeps everything that the client logs.
//!
//! There is one for the process, which hands what it is told to the capture of the thread: were each test
//! to set its own, a place in the code that another thread reaches first might stay off for good.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, Once};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    static HERE: RefCell<Option<Arc<Capture>>> = const { RefCell::new(None) };
}

static INSTALLED: Once = Once::new();

/// What was logged on this thread.
#[derive(Default)]
pub(crate) struct Capture(Mutex<Log>);

#[derive(Default)]
struct Log {
    spans: Vec<Span>,
    events: Vec<Told>,
    entered: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) target: String,
    pub(crate) fields: Fields,
    /// The number of the span that it is in.
    pub(crate) parent: Option<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) target: String,
    pub(crate) level: String,
    pub(crate) fields: Fields,
}

pub(crate) type Fields = BTreeMap<String, String>;

impl Capture {
    /// Keeps what is logged on this thread until the guard is dropped.
    pub(crate) fn start() -> (Arc<Self>, Guard) {
        INSTALLED.call_once(|| {
            tracing::subscriber::set_global_default(ByThread).expect("it is the only one");
        });
        let capture = Arc::new(Self::default());
        HERE.set(Some(Arc::clone(&capture)));
        (capture, Guard)
    }

    /// The spans by number, from 1.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().spans.clone()
    }

    pub(crate) fn events(&self) -> Vec<Told> {
        self.0.lock().unwrap().events.clone()
    }

    /// All of it as text.
    pub(crate) fn text(&self) -> String {
        format!("{:#?}\n{:#?}", self.spans(), self.events())
    }
}

/// Ends a capture.
pub(crate) struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        HERE.set(None);
    }
}

struct Collect<'a>(&'a mut Fields);

impl Visit for Collect<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

struct ByThread;

/// Does something with the log of this thread, if it is kept.
fn here<T>(act: impl FnOnce(&mut Log) -> T) -> Option<T> {
    HERE.with_borrow(|capture| Some(act(&mut capture.as_ref()?.0.lock().unwrap())))
}

impl Subscriber for ByThread {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("steersman") && here(|_| ()).is_some()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        attributes.record(&mut Collect(&mut fields));
        let number = here(|log| {
            let current = log.entered.last().copied();
            let parent = attributes.parent().map(Id::into_u64);
            log.spans.push(Span {
                target: attributes.metadata().target().to_owned(),
                fields,
                parent: parent.or(current.filter(|_| attributes.is_contextual())),
            });
            log.spans.len() as u64
        });
        Id::from_u64(number.unwrap_or(1))
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        here(|log| {
            let index = usize::try_from(span.into_u64()).unwrap() - 1;
            values.record(&mut Collect(&mut log.spans[index].fields));
        });
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Collect(&mut fields));
        here(|log| {
            log.events.push(Told {
                target: event.metadata().target().to_owned(),
                level: event.metadata().level().as_str().to_lowercase(),
                fields,
            });
        });
    }

    fn enter(&self, span: &Id) {
        here(|log| log.entered.push(span.into_u64()));
    }

    fn exit(&self, _: &Id) {
        here(|log| log.entered.pop());
    }
}
