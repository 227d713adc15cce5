import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { extensions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import type { VersionRow } from '#server/domain/packages/index.ts';
import { findSecret, type SecretRow } from './custody.ts';
import { type ExtensionGoalInput, findVersion, protectedSchemaDigest, settingsFaults } from './declare.ts';
import { type MergedSettings, mergeSettings, type SettingChanges } from './merge-settings.ts';
import type { ExtensionRow } from './publish.ts';

/** An extension to declare, with the faults of its settings. */
export interface DeclarationTarget {
  name: string;
  /** Contains merged protected settings, if there are any. */
  goal: ExtensionGoalInput;
  /** The requested version, if it differs from the version to declare. */
  requestedVersion?: string;
  merged: MergedSettings | null;
  /** Prefix of the paths of the extension's faults. */
  path: string;
  /** Faults of the settings; null if the version does not exist. */
  settings: Fault[] | null;
}

/**
 * Returns the requested extension and, with `siblings`, the other extensions of its handler, each with the faults of
 * its settings. Schemas run in a worker, so no transaction may be open (AZ-C1).
 */
export async function resolveTargets(
  ctx: Context,
  vmId: string,
  name: string,
  goal: ExtensionGoalInput,
  { siblings, changes }: { siblings: boolean; changes: SettingChanges | undefined },
): Promise<DeclarationTarget[]> {
  const present = await ctx.db.select().from(extensions).where(eq(extensions.vmId, vmId));
  const current = present.find((row) => row.name === name);
  const merged = changes === undefined ? null : await mergedFor(ctx, vmId, current, goal, changes);
  const targets = [{ name, goal: withProtected(goal, merged), merged, path: '' }];
  if (siblings) {
    for (const row of present) {
      if (row.name === name || row.handler !== goal.handler || row.state === 'uninstall') continue;
      targets.push({
        name: row.name,
        goal: withVersion(row, goal.version),
        merged: null,
        path: `/siblings/${row.name}`,
      });
    }
  }
  return Promise.all(
    targets.map(async (target) => {
      const version = await versionOrNull(ctx.db, target.goal);
      const kept = present.some((row) => row.name === target.name && row.secretId !== null);
      const settings = version && (await settingsFaults(ctx, version, target.goal, kept));
      return { ...target, settings };
    }),
  );
}

/**
 * Merges changes into the stored protected settings. Returns null if no setting changes and the settings were checked
 * against the same schema when they were entered.
 */
async function mergedFor(
  ctx: Context,
  vmId: string,
  current: ExtensionRow | undefined,
  goal: ExtensionGoalInput,
  changes: SettingChanges,
): Promise<MergedSettings | null> {
  const stored = await findSecret(ctx.db, vmId, current?.secretId ?? null);
  const merged = mergeSettings(ctx, stored, changes);
  if (!merged.isSame) return merged;
  const version = stored && (await versionOrNull(ctx.db, goal));
  return version && keepsUnfitSecrets(goal, version, stored) ? merged : null;
}

const withProtected = (goal: ExtensionGoalInput, merged: MergedSettings | null): ExtensionGoalInput =>
  merged === null ? goal : { ...goal, settings: { ...goal.settings, protectedSettings: merged.value } };

const withVersion = (row: ExtensionRow, version: string): ExtensionGoalInput => ({
  handler: row.handler,
  version,
  state: row.state === 'disabled' ? 'disabled' : 'enabled',
  autoUpgradeMinorVersion: row.autoUpgradeMinorVersion,
  dependsOn: row.dependsOn,
  timeouts: row.timeouts,
  settings: { publicSettings: row.publicSettings },
});

/** Returns the requested version, or null if it does not exist. */
async function versionOrNull(tx: Database | Transaction, goal: ExtensionGoalInput): Promise<VersionRow | null> {
  try {
    return await findVersion(tx, goal);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'version_unknown') return null;
    throw error;
  }
}

/** Whether the goal keeps secrets that were checked against a protected schema other than the new version's. */
export function keepsUnfitSecrets(goal: ExtensionGoalInput, version: VersionRow, kept: SecretRow | null): boolean {
  if (!kept || goal.settings.protectedSettings !== undefined) return false;
  return kept.schemaDigest !== protectedSchemaDigest(version.settingsSchema);
}
