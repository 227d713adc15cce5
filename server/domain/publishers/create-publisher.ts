import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { publishers } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { instant } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type CreatePublisherInput, createPublisherInput } from './input.ts';

export const publisher = z.object({ namespace: z.string(), displayName: z.string(), createdAt: instant });
export type Publisher = z.infer<typeof publisher>;

/**
 * Creates a publisher. Throws 409 `publisher_taken` if its namespace exists, even if only the case differs, because
 * `acme` next to `Acme` would be misleading.
 */
export async function createPublisher(ctx: Context, input: CreatePublisherInput): Promise<Publisher> {
  allow(ctx.actor, 'admin');
  const given = parse(createPublisherInput, input);
  return ctx.db.transaction((tx) => insertPublisher(tx, ctx, given));
}

/** Creates a publisher in the caller's transaction, as `createPublisher` does. */
export async function insertPublisher(
  tx: Transaction,
  ctx: Context,
  { namespace, displayName }: CreatePublisherInput,
): Promise<Publisher> {
  const [created] = await tx
    .insert(publishers)
    .values({ namespace, displayName, createdAt: ctx.now })
    .onConflictDoNothing()
    .returning();
  if (created === undefined) {
    const [other] = await tx.select().from(publishers).where(sql`lower(${publishers.namespace}) = lower(${namespace})`);
    throw new DomainError('conflict', 'publisher_taken', { params: { namespace: other?.namespace ?? namespace } });
  }
  await recordAudit(tx, ctx, {
    action: 'publisher.create',
    target: { kind: 'publisher', id: namespace },
    after: { namespace, displayName },
    details: { name: displayName },
  });
  await recordChange(tx, 'publisher', namespace);
  return created;
}
