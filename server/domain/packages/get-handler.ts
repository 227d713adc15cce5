import { desc, eq } from 'drizzle-orm';
import { z } from 'zod';
import { handlers, handlerVersions, publishers } from '#db/schema/index.ts';
import { packageKinds } from '#protocol/formula-words.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { allow } from '#server/domain/actor.ts';
import { count, instant, sha256 } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetHandlerInput, getHandlerInput } from './input.ts';
import { versionState } from './version-state.ts';

export const versionSummary = z.object({
  version: z.string(),
  state: versionState,
  sha256,
  size: count,
  createdAt: instant,
  createdBy: z.string(),
  publishedAt: instant.nullable(),
  withdrawnAt: instant.nullable(),
  withdrawnReason: z.string().nullable(),
});
export type VersionSummary = z.infer<typeof versionSummary>;

export const handlerDetails = z.object({
  handler: z.string(),
  namespace: z.string(),
  type: z.string(),
  kind: z.enum(packageKinds),
  publisher: z.string(),
  createdAt: instant,
  /** All versions, the highest first. */
  versions: z.array(versionSummary),
});
export type HandlerDetails = z.infer<typeof handlerDetails>;

/** Returns a handler with its versions. Throws 404 `handler_unknown`, or `not_found` for an invalid name. */
export async function getHandler(ctx: Context, input: GetHandlerInput): Promise<HandlerDetails> {
  allow(ctx.actor, 'viewer');
  const { handler } = parse(getHandlerInput, input);
  if (parseHandlerId(handler) === null) throw new DomainError('not_found', 'not_found');
  const [found] = await ctx.db
    .select({
      handler: handlers.id,
      namespace: handlers.namespace,
      type: handlers.type,
      kind: handlers.kind,
      publisher: publishers.displayName,
      createdAt: handlers.createdAt,
    })
    .from(handlers)
    .innerJoin(publishers, eq(publishers.namespace, handlers.namespace))
    .where(eq(handlers.id, handler));
  if (found === undefined) throw new DomainError('not_found', 'handler_unknown', { params: { handler } });
  const versions = await ctx.db
    .select({
      version: handlerVersions.version,
      state: handlerVersions.state,
      sha256: handlerVersions.sha256,
      size: handlerVersions.size,
      createdAt: handlerVersions.createdAt,
      createdBy: handlerVersions.createdBy,
      publishedAt: handlerVersions.publishedAt,
      withdrawnAt: handlerVersions.withdrawnAt,
      withdrawnReason: handlerVersions.withdrawnReason,
    })
    .from(handlerVersions)
    .where(eq(handlerVersions.handler, handler))
    .orderBy(desc(handlerVersions.versionKey));
  return { ...found, versions };
}
