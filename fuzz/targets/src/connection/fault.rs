//! What goes wrong between the server and the connection.

use arbitrary::Arbitrary;

/// Something that happens to the answers of the server that have not been received.
#[derive(Arbitrary, Debug)]
pub(super) enum Fault {
    /// The last answer is lost.
    Lose,
    /// The last answer comes twice.
    Repeat,
    /// The last two answers change places.
    Swap,
    /// The last answer is an error line instead.
    Refuse,
    /// Bytes come that are no answer.
    Garbage(Vec<u8>),
    /// The last byte is missing.
    Shorten,
}

/// The answers on their way, one after the other.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) bytes: Vec<u8>,
    /// Where each answer begins that is not received at all.
    begins: Vec<usize>,
}

impl Answers {
    /// An answer is about to be written.
    pub(super) fn begin(&mut self) {
        self.begins.push(self.bytes.len());
    }

    /// So many bytes of the front are received.
    pub(super) fn take(&mut self, count: usize) -> Vec<u8> {
        // An answer of which a part is received is changed no more.
        self.begins.retain(|&begin| begin >= count);
        self.begins.iter_mut().for_each(|begin| *begin -= count);
        self.bytes.drain(..count).collect()
    }

    /// Lets it happen; false if there is nothing for it to happen to.
    pub(super) fn suffer(&mut self, fault: Fault) -> bool {
        let last = self.begins.last().copied();
        match (fault, last) {
            (Fault::Garbage(bytes), _) => {
                let any = !bytes.is_empty();
                self.bytes.extend(bytes);
                return any;
            }
            (_, None) => return false,
            (Fault::Lose, Some(last)) => {
                self.bytes.truncate(last);
                self.begins.pop();
            }
            (Fault::Repeat, Some(last)) => {
                self.begin();
                self.bytes
                    .extend_from_within(last..self.begins[self.begins.len() - 1]);
            }
            (Fault::Swap, Some(last)) => {
                let [.., before, _] = self.begins[..] else {
                    return false;
                };
                let answer = self.bytes.split_off(last);
                self.bytes.splice(before..before, answer.iter().copied());
                self.begins.pop();
                self.begins.push(before + answer.len());
            }
            (Fault::Refuse, Some(last)) => {
                self.bytes.truncate(last);
                self.bytes.extend(b"SERVER_ERROR out of memory\r\n");
            }
            (Fault::Shorten, Some(_)) => {
                self.bytes.pop();
            }
        }
        self.begins.retain(|&begin| begin < self.bytes.len());
        true
    }
}
