//! What failed lately, counted by the server for all who ask it, by its own clock.

use std::time::Duration;

use async_trait::async_trait;

use super::PostgresStore;
use super::db;
use crate::storage::attempts::{Attempt, AttemptRule, AttemptStore};
use crate::storage::store::StoreError;

/// Counts an attempt of key $2 of rule $1 unless there were $3 in the last $4 microseconds. One statement, which holds
/// the key's row: of those who come at the same time each sees the ones before. Gives the attempt's number, or none.
const BEGIN: &str = "\
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) \
    INSERT INTO attempt AS a (rule, key, times, last) SELECT $1, $2, ARRAY[now], now FROM clock \
    ON CONFLICT (rule, key) DO UPDATE SET last = excluded.last, \
        times = ARRAY(SELECT t FROM unnest(a.times) t WHERE t > excluded.last - $4 ORDER BY t) || excluded.last \
        WHERE (SELECT count(*) FROM unnest(a.times) t WHERE t > excluded.last - $4) < $3 \
    RETURNING last";

/// How many microseconds key $2 of rule $1 must wait until its oldest attempt of the last $3 microseconds is forgotten.
const WAIT: &str = "\
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) \
    SELECT min(t) + $3 - now FROM clock, attempt a, unnest(a.times) t \
    WHERE a.rule = $1 AND a.key = $2 AND t > now - $3 GROUP BY now";

/// Forgets some keys of rule $1 of which nothing was heard in the last $2 microseconds. Those that somebody is at are
/// passed over: nobody is waited for.
const SWEEP: &str = "\
    DELETE FROM attempt WHERE (rule, key) IN (SELECT rule, key FROM attempt \
        WHERE rule = $1 AND last < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $2 \
        ORDER BY last LIMIT 100 FOR UPDATE SKIP LOCKED)";

fn micros(window: Duration) -> i64 {
    i64::try_from(window.as_micros()).unwrap_or(i64::MAX)
}

#[async_trait]
impl AttemptStore for PostgresStore {
    async fn begin(&self, rule: AttemptRule, key: &str) -> Result<Attempt, StoreError> {
        let connection = self.reader().await?;
        let window = micros(rule.window);
        db::query(SWEEP).bind(rule.name).bind(window).execute(&connection).await?;
        loop {
            let begin = db::query_scalar(BEGIN).bind(rule.name).bind(key).bind(rule.max).bind(window);
            if let Some(number) = begin.fetch_optional(&connection).await? {
                return Ok(Attempt::Counted(number));
            }
            let wait = db::query_scalar(WAIT).bind(rule.name).bind(key).bind(window);
            // None if the oldest was forgotten or taken back meanwhile.
            if let Some(wait) = wait.fetch_optional::<i64>(&connection).await? {
                let wait = Duration::from_micros(wait.max(1).unsigned_abs());
                return Ok(Attempt::MustWait(wait.min(rule.window)));
            }
        }
    }

    async fn withdraw(&self, rule: AttemptRule, key: &str, number: i64) -> Result<(), StoreError> {
        let sql = "UPDATE attempt SET times = array_remove(times, $3) WHERE rule = $1 AND key = $2";
        let query = db::query(sql).bind(rule.name).bind(key).bind(number);
        query.execute(&*self.reader().await?).await?;
        Ok(())
    }

    async fn forget(&self, rule: AttemptRule, key: &str) -> Result<(), StoreError> {
        let query = db::query("DELETE FROM attempt WHERE rule = $1 AND key = $2").bind(rule.name).bind(key);
        query.execute(&*self.reader().await?).await?;
        Ok(())
    }
}
