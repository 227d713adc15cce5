import { type DueHook, isPresent, newUnitRecord, type UnitGoal, type UnitState } from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import { discardRoot } from '../../handler/folders.ts';
import type { Journal } from '../../journal.ts';
import type { Portal } from '../../portal/portal.ts';
import type { UnitCalls, UnitNews } from '../../portal/unit-calls.ts';
import { toolsFolderOf } from '../../unit/hook-environment.ts';
import { HookFolders } from '../../unit/hook-process.ts';
import type { LocalUnit } from '../../unit/local-unit.ts';
import { placeTools } from '../../unit/place-tools.ts';
import { sweepUnfinished } from '../../unit/unit-file.ts';
import { agentVersion } from '../../version.ts';
import type { LaneCandidate, LaneWork } from '../lane.ts';
import { nextWork } from '../next.ts';
import { FormulaFetcher } from './formula-fetcher.ts';
import { HookAttempts } from './hook-attempts.ts';
import type { HookAttempt } from './hook-run.ts';
import { LocalUnits } from './local-units.ts';
import { Outcomes } from './outcomes.ts';
import { RunLogs } from './run-logs.ts';
import { UnitLooks } from './unit-looks.ts';
import { UnitSender } from './unit-sender.ts';
import { stepOf, type UnitStep } from './unit-step.ts';

export interface HookWorkOptions {
  layout: AgentLayout;
  journal: Journal;
  portal: Pick<Portal, 'downloadPackage'>;
  calls: UnitCalls;
  /** Id of the current boot. */
  boot: string;
  environment: Record<string, string | undefined>;
  /** Makes the lane look for work again. */
  wake(): void;
  onProblem(message: string): void;
}

/** The lane's work on units: runs the hooks that are due, one at a time. */
export class HookWork implements LaneWork {
  private readonly options: HookWorkOptions;
  private readonly stopping = new AbortController();
  private readonly sending = new AbortController();
  private readonly folders: HookFolders;
  private readonly outcomes: Outcomes;
  private readonly units: LocalUnits;
  private readonly looks: UnitLooks;
  private readonly fetcher: FormulaFetcher;
  private readonly sender: UnitSender;
  private readonly attempts: HookAttempts;
  private readonly logs: RunLogs;
  private alarm: NodeJS.Timeout | undefined;

  constructor(options: HookWorkOptions) {
    const { layout, journal, calls, portal, wake, onProblem } = options;
    this.options = options;
    this.folders = new HookFolders(layout.hooks);
    this.outcomes = new Outcomes(layout);
    this.units = new LocalUnits(options);
    this.logs = new RunLogs({ layout, journal, portal: calls });
    this.looks = new UnitLooks({
      ...{ layout, journal, portal: calls, boot: options.boot, onProblem, onLooked: wake },
      recordOf: (unit) => this.units.get(unit)?.record ?? newUnitRecord(options.boot),
      onState: (state) => this.takeState(state),
    });
    this.fetcher = new FormulaFetcher({
      ...{ layout, journal, portal, onProblem, onChange: wake },
      signal: this.stopping.signal,
    });
    this.sender = new UnitSender({
      ...{ journal, portal: calls, outcomes: this.outcomes, onProblem, onSettled: wake },
      signal: this.sending.signal,
      units: () => this.units.all(),
      onGone: (unit) => this.abandon(unit),
      onRemoved: (unit) => {
        this.units.drop(unit);
        this.looks.look();
      },
      onAlive: (unit) => this.units.restore(unit),
    });
    this.attempts = new HookAttempts({
      ...{ ...options, logs: this.logs, outcomes: this.outcomes, signal: this.stopping.signal },
      onGone: (unit) => this.abandon(unit),
    });
  }

  /** Restores the units from disk. */
  begin(): void {
    const { flushes, hookLogs, unitRecords } = this.options.layout;
    for (const folder of [flushes, hookLogs, unitRecords]) sweepUnfinished(folder);
    this.units.load();
    this.looks.begin();
  }

  /** The stamp of the unit state for polls and reports; empty if the portal has not sent one. */
  get stamp(): string {
    return this.looks.stamp ?? '';
  }

  noteNews(news: UnitNews): void {
    this.looks.note(news);
    this.sender.notePortalAnswered();
  }

  /** Fetches the unit state, because news may have been lost. */
  look(): void {
    this.looks.look();
  }

  /** Fetches the unit state, and sends outcomes and outputs, until `stop` is called. */
  async run(): Promise<void> {
    const { signal } = this.sending;
    await Promise.all([this.looks.run(this.stopping.signal), this.sender.run(), this.logs.run(signal)]);
    await this.fetcher.settled();
    await this.units.closeSockets();
  }

  /** Waits until the portal has all outcomes and outputs, or until the timeout. */
  async drain(seconds: number): Promise<void> {
    await Promise.all([this.sender.drain(seconds), this.logs.drain(seconds)]);
  }

  /** Ends the running hook, which is run again at the next start of the agent. */
  stop(): void {
    this.stopping.abort();
    this.fetcher.stop();
    clearTimeout(this.alarm);
  }

  /** Ends `run`. Call this after `stop`. */
  stopSending(): void {
    this.sending.abort();
  }

  async candidate(): Promise<LaneCandidate | 'wait' | 'rest'> {
    if (this.folders.left.length > 0) {
      return { kind: 'hook', turn: null, isBegun: true, run: () => this.endLeftovers() };
    }
    if (this.attempts.isPausing) return 'wait';
    const found: LaneCandidate[] = [];
    let isWaiting = !this.looks.hasLooked;
    let until = Number.POSITIVE_INFINITY;
    for (const unit of this.units.all()) {
      const step = this.stepOf(unit);
      if (step === 'wait' || step.act === 'fetch') isWaiting = true;
      else if (step.act === 'wait') until = Math.min(until, step.until);
      else if (step.act !== 'rest') found.push(this.candidateOf(unit, step));
    }
    this.wakeAt(until);
    return nextWork(found, null) ?? (isWaiting ? 'wait' : 'rest');
  }

  private stepOf(unit: LocalUnit): UnitStep | 'wait' {
    const { goal } = unit;
    if (this.sender.mustWaitFor(unit)) return 'wait';
    if (goal === null) return { act: 'rest' };
    const pause = this.sender.pauseOf(unit);
    if (pause > Date.now()) return { act: 'wait', until: pause };
    unit.dropFormulas();
    const step = stepOf(unit, goal, Date.now());
    if (step.act === 'fetch') this.fetcher.start(unit, goal);
    if (!this.sender.mustWaitFor(unit)) return step;
    this.sender.wake();
    return 'wait';
  }

  private candidateOf(unit: LocalUnit, step: Extract<UnitStep, { act: 'run' | 'remove' }>): LaneCandidate {
    const goal = unit.goal as UnitGoal;
    if (step.act === 'remove') {
      return { kind: 'hook', turn: goal.turn, isBegun: false, run: () => this.remove(unit) };
    }
    const { due, attempt } = step;
    return {
      ...{ kind: 'hook', isBegun: false, ...placeOf(goal, due) },
      run: () => this.runAttempt({ unit, goal, due, attempt }),
    };
  }

  /** Runs a hook, and sends its outcome. */
  private async runAttempt(attempt: HookAttempt): Promise<void> {
    if (!(await this.attempts.run(attempt))) return;
    // The next hook of the unit begins only when the portal has this outcome; other work does not wait longer.
    await this.sender.send(attempt.unit);
    if (this.outcomes.of(attempt.unit.name) !== undefined) this.sender.wake();
  }

  private takeState(state: UnitState): void {
    const { layout, journal } = this.options;
    const fresh = this.units.take(state);
    if (this.units.isEmpty) return;
    try {
      if (fresh.length > 0) placeTools(toolsFolderOf(layout.root, agentVersion));
    } catch (error) {
      journal.warn(`The commands for hooks could not be written: ${sentenceOf(error)}.`);
    }
    for (const unit of fresh) {
      unit.openSocket().catch((error) => journal.warn(`${unit.name} has no socket: ${sentenceOf(error)}.`));
    }
    this.options.wake();
  }

  /** Ends what an interrupted hook left running, before anything else begins (EN-27). */
  private async endLeftovers(): Promise<void> {
    for (const run of this.folders.left) {
      if (this.outcomes.hasRun(run)) this.folders.forget(run);
      else await this.folders.abandon(run);
    }
  }

  /** Deletes the folder of a unit that has left. Its logs are kept. */
  private async remove(unit: LocalUnit): Promise<void> {
    await unit.closeSocket();
    discardRoot(this.options.layout, unit.paths.container);
    unit.save({ isRemoved: true, formulas: {} });
    this.options.journal.info(`${unit.name}: removed. Its logs are kept in ${unit.paths.logFolder}.`);
    await this.sender.send(unit);
    this.sender.wake();
  }

  /** Leaves a unit as it is, because the portal no longer has it on this machine. */
  private abandon(unit: LocalUnit): void {
    this.options.journal.info(`${unit.name}: the portal no longer has it on this machine. It is left as it is.`);
    unit.goal = null;
    this.looks.look();
  }

  private wakeAt(until: number): void {
    clearTimeout(this.alarm);
    if (!Number.isFinite(until) || this.stopping.signal.aborted) return;
    this.alarm = setTimeout(() => this.options.wake(), Math.max(until - Date.now(), 0) + 1);
  }
}

/**
 * Returns the turn of a hook that an act of an operator on this machine caused. A hook that another machine caused has
 * none, and is ordered by the clock of its relation.
 */
function placeOf(goal: UnitGoal, { relation, because, remoteUnit }: DueHook): Pick<LaneCandidate, 'turn' | 'clock'> {
  if (relation === undefined || because === 'unit-leaving') return { turn: goal.turn };
  const current = goal.relations.find(({ id }) => id === relation.id);
  const member = current?.members.find(({ unit }) => unit === remoteUnit);
  const since = member !== undefined && isPresent(member) ? member.since : undefined;
  return { turn: null, clock: since ?? member?.clock ?? current?.clock ?? 0 };
}
