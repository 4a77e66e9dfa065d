//! A memcached cluster client.
