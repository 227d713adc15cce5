import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { handlerVersions } from '#db/schema/index.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { requireVersion } from './find-version.ts';
import { platformsInput, type SetPlatformsInput, setPlatformsInput } from './input.ts';

export const supportedPlatforms = platformsInput.extend({ handler: z.string(), version: z.string() });
export type SupportedPlatforms = z.infer<typeof supportedPlatforms>;

/**
 * Sets the platforms that a draft supports; an empty list means every platform. Throws 409 `platforms_fixed` if the
 * version was already published.
 */
export async function setPlatforms(ctx: Context, input: SetPlatformsInput): Promise<SupportedPlatforms> {
  const { platforms, ...reference } = parse(setPlatformsInput, input);
  allowNamespace(ctx.actor, parseHandlerId(reference.handler)?.namespace ?? '');
  return ctx.db.transaction(async (tx) => {
    const row = await requireVersion(tx, reference, { lock: true });
    const { handler, version, state } = row;
    if (state !== 'draft') throw new DomainError('conflict', 'platforms_fixed', { params: { version } });
    await tx
      .update(handlerVersions)
      .set({ platforms: platforms.length === 0 ? null : platforms })
      .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));
    await recordAudit(tx, ctx, {
      action: 'version.set-platforms',
      target: { kind: 'version', id: `${handler}-${version}` },
      before: row.platforms ?? [],
      after: platforms,
      details: { handler, version },
    });
    await recordChange(tx, 'handler', handler);
    return { handler, version, platforms };
  });
}
