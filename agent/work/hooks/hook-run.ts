import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  causeOfRun,
  type DueHook,
  type UnitGoal,
  type UnitRecord,
  type UnitRunEnd,
  unitFolderName,
} from '#protocol/index.ts';
import type { ProcessEnd } from '../../execution/run-process.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import { pruneOutputs } from '../../handler/prune.ts';
import { contextInputOf } from '../../unit/contexts.ts';
import type { HookChanges } from '../../unit/hook-context.ts';
import { hookEnvironmentOf, toolsFolderOf } from '../../unit/hook-environment.ts';
import { HookFolders } from '../../unit/hook-process.ts';
import type { LocalUnit } from '../../unit/local-unit.ts';
import { type LoggedReason, RunLog } from '../../unit/run-log.ts';
import { agentVersion } from '../../version.ts';
import type { Outcomes } from './outcomes.ts';
import type { RunLogs } from './run-logs.ts';

export interface HookRunServices {
  layout: AgentLayout;
  logs: Pick<RunLogs, 'follow' | 'close'>;
  outcomes: Outcomes;
  environment: Record<string, string | undefined>;
  signal: AbortSignal;
}

/** The exit code of a hook that could not be started, as shells have it. */
const notStartedCode = 126;

/** A hook to run, for the first time or again. */
export interface HookAttempt {
  unit: LocalUnit;
  goal: UnitGoal;
  due: DueHook;
  attempt: number;
}

export interface BegunHook extends HookAttempt {
  run: string;
  timeoutSeconds: number;
}

/** Returns the run of an attempt, and the body of the request that begins it. */
export function beginOf(attempt: HookAttempt): BegunHook & { body: string } {
  const { goal, due, unit } = attempt;
  const timeoutSeconds = goal.timeouts[due.hook] ?? goal.timeouts.default;
  const cause = causeOfRun(due);
  const about = { attempt: attempt.attempt, formula: due.formula, timeoutSeconds, ...bootOf(unit.record) };
  const begin = { phase: 'begin', ...cause, ...about };
  return { ...attempt, run: randomUUID(), timeoutSeconds, body: JSON.stringify(begin) };
}

/** Returns the machine's boot for a request; nothing if the system provides no id of it. */
export function bootOf({ boot }: Pick<UnitRecord, 'boot'>): { boot?: string } {
  return boot === null || boot === '' ? {} : { boot };
}

/**
 * Runs a hook that the portal has begun, and stores its outcome. Returns the outcome; null if the agent stopped, in
 * which case the hook is run again.
 */
export async function runHook(begun: BegunHook, services: HookRunServices): Promise<UnitRunEnd | null> {
  const { unit, goal, due, run, timeoutSeconds } = begun;
  const { layout, logs, outcomes, signal } = services;
  const folders = new HookFolders(layout.hooks);
  const log = new RunLog(join(unit.paths.logFolder, `${run}.log`), unit.secrets);
  logs.follow(unit.name, run, log.path);
  const input = contextInputOf(goal, unit.record, due);
  unit.running = { run, log };
  unit.contexts.begin(run, input, (texts) => log.learn(texts));
  const since = performance.now();
  const members = input.relations.find(({ id }) => id === due.relation?.id)?.members ?? [];
  let isFinished = false;
  const finish = () => {
    isFinished = true;
    return log.finish();
  };
  try {
    const start = await startOf(begun, members, services);
    const ended = await folders.run(
      run,
      { unit: unit.name, hook: due.hook },
      {
        ...start,
        onOut: (chunk) => log.writeOut(chunk),
        onErr: (chunk) => log.writeErr(chunk),
        seconds: timeoutSeconds,
        signal,
      },
    );
    const seconds = (performance.now() - since) / 1000;
    // From here on, commands of processes that the hook left running are rejected (EN-13).
    const changes = unit.contexts.end(run);
    noteEnd(log, ended, timeoutSeconds);
    const { tail, reason } = finish();
    if (ended.why === 'stop') return null;
    const end = endOf(ended, { seconds, output: tail, changes, reason });
    outcomes.add({ unit: unit.name, run, due, end });
    folders.forget(run);
    return end;
  } finally {
    unit.running = null;
    if (!isFinished) finish();
    logs.close(run);
    if (unit.contexts.isOpen(run)) unit.contexts.end(run);
    pruneOutputs(unit.paths.allLogs, unitFolderName(unit.name));
  }
}

/** Returns the hook's program, working directory and environment. */
async function startOf({ unit, goal, due, run }: BegunHook, members: readonly string[], services: HookRunServices) {
  const { layout, environment } = services;
  const cwd = unit.formulaRoot(due.formula) ?? unit.paths.container;
  const replaced = due.kind === 'upgrade-formula' ? unit.record.formula : null;
  const root = replaced === null ? null : unit.formulaRoot(replaced);
  return {
    program: join(cwd, 'hooks', due.hook),
    cwd,
    environment: hookEnvironmentOf({
      ...{ goal, due, members, clientId: run, formulaRoot: cwd, inherited: environment },
      ...(replaced !== null && root !== null && { previous: { version: replaced, root } }),
      socket: await unit.openSocket(),
      container: unit.paths.container,
      tools: toolsFolderOf(layout.root, agentVersion),
    }),
  };
}

function noteEnd(log: RunLog, { why, fault, signal }: ProcessEnd, seconds: number): void {
  if (fault !== undefined) log.note(`The hook could not be started: ${fault}.`);
  else if (why === 'time') log.note(`Ended after ${seconds} s, its timeout.`);
  else if (why === 'stop') log.note('Ended because the agent stopped.');
  else if (signal !== null) log.note(`Ended by ${signal}.`);
}

interface HookEnd {
  seconds: number;
  output: string;
  changes: HookChanges;
  reason: LoggedReason | null;
}

/** Returns the request that ends a run. A hook that failed changes nothing (EN-10). */
function endOf(ended: ProcessEnd, { seconds, output, changes, reason }: HookEnd): UnitRunEnd {
  const { signal, why } = ended;
  // The end of a run without an exit code and a signal means that the agent was stopped.
  const exitCode = ended.fault === undefined ? ended.exitCode : notStartedCode;
  const end = { phase: 'end', exitCode, signal, timedOut: why === 'time', seconds, output, reason } as const;
  const { views } = changes;
  if (exitCode !== 0 || signal !== null || why === 'time') return { ...end, views };
  return { ...end, views, changes: changes.changes, ports: changes.ports };
}
