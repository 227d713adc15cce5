import { type DueHook, isPresent, newUnitRecord, type UnitGoal, type UnitRunEnd, type UnitState } from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import { isDiskFull } from '../../folder/write-file.ts';
import { discardRoot } from '../../handler/folders.ts';
import type { Journal } from '../../journal.ts';
import { backoff } from '../../portal/backoff.ts';
import { type Portal, PortalRefusal } from '../../portal/portal.ts';
import type { UnitCalls, UnitNews } from '../../portal/unit-calls.ts';
import { wait } from '../../portal/wait.ts';
import { toolsFolderOf } from '../../unit/hook-environment.ts';
import { HookFolders } from '../../unit/hook-process.ts';
import type { LocalUnit } from '../../unit/local-unit.ts';
import { placeTools } from '../../unit/place-tools.ts';
import { agentVersion } from '../../version.ts';
import type { LaneCandidate, LaneWork } from '../lane.ts';
import { nextWork } from '../next.ts';
import { FormulaFetcher } from './formula-fetcher.ts';
import { type BegunHook, beginOf, type HookAttempt, runHook } from './hook-run.ts';
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
  private readonly pauses = backoff(1, 30);
  private readonly folders: HookFolders;
  private readonly outcomes: Outcomes;
  private readonly units: LocalUnits;
  private readonly looks: UnitLooks;
  private readonly fetcher: FormulaFetcher;
  private readonly sender: UnitSender;
  private readonly logs: RunLogs;
  private isPausing = false;
  /** Whether the portal did not answer when a hook was to begin. */
  private isAway = false;
  /** A run whose begin the portal may have stored, although no response arrived. */
  private unsure: { key: string; begun: BegunHook & { body: string } } | null = null;
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
  }

  /** Restores the units from disk. */
  begin(): void {
    this.units.load();
    this.looks.begin();
  }

  /** The stamp of the unit state for the next poll; null if the portal has not sent one. */
  get stamp(): string | null {
    return this.looks.stamp;
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

  /** Waits until the portal has all outcomes, or until the timeout. */
  async drain(seconds: number): Promise<void> {
    await this.sender.drain(seconds);
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
    if (this.isPausing) return 'wait';
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

  /** Begins a hook at the portal, runs it, and sends its outcome. */
  private async runAttempt(attempt: HookAttempt): Promise<void> {
    const { journal, layout, environment } = this.options;
    const { unit, due } = attempt;
    try {
      await unit.openSocket();
      const begun = await this.beginRun(attempt);
      if (begun === null) return;
      const { logs, outcomes } = this;
      const end = await runHook(begun, { layout, logs, outcomes, environment, signal: this.stopping.signal });
      if (end === null) return;
      noteEnd(journal, unit, due, end);
    } catch (error) {
      const advice = isDiskFull(error) ? ' Free space on the disk.' : '';
      journal.warn(`${unit.name}: ${due.hook} could not be run: ${sentenceOf(error)}.${advice}`);
      return this.pause(this.pauses.next());
    }
    this.pauses.reset();
    // The next hook of the unit begins only when the portal has this outcome; other work does not wait longer.
    await this.sender.send(unit);
    if (this.outcomes.of(unit.name) !== undefined) this.sender.wake();
  }

  /** Tells the portal that a run begins. Returns null if the hook cannot begin now. */
  private async beginRun(attempt: HookAttempt): Promise<BegunHook | null> {
    const { journal, calls } = this.options;
    const { unit, due } = attempt;
    const key = JSON.stringify([unit.name, due, attempt.attempt]);
    const begun = this.unsure?.key === key ? this.unsure.begun : beginOf(attempt);
    this.unsure = { key, begun };
    try {
      await calls.putRun(unit.name, begun.run, begun.body, this.stopping.signal);
      this.unsure = null;
      this.isAway = false;
      journal.note(`${unit.name}: ${due.hook} begins`, { run: begun.run, attempt: attempt.attempt });
      return begun;
    } catch (error) {
      this.noteNotBegun(unit, due, error);
      return null;
    }
  }

  private noteNotBegun(unit: LocalUnit, { hook }: DueHook, error: unknown): void {
    if (this.stopping.signal.aborted) return;
    const { journal } = this.options;
    const isGone = error instanceof PortalRefusal && error.code === 'unit_gone';
    if (error instanceof PortalRefusal && !error.passing) this.unsure = null;
    if (isGone) return this.abandon(unit);
    const message = `${unit.name}: ${hook} cannot begin while the portal does not answer: ${sentenceOf(error)}.`;
    if (this.isAway) journal.note(message);
    else journal.warn(message);
    this.isAway = true;
    this.pause((error instanceof PortalRefusal ? error.retryAfter : null) ?? this.pauses.next());
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

  private pause(seconds: number): void {
    this.isPausing = true;
    void wait(seconds, [this.stopping.signal]).then(() => {
      this.isPausing = false;
      this.options.wake();
    });
  }
}

function noteEnd(journal: Journal, { name }: LocalUnit, { hook }: DueHook, end: UnitRunEnd): void {
  const { exitCode, signal, timedOut } = end;
  if (exitCode === 0) return journal.note(`${name}: ${hook} ended with 0`);
  const how = timedOut ? 'was ended after its time' : `ended with ${exitCode ?? signal ?? 'an error'}`;
  journal.warn(`${name}: ${hook} ${how}. Its changes were dropped, and it is run again.`);
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
