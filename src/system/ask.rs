//! Asking a task for something, over the channel by which it takes commands.

use tokio::sync::{mpsc, oneshot};

/// Sends a command that carries the way back, and waits for the answer. `None` if the task is gone.
///
/// That it is gone must be looked for: what is sent in the very moment in which the inbox is dropped stays in the
/// channel, and its way back with it, for as long as somebody could send, and whoever asks could.
pub(crate) async fn ask<C, T>(
    commands: &mpsc::Sender<C>,
    command: impl FnOnce(oneshot::Sender<T>) -> C,
) -> Option<T> {
    let (reply, mut answer) = oneshot::channel();
    commands.send(command(reply)).await.ok()?;
    tokio::select! {
        biased;
        answered = &mut answer => answered.ok(),
        // The last thing that it did may have been to answer.
        () = commands.closed() => answer.try_recv().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_heard_even_if_it_was_the_last_thing_that_was_done() {
        let (commands, mut inbox) = mpsc::channel::<oneshot::Sender<u8>>(1);
        let task = tokio::spawn(async move { inbox.recv().await.unwrap().send(7) });
        assert_eq!(ask(&commands, |reply| reply).await, Some(7));
        task.await.unwrap().unwrap();
        assert_eq!(ask(&commands, |reply| reply).await, None);
    }

    /// A command whose way back nobody drops, as one that was sent in the moment in which the inbox was dropped.
    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_task_that_is_gone() {
        let (commands, mut inbox) = mpsc::channel::<oneshot::Sender<u8>>(1);
        let task = tokio::spawn(async move { inbox.recv().await });
        let answer = ask(&commands, |reply| reply);
        let answer = tokio::time::timeout(std::time::Duration::from_secs(1), answer).await;
        assert_eq!(answer, Ok(None));
        assert!(task.await.unwrap().is_some(), "the way back is still there");
    }
}
