//! `config` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| steersman_fuzz_targets::config::run(input));
