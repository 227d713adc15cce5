import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import type { MemberKind } from '#server/domain/rollout-rules/words.ts';
import { type Cause, publishGoalStates } from '../publish.ts';
import type { Applied, MemberRequest } from './change.ts';
import { evaluateMembers } from './evaluate-members.ts';
import { lockFreeHeads, readLiveHeads } from './heads.ts';
import { kindOf } from './kind-of.ts';
import { type MemberWrite, writeMany } from './write-many.ts';

/**
 * Applies each change to its VM in the caller's transaction. A VM whose change is rejected, or that another transaction
 * is changing, does not affect the others: the result says so. Schemas run in a worker meanwhile, so VMs that are
 * changed by others are left out instead of waited for. The number of statements does not depend on the number of VMs.
 */
export async function applyMany(
  tx: Transaction,
  ctx: Context,
  requests: readonly MemberRequest[],
  cause: Cause,
): Promise<Map<string, Applied>> {
  if (requests.length === 0) return new Map();
  const byVm = new Map(requests.map((request) => [request.vmId, request]));
  const locked = await lockFreeHeads(tx, [...byVm.keys()]);
  const live = await readLiveHeads(tx, [...byVm.keys()]);
  const applied = new Map<string, Applied>(requests.map(({ vmId }) => [vmId, { outcome: 'gone' }]));
  for (const { vmId } of live) if (!locked.has(vmId)) applied.set(vmId, { outcome: 'busy' });
  const heads = live.filter(({ vmId }) => locked.has(vmId));
  const evaluations = await evaluateMembers(tx, ctx, heads, byVm, { faults: new Map(), maxChecks: null });
  const writes: MemberApply[] = [];
  for (const [vmId, result] of evaluations) {
    const request = byVm.get(vmId);
    if (!request) continue;
    if (result.outcome !== 'change') {
      applied.set(vmId, result);
      continue;
    }
    const kind = kindOf(request.change, result.evaluation);
    const { head } = result.vm;
    if (request.planned !== null && request.planned !== kind) applied.set(vmId, { outcome: 'moved', kind });
    else writes.push({ head, evaluation: result.evaluation, setBy: setByOf(request), kind });
  }
  await write(tx, ctx, writes, cause, applied);
  return applied;
}

/** A change to one VM that is to be applied. */
interface MemberApply extends MemberWrite {
  kind: MemberKind;
}

const setByOf = ({ change }: MemberRequest) => (change.kind === 'patch' ? change.setBy : undefined);

async function write(
  tx: Transaction,
  ctx: Context,
  writes: readonly MemberApply[],
  cause: Cause,
  applied: Map<string, Applied>,
): Promise<void> {
  const touched = await writeMany(tx, ctx, writes);
  await publishGoalStates(
    tx,
    ctx,
    writes.map(({ head }) => head),
    cause,
  );
  for (const { head, kind } of writes) {
    const { vmId, incarnation } = head;
    applied.set(vmId, {
      outcome: 'applied',
      kind,
      beforeIncarnation: incarnation,
      incarnation: incarnation + 1,
      touched: touched.get(vmId) ?? [],
    });
  }
}
