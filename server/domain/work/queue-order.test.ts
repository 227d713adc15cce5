import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { AgentLayout } from '#agent/folder/layout.ts';
import type { Reporter } from '#agent/report/reporter.ts';
import { reportedStatesOf } from '#agent/work/extensions/reported-states.ts';
import { Machine } from '#agent/work/machine.ts';
import {
  type CommandName,
  commandNames,
  type ExtensionStep,
  type GoalState,
  type HandlerEntry,
  handlerEntry,
  markDone,
  newRound,
  nextCommand,
  noteSuccess,
  type Round,
  reconcile,
} from '#protocol/index.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { queueOf } from './queue.ts';
import type { QueuedGoal, QueueFacts, ReportedExtension } from './queue-facts.ts';
import type { QueueEntry } from './queue-words.ts';

let seed = 1;
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};
const among = <T>(...values: T[]): T => values[random(values.length)] as T;

const names = ['a', 'b', 'c', 'd'];
const versions = ['1.0', '1.9', '1.10'];
const timeouts = { install: 1, update: 2, enable: 3, disable: 4, uninstall: 5 };
const asked = { by: 'Ada', at: '2026-01-01T00:00:00.000Z' };

type Declared = Pick<GoalState['extensions'][number], 'name' | 'handler' | 'version' | 'state' | 'dependsOn'> & {
  sequenceNumber: number;
};

/** Whether an update to this version also runs install. */
const installsInUpdate = (version: string) => version === '1.9';

const goalStateOf = (turn: number, declared: readonly Declared[]): GoalState => ({
  protocol: 1,
  vmId: 'vm',
  incarnation: turn,
  turn,
  extensions: declared.map((one) => ({
    ...one,
    timeouts,
    package: { sha256: `${one.handler} ${one.version}`, size: 1, url: '/' },
    settings: {},
  })),
});

/** A model of the agent without processes and files: its plan, its `Machine`, and the reports that it sends. */
class AgentModel {
  readonly machine: Machine;
  readonly reports: HandlerEntry[] = [];
  round: Round = newRound();
  running: { step: ExtensionStep; kind: CommandName } | null = null;
  /** The first round after the agent's last start. */
  firstRound = 0;
  private readonly restartsItself: boolean;

  constructor(restartsItself: boolean) {
    this.restartsItself = restartsItself;
    const reporter = { handler: (entry: HandlerEntry) => this.report(entry) } as unknown as Reporter;
    this.machine = new Machine({ localState: '/nowhere/state.json' } as AgentLayout, reporter, 'boot');
  }

  private report(entry: HandlerEntry): void {
    this.reports.push(handlerEntry.parse(JSON.parse(JSON.stringify(entry))));
  }

  take(goal: GoalState): void {
    this.machine.goal = structuredClone(goal);
    this.beginRound();
  }

  private beginRound(): void {
    this.round = { ...newRound(), enableAfterRestart: this.restartsItself };
    this.machine.beginRound();
  }

  /** Restarts the agent. A running command is continued and its outcome reported, unless the outcome is unknown. */
  restart(outcome: 'success' | 'failure' | 'unknown'): void {
    const { running } = this;
    this.running = null;
    this.firstRound = (this.machine.local.round ?? 0) + 1;
    if (running !== null && outcome !== 'unknown') {
      if (outcome === 'success') noteSuccess(running.step, this.machine.local);
      this.reportEnd(running, outcome === 'success', { resumed: true });
    }
    this.beginRound();
  }

  reboot(): void {
    for (const { versions: all } of Object.values(this.machine.local.handlers)) {
      for (const facts of Object.values(all)) delete facts.rebootAfter;
    }
    this.restart('unknown');
  }

  get plan() {
    return reconcile(this.machine.goal?.extensions ?? [], this.machine.local, this.round);
  }

  fetch(): void {
    const step = this.plan.steps.find(({ kind }) => kind === 'fetch');
    if (step !== undefined) fetched(step, this.machine.local);
  }

  /** Completes the steps before a command, and starts the command. Returns the command, or null if none can run. */
  begin(): string | null {
    for (;;) {
      const plan = this.plan;
      for (const { extension, blockedBy } of plan.waiting)
        this.machine.reportState(extension, 'waiting', { blockedBy });
      const step = nextCommand(plan);
      if (step === undefined) return null;
      if (isCommand(step)) {
        const { during } = reportedStatesOf(step);
        this.running = { step, kind: step.kind };
        for (const name of step.extensions) {
          this.machine.reportState(name, during, { command: step.kind, commandVersion: step.version });
        }
        return sentenceOf(step);
      }
      completeTask(step, this.machine.local);
      if (step.kind === 'forget') for (const name of step.extensions) this.machine.reportState(name, 'removed');
      markDone(step, this.round);
    }
  }

  end(isGood: boolean): void {
    const { running } = this;
    if (running === null) return;
    this.running = null;
    const { step } = running;
    if (isGood) noteSuccess(step, this.machine.local);
    const { isFatal } = reportedStatesOf(step);
    if (isGood || !isFatal) markDone(step, this.round);
    else for (const name of step.extensions) this.round.failed.add(name);
    this.reportEnd(running, isGood, { resumed: false });
  }

  private reportEnd(
    { step, kind }: NonNullable<AgentModel['running']>,
    isGood: boolean,
    { resumed }: { resumed: boolean },
  ) {
    const { during, after, isFatal } = reportedStatesOf(step);
    const state = isGood || !isFatal ? (after ?? during) : 'failed';
    for (const name of step.extensions) {
      const number = this.machine.goalOf(name)?.sequenceNumber;
      this.machine.reportState(
        name,
        state,
        { command: kind, commandVersion: step.version, exitCode: isGood ? 0 : 1, output: '' },
        resumed ? number : undefined,
      );
    }
  }

  /** Returns the commands that will run if all succeed. With a `goal`, assumes that the agent receives it next. */
  future(goal: GoalState | null): string[] {
    const local = structuredClone(this.machine.local);
    let round = structuredClone(this.round);
    const commands: string[] = [];
    if (this.running !== null) {
      const { step } = this.running;
      noteSuccess(step, local);
      markDone(step, round);
      if (step.kind === 'enable') round.statuses[step.extensions[0] ?? ''] = 'success';
    }
    if (goal !== null) round = { ...newRound(), enableAfterRestart: this.restartsItself };
    const targets = (goal ?? this.machine.goal)?.extensions ?? [];
    for (;;) {
      const plan = reconcile(targets, local, round);
      const fetch = plan.steps.find(({ kind }) => kind === 'fetch');
      if (fetch !== undefined) {
        fetched(fetch, local);
        continue;
      }
      const step = nextCommand(plan);
      if (step === undefined) return commands;
      if (isCommand(step)) {
        commands.push(sentenceOf(step));
        noteSuccess(step, local);
        if (step.kind === 'enable') round.statuses[step.extensions[0] ?? ''] = 'success';
      } else completeTask(step, local);
      markDone(step, round);
    }
  }
}

type Local = Machine['local'];

const isCommand = (step: ExtensionStep): step is ExtensionStep & { kind: CommandName } =>
  (commandNames as readonly string[]).includes(step.kind);

function fetched({ handler, version }: ExtensionStep, local: Local): void {
  local.handlers[handler] ??= { versions: {} };
  local.handlers[handler].versions[version] = {
    installed: false,
    reportHeartbeat: false,
    supportsMultipleExtensions: true,
    rebootAfterInstall: false,
    updatesWithInstall: installsInUpdate(version),
    ...local.handlers[handler].versions[version],
    sha256: `${handler} ${version}`,
  };
}

function completeTask({ kind, handler, version, extensions }: ExtensionStep, local: Local): void {
  if (kind === 'delete') delete local.handlers[handler]?.versions[version];
  for (const name of extensions) {
    if (kind === 'configure') {
      local.extensions[name] ??= { handler, version, sequenceNumber: 1, attempts: {}, state: '', detail: '', at: '' };
    }
    if (kind === 'forget') delete local.extensions[name];
  }
}

/** Describes a command. If it runs once for all extensions of a handler, names the handler instead of the extension. */
const sentence = (command: string, version: string, name: string, handler: string): string =>
  `${command} ${version} of ${command === 'enable' || command === 'disable' ? name : handler}`;
const sentenceOf = ({ kind, version, extensions, handler }: ExtensionStep) =>
  sentence(kind, version, extensions[0] ?? '', handler);
const sentenceOfEntry = ({ step, version, name, handler }: QueueEntry) =>
  sentence(step ?? '', version ?? '', name, handler ?? '');

/** A model of what the portal stores: declarations, deliveries, and the last report of each extension. */
class PortalModel {
  turn = 1;
  declared: Declared[] = [];
  delivered: GoalState = goalStateOf(1, []);
  deliveredAt = 0;
  isHeld = false;
  private readonly reports = new Map<string, ReportedExtension>();
  private readonly statuses = new Map<string, ReportedExtension['status']>();
  private clock = 0;
  private readonly sequences = new Map<string, number>();

  get latest(): GoalState {
    return goalStateOf(this.turn, this.declared);
  }

  tick(): number {
    this.clock += 1;
    return this.clock;
  }

  declare(): void {
    const name = among(...names);
    const before = this.declared.find((one) => one.name === name);
    const handler = before?.handler ?? among('Lab.One', 'Lab.Two');
    const shared = this.declared.find(
      (one) => one.handler === handler && one.name !== name && one.state !== 'uninstall',
    );
    const version = shared !== undefined && random(3) > 0 ? shared.version : among(...versions);
    const sequenceNumber = (this.sequences.get(name) ?? 0) + 1;
    this.sequences.set(name, sequenceNumber);
    const dependsOn = names.slice(names.indexOf(name) + 1).filter((other) => random(3) === 0 && this.has(other));
    const state = among('enabled' as const, 'enabled' as const, 'disabled' as const);
    this.declared = [
      // All extensions of a handler have the same version.
      ...this.declared
        .filter((one) => one.name !== name)
        .map((one) => (one.handler === handler && one.state !== 'uninstall' ? { ...one, version } : one)),
      { name, handler, version, state, dependsOn, sequenceNumber },
    ].sort((x, y) => (x.name < y.name ? -1 : 1));
    this.turn += 1;
  }

  private has(name: string): boolean {
    return this.declared.some((one) => one.name === name && one.state === 'enabled');
  }

  remove(): void {
    const one = this.declared.find(({ name, state }) => state !== 'uninstall' && name === among(...names));
    if (one === undefined) return;
    const sequenceNumber = (this.sequences.get(one.name) ?? 0) + 1;
    this.sequences.set(one.name, sequenceNumber);
    this.declared = this.declared.map((each) =>
      each === one
        ? { ...one, state: 'uninstall' as const, dependsOn: [], sequenceNumber }
        : { ...each, dependsOn: each.dependsOn.filter((name) => name !== one.name) },
    );
    this.turn += 1;
  }

  receive(entries: HandlerEntry[]): void {
    for (const entry of entries.splice(0)) {
      const { extension: name, output, ...report } = entry;
      const handler = this.delivered.extensions.find((one) => one.name === name)?.handler;
      if (handler === undefined) continue;
      const reportedAt = String(this.tick()).padStart(9, '0');
      this.reports.set(name, {
        name,
        handler,
        report,
        hasOutput: output !== undefined,
        reportedAt,
        status: this.statuses.get(name) ?? null,
      });
      // After a completed removal, a new goal state without the extension is published.
      if (report.state === 'removed' && this.declared.some((one) => one.name === name && one.state === 'uninstall')) {
        this.declared = this.declared.filter((one) => one.name !== name);
        this.reports.delete(name);
        this.turn += 1;
      }
    }
  }

  receiveStatus(name: string, word: Round['statuses'][string], sequenceNumber: number): void {
    const status = { word, sequenceNumber };
    this.statuses.set(name, status);
    const report = this.reports.get(name);
    if (report !== undefined) this.reports.set(name, { ...report, status });
  }

  /**
   * Whether a stored report is from this round or a later round. Without such a report, the portal does not know that
   * the agent restarted.
   */
  hasHeardOf(round: number): boolean {
    return round === 0 || [...this.reports.values()].some(({ report }) => (report?.work?.round ?? 0) >= round);
  }

  facts(restarting: readonly string[]): QueueFacts {
    const isOpen = !this.isHeld || this.delivered.turn === this.turn;
    const deliveredAt = String(this.deliveredAt).padStart(9, '0');
    const delivered = queuedGoal(this.delivered, deliveredAt);
    const latest = queuedGoal(this.latest, this.delivered.turn === this.turn ? deliveredAt : null);
    return {
      goal: isOpen ? latest : delivered,
      heldGoal: isOpen ? null : latest,
      reports: [...this.reports.values()],
      executions: [],
      isHeld: false,
      stopped: null,
      restarting,
      withheld: [],
    };
  }
}

const queuedGoal = (goal: GoalState, deliveredAt: string | null): QueuedGoal => ({
  turn: goal.turn ?? 0,
  asked,
  deliveredAt,
  extensions: goal.extensions.map((one) => ({ ...one, asked, installsInUpdate: installsInUpdate(one.version) })),
});

function runHistory(restartsItself: boolean): number {
  const portal = new PortalModel();
  const agent = new AgentModel(restartsItself);
  let checks = 0;
  agent.take(portal.delivered);
  const story: string[] = [];
  const poll = () => {
    if (portal.isHeld || portal.delivered.turn === portal.turn || agent.running !== null) return;
    portal.delivered = portal.latest;
    portal.deliveredAt = portal.tick();
    agent.take(portal.delivered);
  };
  const restarting = () =>
    restartsItself
      ? Object.entries(agent.machine.local.handlers).flatMap(([handler, all]) =>
          Object.values(all.versions).some(({ rebootAfter }) => rebootAfter !== undefined) ? [handler] : [],
        )
      : [];
  const check = () => {
    if (!portal.hasHeardOf(agent.firstRound)) return;
    checks += 1;
    const queue = queueOf(portal.facts(restarting()));
    const why = () =>
      JSON.stringify({ story, queue, reports: [...portal.facts([]).reports], local: agent.machine.local }, null, 1);
    const same = (actual: unknown, expected: unknown) => {
      if (!isDeepStrictEqual(actual, expected)) expect(actual, why()).toEqual(expected);
    };
    const isOpen = !portal.isHeld || portal.delivered.turn === portal.turn;
    const willTake = isOpen && portal.delivered.turn !== portal.turn;
    const running = agent.running && sentenceOf(agent.running.step);
    same(queue.now && sentenceOfEntry(queue.now), running);
    const shown = [...queue.next, ...queue.waiting].filter(
      ({ reason }) => reason?.code !== 'hold' && reason?.code !== 'restart',
    );
    const future = agent.future(willTake ? portal.latest : null);
    const isBlocked = (entry: QueueEntry) => !future.includes(sentenceOfEntry(entry));
    for (const entry of shown.filter(isBlocked)) {
      same([sentenceOfEntry(entry), entry.reason?.code.startsWith('dependency')], [sentenceOfEntry(entry), true]);
    }
    const next = queue.next.map(sentenceOfEntry);
    const waiting = queue.waiting.filter((entry) => shown.includes(entry) && !isBlocked(entry)).map(sentenceOfEntry);
    same([...next, ...waiting].sort(), [...future].sort());
    same(
      next,
      future.filter((command) => next.includes(command)),
    );
    same(
      waiting,
      future.filter((command) => waiting.includes(command)),
    );
  };
  for (let step = 0; step < 40; step += 1) {
    const act = among(
      'declare',
      'declare',
      'remove',
      'poll',
      'poll',
      'fetch',
      'run',
      'run',
      'run',
      'run',
      'end',
      'fail',
      'status',
      'restart',
      'reboot',
      'hold',
      'silence',
    );
    story.push(act);
    if (act === 'declare') portal.declare();
    if (act === 'remove') portal.remove();
    if (act === 'poll') poll();
    if (act === 'fetch') agent.fetch();
    if (act === 'run' && agent.running === null) {
      poll();
      const shown = queueOf(portal.facts(restarting()));
      const isKnown = portal.hasHeardOf(agent.firstRound);
      const begun = agent.begin();
      const [first] = shown.next.map(sentenceOfEntry);
      const released = shown.waiting.filter(({ reason }) => reason?.code === 'download').map(sentenceOfEntry);
      if (begun !== null && isKnown) expect([first, ...released], JSON.stringify({ story, shown })).toContain(begun);
      story.push(`began ${begun}`);
    }
    if (act === 'end' || (act === 'run' && agent.running !== null && random(2) === 0)) agent.end(true);
    if (act === 'fail') agent.end(false);
    if (act === 'status') {
      const one = portal.delivered.extensions.find(({ name }) => name === among(...names));
      if (one?.state === 'enabled' && agent.round.done[one.name]?.has(`enable@${one.version}`)) {
        const word = among('success' as const, 'transitioning' as const, 'error' as const);
        if (agent.round.statuses[one.name] !== 'success' && agent.round.statuses[one.name] !== 'error') {
          agent.round.statuses[one.name] = word;
          portal.receiveStatus(one.name, word, one.sequenceNumber);
        }
      }
    }
    if (act === 'restart') agent.restart(among('success', 'failure', 'unknown'));
    if (act === 'reboot') agent.reboot();
    if (act === 'hold') portal.isHeld = !portal.isHeld;
    // During silence, reports stay on the machine and arrive together later.
    if (act !== 'silence') portal.receive(agent.reports);
    if (agent.reports.length === 0) check();
  }
  return checks;
}

const histories = runsLong ? 1_000 : 200;

test('the queue shows what the agent runs, in the same order, in random histories', () => {
  let checks = 0;
  for (let n = 1; n <= histories; n += 1) {
    seed = n * 7_919;
    checks += runHistory(n % 4 === 0);
  }
  expect(checks).toBeGreaterThan(histories * 10);
}, 120_000);
