import { and, eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import type { ExtensionContents, SettingsSchema } from '#db/schema/index.ts';
import { handlerVersions } from '#db/schema/index.ts';
import { findCycle, versionKey } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { checkSettings, type HandlerVersionRow, type VersionRow } from '#server/domain/packages/index.ts';
import { parseJson } from '#server/platform/json.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { canonicalJson } from './goal-state.ts';
import type { extensionGoal } from './input.ts';
import type { ExtensionRow } from './publish.ts';

export type ExtensionGoalInput = z.output<typeof extensionGoal>;

/** Finds a version in any spelling (`1.0` finds `1.0.0.0`). Throws 422 `version_unknown`. */
export async function findVersion(
  tx: Database | Transaction,
  goal: Pick<ExtensionGoalInput, 'handler' | 'version'>,
): Promise<VersionRow> {
  const key = versionKey(goal.version);
  if (key !== null) {
    const [row] = await tx
      .select()
      .from(handlerVersions)
      .where(and(eq(handlerVersions.handler, goal.handler), eq(handlerVersions.versionKey, key)));
    if (row) return row;
  }
  throw unprocessable([
    { path: '/version', code: 'version_unknown', params: { handler: goal.handler, version: goal.version } },
  ]);
}

/**
 * Returns the faults of the settings. Call it before opening a transaction, because it waits for a worker that checks
 * the settings against the schema (AZ-C1). Protected settings that are neither given nor kept count as empty, so
 * that missing required settings are reported.
 */
export async function settingsFaults(
  ctx: Context,
  version: VersionRow,
  goal: ExtensionGoalInput,
  keepsSecrets: boolean,
): Promise<Fault[]> {
  const limit = ctx.config.limits.settings.halfBytes;
  const faults: Fault[] = [];
  for (const half of ['publicSettings', 'protectedSettings'] as const) {
    const value = goal.settings[half];
    if (value === undefined || value === null) continue;
    const path = `/settings/${half}`;
    const text = JSON.stringify(value);
    if (Buffer.byteLength(text) > limit) faults.push({ path, code: 'settings_too_large', params: { limit } });
    // The pages send objects instead of JSON text, so the limits of JSON documents are checked here too.
    const read = parseJson(text, { maxDepth: ctx.config.limits.jsonDepth });
    faults.push(...read.faults.map((fault) => ({ ...fault, path: path + fault.path })));
  }
  if (faults.length > 0) return faults;
  const { publicSettings, protectedSettings = keepsSecrets ? undefined : null } = goal.settings;
  const found = await checkSettings(ctx, version.settingsSchema, { publicSettings, protectedSettings });
  return found.map((fault) => ({ ...fault, path: `/settings${fault.path}` }));
}

/**
 * Returns a digest of the protected half of a schema. Secrets can be kept only if the new version has the same digest.
 */
export function protectedSchemaDigest(schema: SettingsSchema | null): string | null {
  return schema?.protectedSettings === undefined ? null : sha256Hex(canonicalJson(schema.protectedSettings));
}

/** The fields of an extension that the rules between extensions read. */
export type RuledExtension = Pick<ExtensionRow, 'name' | 'handler' | 'version' | 'state' | 'dependsOn'>;

/**
 * Returns a fault for each rule that an extension violates together with the VM's other extensions. An extension may
 * keep a version that was withdrawn.
 */
export function ruleFaults(
  name: string,
  goal: Pick<ExtensionGoalInput, 'handler' | 'dependsOn'>,
  version: Pick<HandlerVersionRow, 'version' | 'state' | 'manifest'>,
  present: readonly RuledExtension[],
): Fault[] {
  const faults: Fault[] = [];
  const current = present.find((row) => row.name === name);
  const others = present.filter((row) => row.name !== name && row.state !== 'uninstall');
  const params = { handler: goal.handler, version: version.version };

  if (version.state === 'draft') faults.push({ path: '/version', code: 'version_draft', params });
  if (version.state === 'withdrawn' && current?.version !== version.version) {
    faults.push({ path: '/version', code: 'version_withdrawn', params });
  }
  const sibling = present.find((row) => row.name !== name && row.handler === goal.handler);
  const single = singleFault(goal.handler, version, sibling);
  if (single) faults.push(single);
  else if (sibling && sibling.version !== version.version) {
    faults.push({
      path: '/version',
      code: 'version_shared',
      params: { name: sibling.name, version: sibling.version },
    });
  }
  goal.dependsOn.forEach((dependency, index) => {
    if (dependency === name || others.some((row) => row.name === dependency)) return;
    faults.push({ path: `/dependsOn/${index}`, code: 'dependency_unknown', params: { name: dependency } });
  });
  // Searches from this extension, so that a reported cycle begins with this extension.
  const cycle = findCycle([{ name, dependsOn: goal.dependsOn }, ...others]);
  if (cycle) faults.push({ path: '/dependsOn', code: 'dependency_circle', params: { circle: cycle.join(' → ') } });
  return faults;
}

/** Returns a fault if the handler allows only one extension and already has another extension; otherwise null. */
export function singleFault(
  handler: string,
  { manifest }: Pick<HandlerVersionRow, 'manifest'>,
  sibling: Pick<ExtensionRow, 'name'> | undefined,
): Fault | null {
  if (!sibling || manifest.handlerManifest.supportsMultipleExtensions === true) return null;
  return { path: '/handler', code: 'single_extension', params: { handler, name: sibling.name } };
}

export const unprocessable = (faults: Fault[]): DomainError => {
  const [first] = faults;
  const only = faults.length === 1 && first;
  return new DomainError('unprocessable', only ? first.code : 'invalid', {
    params: only ? first.params : undefined,
    faults,
  });
};

export type Declared = Omit<ExtensionContents, 'sequenceNumber'>;
