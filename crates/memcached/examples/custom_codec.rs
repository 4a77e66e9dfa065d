//! A format of one's own for the values of a cache: readings of sensors in a few bytes each, and what
//! becomes of those that an older program has stored.
//!
//! ```sh
//! cargo run -p steersman-memcached --example custom_codec
//! ```

use std::error::Error;
use std::time::Duration;

use bytes::{Buf, BufMut, BytesMut};
use steersman_memcached::codec::{CodecError, CodecErrorKind, Decode, Encode, Encoded, Format};
use steersman_memcached::{Client, ErrorKind};
use steersman_testkit::Server;

/// What a sensor measured.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    /// Seconds since 1970.
    at: u32,
    celsius: f32,
    /// In percent; sensors of the first series do not measure it.
    humidity: Option<u8>,
}

/// Readings as bytes: which version of this form they are in, then all that is there of them, in
/// big-endian order.
///
/// | version | a reading has |
/// | --- | --- |
/// | 1 | seconds (4 bytes), tenths of a degree (2) |
/// | 2 | the same, and the humidity (1), 255 if it is not known |
///
/// What is in the cache outlives a deployment, so a program reads the versions before its own too.
#[derive(Debug, Clone, Copy)]
struct Readings;

impl Format for Readings {
    // Numbers from 128 on are the application's. It is in the flags of each value.
    const ID: u8 = 130;
    const NAME: &'static str = "readings";
}

impl Encode<[Reading]> for Readings {
    fn encode(&self, readings: &[Reading]) -> Result<Encoded, CodecError> {
        let mut bytes = BytesMut::with_capacity(1 + 7 * readings.len());
        bytes.put_u8(2);
        for reading in readings {
            let tenths = (reading.celsius * 10.0).round();
            if !(-2732.0..=32_767.0).contains(&tenths) {
                let why = format!("has {} degrees in it", reading.celsius);
                return Err(CodecError::new(CodecErrorKind::Encode, why));
            }
            #[expect(clippy::cast_possible_truncation, reason = "it is in range")]
            let tenths = tenths as i16;
            bytes.put_u32(reading.at);
            bytes.put_i16(tenths);
            bytes.put_u8(reading.humidity.unwrap_or(u8::MAX));
        }
        Ok(Self::mark(bytes))
    }
}

impl Decode<Vec<Reading>> for Readings {
    fn decode(&self, value: Encoded, max_size: usize) -> Result<Vec<Reading>, CodecError> {
        // Refuses what is in another format, and decompresses what was compressed.
        let mut bytes = Self::unmark(value, max_size)?;
        let corrupt = |why| CodecError::new(CodecErrorKind::Corrupt, why);
        let version = bytes.try_get_u8().map_err(|_| corrupt("is empty"))?;
        let length = match version {
            1 => 6,
            2 => 7,
            _ => return Err(corrupt("is in a version that a later program has made")),
        };
        if !bytes.len().is_multiple_of(length) {
            return Err(corrupt("ends within a reading"));
        }
        let readings = bytes.chunks_exact(length).map(|mut bytes| Reading {
            at: bytes.get_u32(),
            celsius: f32::from(bytes.get_i16()) / 10.0,
            humidity: bytes.first().copied().filter(|&percent| percent <= 100),
        });
        Ok(readings.collect())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    run().await
}

pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let server = Server::start().await?;
    let client = Client::builder().node(server.node()).build()?;
    // A view of the client for values in this format. With one of the features for compression it could
    // have `.compress(...)` behind it: formats need not know of that.
    let readings = client.typed(Readings);

    let day: Vec<Reading> = (0..144)
        .map(|number: u16| Reading {
            at: 1_800_000_000 + u32::from(number) * 600,
            celsius: (f32::from(number) - 50.0) / 10.0,
            humidity: Some(40),
        })
        .collect();
    let hours = Duration::from_secs(12 * 3600);
    readings.set("cellar", &day[..]).expires_in(hours).await?;
    let read: Option<Vec<Reading>> = readings.get("cellar").await?;
    assert_eq!(read.as_deref(), Some(&day[..]));
    let stored = client.get("cellar").await?.ok_or("it was stored")?;
    println!(
        "{} readings are {} bytes with the flags {:#010x}",
        day.len(),
        stored.data.len(),
        stored.flags
    );

    // What an older program has stored is read.
    let older = Readings::mark([&[1_u8][..], &[0, 0, 0, 60], &[0, 215]].concat());
    client.set("attic", older.data).flags(older.flags).await?;
    let read: Option<Vec<Reading>> = readings.get("attic").await?;
    println!("from an older program: {read:?}");
    assert_eq!(
        read,
        Some(vec![Reading {
            at: 60,
            celsius: 21.5,
            humidity: None
        }])
    );

    // What is no reading is neither garbage nor a miss, but an error that says what it is.
    client.set("garden", "21.5").await?;
    let error = readings.get::<_, Vec<Reading>>("garden").await;
    let error = error.err().ok_or("text is no reading")?;
    println!("{error}");
    assert_eq!(error.kind(), ErrorKind::Codec);
    let reason = error.codec_error().map(CodecError::kind);
    assert_eq!(reason, Some(CodecErrorKind::UnknownFlags));

    // Many at a time: the one that cannot be read does not keep the others away.
    let many = readings
        .get_many::<_, Vec<Reading>>(["cellar", "attic", "garden", "roof"])
        .await;
    println!(
        "{} found, missing {:?}, {} failed",
        many.found.len(),
        many.missing,
        many.failed.len()
    );
    assert_eq!((many.found.len(), many.failed.len()), (2, 1));
    assert_eq!(many.missing, ["roof"]);
    client.close().await;
    Ok(())
}
