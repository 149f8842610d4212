/// Two rooms tell a session something, one of them by writing to the socket itself, another socket takes over from the
/// first, and in the end all closes: every message reaches one of the sockets, in order, and nobody sleeps on what
/// waits.
pub(crate) fn model() {
    use shuttle::sync::Mutex;

    use crate::protocol::CloseCode;

    /// What one socket has written.
    struct Wire {
        seen: Mutex<Vec<u64>>,
        tells: tokio::sync::mpsc::UnboundedSender<u64>,
    }

    impl Wire {
        fn take(&self, seen: &mut Vec<u64>, outbox: &Outbox, attachment: &Attachment) -> Next {
            loop {
                match outbox.next(attachment) {
                    Next::Message(message) => {
                        seen.push(message.seq);
                        self.tells.send(message.seq).expect("somebody listens");
                    }
                    other => return other,
                }
            }
        }
    }

    impl Line for Wire {
        fn write(&self, outbox: &Outbox, attachment: &Attachment) -> bool {
            let Ok(mut seen) = self.seen.try_lock() else { return false };
            matches!(self.take(&mut seen, outbox, attachment), Next::Idle { .. })
        }
    }

    const MESSAGES: u64 = 3;
    let frame = |number| Frame::new(ServerMessage::Pong(number));
    let outbox = Arc::new(Outbox::new());
    let first = outbox.attach(None, &frame(0), None).expect("afresh");
    let (tells, mut told) = tokio::sync::mpsc::unbounded_channel();
    let read = |attachment: Attachment| {
        let (outbox, tells) = (Arc::clone(&outbox), tells.clone());
        shuttle::future::spawn(async move {
            let wire = Arc::new(Wire { seen: Mutex::new(Vec::new()), tells });
            outbox.open_way(&attachment, Arc::clone(&wire) as Arc<dyn Line>);
            loop {
                let next = {
                    let mut seen = wire.seen.lock().expect("no panic");
                    wire.take(&mut seen, &outbox, &attachment)
                };
                match next {
                    Next::Close(code) => return (wire.seen.lock().expect("no panic").clone(), code),
                    _ => attachment.changed().await,
                }
            }
        })
    };
    let tell = |base: u64, itself: bool| {
        let outbox = Arc::clone(&outbox);
        shuttle::future::spawn(async move {
            for number in 0..MESSAGES {
                let frame = Frame::new(ServerMessage::Pong(base + number));
                if itself {
                    outbox.queue(&frame, None);
                    outbox.flush();
                } else {
                    outbox.deliver(&frame, Urgency::Must);
                }
                shuttle::future::yield_now().await;
            }
        })
    };
    let older = read(first);
    let rooms = [tell(100, false), tell(200, true)];
    shuttle::future::block_on(async {
        // Somebody who has seen the welcome alone comes back.
        let second = outbox.attach(Some(1), &frame(0), None).expect("the ring holds all");
        let newer = read(second);
        for room in rooms {
            room.await.expect("no panic");
        }
        // Whoever sleeps on what waits is not to be woken by the close.
        while told.recv().await != Some(1 + 2 * MESSAGES) {}
        outbox.close(CloseCode::Bye);
        let (seen, code) = older.await.expect("no panic");
        assert_eq!(code, CloseCode::Replaced);
        assert!(seen.iter().copied().eq(1..=seen.len() as u64), "the first socket saw {seen:?}");
        let (seen, code) = newer.await.expect("no panic");
        assert_eq!(code, CloseCode::Bye);
        // The greeting repeats the number that the client has seen.
        assert!(seen.iter().copied().eq(1..=1 + 2 * MESSAGES), "the second socket saw {seen:?}");
    });
}
