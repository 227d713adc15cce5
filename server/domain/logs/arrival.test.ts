import { beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '#server/platform/env.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { IncomingBytes } from './arrival.ts';

const logs = { outputBytes: 100, archiveBytes: 200, arrivingBytes: 300, vmBytes: 10_000 };

let memory: ProcessMemory;
beforeEach(() => {
  memory = new ProcessMemory();
});

const begin = (vmId: string, limits = logs) =>
  new IncomingBytes({ config: { ...loadConfig({}), limits: { ...defaultLimits, logs: limits } }, memory }, vmId);

/** Sends chunks of these sizes. Returns the number of bytes that were accepted. */
async function take(incoming: IncomingBytes, ...sizes: number[]): Promise<number> {
  async function* body() {
    for (const size of sizes) yield Buffer.alloc(size);
  }
  let bytes = 0;
  for await (const chunk of incoming.count(body())) bytes += chunk.length;
  return bytes;
}

const waiting = { kind: 'rate_limited', code: 'uploads_waiting', retryAfter: 10, params: { seconds: 10 } };

describe('bytes of one VM in transit', () => {
  test('several uploads may fill the limit exactly; the next byte must wait', async () => {
    const [first, second, third] = [begin('one'), begin('one'), begin('one')];
    expect(await take(first, 100, 100)).toBe(200);
    expect(await take(second, 99, 1)).toBe(100);
    await expect(take(third, 1)).rejects.toMatchObject({ ...waiting, params: { limit: 300, seconds: 10 } });
  });

  test('bytes that were stored or discarded make room again', async () => {
    const [first, second] = [begin('one'), begin('one')];
    await take(first, 250);
    await expect(take(second, 60)).rejects.toMatchObject(waiting);
    second.end();
    first.end();
    expect(await take(begin('one'), 300)).toBe(300);
  });

  test('an upload that must wait does not block other uploads', async () => {
    const [first, second, third] = [begin('one'), begin('one'), begin('one')];
    await take(first, 250);
    await expect(take(second, 40, 40)).rejects.toMatchObject(waiting);
    second.end();
    expect(await take(third, 50)).toBe(50);
  });

  test('another VM is not affected', async () => {
    await take(begin('one'), 300);
    expect(await take(begin('other'), 300)).toBe(300);
    await expect(take(begin('one'), 1)).rejects.toMatchObject(waiting);
  });

  test('a single upload is always allowed up to its own limit', async () => {
    expect(await take(begin('one'), 250, 250)).toBe(500);
  });

  test.each([
    ['an output', { ...logs, outputBytes: 900 }, 900],
    ['an archive', { ...logs, archiveBytes: 800 }, 800],
    ['neither', logs, 300],
  ])('the limit is at least the size of %s', async (_, limits, limit) => {
    await take(begin('one', limits), limit);
    await expect(take(begin('one', limits), 1)).rejects.toMatchObject({ params: { limit } });
  });

  test('ending twice frees the bytes once', async () => {
    const [first, second] = [begin('one'), begin('one')];
    await take(first, 100);
    await take(second, 200);
    first.end();
    first.end();
    await expect(take(begin('one'), 101)).rejects.toMatchObject(waiting);
  });

  test('a body that ends with an error passes it on', async () => {
    async function* broken() {
      yield Buffer.alloc(10);
      throw new Error('the connection ended');
    }
    const incoming = begin('one');
    const reading = async () => {
      for await (const _ of incoming.count(broken()));
    };
    await expect(reading()).rejects.toThrow('the connection ended');
    incoming.end();
    expect(await take(begin('one'), 300)).toBe(300);
  });
});
