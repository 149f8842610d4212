//! Reads by a key that many ask for at once, as when everybody is back after a restart: those that come while others
//! are under way are read together, in one statement.
//!
//! Nobody waits who is alone. Measured with 2,000 players who come back: a player read alone costs a way to the server
//! and a place in the queue for a connection, and a bot needed six of them, one after the other.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{Semaphore, oneshot};

use crate::storage::store::StoreError;

/// Statements at the same time: one more than would do, so that a slow one holds up nobody.
const TURNS: usize = 2;

/// So many are read at once at most: a statement that answers for more only makes the first of them wait.
const BATCH_MAX: usize = 256;

/// What is asked for by its key.
#[derive(Debug)]
pub(super) struct Lookups<K, V> {
    turns: Semaphore,
    /// Those who wait for the next statement; held to add one, or to take some.
    waiting: Mutex<Vec<Asked<K, V>>>,
}

/// Somebody who waits for what has this key.
type Asked<K, V> = (K, oneshot::Sender<Option<V>>);

impl<K, V> Default for Lookups<K, V> {
    fn default() -> Self {
        Self { turns: Semaphore::new(TURNS), waiting: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Lookups<K, V> {
    /// What has this key, if anything: `read` reads it, with all that others wait for.
    ///
    /// # Errors
    ///
    /// The read failed. Others who waited for it then read for themselves.
    pub(super) async fn get<F>(&self, key: K, read: impl Fn(Vec<K>) -> F) -> Result<Option<V>, StoreError>
    where
        F: Future<Output = Result<HashMap<K, V>, StoreError>>,
    {
        let (answer, mut answered) = oneshot::channel();
        self.lock().push((key.clone(), answer));
        loop {
            let turn = tokio::select! {
                biased;
                found = &mut answered => return or_alone(found, &key, read).await,
                turn = self.turns.acquire() => turn.expect("it is never closed"),
            };
            let batch = self.take();
            if batch.is_empty() {
                // Somebody else reads for this one just now.
                drop(turn);
                return or_alone(answered.await, &key, read).await;
            }
            let keys = batch.iter().map(|(key, _)| key.clone()).collect();
            let found = read(keys).await?;
            for (key, answer) in batch {
                // Whoever has gone does not need it.
                let _ = answer.send(found.get(&key).cloned());
            }
        }
    }

    /// Those who have waited longest.
    fn take(&self) -> Vec<Asked<K, V>> {
        let mut waiting = self.lock();
        waiting.retain(|(_, answer)| !answer.is_closed());
        let count = waiting.len().min(BATCH_MAX);
        waiting.drain(..count).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Asked<K, V>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was found for this key. Whoever read for all may have failed, or was told to leave it: then it is read alone.
async fn or_alone<K: Clone + Eq + Hash, V, F>(
    found: Result<Option<V>, RecvError>,
    key: &K,
    read: impl Fn(Vec<K>) -> F,
) -> Result<Option<V>, StoreError>
where
    F: Future<Output = Result<HashMap<K, V>, StoreError>>,
{
    match found {
        Ok(found) => Ok(found),
        Err(_) => Ok(read(vec![key.clone()]).await?.remove(key)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures::future::join_all;
    use tokio::time::{Instant, sleep};

    use super::*;

    const STATEMENT: Duration = Duration::from_millis(10);

    /// Finds even numbers, each with its half, and counts statements.
    async fn read(keys: Vec<u32>, statements: &AtomicUsize) -> Result<HashMap<u32, u32>, StoreError> {
        statements.fetch_add(1, Ordering::Relaxed);
        assert!(keys.len() <= BATCH_MAX);
        sleep(STATEMENT).await;
        Ok(keys.into_iter().filter(|key| key % 2 == 0).map(|key| (key, key / 2)).collect())
    }

    #[tokio::test(start_paused = true)]
    async fn many_who_ask_at_once_are_answered_by_few_statements() {
        let (lookups, statements) = (Lookups::default(), AtomicUsize::new(0));
        let began = Instant::now();
        let asked = (0..1_000).map(|key| lookups.get(key, |keys| read(keys, &statements)));
        for (key, found) in join_all(asked).await.into_iter().enumerate() {
            let key = u32::try_from(key).unwrap();
            assert_eq!(found.unwrap(), key.is_multiple_of(2).then_some(key / 2));
        }
        assert!(statements.load(Ordering::Relaxed) <= 6, "{statements:?}");
        assert!(began.elapsed() <= 4 * STATEMENT, "{:?}", began.elapsed());
        assert_eq!(lookups.get(8, |keys| read(keys, &statements)).await.unwrap(), Some(4));
        assert_eq!(lookups.lock().len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_fails_or_gives_up_takes_nobody_along() {
        let lookups = Arc::new(Lookups::default());
        let alone = AtomicUsize::new(0);
        let fails = |_| async {
            sleep(STATEMENT).await;
            Err(StoreError::Closed)
        };
        let others = (0..10).map(|key| lookups.get(key, |keys| read(keys, &alone)));
        let (failed, others) = tokio::join!(lookups.get(99, fails), join_all(others));
        assert!(failed.is_err());
        assert!(others.into_iter().all(|found| found.is_ok()));

        // They stand still where they read for all, and then are gone.
        let gives_up = |key| {
            let lookups = Arc::clone(&lookups);
            tokio::spawn(async move { lookups.get(key, |_| std::future::pending()).await })
        };
        let gone: Vec<_> = (200..200 + u32::try_from(TURNS).unwrap()).map(gives_up).collect();
        sleep(STATEMENT).await;
        let waiting = {
            let lookups = Arc::clone(&lookups);
            tokio::spawn(async move {
                let statements = AtomicUsize::new(0);
                lookups.get(20, |keys| read(keys, &statements)).await
            })
        };
        sleep(STATEMENT).await;
        for task in gone {
            task.abort();
        }
        assert_eq!(waiting.await.unwrap().unwrap(), Some(10));
    }
}
