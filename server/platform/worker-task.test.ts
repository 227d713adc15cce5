import { describe, expect, test } from 'vitest';
import { runInWorker } from './worker-task.ts';

const answering = (body: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort, workerData } from 'node:worker_threads';
      ${body}`)}`,
  );
const limits = { timeoutMs: 5_000, heapMiB: 64 };

describe('runInWorker', () => {
  test('gives back what the task computed from its input', async () => {
    const twice = answering('parentPort.postMessage(workerData * 2);');
    expect(await runInWorker(twice, 21, limits)).toEqual({ ended: 'done', value: 42 });
  });

  test('ends a task that loops for ever, while this thread goes on', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const looping = answering('for (;;) {}');
    expect(await runInWorker(looping, null, { ...limits, timeoutMs: 300 })).toEqual({ ended: 'time' });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  test('ends a task that matches a pattern for ever', async () => {
    const matching = answering(`/^(a+)+$/.test('a'.repeat(40) + 'b');`);
    expect(await runInWorker(matching, null, { ...limits, timeoutMs: 300 })).toEqual({ ended: 'time' });
  });

  test('ends a task that eats memory', async () => {
    const eating = answering('const all = []; for (;;) all.push(new Array(100_000).fill(0.5));');
    expect(await runInWorker(eating, null, { ...limits, timeoutMs: 60_000, heapMiB: 16 })).toEqual({ ended: 'memory' });
  });

  test('rejects with what a task throws, and with a task that never answers', async () => {
    await expect(runInWorker(answering(`throw new Error('a defect');`), null, limits)).rejects.toThrow('a defect');
    await expect(runInWorker(answering(''), null, limits)).rejects.toThrow('without an answer');
  });

  test('sees no environment, and runs two at a time, the others in line', async () => {
    const module = answering(`parentPort.postMessage(Object.keys(process.env));`);
    const results = await Promise.all(Array.from({ length: 6 }, () => runInWorker(module, null, limits)));
    expect(results).toEqual(Array(6).fill({ ended: 'done', value: [] }));
  });
});
