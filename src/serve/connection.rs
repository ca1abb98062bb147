//! Connections: so many at a time, each for so long, none that does not read.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};

use super::answer::{Responder, answer};
use super::{SiteFiles, VisitorTerms};

/// The longest time that a visitor may take to ask, and may stay silent between two questions.
const ASKING: Duration = Duration::from_secs(10);
/// The longest time that a visitor may leave unread what was sent: a dead one does for ever.
const READING: Duration = Duration::from_secs(20);
/// The longest time of a connection; a page that follows the event makes another by itself.
const LONGEST: Duration = Duration::from_secs(3600);
/// The wait after an error of accepting (too many open files).
const RESPITE: Duration = Duration::from_millis(100);
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 30\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

pub(super) async fn accept(
    listener: TcpListener,
    terms: VisitorTerms,
    site: watch::Receiver<SiteFiles>,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    tokio::spawn(accept_visitors(listener, terms, site));
    // Nobody can ask for it any more where the other end is gone, and it goes on.
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
    Ok(())
}

async fn accept_visitors(
    listener: tokio::net::TcpListener,
    terms: VisitorTerms,
    site: watch::Receiver<SiteFiles>,
) {
    let places = Arc::new(Semaphore::new(terms.visitors.get()));
    let responder = Arc::new(Responder::new(terms.names, site));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(RESPITE).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            turn_away(stream);
            continue;
        };
        let responder = Arc::clone(&responder);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(LONGEST, visit(stream, responder)).await;
            drop(place);
        });
    }
}

/// Says that there is no room, as far as it can be said at once: nobody waits for a visitor who is turned away.
fn turn_away(stream: TcpStream) {
    // The runtime does not know yet that there is room to write; the system does.
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write(FULL);
    }
}

/// Answers one connection's questions. A visitor that goes away is no error of ours.
async fn visit(stream: TcpStream, responder: Arc<Responder>) {
    let _ = stream.set_nodelay(true);
    let limit = u32::try_from(READING.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, limit);
    let service = service_fn(move |question| {
        let responder = Arc::clone(&responder);
        async move { Ok::<_, Infallible>(answer(&responder, &question)) }
    });
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKING)
        .max_buf_size(16 * 1024)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
