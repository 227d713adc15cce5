import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { orderKey } from '#server/domain/rollout-rules/order.ts';
import { ringTakes } from '#server/domain/rollout-rules/rings.ts';
import type { StoredFilter } from '#server/domain/rollout-rules/stored.ts';
import type { StoredRollout } from '../rows.ts';
import type { EvaluatedMember } from './evaluate-members.ts';
import { matchingIds } from './select-vms.ts';

/** A member with the key that orders the members of a ring. */
export interface KeyedMember extends EvaluatedMember {
  hash: string;
}

/**
 * Divides members into the rings of a rollout. Each ring takes, in order, those that no earlier ring took and that match
 * its filter, until its boundary is reached.
 */
export async function placeMembers(
  tx: Transaction,
  ctx: Context,
  { id, definition }: StoredRollout,
  members: readonly EvaluatedMember[],
): Promise<KeyedMember[][]> {
  let left = members.map((member): KeyedMember => ({ ...member, hash: orderKey(id, member.vmId) })).sort(inOrder);
  const placed: KeyedMember[][] = [];
  let taken = 0;
  for (const { filter, upTo } of definition.rings) {
    const among = filter === null ? null : await readIds(tx, ctx, filter);
    const matching = among === null ? left : left.filter(({ vmId }) => among.has(vmId));
    const size = ringTakes(upTo, { members: members.length, taken, matching: matching.length });
    const ring = matching.slice(0, size);
    const inRing = new Set(ring);
    left = left.filter((member) => !inRing.has(member));
    taken += size;
    placed.push(ring);
  }
  return placed;
}

const inOrder = (a: KeyedMember, b: KeyedMember): number =>
  Number(b.isFirst) - Number(a.isFirst) || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0);

async function readIds(tx: Transaction, ctx: Context, filter: StoredFilter): Promise<ReadonlySet<string>> {
  const { rows } = await tx.execute<{ id: string }>(matchingIds(ctx, filter));
  return new Set(rows.map(({ id }) => id));
}
