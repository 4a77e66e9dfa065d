//! A command at a terminal that the test plays.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// What has not come by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct PseudoTerminal {
    child: Child,
    /// The test's end.
    master: File,
    /// The command's end, held so that it can be looked at when the command has ended.
    slave: OwnedFd,
    output: Receiver<Vec<u8>>,
    /// All that was written so far.
    pub(crate) seen: String,
}

impl PseudoTerminal {
    pub(crate) fn run(mut command: Command, size: (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        resize(&slave, size);
        let end = || Stdio::from(slave.try_clone().unwrap());
        command.env("TERM", "xterm-256color");
        let child = command.stdin(end()).stdout(end()).stderr(end());
        let child = child.spawn().unwrap();
        // It holds ends of the terminal, too.
        drop(command);
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            master,
            slave,
            output,
            seen: String::new(),
        }
    }

    /// Waits until this has been written, from now on.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let from = self.seen.len();
        while !self.seen[from..].contains(text) {
            let Ok(more) = self.output.recv_timeout(PATIENCE) else {
                panic!("{text:?} was not written, but {:?}", &self.seen[from..]);
            };
            self.seen += &String::from_utf8_lossy(&more);
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Makes the terminal another size and tells the command, as a terminal of its own would.
    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        resize(&self.slave, size);
        self.signal(Signal::WINCH);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the command: its exit code. The terminal is as it was.
    pub(crate) fn end(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        let modes = tcgetattr(&self.slave).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO));
        drop(self.slave);
        // Without the command's end the output ends.
        while let Ok(more) = self.output.recv_timeout(PATIENCE) {
            self.seen += &String::from_utf8_lossy(&more);
        }
        (status.code().unwrap(), self.seen)
    }
}

fn resize(slave: &OwnedFd, (columns, rows): (u16, u16)) {
    let size = Winsize {
        ws_col: columns,
        ws_row: rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(slave, size).unwrap();
}
