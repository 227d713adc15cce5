import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { handlerVersions } from '#db/schema/index.ts';

/** Marks a locked draft as published. `publishVersion` in localization checks whether it may be published. */
export async function markPublished(
  tx: Transaction,
  { handler, version }: { handler: string; version: string },
  publishedAt: Date,
): Promise<void> {
  await tx
    .update(handlerVersions)
    .set({ state: 'published', publishedAt })
    .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));
}
