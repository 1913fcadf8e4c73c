//! A taskhost plugin in Rust.
//!
//! A run does its work in steps. After each it records in a checkpoint how far it is, so that a run that is stopped (its
//! budget is spent, the host shuts down) or killed goes on from there the next time.

#[macro_use]
mod taskhost;

use std::sync::atomic::{AtomicBool, Ordering};
use taskhost::{Error, Outcome, Task, EEXPIRED};

plugin! {
    identifier: "@IDENTIFIER@",
    kind: "@KIND@",
    version: "0.1.0",
    display_name: "@NAME@",
    handler: run,
}

const STEPS: u64 = 10;

/// One step. It is done again if the process dies before the checkpoint is written: it must be idempotent.
fn do_step(task: &Task, _step: u64) -> Result<(), Error> {
    task.sleep_ms(10) // stands for work; EEXPIRED as soon as the run is asked to stop
}

/// One run, in safe Rust. An error becomes a retry with its message, a panic a failure.
fn run(task: &Task) -> Result<Outcome, Error> {
    let stop = AtomicBool::new(false);
    // Called on a thread of the host's while this runs: it only says so.
    task.with_expiration_handler(|_reason| stop.store(true, Ordering::Relaxed), || work(task, &stop))
}

fn work(task: &Task, stop: &AtomicBool) -> Result<Outcome, Error> {
    let first = first_step(task);
    for step in first..STEPS {
        let result = if stop.load(Ordering::Relaxed) { Err(Error::expired()) } else { do_step(task, step) };
        match result {
            Ok(()) => {}
            Err(Error { status: EEXPIRED, .. }) => {
                task.set_message("asked to stop before the end");
                // Snooze costs no attempt, but only a run that got on may ask for it: else it could go on for ever.
                return Ok(if step > first { Outcome::Snooze } else { Outcome::Retry });
            }
            Err(error) => return Err(error),
        }
        task.set_checkpoint(&(step + 1).to_le_bytes())?;
        task.progress(step + 1, STEPS);
    }
    task.info("done");
    Ok(Outcome::Success)
}

/// Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's.
fn first_step(task: &Task) -> u64 {
    let mut bytes = [0; 8];
    match task.checkpoint(&mut bytes) {
        Ok(8) => Some(u64::from_le_bytes(bytes)).filter(|step| *step <= STEPS).unwrap_or(0),
        _ => 0,
    }
}
