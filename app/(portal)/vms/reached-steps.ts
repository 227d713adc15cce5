import type { InstanceView } from '#server/domain/views/index.ts';

type Progress = Pick<InstanceView, 'health'> & { agent: Pick<InstanceView['agent'], 'enrolledAt' | 'lastSeenAt'> };

/**
 * Returns how many steps of an enrollment are complete: the machine has enrolled (1), its agent has polled (2), and the
 * VM is healthy (3). `before` is when the VM's previous machine enrolled; null if there was none.
 */
export function reachedSteps(view: Progress | undefined, before: string | null): number {
  const enrolledAt = view?.agent.enrolledAt ?? null;
  if (view === undefined || enrolledAt === null || enrolledAt === before) return 0;
  const { lastSeenAt } = view.agent;
  if (lastSeenAt === null || lastSeenAt < enrolledAt) return 1;
  return view.health === 'healthy' ? 3 : 2;
}
