import type { ExtensionGoal } from '#db/schema/index.ts';
import { type HandlerReport, runOrder } from '#protocol/index.ts';
import {
  deadlineOf,
  isRunningState,
  noPauses,
  type PauseFacts,
  type Pauses,
  pausesOf,
} from '#server/domain/verdicts/index.ts';

/** The facts of an extension that other extensions may wait for. */
interface Dependency {
  name: string;
  goal: ExtensionGoal;
  goalSequenceNumber: number;
  dependsOn: string[];
  timeouts: Parameters<typeof deadlineOf>[0]['timeouts'];
  commands: Parameters<typeof deadlineOf>[0]['commands'];
  changedAt: Date;
  deliveredAt: Date | null;
  pauses: Pauses;
  statusSequence: number | null;
  concludedAt: Date | null;
  handlerState: Pick<
    HandlerReport,
    'state' | 'sequenceNumber' | 'command' | 'exitCode' | 'timedOut' | 'attempt'
  > | null;
  handlerAt: Date | null;
}

/**
 * Returns the time until which each extension of a VM may wait: by then, its last dependency has concluded or reached
 * its deadline, and its turn has come (AZ-G2). The extension's own deadline counts from then, so a slow predecessor
 * does not make other extensions late. The time is null for an extension that waits for nothing. A disable or uninstall
 * has no dependencies.
 */
export function waitsUntil(extensions: readonly Dependency[]): Map<string, Date | null> {
  const byName = new Map(extensions.map((extension) => [extension.name, extension]));
  const known = new Map<string, Date | null>();
  const dependents = extensions.map(({ name, goal, dependsOn }) => ({
    name,
    dependsOn: goal === 'enabled' ? dependsOn : [],
  }));
  for (const { name, dependsOn } of runOrder(dependents)) {
    const extension = byName.get(name) as Dependency;
    let latest = isConcluded(extension) ? null : turnEnd(extension, extensions);
    for (const other of dependsOn.map((dependency) => byName.get(dependency))) {
      // A dependency is unknown here only if it is not declared or part of a cycle; the portal rejects both.
      const waits = other && known.get(other.name);
      if (other === undefined || waits === undefined) continue;
      const until = isConcluded(other)
        ? (other.concludedAt ?? other.changedAt)
        : deadlineOf({ ...other, state: other.goal, waitsUntil: waits });
      if (latest === null || until > latest) latest = until;
    }
    known.set(name, latest);
  }
  return known;
}

const isConcluded = ({ concludedAt, statusSequence, goalSequenceNumber }: Dependency): boolean =>
  concludedAt !== null && statusSequence === goalSequenceNumber;

/**
 * Returns when an extension may run; null if no earlier command delays it. A machine runs one step at a time, so the
 * extension may run once the last earlier command has ended or reached its timeout. Two kinds of commands are ignored,
 * because otherwise waiting might never end: commands of a goal that was delivered after the extension's own deadline,
 * and commands that a restarted agent repeats.
 */
function turnEnd(extension: Dependency, all: readonly Dependency[]): Date | null {
  const ownEnd = deadlineOf({ ...extension, state: extension.goal });
  const begunAt = hasBegun(extension) ? extension.handlerAt : null;
  let latest: Date | null = null;
  for (const other of all) {
    const { handlerState, handlerAt, deliveredAt, changedAt, timeouts } = other;
    if (other === extension || handlerAt === null || !hasBegun(other)) continue;
    if ((deliveredAt ?? changedAt) > ownEnd || (handlerState?.attempt ?? 1) > 1) continue;
    if (begunAt !== null && handlerAt > begunAt) continue;
    const left = begunAt === null && isRunning(other) && handlerState?.command ? timeouts[handlerState.command] : 0;
    const until = new Date(handlerAt.getTime() + left * 1000);
    if (latest === null || until > latest) latest = until;
  }
  return latest;
}

/** Whether a command for the current goal has started. */
const hasBegun = ({ handlerState, goalSequenceNumber }: Dependency): boolean =>
  handlerState !== null && handlerState.sequenceNumber >= goalSequenceNumber && handlerState.command != null;

const isRunning = ({ handlerState }: Dependency): boolean =>
  handlerState !== null &&
  isRunningState(handlerState.state) &&
  handlerState.exitCode == null &&
  !handlerState.timedOut;

/**
 * Adds `waitsUntil` and `pauses` to the extensions of one VM. `waitsUntil` is null for a VM's only extension, which
 * waits for nothing. Once all extensions have concluded, it is null for all of them, because deadlines no longer count.
 */
export function withWaits<E extends Omit<Dependency, 'pauses'> & PauseFacts>(
  extensions: readonly E[],
): (E & { waitsUntil: Date | null; pauses: Pauses })[] {
  const [first] = extensions;
  const pauses = first === undefined ? noPauses : pausesOf(first);
  const paused = extensions.map((extension) => Object.assign(extension, { pauses }));
  const waits = paused.length > 1 && !paused.every(isConcluded) ? waitsUntil(paused) : null;
  return paused.map((extension) => Object.assign(extension, { waitsUntil: waits?.get(extension.name) ?? null }));
}
