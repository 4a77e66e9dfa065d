//! An embedded memcached server and a fault proxy.
