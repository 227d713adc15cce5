import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { handlerVersions, type SettingsSchema } from '#db/schema/index.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { requireVersion } from './find-version.ts';
import { type SetSettingsSchemaInput, setSettingsSchemaInput } from './input.ts';
import { checkSchema } from './schema/run-schema.ts';

const halves = ['publicSettings', 'protectedSettings'] as const;

export const settingsSchema = z.object({
  publicSettings: z.unknown().optional(),
  protectedSettings: z.unknown().optional(),
});

export const versionSchema = z.object({ handler: z.string(), version: z.string(), settingsSchema });
export type VersionSchema = z.infer<typeof versionSchema>;

/**
 * Sets the settings schema of a draft (AZ-P7). The check fetches no external references and runs within limits. Throws
 * 409 `schema_fixed` if the version was already published, 422 with every fault of the schemas by path.
 */
export async function setSettingsSchema(ctx: Context, input: SetSettingsSchemaInput): Promise<VersionSchema> {
  const { schema: given, ...reference } = parse(setSettingsSchemaInput, input);
  allowNamespace(ctx.actor, parseHandlerId(reference.handler)?.namespace ?? '');
  requireDraft(await requireVersion(ctx.db, reference));
  const schema = await checkSettingsSchema(ctx, given);

  return ctx.db.transaction(async (tx) => {
    const row = await requireVersion(tx, reference, { lock: true });
    requireDraft(row);
    const { handler, version } = row;
    await tx
      .update(handlerVersions)
      .set({ settingsSchema: schema, settingsSchemaFrom: null })
      .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));
    await recordAudit(tx, ctx, {
      action: 'version.set-schema',
      target: { kind: 'version', id: `${handler}-${version}` },
      before: row.settingsSchema,
      after: schema,
      details: { handler, version },
    });
    await recordChange(tx, 'handler', handler);
    return { handler, version, settingsSchema: schema };
  });
}

function requireDraft({ version, state }: { version: string; state: string }): void {
  if (state !== 'draft') throw new DomainError('conflict', 'schema_fixed', { params: { version } });
}

/** Checks the schemas of both halves of the settings, and returns them. Throws 422 with every fault by path. */
export async function checkSettingsSchema(ctx: Context, given: unknown): Promise<SettingsSchema> {
  const faults: Fault[] = [];
  const limit = ctx.config.limits.settings.schemaBytes;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new DomainError('unprocessable', 'schema_refused', { faults: [{ path: '', code: 'field_not_object' }] });
  }
  const schema = given as Record<string, unknown>;
  for (const key of Object.keys(schema)) {
    if (!(halves as readonly string[]).includes(key)) faults.push({ path: jsonPointer([key]), code: 'field_unknown' });
  }
  const present = halves.filter((half) => schema[half] !== undefined);
  const fitting = present.filter((half) => Buffer.byteLength(JSON.stringify(schema[half])) <= limit);
  for (const half of present) {
    if (!fitting.includes(half)) faults.push({ path: `/${half}`, code: 'schema_too_large', params: { limit } });
  }
  const toCheck: SettingsSchema = Object.fromEntries(fitting.map((half) => [half, schema[half]]));
  faults.push(...(await checkSchema(ctx, toCheck)));
  if (faults.length > 0) throw new DomainError('unprocessable', 'schema_refused', { faults });
  return Object.fromEntries(present.map((half) => [half, schema[half]]));
}
