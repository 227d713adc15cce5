import { rm } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { handlers, handlerVersions, type StoredWarning } from '#db/schema/index.ts';
import type { AnyManifest } from '#protocol/formula.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { versionKey } from '#protocol/version.ts';
import { count, sha256 } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { admitPackage } from './admit-package.ts';
import { lockBytes, removeUnusedBytes } from './bytes.ts';
import { findVersion, type VersionRow } from './find-version.ts';
import { type RegisterPackageInput, registerPackageInput } from './input.ts';
import type { AcceptedPackage } from './inspect/finding.ts';
import { inspectPackage } from './inspect/inspect-package.ts';
import { findKind, otherKind } from './require-kind.ts';
import { versionState } from './version-state.ts';

/** The result of an upload. `created` is false if the same bytes were already registered. */
export const registeredPackage = z.object({
  created: z.boolean(),
  handler: z.string(),
  version: z.string(),
  state: versionState,
  sha256,
  size: count,
  manifest: z.custom<AnyManifest>(),
  warnings: z.array(z.custom<StoredWarning>()),
});
export type RegisteredPackage = z.infer<typeof registeredPackage>;

/**
 * Registers a version from an uploaded file as a draft (AZ-P1, AZ-P6). Uploading the same bytes again only replaces the
 * stored bytes, which may be lost or damaged. Throws 404 `publisher_unknown`, 409 for different bytes or another
 * spelling of the handler or version, 422 with every fault of the package. The package of a formula also provides the
 * public half of its settings schema. The uploaded file is always deleted, and a version is never registered partially.
 */
export async function registerPackage(ctx: Context, input: RegisterPackageInput): Promise<RegisteredPackage> {
  try {
    await admitPackage(ctx, input);
    return await register(ctx, parse(registerPackageInput, input));
  } finally {
    await rm(input.file.path, { force: true });
  }
}

async function register(ctx: Context, input: RegisterPackageInput): Promise<RegisteredPackage> {
  const { file } = input;
  const present = await findVersion(ctx.db, input);
  if (present !== null) return again(ctx, present, input);

  const expected = { kind: input.kind ?? (await findKind(ctx.db, input.handler)), name: nameOf(input) };
  const inspection = await inspectPackage(ctx.memory, file.path, ctx.config.limits, expected);
  if (!inspection.ok) throw new DomainError('unprocessable', 'package_refused', { faults: inspection.faults });

  try {
    return await ctx.db.transaction(async (tx) => {
      await lockBytes(tx, file.sha256);
      const row = await writeVersion(tx, ctx, input, inspection);
      if (row === null) return again(ctx, await registeredFirst(tx, input), input);
      await recordAudit(tx, ctx, {
        action: 'version.register',
        target: { kind: 'version', id: `${row.handler}-${row.version}` },
        after: { state: row.state, sha256: row.sha256, size: row.size, warnings: row.warnings.length },
        details: { handler: row.handler, version: row.version },
      });
      await recordChange(tx, 'handler', row.handler);
      await ctx.blobs.putFile(file.path, file.sha256);
      return answer(row, true);
    });
  } catch (error) {
    await removeUnusedBytes(ctx, file.sha256).catch((cause: unknown) =>
      ctx.log.warn({ cause, sha256: file.sha256 }, 'bytes of an unregistered package may remain'),
    );
    throw error;
  }
}

const nameOf = ({ handler }: RegisterPackageInput): string | null => parseHandlerId(handler)?.type ?? null;

/** Writes the handler and the version. Returns null if the version was registered concurrently. */
async function writeVersion(
  tx: Transaction,
  ctx: Context,
  { handler, version, file }: RegisterPackageInput,
  { kind, manifest, manifestText, settingsSchema, files, warnings }: AcceptedPackage,
): Promise<VersionRow | null> {
  const { namespace, type } = parseHandlerId(handler) ?? { namespace: '', type: '' };
  await tx.insert(handlers).values({ id: handler, namespace, type, kind, createdAt: ctx.now }).onConflictDoNothing();
  const [known] = await tx
    .select({ id: handlers.id, kind: handlers.kind })
    .from(handlers)
    .where(sql`lower(${handlers.id}) = lower(${handler})`)
    .for('update');
  if (known?.id !== handler) {
    throw new DomainError('conflict', 'handler_other_spelling', { params: { handler: known?.id ?? handler } });
  }
  if (known.kind !== kind) throw otherKind(handler, known.kind);
  const [row] = await tx
    .insert(handlerVersions)
    .values({
      handler,
      version,
      versionKey: versionKey(version) ?? '',
      state: 'draft',
      sha256: file.sha256,
      size: file.size,
      manifest,
      manifestText,
      settingsSchema,
      files,
      warnings,
      createdAt: ctx.now,
      createdBy: ctx.actor.name,
    })
    .onConflictDoNothing()
    .returning();
  return row ?? null;
}

async function registeredFirst(tx: Transaction, input: RegisterPackageInput): Promise<VersionRow> {
  const row = await findVersion(tx, input);
  if (row === null) throw new DomainError('conflict', 'version_moved');
  return row;
}

/**
 * Handles a version that already exists: the same spelling and bytes are accepted, anything else is rejected (AZ-P1,
 * AZ-P6). The uploaded bytes replace the stored bytes, which may be lost or damaged.
 */
async function again(
  ctx: Context,
  row: VersionRow,
  { version, file }: RegisterPackageInput,
): Promise<RegisteredPackage> {
  if (row.version !== version) {
    throw new DomainError('conflict', 'version_other_spelling', { params: { version, registered: row.version } });
  }
  if (row.sha256 !== file.sha256) {
    const code = row.state === 'draft' ? 'draft_other_contents' : 'version_other_contents';
    throw new DomainError('conflict', code, { params: { version } });
  }
  if ((await ctx.blobs.size(row.sha256)) !== row.size) {
    ctx.log.warn(
      { sha256: row.sha256, version: row.version },
      'the bytes of a package were lost; this upload restores them',
    );
  }
  await ctx.blobs.putFile(file.path, file.sha256);
  return answer(row, false);
}

function answer(row: VersionRow, created: boolean): RegisteredPackage {
  const { handler, version, state, sha256, size, manifest, warnings } = row;
  return { created, handler, version, state, sha256, size, manifest, warnings };
}
