import { sentenceOf } from '../agent-error.ts';
import type { Journal } from '../journal.ts';
import { wait } from '../portal/wait.ts';

const pauseSeconds = 5;

/**
 * Runs `work`. If it throws, logs the error and runs it again after a pause, unless `signal` is aborted. Never rejects.
 */
export async function keepGoing(
  what: string,
  work: () => Promise<void>,
  { journal, signal }: { journal: Journal; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
      return;
    } catch (error) {
      journal.warn(`${what} failed and continues in ${pauseSeconds} s: ${sentenceOf(error)}`);
      await wait(pauseSeconds, [signal]);
    }
  }
}
