//! The memcached protocol without I/O.
