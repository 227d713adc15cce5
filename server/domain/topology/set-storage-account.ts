import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { storageAccounts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { time } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type SetStorageAccountInput, setStorageAccountInput } from './input.ts';

/** A storage account as the API returns it. */
export const storageAccount = z
  .object({ name: z.string(), location: z.string(), createdAt: time, createdBy: z.string() })
  .meta({ id: 'StorageAccount' });
export type StorageAccount = z.infer<typeof storageAccount>;

const shown = ({ createdAt, ...row }: typeof storageAccounts.$inferSelect): StorageAccount => ({
  ...row,
  createdAt: createdAt.toISOString(),
});

/**
 * Creates a storage account, which a model requires for its bootstrap. An identical request changes nothing. Throws 409
 * `storage_account_elsewhere` if it exists in another location.
 */
export async function setStorageAccount(
  ctx: Context,
  input: SetStorageAccountInput,
): Promise<{ account: StorageAccount; isNew: boolean }> {
  allow(ctx.actor, 'admin');
  const { name, location } = parse(setStorageAccountInput, input);
  return ctx.db.transaction(async (tx) => {
    const [created] = await tx
      .insert(storageAccounts)
      .values({ name, location, createdAt: ctx.now, createdBy: ctx.actor.name })
      .onConflictDoNothing()
      .returning();
    if (created !== undefined) {
      await recordAudit(tx, ctx, {
        action: 'storage-account.create',
        target: { kind: 'storage-account', id: name },
        after: { location },
      });
      return { account: shown(created), isNew: true };
    }
    const [row] = await tx.select().from(storageAccounts).where(eq(storageAccounts.name, name));
    if (row?.location !== location)
      throw new DomainError('conflict', 'storage_account_elsewhere', { params: { location: row?.location ?? '' } });
    return { account: shown(row), isNew: false };
  });
}

/** Lists the storage accounts by name. */
export async function listStorageAccounts(ctx: Context): Promise<{ items: StorageAccount[] }> {
  allow(ctx.actor, 'viewer');
  const rows = await ctx.db.select().from(storageAccounts).orderBy(storageAccounts.name);
  return { items: rows.map(shown) };
}
