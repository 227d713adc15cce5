import { type CommandStep, newRound, noteSuccess, type Prediction, predictCommands } from '#protocol/index.ts';
import { type CurrentCommand, type KnownMachine, knownMachine } from './known-machine.ts';
import type { QueuedGoal, QueueFacts } from './queue-facts.ts';
import type { QueueEntry, QueueReason, VmQueue } from './queue-words.ts';
import { withExecutions } from './queued-executions.ts';

/**
 * Lists what a VM is doing, what it will do next, in order, and what waits. The order is the agent's, because the
 * portal and the agent use the same rule (`reconcile`). A pure function.
 */
export function queueOf(facts: QueueFacts): VmQueue {
  const { goal } = facts;
  const machine = knownMachine(goal, facts.reports);
  const { running } = machine;
  // A command of an earlier goal state ends before anything else starts. The prediction assumes that it succeeds.
  if (running !== null && !running.isCurrent) noteSuccess({ ...running, kind: running.command }, machine.contents);
  awaitRestart(facts, machine);
  const prediction = predictCommands(goal.extensions, machine);
  const reasonOf = reasons(prediction, facts);
  const planned = [
    ...prediction.commands
      .filter((step) => running === null || !isRunning(step, running))
      .map((step) => entryOf(step, goal, facts, reasonOf(step))),
    ...stuck(prediction, facts),
    ...held(facts, machine),
    ...facts.withheld.map((one) => withheldEntry(one, facts)),
  ];
  return withExecutions(
    {
      now: running && runningEntry(running, facts),
      next: planned.filter(({ reason }) => reason === null),
      waiting: planned.filter(({ reason }) => reason !== null),
    },
    facts,
  );
}

const isRunning = (step: CommandStep, running: CurrentCommand): boolean =>
  running.isCurrent &&
  step.kind === running.command &&
  step.version === running.version &&
  step.extensions.some((name) => running.extensions.includes(name));

/** If the agent restarts the machine, the extensions of handlers that requested the restart are enabled afterwards. */
function awaitRestart({ goal, restarting }: QueueFacts, { contents, round }: KnownMachine): void {
  for (const { handler, version } of goal.extensions) {
    const facts = contents.handlers[handler]?.versions[version];
    if (facts === undefined || !restarting.includes(handler)) continue;
    facts.rebootAfter = 'now';
    round.enableAfterRestart = true;
  }
}

/** Returns a function that returns the reason why a command cannot run yet, or null if the command can run. */
function reasons({ now }: Prediction, facts: QueueFacts): (step: CommandStep) => QueueReason | null {
  const blockers = new Map(now.waiting.map(({ extension, blockedBy }) => [extension, blockedBy]));
  const fetches = new Map(now.steps.flatMap((step) => (step.kind === 'fetch' ? [[step.handler, step]] : [])));
  return ({ handler, extensions }) => {
    if (facts.stopped !== null) return { code: facts.stopped.code, params: {} };
    for (const name of extensions) {
      const blockedBy = blockers.get(name);
      if (blockedBy !== undefined) return dependency(blockedBy, facts);
    }
    const fetch = fetches.get(handler);
    return fetch ? { code: 'download', params: { handler, version: fetch.version } } : null;
  };
}

function dependency(name: string, { goal, reports }: QueueFacts): QueueReason {
  const target = goal.extensions.find((one) => one.name === name);
  const report = reports.find((one) => one.name === name);
  const hasFailed =
    report?.report?.sequenceNumber === target?.sequenceNumber &&
    (report?.report?.state === 'failed' ||
      (report?.status?.word === 'error' && report.status.sequenceNumber === target?.sequenceNumber));
  return { code: hasFailed ? 'dependency_failed' : 'dependency', params: { extension: name } };
}

/**
 * Returns the extensions that still wait after all planned commands: for a dependency, or for a restart of the machine.
 */
function stuck({ commands, blocked }: Prediction, facts: QueueFacts): QueueEntry[] {
  const { goal, restarting } = facts;
  const waits = new Map<string, QueueReason>(
    blocked.map(({ extension, blockedBy }) => [extension, dependency(blockedBy, facts)]),
  );
  for (const { name, handler, state } of goal.extensions) {
    const isEnabled = commands.some(({ kind, extensions }) => kind === 'enable' && extensions.includes(name));
    if (state !== 'enabled' || isEnabled || waits.has(name) || !restarting.includes(handler)) continue;
    waits.set(name, { code: 'restart', params: { handler } });
  }
  return [...waits].map(([name, reason]) => {
    const target = goal.extensions.find((one) => one.name === name);
    return entryOf(
      { kind: 'enable', handler: target?.handler ?? '', version: target?.version ?? '', extensions: [name] },
      goal,
      facts,
      facts.stopped === null ? reason : { code: facts.stopped.code, params: {} },
    );
  });
}

/**
 * Returns the commands of the newer goal state, which run once the hold ends. Assumes that the machine has reached the
 * delivered goal state by that time.
 */
function held(facts: QueueFacts, { contents }: KnownMachine): QueueEntry[] {
  const { heldGoal } = facts;
  if (heldGoal === null) return [];
  const { commands } = predictCommands(heldGoal.extensions, { contents, round: newRound() });
  return commands.map((step) => entryOf(step, heldGoal, facts, { code: 'hold', params: {} }));
}

type Step = Pick<CommandStep, 'kind' | 'handler' | 'version' | 'extensions'>;

function entryOf(step: Step, goal: QueuedGoal, facts: QueueFacts, reason: QueueReason | null): QueueEntry {
  const targets = goal.extensions.filter(({ name }) => step.extensions.includes(name));
  const [first] = targets;
  // An extension whose last change was already applied runs again only because the goal state changed, so the requester
  // of the goal state is shown.
  const { asked } = targets.find((one) => isUnfinished(one, facts)) ?? goal;
  return {
    kind: 'extension',
    id: null,
    name: step.extensions[0] ?? '',
    handler: step.handler,
    step: step.kind,
    version: step.version,
    hook: null,
    call: null,
    turn: goal.turn,
    askedBy: asked.by,
    askedAt: asked.at,
    since: null,
    validUntil: null,
    limitSeconds: first?.timeouts[step.kind] ?? null,
    reason,
  };
}

/** Whether the last change to an extension has not been applied yet. */
function isUnfinished({ name, sequenceNumber }: QueuedGoal['extensions'][number], { reports }: QueueFacts): boolean {
  const report = reports.find((one) => one.name === name)?.report ?? null;
  if (report === null || report.sequenceNumber < sequenceNumber) return true;
  return report.state !== 'enabled' && report.state !== 'disabled';
}

function runningEntry(running: CurrentCommand, facts: QueueFacts): QueueEntry {
  const { command: kind, handler, version, extensions, since } = running;
  const entry = entryOf({ kind, handler, version, extensions }, facts.goal, facts, null);
  // If the command runs for an earlier goal state, the facts do not say who requested it.
  const asked = running.isCurrent ? {} : { turn: running.turn, askedBy: null, askedAt: null };
  return { ...entry, ...asked, since };
}

function withheldEntry({ name, code, asked }: QueueFacts['withheld'][number], facts: QueueFacts): QueueEntry {
  return {
    kind: 'extension',
    id: null,
    name,
    handler: null,
    step: null,
    version: null,
    hook: null,
    call: null,
    turn: (facts.heldGoal ?? facts.goal).turn,
    askedBy: asked.by,
    askedAt: asked.at,
    since: null,
    validUntil: null,
    limitSeconds: null,
    reason: { code, params: { extension: name } },
  };
}
