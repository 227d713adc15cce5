import type { DueHook, UnitRunEnd } from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import { isDiskFull } from '../../folder/write-file.ts';
import type { Journal } from '../../journal.ts';
import { backoff } from '../../portal/backoff.ts';
import { PortalRefusal } from '../../portal/portal.ts';
import type { UnitCalls } from '../../portal/unit-calls.ts';
import { wait } from '../../portal/wait.ts';
import type { LocalUnit } from '../../unit/local-unit.ts';
import { type BegunHook, beginOf, type HookAttempt, type HookRunServices, runHook } from './hook-run.ts';

export interface HookAttemptsOptions extends HookRunServices {
  journal: Journal;
  calls: Pick<UnitCalls, 'putRun'>;
  /** Makes the lane look for work again. */
  wake(): void;
  /** Called if the portal no longer has the unit on this machine. */
  onGone(unit: LocalUnit): void;
}

/** Begins hooks at the portal and runs them. While the portal cannot be reached, no hook begins (EN-60). */
export class HookAttempts {
  private readonly options: HookAttemptsOptions;
  private readonly pauses = backoff(1, 30);
  private isWaiting = false;
  /** Whether the portal did not answer when a hook was to begin. */
  private isAway = false;
  /** A run whose begin the portal may have stored, although no response arrived. */
  private unsure: { key: string; begun: BegunHook & { body: string } } | null = null;

  constructor(options: HookAttemptsOptions) {
    this.options = options;
  }

  /** Whether no hook may begin for a while, after a failure. */
  get isPausing(): boolean {
    return this.isWaiting;
  }

  /** Runs a hook and stores its outcome. Returns whether there is an outcome. Does not throw. */
  async run(attempt: HookAttempt): Promise<boolean> {
    const { journal } = this.options;
    const { unit, due } = attempt;
    try {
      await unit.openSocket();
      const begun = await this.begin(attempt);
      const end = begun === null ? null : await runHook(begun, this.options);
      if (end === null) return false;
      logEnd(journal, unit, due, end);
      this.pauses.reset();
      return true;
    } catch (error) {
      const advice = isDiskFull(error) ? ' Free space on the disk.' : '';
      journal.warn(`${unit.name}: ${due.hook} could not be run: ${sentenceOf(error)}.${advice}`);
      this.pause(this.pauses.next());
      return false;
    }
  }

  /** Tells the portal that a run begins. Returns null if the hook cannot begin now. */
  private async begin(attempt: HookAttempt): Promise<BegunHook | null> {
    const { journal, calls, signal } = this.options;
    const { unit, due } = attempt;
    const key = JSON.stringify([unit.name, due, attempt.attempt]);
    const begun = this.unsure?.key === key ? this.unsure.begun : beginOf(attempt);
    this.unsure = { key, begun };
    try {
      await calls.putRun(unit.name, begun.run, begun.body, signal);
      this.unsure = null;
      this.isAway = false;
      journal.note(`${unit.name}: ${due.hook} begins`, { run: begun.run, attempt: attempt.attempt });
      return begun;
    } catch (error) {
      if (!signal.aborted) this.noteNotBegun(unit, due, error);
      return null;
    }
  }

  private noteNotBegun(unit: LocalUnit, { hook }: DueHook, error: unknown): void {
    const { journal, onGone } = this.options;
    const refusal = error instanceof PortalRefusal ? error : null;
    // Only a begin that was not answered may have been stored.
    if (refusal !== null && !refusal.passing) this.unsure = null;
    if (refusal?.code === 'unit_gone') {
      onGone(unit);
      return;
    }
    const message = `${unit.name}: ${hook} cannot begin before the portal accepts it: ${sentenceOf(error)}.`;
    if (this.isAway) journal.note(message);
    else journal.warn(message);
    this.isAway = true;
    this.pause(refusal?.retryAfter ?? this.pauses.next());
  }

  private pause(seconds: number): void {
    this.isWaiting = true;
    void wait(seconds, [this.options.signal]).then(() => {
      this.isWaiting = false;
      this.options.wake();
    });
  }
}

function logEnd(journal: Journal, { name }: LocalUnit, { hook }: DueHook, end: UnitRunEnd): void {
  const { exitCode, signal, timedOut } = end;
  const how = timedOut ? 'was ended after its time' : `ended with ${exitCode ?? signal ?? 'an error'}`;
  if (exitCode === 0) journal.note(`${name}: ${hook} ended with 0`);
  else journal.warn(`${name}: ${hook} ${how}. Its changes were dropped.`);
}
