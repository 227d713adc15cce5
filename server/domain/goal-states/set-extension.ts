import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { findSecret, fingerprintOf, type SecretRow, storeSecret } from './custody.ts';
import {
  type Declared,
  type ExtensionGoalInput,
  findVersion,
  protectedSchemaDigest,
  ruleFaults,
  settingsFaults,
  unprocessable,
  type VersionRow,
} from './declare.ts';
import { canonicalJson, defaultTimeouts, effectOf } from './goal-state.ts';
import { type SetExtensionInput, setExtensionInput } from './input.ts';
import {
  type ExtensionRow,
  type Head,
  loadExtensions,
  lockHead,
  publishGoalState,
  requireIncarnation,
} from './publish.ts';
import { nextSequenceNumber } from './sequence.ts';

/** Answer to a declaration: what is in force now. */
export interface ExtensionReceipt {
  vmId: string;
  name: string;
  handler: string;
  version: string;
  requestedVersion: string;
  state: 'enabled' | 'disabled' | 'uninstall';
  sequenceNumber: number;
  incarnation: number;
}

/**
 * Declares an extension of a VM. Throws 404 `vm_unknown`, 409 `uninstalling` | `handler_fixed` | `vm_decommissioning`,
 * 412 `goal_state_moved_on`, 422 with every fault of rules and settings. An identical request changes nothing.
 */
export async function setExtension(ctx: Context, input: SetExtensionInput): Promise<ExtensionReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, name, goal, ifMatch } = parse(setExtensionInput, input);
  const version = await findVersion(ctx.db, goal);
  const faults = await settingsFaults(ctx, version, goal, await hasSecret(ctx, vmId, name));

  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
    requireIncarnation(head, ifMatch);
    const present = await loadExtensions(tx, vmId);
    const current = present.find((row) => row.name === name);
    if (current?.state === 'uninstall') throw new DomainError('conflict', 'uninstalling', { params: { name } });
    if (current && current.handler !== goal.handler) {
      throw new DomainError('conflict', 'handler_fixed', { params: { name, handler: current.handler } });
    }
    // Read again under the lock: the version may have been withdrawn since.
    const now = await findVersion(tx, goal);
    const all = [...ruleFaults(name, goal, now, present), ...faults];
    const kept = await findSecret(tx, vmId, current?.secretId ?? null);
    if (keepsUnfitSecrets(goal, now, kept)) {
      all.push({ path: '/settings/protectedSettings', code: 'secrets_required' });
    }
    if (all.length > 0) throw unprocessable(all);

    const secretId = await decideSecret(tx, ctx, head, name, goal, now, kept);
    const declared: Declared = {
      name,
      handler: goal.handler,
      requestedVersion: now.version,
      // An automatic upgrade is not undone by repeating the request that it started from.
      version: current && current.requestedVersion === now.version ? current.version : now.version,
      state: goal.state,
      autoUpgradeMinorVersion: goal.autoUpgradeMinorVersion,
      dependsOn: goal.dependsOn,
      timeouts: { ...defaultTimeouts, ...goal.timeouts },
      publicSettings: goal.settings.publicSettings,
      secretId,
    };
    const effect = effectOf(current, declared);
    if (effect === 'none' && current) return receipt(current, head.incarnation);

    const row = await writeExtension(tx, ctx, vmId, declared, current, effect === 'sequence');
    await recordAudit(tx, ctx, {
      action: 'extension.set',
      target: { kind: 'extension', id: name },
      vmId,
      details: auditDetails(current, declared),
    });
    const incarnation = await publishGoalState(tx, ctx, head, { action: 'extension.set', extension: name });
    return receipt(row, incarnation);
  });
}

async function hasSecret(ctx: Context, vmId: string, name: string): Promise<boolean> {
  const [row] = await ctx.db
    .select({ secretId: extensions.secretId })
    .from(extensions)
    .where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)));
  return row !== undefined && row.secretId !== null;
}

/** Old secrets under a new protected schema were never checked against it. */
function keepsUnfitSecrets(goal: ExtensionGoalInput, version: VersionRow, kept: SecretRow | null): boolean {
  if (!kept || goal.settings.protectedSettings !== undefined) return false;
  return kept.schemaDigest !== protectedSchemaDigest(version.settingsSchema);
}

async function decideSecret(
  tx: Transaction,
  ctx: Context,
  head: Head,
  name: string,
  goal: ExtensionGoalInput,
  version: VersionRow,
  kept: SecretRow | null,
): Promise<string | null> {
  const given = goal.settings.protectedSettings;
  if (given === undefined) return kept?.id ?? null;
  if (given === null) return null;
  const usable = kept !== null && (kept.cms !== null || kept.sealed !== null);
  if (usable && kept.fingerprint === fingerprintOf(ctx, head.vmId, name, given)) return kept.id;
  return storeSecret(tx, ctx, head, name, given, protectedSchemaDigest(version.settingsSchema));
}

/** Writes what is declared; a new sequence number starts the operation anew. */
export async function writeExtension(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  declared: Declared,
  current: ExtensionRow | undefined,
  runs: boolean,
): Promise<ExtensionRow> {
  const started = runs && {
    sequenceNumber: await nextSequenceNumber(tx, vmId, declared.name),
    changedAt: ctx.now,
    changedBy: ctx.actor.name,
    deliveredAt: null,
  };
  const { name, ...values } = declared;
  const [row] = current
    ? await tx
        .update(extensions)
        .set({ ...values, ...started })
        .where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)))
        .returning()
    : await tx
        .insert(extensions)
        .values({ vmId, ...declared, sequenceNumber: 1, changedAt: ctx.now, changedBy: ctx.actor.name, ...started })
        .returning();
  if (!row) throw new Error('the extension was not written');
  return row;
}

/** Before and after as people may read it: public settings whole, protected ones as changed or not. */
function auditDetails(before: ExtensionRow | undefined, after: Declared): Record<string, unknown> {
  const shown = (value: Declared | undefined) =>
    value && {
      version: value.version,
      state: value.state,
      autoUpgradeMinorVersion: value.autoUpgradeMinorVersion,
      dependsOn: value.dependsOn,
      timeouts: value.timeouts,
      publicSettings: value.publicSettings,
    };
  return {
    handler: after.handler,
    before: shown(before) ?? null,
    after: shown(after),
    publicSettingsChanged: canonicalJson(before?.publicSettings ?? {}) !== canonicalJson(after.publicSettings),
    protectedSettingsChanged: (before?.secretId ?? null) !== after.secretId,
  };
}

export function receipt(row: ExtensionRow, incarnation: number): ExtensionReceipt {
  return {
    vmId: row.vmId,
    name: row.name,
    handler: row.handler,
    version: row.version,
    requestedVersion: row.requestedVersion,
    state: row.state,
    sequenceNumber: row.sequenceNumber,
    incarnation,
  };
}
