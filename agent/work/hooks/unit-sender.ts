import { maxSkippedHooks } from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import { discard } from '../../folder/write-file.ts';
import type { Journal } from '../../journal.ts';
import { backoff } from '../../portal/backoff.ts';
import { PortalRefusal } from '../../portal/portal.ts';
import type { UnitCalls } from '../../portal/unit-calls.ts';
import { wait } from '../../portal/wait.ts';
import type { LocalUnit } from '../../unit/local-unit.ts';
import { bootOf } from './hook-run.ts';
import type { HookOutcome, Outcomes } from './outcomes.ts';

export interface UnitSenderOptions {
  journal: Journal;
  portal: Pick<UnitCalls, 'putRun' | 'skipHooks' | 'removeUnit'>;
  outcomes: Outcomes;
  /** Aborted when the agent stops sending. */
  signal: AbortSignal;
  units(): readonly LocalUnit[];
  /** Called when the portal has answered about a unit, so that its next hook may begin. */
  onSettled(): void;
  /** Called if the portal no longer has the unit on this machine. */
  onGone(unit: LocalUnit): void;
  /** Called when a unit that left is off the machine and the portal knows. */
  onRemoved(unit: LocalUnit): void;
  /** Called if a unit whose folder was deleted should be on the machine. */
  onAlive(unit: LocalUnit): void;
  onProblem(message: string): void;
}

const retrySeconds = 5;

/** Sends the outcomes of hooks, hooks that were skipped, and removals, until the portal has answered each of them. */
export class UnitSender {
  private readonly options: UnitSenderOptions;
  private readonly pauses = backoff(1, 30);
  private readonly underWay = new Map<string, Promise<boolean>>();
  /** Units whose outcome the portal dropped, with the time at which their next hook may begin. */
  private readonly pausedUntil = new Map<string, number>();
  private news = new AbortController();
  private retry = new AbortController();
  private drained: (() => void)[] = [];

  constructor(options: UnitSenderOptions) {
    this.options = options;
  }

  /** Whether the portal must answer about a unit before its next hook can begin. */
  mustWaitFor(unit: LocalUnit): boolean {
    return unit.skipped.length > 0 || unit.isRemoved || this.options.outcomes.of(unit.name) !== undefined;
  }

  /** Returns the time at which the next hook of a unit may begin; 0 if it need not wait. */
  pauseOf({ name }: LocalUnit): number {
    return this.pausedUntil.get(name) ?? 0;
  }

  wake(): void {
    this.news.abort();
  }

  notePortalAnswered(): void {
    this.pauses.reset();
    this.retry.abort();
  }

  async drain(seconds: number): Promise<void> {
    if (this.pending().length === 0) return;
    this.retry.abort();
    this.wake();
    const empty = new Promise<void>((resolve) => this.drained.push(resolve));
    await Promise.race([empty, wait(seconds, [])]);
  }

  /** Sends until the agent stops. Does not throw, whatever the portal does. */
  async run(): Promise<void> {
    const { signal: stopping } = this.options;
    while (!stopping.aborted) {
      this.news = new AbortController();
      this.retry = new AbortController();
      const done = await Promise.all(this.pending().map((unit) => this.send(unit)));
      if (this.pending().length === 0) for (const resolve of this.drained.splice(0)) resolve();
      if (done.every(Boolean)) await wait(3600, [stopping, this.news.signal]);
      else await wait(this.pauses.next(), [stopping, this.retry.signal]);
    }
  }

  /** Sends what the portal lacks about one unit. Returns whether it has answered. */
  async send(unit: LocalUnit): Promise<boolean> {
    const before = this.underWay.get(unit.name);
    if (before !== undefined) return before;
    const sending = this.sendOnce(unit).finally(() => this.underWay.delete(unit.name));
    this.underWay.set(unit.name, sending);
    return sending;
  }

  private pending(): LocalUnit[] {
    return this.options.units().filter((unit) => this.mustWaitFor(unit));
  }

  private async sendOnce(unit: LocalUnit): Promise<boolean> {
    const { outcomes, journal, onSettled } = this.options;
    try {
      const outcome = outcomes.of(unit.name);
      if (outcome !== undefined) await this.sendOutcome(unit, outcome);
      while (unit.skipped.length > 0) await this.sendSkipped(unit);
      if (unit.isRemoved) await this.sendRemoval(unit);
      this.pauses.reset();
      onSettled();
      return true;
    } catch (error) {
      journal.note(`${unit.name}: news for the portal is waiting: ${sentenceOf(error)}`);
      return false;
    }
  }

  private async sendOutcome(unit: LocalUnit, outcome: HookOutcome): Promise<void> {
    const { portal, outcomes, journal, onProblem, signal } = this.options;
    const { due, run, end } = outcome;
    const isSuccess = end.exitCode === 0 && end.signal === null && !end.timedOut;
    try {
      await portal.putRun(unit.name, run, JSON.stringify(end), signal);
      if (isSuccess) unit.confirm(due, end.ports ?? { open: [], close: [] });
      else unit.fail(due, run);
    } catch (error) {
      if (!(error instanceof PortalRefusal) || error.passing) throw error;
      if (error.status === 409 && ['run_superseded', 'run_unknown', 'unit_gone'].includes(error.code)) {
        journal.warn(`${unit.name}: the portal dropped the outcome of ${due.hook}: ${error.message}`);
        this.pausedUntil.set(unit.name, Date.now() + retrySeconds * 1000);
        if (error.code === 'unit_gone') this.options.onGone(unit);
      } else if ([400, 413, 422].includes(error.status)) {
        const message = `${unit.name}: the portal rejected the outcome of ${due.hook}: ${error.message}`;
        journal.warn(message);
        if (error.status !== 422) onProblem(message);
        unit.fail(due, run);
      } else throw error;
    }
    outcomes.remove(outcome);
  }

  private async sendSkipped(unit: LocalUnit): Promise<void> {
    const { portal, onGone, onProblem, signal } = this.options;
    const part = unit.skipped.slice(0, maxSkippedHooks);
    try {
      await portal.skipHooks(unit.name, { ...bootOf(unit.record), skipped: part }, signal);
    } catch (error) {
      if (!(error instanceof PortalRefusal) || ![400, 404, 409, 413, 422].includes(error.status)) throw error;
      if (error.status === 404 || error.code === 'unit_gone') onGone(unit);
      else onProblem(`${unit.name}: the portal rejected hooks that were skipped: ${error.message}`);
    }
    unit.save({ skipped: unit.skipped.slice(part.length) });
  }

  private async sendRemoval(unit: LocalUnit): Promise<void> {
    const { portal, onAlive, onRemoved, signal } = this.options;
    try {
      await portal.removeUnit(unit.name, signal);
    } catch (error) {
      if (error instanceof PortalRefusal && error.code === 'unit_alive') return onAlive(unit);
      const isUnknown = error instanceof PortalRefusal && (error.status === 404 || error.code === 'unit_gone');
      if (!isUnknown) throw error;
    }
    discard(unit.paths.file);
    onRemoved(unit);
  }
}
