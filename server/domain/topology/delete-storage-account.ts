import { and, asc, eq, isNull } from 'drizzle-orm';
import { models, storageAccounts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type DeleteStorageAccountInput, deleteStorageAccountInput } from './input.ts';

/**
 * Deletes a storage account that no model uses. A model uses its account from its creation until it is destroyed. Throws
 * 404 `storage_account_gone`, 409 `storage_account_in_use`.
 */
export async function deleteStorageAccount(ctx: Context, input: DeleteStorageAccountInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { name } = parse(deleteStorageAccountInput, input);
  await ctx.db.transaction(async (tx) => {
    // A bootstrap locks the account too, so none begins until this is committed.
    const [account] = await tx.select().from(storageAccounts).where(eq(storageAccounts.name, name)).for('update');
    if (account === undefined) throw new DomainError('not_found', 'storage_account_gone');
    const [user] = await tx
      .select({ model: models.name })
      .from(models)
      .where(and(eq(models.storageAccount, name), isNull(models.removedAt)))
      .orderBy(asc(models.name))
      .limit(1);
    if (user !== undefined) throw new DomainError('conflict', 'storage_account_in_use', { params: user });
    await tx.delete(storageAccounts).where(eq(storageAccounts.name, name));
    await recordAudit(tx, ctx, {
      action: 'storage-account.delete',
      target: { kind: 'storage-account', id: name },
      before: { location: account.location },
    });
  });
}
