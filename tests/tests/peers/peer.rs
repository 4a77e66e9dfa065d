//! A client in another language, in a process of its own that is asked by lines: `tests/peers/README.md`.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// Where the programs are.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// A client that takes part.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Program {
    Pymemcache,
    Emcache,
    /// And so libmemcached.
    Pylibmc,
    Spymemcached,
    Gomemcache,
}

impl Program {
    /// What starts it, without arguments.
    fn command(self) -> Result<Command, String> {
        static PYTHON: Language = Language::new("python");
        static JAVA: Language = Language::new("java");
        static GO: Language = Language::new("go");
        let script = match self {
            Self::Pymemcache => "pymemcache_peer.py",
            Self::Emcache => "emcache_peer.py",
            Self::Pylibmc => "pylibmc_peer.py",
            Self::Spymemcached => {
                let folder = JAVA.ready()?.display().to_string();
                let mut command = Command::new("java");
                // Short lives: what starts fastest.
                command.args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx64m"]);
                command.args(["-cp", &format!("{folder}:{folder}/*"), "Peer"]);
                return Ok(command);
            }
            Self::Gomemcache => return Ok(Command::new(GO.ready()?.join("peer"))),
        };
        let mut command = Command::new(PYTHON.ready()?.join("bin/python"));
        // Without writing beside the sources.
        command.arg("-B");
        command.arg(Path::new(SOURCES).join("python").join(script));
        Ok(command)
    }
}

/// What the clients of a language need, made ready once.
struct Language {
    name: &'static str,
    ready: OnceLock<Result<PathBuf, String>>,
}

impl Language {
    const fn new(name: &'static str) -> Self {
        let ready = OnceLock::new();
        Self { name, ready }
    }

    /// The folder of what has been made ready, or what to do about it that it could not be.
    fn ready(&self) -> Result<&Path, String> {
        let ready = self.ready.get_or_init(|| {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers");
            let setup = Command::new(Path::new(SOURCES).join("setup"))
                .arg(self.name)
                .arg(&folder)
                .output();
            let setup = setup.map_err(|error| format!("cannot run tests/peers/setup: {error}"))?;
            if setup.status.success() {
                return Ok(folder.join(self.name));
            }
            let said = String::from_utf8_lossy(&setup.stderr);
            Err(said.lines().last().unwrap_or_default().to_owned())
        });
        ready.as_deref().map_err(Clone::clone)
    }
}

/// A client that runs, ended when this is dropped. It panics at whatever it was not asked for.
pub(crate) struct Peer {
    program: Program,
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts a client that places keys as Steersman does by the placement of that name, on nodes that are
    /// written `host:port=weight`.
    pub(crate) fn start(
        program: Program,
        placement: &str,
        nodes: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut command = program.command().unwrap_or_else(|why| panic!("{why}"));
        command.arg(placement).args(nodes);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command
            .spawn()
            .unwrap_or_else(|error| panic!("{program:?} does not start: {error}"));
        let questions = process.stdin.take().expect("it is piped");
        let answers = process.stdout.take().expect("it is piped");
        Self {
            program,
            process,
            questions,
            answers: BufReader::new(answers),
        }
    }

    /// Stores bytes.
    pub(crate) fn set(&mut self, key: &[u8], value: &[u8]) {
        let question = format!("set {} {}", hexadecimal(key), hexadecimal(value));
        assert_eq!(self.ask(&question), "ok", "{:?}: {question}", self.program);
    }

    /// Stores the value of that name as the client stores values of its type.
    pub(crate) fn put(&mut self, key: &str, name: &str) {
        let question = format!("put {} {name}", hexadecimal(key.as_bytes()));
        assert_eq!(self.ask(&question), "ok", "{:?}: {question}", self.program);
    }

    /// Reads bytes, in hexadecimal; `None` on a miss.
    pub(crate) fn get(&mut self, key: &[u8]) -> Option<String> {
        let question = format!("get {}", hexadecimal(key));
        let answer = self.ask(&question);
        if answer == "missing" {
            return None;
        }
        let value = answer.strip_prefix('=');
        Some(
            value
                .unwrap_or_else(|| panic!("{:?}: {question}: {answer}", self.program))
                .to_owned(),
        )
    }

    fn ask(&mut self, question: &str) -> String {
        writeln!(self.questions, "{question}").expect("it listens");
        self.questions.flush().expect("it listens");
        let mut answer = String::new();
        self.answers
            .read_line(&mut answer)
            .expect("it answers by text");
        answer.trim_end().to_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Err(error) = self.process.kill().and_then(|()| self.process.wait()) {
            eprintln!("cannot end {:?}: {error}", self.program);
        }
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a string takes it");
        digits
    })
}
