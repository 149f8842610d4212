//! Threads that share a list of tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Does tasks until there are none, one fails, or one has no result because it was told to stop. Results come in no
/// order; each thread has tools of its own.
///
/// # Errors
///
/// The first failure that was heard of.
pub(in crate::app) fn share<T: Sync, W: Send, R: Send, E: Send>(
    threads: u16,
    tasks: &[T],
    tools: impl Fn() -> W + Sync,
    perform: impl Fn(&mut W, &T) -> Result<Option<R>, E> + Sync,
    done: impl FnMut(R),
) -> Result<(), E> {
    // Made by the threads that use them: a solver's table is filled where it lies.
    let mut kits: Vec<Option<W>> = (0..threads).map(|_| None).collect();
    share_with(&mut kits, tasks, |kit, task| perform(kit.get_or_insert_with(&tools), task), done)
}

/// The same with tools that stay, one for each thread.
///
/// # Errors
///
/// The first failure that was heard of.
pub(in crate::app) fn share_with<T: Sync, W: Send, R: Send, E: Send>(
    kits: &mut [W],
    tasks: &[T],
    perform: impl Fn(&mut W, &T) -> Result<Option<R>, E> + Sync,
    mut done: impl FnMut(R),
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for tools in kits {
            let (sender, next, perform) = (sender.clone(), &next, &perform);
            scope.spawn(move || {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(result) = perform(tools, task).transpose() else { return };
                    let has_failed = result.is_err();
                    if sender.send(result).is_err() || has_failed {
                        return;
                    }
                }
            });
        }
        drop(sender);
        results.into_iter().try_for_each(|result| {
            done(result?);
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(perform: impl Fn(&mut (), &u32) -> Result<Option<u32>, String> + Sync) -> Result<u32, String> {
        let tasks: Vec<u32> = (1..=100).collect();
        let mut sum = 0;
        share(3, &tasks, || (), perform, |result| sum += result)?;
        Ok(sum)
    }

    #[test]
    fn every_task_is_done_once() {
        assert_eq!(sum(|(), task| Ok(Some(*task))), Ok(5_050));
    }

    #[test]
    fn tools_that_stay_know_what_was_done_with_them() {
        let (tasks, mut counts) = ([(); 40], [0_u32; 3]);
        let perform = |count: &mut u32, (): &()| -> Result<_, String> {
            *count += 1;
            Ok(Some(()))
        };
        for _ in 0..2 {
            share_with(&mut counts, &tasks, perform, |()| ()).unwrap();
        }
        assert_eq!(counts.iter().sum::<u32>(), 80);
    }

    #[test]
    fn a_failure_ends_the_work() {
        let perform =
            |(): &mut (), task: &u32| if *task == 7 { Err("seven".to_owned()) } else { Ok(Some(1)) };
        assert_eq!(sum(perform), Err("seven".to_owned()));
    }

    #[test]
    fn who_is_told_to_stop_has_done_less() {
        assert!(sum(|(), task| Ok((*task < 50).then_some(1))).unwrap() < 100);
    }
}
