import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Paced } from './paced.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Requests a load every `everyMs` milliseconds, each taking `takesMs`. Returns when loads began and how many ended. */
async function busy(everyMs: number, takesMs: number): Promise<{ begun: number[]; answers: number }> {
  const paced = new Paced(1_000);
  const begun: number[] = [];
  let answers = 0;
  const start = Date.now();
  const read = async () => {
    begun.push(Date.now() - start);
    await new Promise((resolve) => setTimeout(resolve, takesMs));
    answers += 1;
  };
  const ask = () => void paced.run('rows', read, ask);
  for (let at = 0; at < 9_900; at += everyMs) {
    ask();
    await vi.advanceTimersByTimeAsync(everyMs);
  }
  return { begun, answers };
}

test('the first load is immediate, the next a second later, however often it is requested', async () => {
  const { begun, answers } = await busy(50, 20);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((second) => second * 1_000));
  expect(answers).toBe(10);
});

test('responses slower than the requests still arrive', async () => {
  const { begun, answers } = await busy(100, 1_400);
  expect(begun.length).toBeGreaterThanOrEqual(6);
  expect(answers).toBeGreaterThanOrEqual(begun.length - 1);
});

test('a request during a load starts one more load after it', async () => {
  const paced = new Paced(1_000);
  const again = vi.fn();
  let answer: (value: string) => void = () => {};
  const read = () =>
    new Promise<string>((resolve) => {
      answer = resolve;
    });
  const first = paced.run('rows', read, again);
  await vi.advanceTimersByTimeAsync(0);
  const second = paced.run('rows', read, again);
  answer('old');
  await expect(first).resolves.toBe('old');
  await expect(second).resolves.toBe('old');
  await vi.advanceTimersByTimeAsync(0);
  expect(again).toHaveBeenCalledOnce();
});

test('loads of different keys are independent', async () => {
  const paced = new Paced(0);
  const slow = paced.run('a', () => new Promise<string>(() => {}), vi.fn());
  await expect(paced.run('b', async () => 'b', vi.fn())).resolves.toBe('b');
  expect(slow).toBeInstanceOf(Promise);
});

test('a failed load fails for everyone who joined it, and the next request starts a new load', async () => {
  const paced = new Paced(0);
  await expect(paced.run('a', () => Promise.reject(new Error('down')), vi.fn())).rejects.toThrow('down');
  await expect(paced.run('a', async () => 'up', vi.fn())).resolves.toBe('up');
});
