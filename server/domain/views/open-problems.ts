import type { agentProblems } from '#db/schema/index.ts';
import type { ExtensionFacts } from '#server/domain/health/index.ts';

type Problem = typeof agentProblems.$inferSelect;

/** An agent says a problem once, while it lasts: older ones are nobody's any more. */
const openMs = 24 * 3_600_000;

/**
 * Problems that an agent has not made good since, newest first. What it could not read of an extension is over when all
 * files of that extension that are still read were read after; a bad goal state is, when another one went out.
 */
export function openProblems(
  problems: readonly Problem[],
  extensions: readonly ExtensionFacts[],
  deliveredAt: Date | null,
  now: Date,
): Problem[] {
  return problems
    .filter(({ about, at, file }) => {
      if (now.getTime() - at.getTime() > openMs) return false;
      if (about === 'goal-state') return deliveredAt === null || deliveredAt <= at;
      const extension = extensions.find(({ name }) => name === about);
      return extension !== undefined && !isReadSince(extension, file, at);
    })
    .toSorted((a, b) => b.at.getTime() - a.at.getTime());
}

function isReadSince(extension: ExtensionFacts, file: Problem['file'], at: Date): boolean {
  if (file === 'status') return extension.statusReadAt !== null && extension.statusReadAt > at;
  if (file === 'heartbeat') return extension.heartbeatReadAt !== null && extension.heartbeatReadAt > at;
  // Agents of the first release do not say which file it was.
  const { optedIn, heartbeatReadAt, statusReadAt, statusSequence, goalSequenceNumber, concludedAt } = extension;
  const heartbeat = !optedIn || (heartbeatReadAt !== null && heartbeatReadAt > at);
  const isConcluded = concludedAt !== null && statusSequence === goalSequenceNumber;
  return heartbeat && (isConcluded || (statusReadAt !== null && statusReadAt > at));
}
