/// Two rooms tell a session something, another socket takes over from the first, and in the end all closes: every
/// message reaches one of the sockets, in order, and nobody sleeps on what waits.
pub(crate) fn model() {
    use crate::protocol::CloseCode;

    const MESSAGES: u64 = 3;
    let frame = |number| Frame::new(ServerMessage::Pong(number));
    let outbox = Arc::new(Outbox::new());
    let first = outbox.attach(None, &frame(0), None).expect("afresh");
    let (tells, mut told) = tokio::sync::mpsc::unbounded_channel();
    let read = |attachment: Attachment| {
        let (outbox, tells) = (Arc::clone(&outbox), tells.clone());
        shuttle::future::spawn(async move {
            let mut seen = Vec::new();
            loop {
                match outbox.next(&attachment) {
                    Next::Message(message) => {
                        seen.push(message.seq);
                        tells.send(message.seq).expect("somebody listens");
                    }
                    Next::Idle { .. } => attachment.changed().await,
                    Next::Close(code) => return (seen, code),
                }
            }
        })
    };
    let tell = |base: u64| {
        let outbox = Arc::clone(&outbox);
        shuttle::future::spawn(async move {
            for number in 0..MESSAGES {
                outbox.deliver(&Frame::new(ServerMessage::Pong(base + number)), Urgency::Must);
                shuttle::future::yield_now().await;
            }
        })
    };
    let older = read(first);
    let rooms = [tell(100), tell(200)];
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
