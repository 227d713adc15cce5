import { eq } from 'drizzle-orm';
import { publishers } from '#db/schema/index.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { newVersionInput, type VersionReferenceInput } from './input.ts';

/**
 * Checks whether the actor may upload a package for this version, before the portal receives its bytes, which may be
 * half a gigabyte. Throws 401, 403, 404 `publisher_unknown`, 422 for an invalid name or version.
 */
export async function admitPackage(ctx: Context, input: VersionReferenceInput): Promise<void> {
  const { handler } = parse(newVersionInput, { handler: input.handler, version: input.version });
  const namespace = parseHandlerId(handler)?.namespace ?? '';
  allowNamespace(ctx.actor, namespace);
  const found = await ctx.db.$count(publishers, eq(publishers.namespace, namespace));
  if (found === 0) throw new DomainError('not_found', 'publisher_unknown', { params: { namespace } });
}
