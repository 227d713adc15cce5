import { and, eq, inArray } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { extensionSequences, extensions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import type { VersionRow } from '#server/domain/packages/index.ts';
import { findSecret, fingerprintOf, type SecretRow, secretStateOf } from './custody.ts';
import {
  type Declared,
  type ExtensionGoalInput,
  findVersion,
  protectedSchemaDigest,
  ruleFaults,
  settingsFaults,
} from './declare.ts';
import { defaultTimeouts, type Effect, effectOf } from './goal-state.ts';
import { type MergedSettings, mergeSettings, requireMergeable, type SettingChanges } from './merge-settings.ts';
import { platformFaults } from './platform-faults.ts';
import { type ExtensionRow, type Head, loadExtensions } from './publish.ts';

/** The change to protected settings. `replaced`: new values were sent, which may equal the old values. */
export type SecretChange = 'none' | 'kept' | 'added' | 'replaced' | 'removed';

/** Placeholder id of a secret that is stored only when the change is applied. */
export const givenSecret = 'given';

/** One extension's change, from its current declaration to its next declaration. */
export interface ExtensionMove {
  name: string;
  current: ExtensionRow | undefined;
  /** Null if the extension is removed without the agent. `secretId` may be `givenSecret`. */
  after: Declared | null;
  secret: SecretChange;
  effect: Effect;
  /** The sequence number after the change. */
  sequenceNumber: number;
  /** Null for a removal, for which the version does not matter. */
  version: VersionRow | null;
  /** Protected settings as the caller sent them; with `merged`, the complete settings after the merge. */
  given: unknown;
  /** How individual protected settings were changed; null if all are kept, replaced or removed. */
  merged: MergedSettings | null;
  /** The protected settings of `current`. */
  stored: SecretRow | null;
  /** Earlier protected settings that a revert declares again. */
  restored: SecretRow | null;
}

/** The effect of a change, and every reason to reject it. */
export interface Evaluation {
  present: ExtensionRow[];
  /** For a declaration or a removal, the requested extension is first. */
  moves: ExtensionMove[];
  faults: Fault[];
}

interface Target {
  name: string;
  /** Contains merged protected settings, if there are any. */
  goal: ExtensionGoalInput;
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
): Promise<Target[]> {
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
export async function versionOrNull(tx: Database | Transaction, goal: ExtensionGoalInput): Promise<VersionRow | null> {
  try {
    return await findVersion(tx, goal);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'version_unknown') return null;
    throw error;
  }
}

/**
 * Evaluates the new declarations of an extension and its siblings against the current declarations, without writing.
 * With `compares`, protected settings that equal the old settings count as kept. Plans must not compare, because they
 * would confirm guessed secrets. Throws 409 `vm_decommissioning` | `uninstalling` | `handler_fixed`.
 */
export async function evaluateDeclaration(
  tx: Transaction,
  ctx: Context,
  head: Head & { decommissioning: boolean },
  targets: readonly Target[],
  compares: boolean,
): Promise<Evaluation> {
  if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
  const present = await loadExtensions(tx, head.vmId);
  const next = await nextSequences(
    tx,
    head.vmId,
    targets.map(({ name }) => name),
  );
  const moves: ExtensionMove[] = [];
  const faults: Fault[] = [];
  for (const { name, goal, merged, path, settings } of targets) {
    const current = present.find((row) => row.name === name);
    if (current?.state === 'uninstall') throw new DomainError('conflict', 'uninstalling', { params: { name } });
    if (current && current.handler !== goal.handler) {
      throw new DomainError('conflict', 'handler_fixed', { params: { name, handler: current.handler } });
    }
    // Read again in this transaction, because the version may have been withdrawn since.
    const version = await versionOrNull(tx, goal);
    if (version === null || settings === null) {
      faults.push({
        path: `${path}/version`,
        code: 'version_unknown',
        params: { handler: goal.handler, version: goal.version },
      });
      continue;
    }
    // The rules between extensions are checked as if siblings already had the new version.
    const among = present.map((row) =>
      row.name !== name && targets.some((target) => target.name === row.name)
        ? { ...row, version: version.version }
        : row,
    );
    const kept = await findSecret(tx, head.vmId, current?.secretId ?? null);
    if (merged !== null) requireMergeable(ctx, head, kept, merged);
    const found = [
      ...ruleFaults(name, goal, version, among),
      ...(await platformFaults(tx, head.vmId, version, goal.state, current)),
      ...settings,
    ];
    if (keepsUnfitSecrets(goal, version, kept)) {
      found.push({ path: '/settings/protectedSettings', code: 'secrets_required' });
    }
    faults.push(...found.map((fault) => ({ ...fault, path: path + fault.path })));
    // Settings that were checked with another schema are stored again, so that they can be kept from then on.
    const mayBeEqual = compares && kept?.schemaDigest === protectedSchemaDigest(version.settingsSchema);
    const secret = secretChangeOf(ctx, head, name, goal.settings.protectedSettings, kept, mayBeEqual);
    const after: Declared = {
      name,
      handler: goal.handler,
      requestedVersion: version.version,
      // If the version was upgraded automatically (not implemented yet), a repeated request keeps the upgraded version.
      version: current && current.requestedVersion === version.version ? current.version : version.version,
      state: goal.state,
      autoUpgradeMinorVersion: goal.autoUpgradeMinorVersion,
      dependsOn: goal.dependsOn,
      timeouts: { ...defaultTimeouts, ...goal.timeouts },
      publicSettings: goal.settings.publicSettings,
      secretId: secret === 'kept' ? (kept?.id ?? null) : secret === 'none' || secret === 'removed' ? null : givenSecret,
    };
    const effect = effectOf(current, after);
    const sequenceNumber = effect === 'sequence' || !current ? (next.get(name) ?? 1) : current.sequenceNumber;
    const given = goal.settings.protectedSettings;
    const secrets = { given, merged, stored: kept, restored: null };
    moves.push({ name, current, after, secret, effect, sequenceNumber, version, ...secrets });
  }
  return { present, moves, faults };
}

/** Whether the goal keeps secrets that were checked against a protected schema other than the new version's. */
function keepsUnfitSecrets(goal: ExtensionGoalInput, version: VersionRow, kept: SecretRow | null): boolean {
  if (!kept || goal.settings.protectedSettings !== undefined) return false;
  return kept.schemaDigest !== protectedSchemaDigest(version.settingsSchema);
}

function secretChangeOf(
  ctx: Context,
  head: Head,
  name: string,
  given: unknown,
  kept: SecretRow | null,
  compares: boolean,
): SecretChange {
  if (given === undefined) return kept ? 'kept' : 'none';
  if (given === null) return kept ? 'removed' : 'none';
  if (!kept) return 'added';
  const comparable = compares && secretStateOf(kept, head) === 'ready';
  return comparable && kept.fingerprint === fingerprintOf(ctx, head.vmId, name, given) ? 'kept' : 'replaced';
}

/**
 * Returns the next sequence number of each extension, without reserving it. A name that the VM never had is absent from
 * the result.
 */
export async function nextSequences(
  tx: Database | Transaction,
  vmId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await tx
    .select({ name: extensionSequences.name, highest: extensionSequences.highest })
    .from(extensionSequences)
    .where(and(eq(extensionSequences.vmId, vmId), inArray(extensionSequences.name, [...names])));
  return new Map(rows.map(({ name, highest }) => [name, highest + 1]));
}
