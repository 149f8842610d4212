//! `fourfold play` on a real terminal: a pseudo-terminal whose other end is here.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Whatever takes longer than this never comes.
const PATIENCE: Duration = Duration::from_secs(30);

const ENTER_ALTERNATE_SCREEN: &str = "\x1b[?1049h";
const LEAVE_ALTERNATE_SCREEN: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// The program on its terminal.
struct Game {
    child: Child,
    /// Our end of the terminal.
    keyboard: File,
    /// The program's end, kept open so that its modes can be read after the program has ended.
    terminal: OwnedFd,
    modes_before: LocalModes,
    output: Receiver<Vec<u8>>,
    /// All that was printed.
    printed: String,
    /// What of it no wait has seen yet.
    unseen: usize,
}

impl Game {
    fn start(arguments: &[&str], (rows, columns): (u16, u16)) -> Self {
        Self::start_with(arguments, (rows, columns), "xterm-256color")
    }

    fn start_with(arguments: &[&str], (rows, columns): (u16, u16), term: &str) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let terminal = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        resize(&terminal, rows, columns);
        let modes_before = tcgetattr(&terminal).unwrap().local_modes;
        let end = || terminal.try_clone().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_fourfold"))
            .arg("play")
            .args(arguments)
            .env("TERM", term)
            .env("NO_COLOR", "1")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let keyboard = File::from(ours);
        let (sender, output) = mpsc::channel();
        let mut screen = keyboard.try_clone().unwrap();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, terminal, modes_before, output, printed: String::new(), unseen: 0 }
    }

    /// Waits until this is printed, after what earlier waits have seen.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(at) = self.printed[self.unseen..].find(text) {
                self.unseen += at + text.len();
                return;
            }
            let more = self.output.recv_timeout(PATIENCE);
            let more = more.unwrap_or_else(|_| panic!("`{text}` never comes:\n{}", self.printed));
            // Only whole runs of ASCII are waited for; a character that was cut in two does not matter.
            self.printed += &String::from_utf8_lossy(&more);
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end and checks that the terminal is as it was.
    #[track_caller]
    fn check_restored(mut self, farewell: &str) {
        self.wait_for(LEAVE_ALTERNATE_SCREEN);
        self.wait_for(SHOW_CURSOR);
        self.wait_for(farewell);
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{}", self.printed);
        assert_eq!(tcgetattr(&self.terminal).unwrap().local_modes, self.modes_before);
        assert!(!self.printed[self.unseen..].contains(ENTER_ALTERNATE_SCREEN));
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it has ended unless the test failed
        let _ = self.child.wait();
    }
}

fn resize(terminal: &OwnedFd, rows: u16, columns: u16) {
    tcsetwinsize(terminal, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

#[test]
fn a_game_is_played_to_its_end() {
    let mut game = Game::start(&["--second", "random:seed=1"], (24, 80));
    game.wait_for("your turn");
    // Both ways to play; the bot does not see what is coming.
    for keys in ["1", "\x1b[H\r", " "] {
        game.press(keys);
        game.wait_for("(O)");
    }
    game.press("\x1b[B");
    game.wait_for("wins with a1 a2 a3 a4");
    game.press("q");
    game.check_restored("X wins with a1 a2 a3 a4\r\nmoves: 1313141\r\n");
}

#[test]
fn keys_work_while_a_bot_thinks() {
    let mut game = Game::start(&["--second", "alphabeta:ms=60000"], (24, 80));
    game.wait_for("your turn");
    game.press("4");
    game.wait_for("thinks");
    game.press("\x03");
    game.check_restored("left unfinished; go on with --moves 4");
}

#[test]
fn a_signal_to_stop_leaves_the_terminal_as_it_was() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut game = Game::start(&["--first", "random", "--moves", "44"], (24, 80));
        game.wait_for("your turn");
        game.signal(signal);
        game.check_restored("left unfinished; go on with --moves 44");
    }
}

#[test]
fn a_tiny_window_says_what_it_needs_until_it_is_larger() {
    let mut game = Game::start(&["--variant", "5x4"], (5, 20));
    game.wait_for("Enlarge"); // blanks are not printed on an empty screen
    resize(&game.terminal, 24, 80);
    game.signal(Signal::WINCH);
    game.wait_for("first player to move");
    game.press("q");
    game.check_restored("left unfinished");
}

#[test]
fn simple_terminals_and_those_who_wish_get_plain_text() {
    for (arguments, term) in [(&[][..], "dumb"), (&["--plain"], "xterm")] {
        let mut game = Game::start_with(arguments, (24, 80), term);
        game.wait_for("X to move, column 1 to 7, u or q: ");
        game.press("4\nq\n");
        game.wait_for("left unfinished; go on with --moves 4");
        assert_eq!(game.child.wait().unwrap().code(), Some(0));
        assert!(!game.printed.contains(ENTER_ALTERNATE_SCREEN));
    }
}
