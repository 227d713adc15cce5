import { eq, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { handlerVersions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Holds these bytes for the transaction: nobody removes them meanwhile, and nobody registers them. */
export async function lockBytes(tx: Transaction, sha256: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${sha256}, 0))`);
}

/** Removes a package's bytes when no version has them any more. */
export async function removeUnusedBytes(ctx: Pick<Context, 'db' | 'blobs'>, sha256: string): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await lockBytes(tx, sha256);
    const users = await tx.$count(handlerVersions, eq(handlerVersions.sha256, sha256));
    if (users === 0) await ctx.blobs.remove(sha256);
  });
}
