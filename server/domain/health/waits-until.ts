import type { ExtensionGoal } from '#db/schema/index.ts';
import { type HandlerReport, runOrder } from '#protocol/index.ts';
import { deadlineOf, isRunningState } from '#server/domain/verdicts/index.ts';

/** What is known of an extension that others may have to wait for. */
interface Dependency {
  name: string;
  goal: ExtensionGoal;
  goalSequenceNumber: number;
  dependsOn: string[];
  timeouts: Parameters<typeof deadlineOf>[0]['timeouts'];
  commands: Parameters<typeof deadlineOf>[0]['commands'];
  changedAt: Date;
  deliveredAt: Date | null;
  releasedAt: Date | null;
  statusSequence: number | null;
  concludedAt: Date | null;
  handlerState: Pick<
    HandlerReport,
    'state' | 'sequenceNumber' | 'command' | 'exitCode' | 'timedOut' | 'attempt'
  > | null;
  handlerAt: Date | null;
}

/**
 * The moment until which each extension of a VM may wait: for those that it depends on, until the last of them concluded
 * or must have, and for its turn (AZ-G2). Its own deadline counts from then on, so that nothing is called late for what
 * is slow before it. Null where it waits for none; what is to be disabled or uninstalled depends on none.
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
    let latest = isConcluded(extension) ? null : turnOf(extension, extensions);
    for (const other of dependsOn.map((dependency) => byName.get(dependency))) {
      // In a circle, which the portal rejects, one of them comes before the other is known.
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
 * A machine does one step at a time, and who has not begun stands behind what runs: the moment when the last command
 * before it ended, or must end. What was asked for after its time was over, and what an agent that was started again
 * runs once more, puts nothing off; it would go on for ever.
 */
function turnOf(extension: Dependency, all: readonly Dependency[]): Date | null {
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

/** Whether a command was run for its goal. */
const hasBegun = ({ handlerState, goalSequenceNumber }: Dependency): boolean =>
  handlerState !== null && handlerState.sequenceNumber >= goalSequenceNumber && handlerState.command != null;

const isRunning = ({ handlerState }: Dependency): boolean =>
  handlerState !== null &&
  isRunningState(handlerState.state) &&
  handlerState.exitCode == null &&
  !handlerState.timedOut;

/** The extensions of one VM, to each of which that moment is added. Who has concluded has no deadline to put off. */
export function withWaits<E extends Dependency>(extensions: readonly E[]): (E & { waitsUntil: Date | null })[] {
  const waits = extensions.length > 1 && !extensions.every(isConcluded) ? waitsUntil(extensions) : null;
  return extensions.map((extension) => Object.assign(extension, { waitsUntil: waits?.get(extension.name) ?? null }));
}
