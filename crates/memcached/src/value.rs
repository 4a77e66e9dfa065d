//! What can be stored: anything that is bytes.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

/// What [`Client::set`](crate::Client::set) and its like accept as a value.
///
/// Owned data ([`Bytes`], `Vec<u8>`, `String`, ...) is taken as it is; borrowed data is copied.
///
/// ```
/// use steersman_memcached::IntoValue;
///
/// assert_eq!("text".into_value(), b"text"[..]);
/// assert_eq!([1, 2, 3].into_value(), vec![1, 2, 3]);
/// ```
pub trait IntoValue {
    /// The value's bytes.
    fn into_value(self) -> Bytes;
}

macro_rules! taken {
    ($($owned:ty),*) => {$(
        impl IntoValue for $owned {
            fn into_value(self) -> Bytes {
                self.into()
            }
        }
    )*};
}
taken!(Bytes, BytesMut, Vec<u8>, Box<[u8]>, String);

impl<T: AsRef<[u8]> + ?Sized> IntoValue for &T {
    fn into_value(self) -> Bytes {
        Bytes::copy_from_slice(self.as_ref())
    }
}

impl<const N: usize> IntoValue for [u8; N] {
    fn into_value(self) -> Bytes {
        Bytes::copy_from_slice(&self)
    }
}

impl IntoValue for Cow<'_, str> {
    fn into_value(self) -> Bytes {
        self.into_owned().into()
    }
}

impl IntoValue for Cow<'_, [u8]> {
    fn into_value(self) -> Bytes {
        self.into_owned().into()
    }
}
