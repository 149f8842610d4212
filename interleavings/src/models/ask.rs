/// A task answers the first question and ends, in whatever moment the second one comes: the first is answered, the
/// second may be left without an answer, and nobody waits for ever.
pub(crate) fn model() {
    let (commands, mut inbox) = mpsc::channel::<oneshot::Sender<u8>>(2);
    shuttle::future::spawn(async move {
        let reply = inbox.recv().await.expect("somebody asks");
        // Whoever asked has an answer even if this is the last thing that is done.
        let _ = reply.send(7);
    });
    shuttle::future::block_on(async {
        let other = commands.clone();
        let other = shuttle::future::spawn(async move { ask(&other, |reply| reply).await });
        let mine = ask(&commands, |reply| reply).await;
        let others = other.await.expect("no panic");
        assert!(
            matches!((mine, others), (Some(7), None) | (None, Some(7))),
            "{mine:?} and {others:?}: one question is answered"
        );
    });
}
