//! The task of one socket: from the upgrade to the last close frame.
//!
//! It greets (`hello` in time, or close 4401), then carries requests to the session and messages to the client until
//! one side has enough. Before `hello` every other message is answered by `unauthorized`, with `seq` 0: there is no
//! session yet that could count.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Interval, MissedTickBehavior, Sleep, interval, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::heartbeat::Heartbeat;
use super::limits::TransportLimits;
use super::port::{Caller, Disconnected, Gateway, Opened, RESUME_WITHIN, RefusedHello, SessionPort};
use super::rate_limit::{Cost, RateVerdict, Traffic};
use super::wire::{Farewell, Listening, MessageSource, SharedWire, Wire, WireEvent, WireFault};
use crate::model::ids::GameId;
use crate::play::presence::outbox::{Attachment, Line, Outbox};
use crate::protocol::client::Hello;
use crate::protocol::parse::{Refusal, parse};
use crate::protocol::{
    CLIENT_FRAME_BYTES_MAX, ClientMessage, CloseCode, ErrorCode, Frame, Request, WireError,
};

/// Requests that are read, and stamped, while an earlier one is being handled. Then the peer has to wait.
const READ_AHEAD_MAX: usize = 16;
/// Longest that opening a session may take: a few reads of the store.
const OPENING_MAX: Duration = Duration::from_secs(10);
/// Shortest time between two pings, whatever is configured.
const HEARTBEAT_MIN: Duration = Duration::from_millis(1);

/// What all sockets share.
#[derive(Clone)]
pub struct SocketDeps {
    pub gateway: Arc<dyn Gateway>,
    /// What a connection may take.
    pub limits: Arc<TransportLimits>,
    /// The daemon stops: close with 1012.
    pub stop: CancellationToken,
}

impl std::fmt::Debug for SocketDeps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SocketDeps").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Speaks the protocol over a stream on which the upgrade was answered, until it is closed.
///
/// What greets and what parts is boxed: it is over soon, and its memory would be held as long as the connection.
pub fn serve<S>(stream: S, caller: Caller, deps: SocketDeps) -> impl Future<Output = ()> + Send + 'static
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let closing = deps.limits.closing;
    let received = Box::pin(receive(stream, caller, deps));
    async move {
        let (wire, farewell) = match received.await {
            Ok(mut open) => {
                let farewell = open.attend().await;
                (open.wire.take().map(Box::new), farewell)
            }
            Err((wire, farewell)) => (Some(wire), farewell),
        };
        debug!(?farewell, "socket ends");
        if let Some(wire) = wire {
            Box::pin(wire.finish(farewell, closing)).await;
        }
    }
}

/// A socket whose session is open.
struct OpenSocket<S> {
    wire: Arc<SharedWire<S>>,
    traffic: Traffic,
    opened: Opened,
    deps: SocketDeps,
}

/// Greets, and opens the session; or says how to part.
async fn receive<S>(
    stream: S,
    caller: Caller,
    deps: SocketDeps,
) -> Result<Box<OpenSocket<S>>, (Box<Wire<S>>, Farewell)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut wire = Wire::new(stream).await.counted_by(Arc::clone(&deps.gateway));
    let mut traffic = Traffic::new(&deps.limits);
    match greet(&mut wire, &mut traffic, caller, &deps).await {
        Ok(opened) => {
            Ok(Box::new(OpenSocket { wire: Arc::new(SharedWire::new(wire)), traffic, opened, deps }))
        }
        Err(farewell) => Err((Box::new(wire), farewell)),
    }
}

/// Waits for `hello` and opens the session.
async fn greet<S>(
    wire: &mut Wire<S>,
    traffic: &mut Traffic,
    caller: Caller,
    deps: &SocketDeps,
) -> Result<Opened, Farewell>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let deadline = tokio::time::Instant::now() + deps.limits.hello;
    let hello = tokio::select! {
        biased;
        () = deps.stop.cancelled() => return Err(Farewell::Close(CloseCode::Restart)),
        hello = timeout_at(deadline, await_hello(wire, traffic)) => hello,
    };
    let Ok(hello) = hello else {
        let message = format!("no `hello` came within {} s", deps.limits.hello.as_secs());
        wire.say(&WireError::new(ErrorCode::Unauthorized, message).fatal().into(), None);
        return Err(Farewell::Close(CloseCode::Credentials));
    };
    let (hello, id) = hello?;
    let opening = timeout(OPENING_MAX, deps.gateway.open(hello, id.clone(), caller));
    let opened = tokio::select! {
        biased;
        // Whoever has given up while the server had much to do is back by another socket, and would be replaced there
        // by this older one: for clients that is final.
        farewell = wire.gone() => return Err(farewell),
        opened = opening => opened,
    };
    let refused = match opened {
        Ok(Ok(opened)) => return Ok(opened),
        Ok(Err(refused)) => refused,
        Err(_) => {
            error!("opening a session took too long");
            let error = WireError::new(ErrorCode::Internal, "opening the session took too long");
            RefusedHello { error, code: CloseCode::Restart }
        }
    };
    wire.say(&refused.error.fatal().into(), id.as_deref());
    Err(Farewell::Close(refused.code))
}

/// Reads until a `hello` of our version comes. Everything else is refused.
async fn await_hello<S>(
    wire: &mut Wire<S>,
    traffic: &mut Traffic,
) -> Result<(Hello, Option<String>), Farewell>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let (text, received) = match wire.event().await {
            WireEvent::Text(text, received) => (text, received),
            WireEvent::Pong(..) | WireEvent::CaughtUp => continue,
            WireEvent::Close(code) => return Err(Farewell::Close(code)),
            WireEvent::PeerCloses => return Err(Farewell::Answer),
            WireEvent::Gone => return Err(Farewell::Drop),
            WireEvent::Fault(fault) => {
                if fault == WireFault::TooLarge {
                    wire.say(&too_large(), None);
                }
                return Err(Farewell::Fail(fault.close_code()));
            }
        };
        let refusal = match hear(&text, received, traffic, cost_before_hello) {
            Heard::Request(Request { id, message: ClientMessage::Hello(hello), .. }) => {
                return Ok((*hello, id));
            }
            Heard::Request(Request { id, .. }) => {
                let error = WireError::new(ErrorCode::Unauthorized, "the first message is `hello`");
                Refusal { id, error }
            }
            Heard::Refused(refusal) => refusal,
            Heard::Enough(refusal, code) => {
                wire.say(&refusal.error.into(), refusal.id.as_deref());
                return Err(Farewell::Close(code));
            }
        };
        if refusal.error.code == ErrorCode::BadVersion {
            wire.say(&refusal.error.fatal().into(), refusal.id.as_deref());
            return Err(Farewell::Close(CloseCode::Version));
        }
        wire.say(&refusal.error.into(), refusal.id.as_deref());
    }
}

/// Opening a session costs nothing of what may be said in it.
fn cost_before_hello(message: Option<&ClientMessage>) -> Cost {
    match message {
        Some(ClientMessage::Hello(_)) => Cost::Free,
        _ => Cost::Message,
    }
}

/// What a text message came to.
enum Heard {
    /// Readable and within the limits.
    Request(Request),
    /// Answered by this error.
    Refused(Refusal),
    /// Answered by this error, the last one.
    Enough(Refusal, CloseCode),
}

/// Reads a message and counts it.
fn hear(
    text: &str,
    received: Instant,
    traffic: &mut Traffic,
    cost: impl Fn(Option<&ClientMessage>) -> Cost,
) -> Heard {
    let parsed = parse(text);
    let cost = cost(parsed.as_ref().ok().map(|request| &request.message));
    let verdict = traffic.message(cost, received);
    match (verdict, parsed) {
        (RateVerdict::Pass, Ok(request)) => Heard::Request(request),
        (RateVerdict::Pass, Err(Refusal { id, error }))
            if error.code == ErrorCode::BadJson && traffic.bad_json(received) =>
        {
            Heard::Enough(Refusal { id, error: error.fatal() }, CloseCode::Abuse)
        }
        (RateVerdict::Pass, Err(refusal)) => Heard::Refused(refusal),
        (RateVerdict::Limited(wait), parsed) => Heard::Refused(too_many(parsed, wait)),
        (RateVerdict::Flooding(wait), parsed) => {
            let Refusal { id, error } = too_many(parsed, wait);
            Heard::Enough(Refusal { id, error: error.fatal() }, CloseCode::Flooding)
        }
    }
}

fn too_many(parsed: Result<Request, Refusal>, wait: Duration) -> Refusal {
    let id = parsed.map_or_else(|refusal| refusal.id, |request| request.id);
    let error = WireError::new(ErrorCode::RateLimited, "too many messages").retry_in(round_up(wait));
    Refusal { id, error }
}

/// Rounds up to whole milliseconds, so that whoever waits as told is not refused again.
fn round_up(wait: Duration) -> Duration {
    Duration::from_millis(u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX))
}

fn too_large() -> Frame {
    let message = format!("a message has at most {CLIENT_FRAME_BYTES_MAX} bytes");
    WireError::new(ErrorCode::TooLarge, message).fatal().into()
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> OpenSocket<S> {
    /// Carries requests and messages of the session, and tells it when the socket is over.
    ///
    /// A panic while a request is handled ends this socket alone; the client comes back and resumes.
    async fn attend(&mut self) -> Farewell {
        let Self { wire, traffic, opened, deps } = self;
        opened.attachment.open_way(Arc::clone(wire) as Arc<dyn Line>);
        let mut conversation = Conversation::new(wire, traffic, &*opened.session, &opened.attachment, deps);
        let ended = AssertUnwindSafe(conversation.run()).catch_unwind().await;
        drop(conversation);
        let (farewell, how) = match &ended {
            Ok(ended) => *ended,
            Err(_) => (Farewell::Drop, Disconnected::Lost),
        };
        opened.let_go(how).await;
        if let Err(panic) = ended {
            // Whoever owns this task counts it.
            std::panic::resume_unwind(panic);
        }
        farewell
    }
}

/// Something for the session to do.
enum SessionJob {
    /// Boxed: it is ten times as large as the other, and rarely waits.
    Request(Box<Request>, Instant),
    Resync(GameId, u64),
}

/// What is being done, and whether the connection ends with it.
struct SessionWork<'a> {
    future: BoxFuture<'a, ()>,
    last: Last,
}

struct Conversation<'a, S> {
    wire: &'a SharedWire<S>,
    traffic: &'a mut Traffic,
    session: &'a dyn SessionPort,
    outbox: &'a Outbox,
    attachment: &'a Attachment,
    deps: &'a SocketDeps,
    pings: Heartbeat,
    heartbeat: Interval,
    work: Option<SessionWork<'a>>,
    /// Jobs that came while another was being done. Holds no memory when it is empty.
    waiting: VecDeque<SessionJob>,
    /// After the stop signal: until the client has had its time to take what waits. Boxed, for it comes once.
    gone_by: Option<Pin<Box<Sleep>>>,
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Conversation<'a, S> {
    fn new(
        wire: &'a SharedWire<S>,
        traffic: &'a mut Traffic,
        session: &'a dyn SessionPort,
        attachment: &'a Attachment,
        deps: &'a SocketDeps,
    ) -> Self {
        let mut heartbeat = interval(deps.limits.heartbeat.max(HEARTBEAT_MIN));
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            wire,
            traffic,
            session,
            outbox: session.outbox(),
            attachment,
            deps,
            pings: Heartbeat::default(),
            heartbeat,
            work: None,
            waiting: VecDeque::new(),
            gone_by: None,
        }
    }

    async fn run(&mut self) -> (Farewell, Disconnected) {
        // Registered once, not in each round: all sockets wait for it behind one lock.
        let mut stopped = pin!(self.deps.stop.cancelled());
        loop {
            let attachment = self.attachment;
            let source = MessageSource::Outbox(self.outbox, attachment);
            let listening = self.listening();
            tokio::select! {
                biased;
                () = stopped.as_mut(), if self.gone_by.is_none() => self.stop(),
                () = until(&mut self.gone_by) => return (Farewell::Close(CloseCode::Restart), Disconnected::Lost),
                _ = self.heartbeat.tick() => {
                    if !self.beat() {
                        return (Farewell::Drop, Disconnected::Lost);
                    }
                }
                last = done(&mut self.work) => self.go_on(last),
                // Before what it is about: so the round that writes is also the one that finds nothing left.
                () = attachment.changed() => {}
                event = self.wire.event(source, listening) => {
                    if let Some(end) = self.on_event(event) {
                        return end;
                    }
                }
            }
        }
    }

    fn listening(&self) -> Listening {
        if self.waiting.len() < READ_AHEAD_MAX { Listening::Yes } else { Listening::No }
    }

    fn stop(&mut self) {
        self.outbox.close(CloseCode::Restart);
        self.gone_by = Some(Box::pin(sleep(self.deps.limits.closing)));
    }

    /// Pings, unless the peer has been silent for too long. The last ping that may be missed has half a heartbeat to
    /// be answered.
    fn beat(&mut self) -> bool {
        if self.pings.is_faint() {
            return false;
        }
        self.wire.ping(self.pings.beat(now()));
        if self.pings.is_faint() {
            self.heartbeat.reset_after(self.heartbeat.period() / 2);
        }
        self.outbox.age(now(), RESUME_WITHIN);
        true
    }

    fn on_event(&mut self, event: WireEvent) -> Option<(Farewell, Disconnected)> {
        match event {
            WireEvent::Text(text, received) => self.on_text(&text, received),
            WireEvent::Pong(payload, received) => {
                if let Some(round_trip) = self.pings.pong(&payload, received) {
                    self.session.measured(round_trip);
                }
            }
            WireEvent::CaughtUp => {
                let behind = self.outbox.take_behind(self.attachment);
                self.waiting
                    .extend(behind.into_iter().map(|(game, skipped)| SessionJob::Resync(game, skipped)));
                if self.work.is_none() {
                    self.go_on(Last::No);
                }
            }
            WireEvent::Close(code) => return Some((Farewell::Close(code), parting(code))),
            WireEvent::Fault(fault) => return Some(self.on_fault(fault)),
            WireEvent::PeerCloses => return Some((Farewell::Answer, Disconnected::Lost)),
            WireEvent::Gone => return Some((Farewell::Drop, Disconnected::Lost)),
        }
        None
    }

    fn on_text(&mut self, text: &str, received: Instant) {
        let session = self.session;
        let cost = |message: Option<&ClientMessage>| match message {
            Some(message) if session.is_free(message) => Cost::Free,
            _ if session.only_watches() => Cost::OfWatcher,
            _ => Cost::Message,
        };
        match hear(text, received, self.traffic, cost) {
            Heard::Request(Request { id, message: ClientMessage::Hello(_), text: _ }) => {
                let error = WireError::bad_field("type", "`hello` was said already");
                self.outbox.answer(&error.into(), id.as_deref());
            }
            Heard::Request(request) => self.accept_request(request, received),
            Heard::Refused(Refusal { id, error }) => {
                self.note_misspoken(text, &error);
                self.outbox.answer(&error.into(), id.as_deref());
            }
            Heard::Enough(Refusal { id, error }, code) => {
                self.note_misspoken(text, &error);
                self.outbox.answer(&error.into(), id.as_deref());
                self.outbox.close(code);
            }
        }
    }

    /// Too many messages are no fault of what is in them.
    fn note_misspoken(&self, text: &str, error: &WireError) {
        if matches!(error.code, ErrorCode::BadJson | ErrorCode::BadField) {
            self.session.misspoke(text, error);
        }
    }

    /// Closes for a fault. What waits is sent first as far as the peer takes it at once.
    fn on_fault(&mut self, fault: WireFault) -> (Farewell, Disconnected) {
        debug!(?fault, "the client broke the rules of the wire");
        if fault == WireFault::TooLarge {
            self.outbox.answer(&too_large(), None);
        }
        self.wire.write_now(MessageSource::Outbox(self.outbox, self.attachment));
        (Farewell::Fail(fault.close_code()), Disconnected::Lost)
    }

    fn accept_request(&mut self, request: Request, received: Instant) {
        if self.work.is_none() {
            // The outbox knows if this is the last.
            let _ = self.handle(request, received);
        } else {
            self.waiting.push_back(SessionJob::Request(Box::new(request), received));
        }
    }

    fn handle(&mut self, request: Request, received: Instant) -> Last {
        let is_last = matches!(&request.message, ClientMessage::Bye(bye) if !bye.drain);
        let last = if is_last { Last::Yes } else { Last::No };
        self.set_about(SessionWork { future: self.session.handle(request, received), last })
    }

    /// Begins a piece of work. Most of it, moves above all, is done at once; what is not is asked again in the next
    /// round, which then waits for it.
    fn set_about(&mut self, mut work: SessionWork<'a>) -> Last {
        let mut nobody = Context::from_waker(Waker::noop());
        match work.future.as_mut().poll(&mut nobody) {
            Poll::Ready(()) => self.done_with(work.last),
            Poll::Pending => {
                self.work = Some(work);
                Last::No
            }
        }
    }

    fn done_with(&mut self, last: Last) -> Last {
        if last == Last::Yes {
            self.outbox.close(CloseCode::Bye);
        }
        last
    }

    fn begin(&mut self, job: SessionJob) -> Last {
        match job {
            SessionJob::Request(request, received) => self.handle(*request, received),
            SessionJob::Resync(game, skipped) => {
                self.set_about(SessionWork { future: self.session.resync(game, skipped), last: Last::No })
            }
        }
    }

    fn go_on(&mut self, last: Last) {
        self.work = None;
        let mut last = self.done_with(last);
        while last == Last::No && self.work.is_none() {
            let Some(job) = self.waiting.pop_front() else {
                self.waiting = VecDeque::new();
                return;
            };
            last = self.begin(job);
        }
    }
}

/// Whether a connection ends with the work that was done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

/// Waits for the work at hand, for ever if there is none.
async fn done(work: &mut Option<SessionWork<'_>>) -> Last {
    match work {
        Some(work) => {
            work.future.as_mut().await;
            work.last
        }
        None => std::future::pending().await,
    }
}

async fn until(deadline: &mut Option<Pin<Box<Sleep>>>) {
    match deadline {
        Some(deadline) => deadline.await,
        None => std::future::pending().await,
    }
}

/// What a close code means for the session.
fn parting(code: CloseCode) -> Disconnected {
    match code {
        CloseCode::Bye | CloseCode::Banned | CloseCode::Credentials => Disconnected::Bye,
        CloseCode::Protocol
        | CloseCode::Binary
        | CloseCode::Utf8
        | CloseCode::Policy
        | CloseCode::TooLarge
        | CloseCode::Restart
        | CloseCode::Abuse
        | CloseCode::Version
        | CloseCode::TooSlow
        | CloseCode::Replaced
        | CloseCode::Flooding => Disconnected::Lost,
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests;
