import { describe, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { KeptWorker } from './kept-worker.ts';
import { WorkerTasks } from './worker-task.ts';

const answering = (body: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort, workerData } from 'node:worker_threads';
      parentPort.postMessage({ ready: true });
      ${body}`)}`,
  );
const limits = { timeoutMs: 5_000, heapMiB: 64 };

describe('WorkerTasks', () => {
  test('returns the result of the task', async () => {
    const twice = answering('parentPort.postMessage({ value: workerData * 2 });');
    expect(await new WorkerTasks(twice).run(21, limits)).toEqual({ ended: 'done', value: 42 });
  });

  test('ends a task that loops forever, while this thread stays responsive', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const looping = answering('for (;;) {}');
    expect(await new WorkerTasks(looping).run(null, { ...limits, timeoutMs: 300 })).toEqual({ ended: 'time' });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  test('ends a task that matches a pattern forever', async () => {
    const matching = answering(`/^(a+)+$/.test('a'.repeat(40) + 'b');`);
    expect(await new WorkerTasks(matching).run(null, { ...limits, timeoutMs: 300 })).toEqual({ ended: 'time' });
  });

  test('ends a task that exhausts its memory', async () => {
    const eating = answering('const all = []; for (;;) all.push(new Array(100_000).fill(0.5));');
    expect(await new WorkerTasks(eating).run(null, { ...limits, timeoutMs: 60_000, heapMiB: 16 })).toEqual({
      ended: 'memory',
    });
  });

  test('rejects if a task throws, and if it never answers', async () => {
    await expect(new WorkerTasks(answering(`throw new Error('a defect');`)).run(null, limits)).rejects.toThrow(
      'a defect',
    );
    await expect(new WorkerTasks(answering('')).run(null, limits)).rejects.toThrow('without an answer');
  });

  test('hides the environment, and runs two tasks at a time', async () => {
    const module = answering(`parentPort.postMessage({ value: Object.keys(process.env) });`);
    const tasks = new WorkerTasks(module);
    const results = await Promise.all(Array.from({ length: 6 }, () => tasks.run(null, limits)));
    expect(results).toEqual(Array(6).fill({ ended: 'done', value: [] }));
  });
});

describe('KeptWorker', () => {
  const counting = new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort, workerData } from 'node:worker_threads';
      let asked = 0;
      parentPort.on('message', (what) => {
        asked++;
        if (what === 'loop') for (;;) {}
        if (what === 'eat') { const all = []; for (;;) all.push(new Array(100_000).fill(0.5)); }
        if (what === 'throw') throw new Error('a defect');
        if (what === 'leave') process.exit();
        parentPort.postMessage({ value: [workerData, what, asked] });
      });
      parentPort.postMessage({ ready: true });`)}`,
  );

  longTest('runs tasks in order, and restarts after a task that fails', async () => {
    const worker = new KeptWorker<string, unknown>(counting, 'set up', { timeoutMs: 2_000, heapMiB: 16 });
    const good = await Promise.all([worker.ask('a'), worker.ask('b'), worker.ask('c')]);
    expect(good).toEqual(['a', 'b', 'c'].map((what, index) => ({ ended: 'done', value: ['set up', what, index + 1] })));
    expect(worker.busy).toBe(false);

    const loop = worker.ask('loop');
    const behind = worker.ask('d');
    expect(worker.busy).toBe(true);
    expect(await loop).toEqual({ ended: 'time' });
    expect(await behind).toEqual({ ended: 'done', value: ['set up', 'd', 1] });
    await expect(worker.ask('throw')).rejects.toThrow('a defect');
    await expect(worker.ask('leave')).rejects.toThrow('without an answer');
    expect(await worker.ask('e')).toEqual({ ended: 'done', value: ['set up', 'e', 1] });
    await worker.close();
  });

  test('ends a task that exhausts its memory', async () => {
    const worker = new KeptWorker<string, unknown>(counting, null, { timeoutMs: 60_000, heapMiB: 16 });
    expect(await worker.ask('eat')).toEqual({ ended: 'memory' });
    await worker.close();
  });
});
