// SPDX-License-Identifier: Apache-2.0
// Threads, hashes, sorting, and recursion that a panic could leave.
use std::collections::HashMap;
use std::thread;

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn work(k: u64) -> u64 {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for i in 0..600000u64 {
        *counts.entry(format!("k{}", i % 997)).or_insert(0) += i * k;
    }
    let mut v: Vec<u64> = (0..900000).map(|i| (i * 7919) % 1000003).collect();
    v.sort_by(|a, b| b.cmp(a));
    counts.len() as u64 + v[3] + std::panic::catch_unwind(|| fib(41)).unwrap()
}

fn main() {
    let threads: Vec<_> = (0..2).map(|k| thread::spawn(move || work(k))).collect();
    println!("{}", threads.into_iter().map(|t| t.join().unwrap()).sum::<u64>());
}
