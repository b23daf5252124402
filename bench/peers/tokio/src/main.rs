// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

//! The benchmark of peer.hpp on a current-thread tokio runtime. A `Sleep` is filed by its first poll,
//! cancelled when it is dropped, and moved by `reset`, after which it must be polled again.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{sleep, Instant, Sleep};

const TIMEOUT: Duration = Duration::from_secs(30);
const BURST: usize = 64;

fn process_cpu_ns() -> u64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: on 64-bit Linux, a timespec has this layout.
    assert_eq!(unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) }, 0);
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// S. Vigna's splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

fn start(context: &mut Context<'_>, mut timer: Pin<&mut Sleep>) {
    assert!(timer.as_mut().poll(context).is_pending(), "a wait expired that should not");
}

/// Does `operation` `count` times in one task, which yields to the runtime after each burst.
async fn repeat(count: usize, mut operation: impl FnMut(&mut Context<'_>)) {
    let mut left = count;
    while left > 0 {
        std::future::poll_fn(|context| {
            for _ in 0..left.min(BURST) {
                operation(context);
            }
            Poll::Ready(())
        })
        .await;
        left -= left.min(BURST);
        tokio::task::yield_now().await;
    }
}

async fn measure(workload: &str, pending: usize, count: usize, mut operation: impl FnMut(&mut Context<'_>)) {
    repeat(count / 10, &mut operation).await;
    let before = process_cpu_ns();
    repeat(count, &mut operation).await;
    let used = process_cpu_ns() - before;
    println!("tokio,{workload},{pending},{:.1}", used as f64 / count as f64);
}

async fn run(pending: usize, count: usize) {
    let mut timers: Vec<Pin<Box<Sleep>>> = (0..pending).map(|_| Box::pin(sleep(TIMEOUT))).collect();
    std::future::poll_fn(|context| {
        for timer in &mut timers {
            start(context, timer.as_mut());
        }
        Poll::Ready(())
    })
    .await;
    measure("start_cancel", pending, count, |context| {
        let timer = std::pin::pin!(sleep(TIMEOUT));
        start(context, timer);
    })
    .await;
    if timers.is_empty() {
        timers.push(Box::pin(sleep(TIMEOUT)));
    }
    let mut random = Random(42);
    measure("re_arm", pending, count, |context| {
        let next = random.below(timers.len());
        timers[next].as_mut().reset(Instant::now() + TIMEOUT);
        start(context, timers[next].as_mut());
    })
    .await;
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse().expect("a number"));
    let pending = arguments.next().unwrap_or(0);
    let count = arguments.next().unwrap_or(1_000_000);
    std::thread::spawn(std::thread::park); // The second thread.
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(run(pending, count));
}
