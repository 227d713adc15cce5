import { inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

export async function removeUnitsIn(tx: Transaction, { now }: Pick<Context, 'now'>, ids: readonly string[]): Promise<void> {
  await tx.update(units).set({ removedAt: now }).where(inArray(units.id, [...ids]));
}
