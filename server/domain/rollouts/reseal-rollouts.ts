import { asc, eq, isNotNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { type Keys, seal, unseal } from '#server/platform/keys.ts';
import { boundTo } from './secrets.ts';

/** Reseals the protected settings of rollouts with the keys `to`. Returns the number of rollouts. */
export async function resealRollouts(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  const rows = await tx
    .select({ id: rollouts.id, sealed: rollouts.sealed })
    .from(rollouts)
    .where(isNotNull(rollouts.sealed))
    .orderBy(asc(rollouts.id));
  for (const { id, sealed } of rows) {
    const plain = unseal(from.sealing, sealed ?? Buffer.alloc(0), boundTo(id));
    await tx
      .update(rollouts)
      .set({ sealed: seal(to.sealing, plain, boundTo(id)) })
      .where(eq(rollouts.id, id));
    plain.fill(0);
  }
  return rows.length;
}
