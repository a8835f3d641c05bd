// SPDX-License-Identifier: Apache-2.0
// Compiled code, garbage, worker threads and compression.
const { Worker, isMainThread, parentPort } = require('worker_threads');
const zlib = require('zlib');

function sieve(n) {
  const composite = new Uint8Array(n + 1);
  let count = 0;
  for (let i = 2; i <= n; i++) {
    if (composite[i]) continue;
    count++;
    for (let k = i * 2; k <= n; k += i) composite[k] = 1;
  }
  return count;
}

function objects(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += JSON.stringify({ a: i, b: [i, i + 1], c: String(i) }).length;
  return sum;
}

if (isMainThread) {
  const workers = [0, 1].map(() => new Worker(__filename));
  Promise.all(workers.map((w) => new Promise((done) => w.on('message', done)))).then((got) => {
    const packed = zlib.deflateSync(Buffer.from('hpct '.repeat(400000)));
    console.log(sieve(5000000), objects(300000), packed.length, ...got);
  });
} else {
  parentPort.postMessage(sieve(5000000) + objects(300000));
}
