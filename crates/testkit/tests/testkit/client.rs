//! A client of raw bytes.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Client {
    stream: TcpStream,
}

impl Client {
    pub(crate) async fn connect(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).await.expect("the server listens");
        Self { stream }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream
            .write_all(bytes.as_ref())
            .await
            .expect("the connection stands");
    }

    /// Reads exactly this.
    pub(crate) async fn expect(&mut self, reply: &str) {
        let mut bytes = vec![0; reply.len()];
        self.stream
            .read_exact(&mut bytes)
            .await
            .expect("a reply comes");
        assert_eq!(String::from_utf8_lossy(&bytes), reply);
    }

    pub(crate) async fn ask(&mut self, request: &str, reply: &str) {
        self.send(request).await;
        self.expect(reply).await;
    }

    /// Reads what comes at once.
    pub(crate) async fn read_some(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 64 * 1024];
        let len = self.stream.read(&mut bytes).await?;
        bytes.truncate(len);
        Ok(bytes)
    }

    /// Reads until the server closes, or says why that failed.
    pub(crate) async fn read_to_end(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads until the connection ends one way or the other: what came, and was it a reset?
    pub(crate) async fn read_to_reset(&mut self) -> (String, bool) {
        let mut all = Vec::new();
        loop {
            match self.read_some().await {
                Ok(bytes) if bytes.is_empty() => break (lossy(&all), false),
                Ok(bytes) => all.extend(bytes),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
                    break (lossy(&all), true);
                }
            }
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Why connecting fails.
pub(crate) async fn connect_error(addr: SocketAddr) -> io::ErrorKind {
    TcpStream::connect(addr)
        .await
        .expect_err("nobody is to listen")
        .kind()
}
