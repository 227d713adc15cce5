import type { agentProblems } from '#db/schema/index.ts';
import type { ExtensionFacts } from '#server/domain/health/index.ts';

type Problem = typeof agentProblems.$inferSelect;

/**
 * Age in milliseconds after which a problem counts as outdated. Agents report a lasting problem only once, so the
 * portal cannot tell whether an old problem still exists.
 */
const openMs = 24 * 3_600_000;

/** Facts about the VM that decide when a problem of the goal state or of a restart ends. */
interface VmState {
  deliveredAt: Date | null;
  restartPending: boolean;
}

/**
 * Returns the problems that may still exist, newest first, for at most a day each. A problem of an extension ends once
 * the file that the agent named is read again. If the agent named none, the problem ends once the heartbeat and the
 * status, or whichever of them is still expected, have been read again.
 * A problem of the goal state ends once another goal state is delivered. A failed restart command runs again with the
 * next goal state, so its problem ends then, or once no restart is pending.
 */
export function openProblems(
  problems: readonly Problem[],
  extensions: readonly ExtensionFacts[],
  { deliveredAt, restartPending }: VmState,
  now: Date,
): Problem[] {
  return problems
    .filter(({ about, at, file }) => {
      if (now.getTime() - at.getTime() > openMs) return false;
      const isNewestGoal = deliveredAt === null || deliveredAt <= at;
      if (about === 'goal-state') return isNewestGoal;
      if (about === 'restart' && restartPending) return isNewestGoal;
      const extension = extensions.find(({ name }) => name === about);
      return extension !== undefined && !isReadSince(extension, file, at);
    })
    .toSorted((a, b) => b.at.getTime() - a.at.getTime());
}

function isReadSince(extension: ExtensionFacts, file: Problem['file'], at: Date): boolean {
  if (file === 'status') return extension.statusReadAt !== null && extension.statusReadAt > at;
  if (file === 'heartbeat') return extension.heartbeatReadAt !== null && extension.heartbeatReadAt > at;
  // Agents of the first release do not name the file.
  const { optedIn, heartbeatReadAt, statusReadAt, statusSequence, goalSequenceNumber, concludedAt } = extension;
  const heartbeat = !optedIn || (heartbeatReadAt !== null && heartbeatReadAt > at);
  const isConcluded = concludedAt !== null && statusSequence === goalSequenceNumber;
  return heartbeat && (isConcluded || (statusReadAt !== null && statusReadAt > at));
}
