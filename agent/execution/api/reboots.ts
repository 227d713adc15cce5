import { errorCodes } from '#protocol/executions/index.ts';
import { wait } from '../../portal/wait.ts';
import { type BootMoment, secondsSince } from '../../watch/moment.ts';
import { AgentStopped } from '../agent-stopped.ts';
import { CallError } from '../call-error.ts';
import type { EndWishes, ExecutionContext } from '../execution-context.ts';
import type { StoredProgress } from '../inbox.ts';

/** Maximum number of restarts that no call waited for, if the Body has not called `api.expectReboots`. */
const maxUnexpected = 3;
/** A Node.js timer cannot wait much longer. */
const longestWaitSeconds = 2_000_000;

/** Counts a restart of the machine during an execution. `isAwaited`: the current call waited for it. */
export function countReboot(progress: StoredProgress, isAwaited: boolean): void {
  progress.reboots += 1;
  if (!isAwaited) progress.unexpectedReboots += 1;
}

/** Returns why the restarts of the machine count as an endless loop; null if they do not (MU-52). */
export function rebootLoop({ reboots, unexpectedReboots, expectedReboots }: StoredProgress): string | null {
  if (expectedReboots !== null) {
    if (reboots <= expectedReboots) return null;
    return `The machine restarted ${timesOf(reboots)}. The plan expects ${timesOf(expectedReboots)} at most.`;
  }
  if (unexpectedReboots <= maxUnexpected) return null;
  return `The machine restarted ${timesOf(unexpectedReboots)} without a call that waited for it.`;
}

const timesOf = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Implements the calls of `api` about restarts of the machine (MU-15). */
export class RebootApi {
  private readonly context: ExecutionContext;
  private readonly wishes: EndWishes;

  constructor(context: ExecutionContext, wishes: EndWishes) {
    this.context = context;
    this.wishes = wishes;
  }

  /** Implements `api.reboot`: the machine restarts when the Body has ended. */
  reboot(): void {
    if (!this.context.canReboot) {
      const message = 'This machine has no restart command. Set rebootCommand in the settings of its agent.';
      throw new CallError('RebootUnavailable', message);
    }
    this.wishes.reboot = true;
  }

  /** Implements `api.expectReboots`. */
  expect(count: unknown): void {
    const number = Number(JSON.stringify(count ?? null));
    if (!Number.isInteger(number) || number < 0) {
      throw new CallError('ValueError', 'The number of restarts must be a whole number from 0.');
    }
    const { progress, saveProgress } = this.context;
    progress.expectedReboots = number;
    saveProgress();
    const loop = rebootLoop(progress);
    if (loop !== null) throw new CallError('RebootLoop', loop);
  }

  /**
   * Implements `api.waitReboot`: waits until the machine restarts. The call is answered when the Body runs again
   * after the restart, so this promise only rejects. `since`: when the call first began.
   */
  async wait(timeout: unknown, since: BootMoment): Promise<never> {
    const seconds = Number(JSON.stringify(timeout ?? 0));
    if (!Number.isFinite(seconds) || seconds < 0) {
      throw new CallError('ValueError', 'The timeout must be a number of seconds from 0.');
    }
    const { signal, leaving, onRestarting } = this.context;
    onRestarting();
    const left = seconds === 0 ? longestWaitSeconds : seconds - secondsSince(since);
    await wait(left, [signal, leaving]);
    if (leaving.aborted) throw new AgentStopped();
    const message = signal.aborted
      ? 'The execution ended before the machine restarted.'
      : `The machine did not restart within ${seconds} s.`;
    throw new CallError('RebootTimeout', message, { code: errorCodes.timeout, info: { seconds } });
  }
}
