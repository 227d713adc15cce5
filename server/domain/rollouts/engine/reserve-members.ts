import { reserve } from '#server/domain/reservations/index.ts';
import { type Beginner, emptyStep } from './empty-step.ts';
import { holderOf } from './holder.ts';
import { type Pass, setStep } from './pass.ts';
import { flushSteps } from './write-steps.ts';

/** The members that may begin, and the VMs that were reserved for them. */
interface Reserved {
  free: Beginner[];
  vmIds: Set<string>;
}

/**
 * Reserves the members that are in a disruption group (RO-15). Members whose group is busy by now are parked. A revert
 * needs no reservation for the steps that it takes over, because their rollout hands it over.
 */
export async function reserveMembers(pass: Pass, beginners: readonly Beginner[]): Promise<Reserved> {
  const { tx, ctx, row, rules } = pass;
  const wanted = beginners.flatMap(({ turn: { vmId }, group, isTakenOver }) =>
    group === null || isTakenOver ? [] : [{ vmId, group }],
  );
  if (wanted.length === 0) return { free: [...beginners], vmIds: new Set() };
  const limit = row.definition.availabilitySets === 'respect' ? 1 : null;
  const vmIds = await reserve(tx, holderOf(row.id), wanted, { tag: rules.availabilitySetTag, limit, now: ctx.now });
  const isRefused = new Set(wanted.flatMap(({ vmId }) => (vmIds.has(vmId) ? [] : [vmId])));
  for (const { turn, ring } of beginners) {
    if (!isRefused.has(turn.vmId)) continue;
    setStep(pass, turn.step?.state ?? null, { ...emptyStep(pass, turn, ring), cause: 'set-busy' });
  }
  await flushSteps(pass);
  return { free: beginners.filter(({ turn }) => !isRefused.has(turn.vmId)), vmIds };
}
