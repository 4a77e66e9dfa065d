//! `steersman --tls` and `--user` with a real memcached that wants both.

use std::path::PathBuf;
use std::process::Output;

use steersman_e2e::authority::Authority;
use steersman_e2e::command_line::steersman;
use steersman_e2e::memcached::RealMemcached;
use tempfile::TempDir;

const PASSWORD: &str = "correct-horse";

/// A memcached that wants TLS, a client certificate and a password, and files about it.
struct Fortress {
    memcached: RealMemcached,
    folder: TempDir,
}

impl Fortress {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new("ours").unwrap();
        let server = authority.issue(&["cache.internal"]).unwrap();
        let client = authority.issue(&["client"]).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let ca = write("ca.pem", authority.pem());
        let chain = write("server.pem", &server.chain);
        let key = write("server.key", &server.key);
        write("client.pem", &client.chain);
        write("client.key", &client.key);
        write("both.pem", &(client.chain + &client.key));
        write("password", &format!("{PASSWORD}\n"));
        let users = write("users", &format!("joe:{PASSWORD}\n"));
        let options =
            format!("ssl_chain_cert={chain},ssl_key={key},ssl_verify_mode=2,ssl_ca_cert={ca}");
        let started = RealMemcached::start_guarded(&["-Z", "-o", &options, "-Y", &users]);
        Self {
            memcached: started.unwrap_or_else(|error| panic!("{error}")),
            folder,
        }
    }

    /// Runs `steersman --node ... ARGS`, where `@name` is one of the files.
    fn run(&self, args: &str, password: Option<&str>) -> Output {
        let mut command = steersman();
        command.args(["--timeout", "10s", "--node", &self.memcached.node()]);
        for word in args.split_whitespace() {
            match word.strip_prefix('@') {
                Some(name) => command.arg(self.file(name)),
                None => command.arg(word),
            };
        }
        if let Some(password) = password {
            command.env("STEERSMAN_PASSWORD", password);
        }
        command.output().unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn the_options_open_what_is_guarded() {
    let fortress = Fortress::start();
    let tls = "--tls --ca @ca.pem --server-name cache.internal";
    let cert = "--cert @client.pem --key @client.key";
    let in_file = "--user joe --password-file @password";
    let in_environment = Some(PASSWORD);
    for (options, password) in [
        (format!("{tls} {cert} {in_file}"), None),
        (format!("{tls} {cert} --user joe"), in_environment),
        (
            format!("--tls --insecure --cert @both.pem {in_file}"),
            Some("wrong"),
        ),
    ] {
        let set = fortress.run(&format!("set k v {options}"), password);
        assert!(set.status.success(), "{options}: {set:?}");
        let warned = String::from_utf8_lossy(&set.stderr).contains("warning: --insecure");
        assert_eq!(warned, options.contains("--insecure"), "{set:?}");
        let got = fortress.run(&format!("{options} get k"), password);
        assert_eq!(got.stdout, b"v", "{options}: {got:?}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let fortress = Fortress::start();
    let tls = "--tls --ca @ca.pem --server-name cache.internal";
    let cert = "--cert @both.pem";
    for (options, why) in [
        (format!("{tls} {cert}"), "see --user"),
        (tls.to_owned(), "see --cert"),
        (format!("--tls --ca @ca.pem {cert}"), "see --server-name"),
        (
            format!("--tls --ca @client.pem --server-name cache.internal {cert}"),
            "see --ca",
        ),
        (String::new(), "does it want TLS?"),
        (
            format!("{tls} {cert} --user joe --password-file @users"),
            "refused the user \"joe\"",
        ),
    ] {
        let output = fortress.run(&format!("get k {options}"), None);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}: {said}");
        assert!(said.contains(why), "{options}: {said}");
        assert!(!said.contains(PASSWORD), "{said}");
    }
}
