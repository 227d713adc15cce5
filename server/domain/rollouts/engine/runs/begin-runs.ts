import { fetchSeconds, secondsAfter } from '#server/domain/rollout-rules/step-times.ts';
import { type Beginner, emptyStep } from '../empty-step.ts';
import type { Pass, StepRow } from '../pass.ts';
import { orderOf } from './order-of.ts';
import { queueRuns } from './queue-runs.ts';

/**
 * Queues one execution for each of these members. Returns their steps: those whose VM cannot run it say so. Nothing
 * begins if the version was just withdrawn; the next pass then pauses the rollout.
 */
export async function publishRuns(pass: Pass, some: readonly Beginner[]): Promise<StepRow[]> {
  const { now } = pass.ctx;
  const found = await orderOf(pass);
  if ('code' in found) {
    if (found.code === 'runbook_withdrawn') return [];
    const cause = `refused:${found.code}`;
    return some.map(({ turn, ring }) => ({ ...emptyStep(pass, turn, ring), state: 'skipped', cause, decidedAt: now }));
  }
  const queued = await queueRuns(
    pass,
    found.order,
    some.map(({ turn }) => turn.vmId),
  );
  return some.map(({ turn, ring, wasHealthy }): StepRow => {
    const step = emptyStep(pass, turn, ring);
    const result = queued.get(turn.vmId);
    switch (result?.outcome) {
      case 'queued':
        return {
          ...{ ...step, state: 'inFlight', attempt: 1, executionId: result.executionId },
          ...{ wasHealthy, publishedAt: now, dueAt: secondsAfter(now, fetchSeconds) },
        };
      case 'refused':
        return { ...step, state: 'skipped', cause: `refused:${result.code}`, decidedAt: now };
      case 'busy':
        return { ...step, cause: 'vm-busy' };
      default:
        return { ...step, state: 'gone', decidedAt: now };
    }
  });
}
