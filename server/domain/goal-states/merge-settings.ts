import type { z } from 'zod';
import type { SettingEntry } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { openSecret, type SecretRow, secretStateOf } from './custody.ts';
import type { settingChanges } from './input.ts';
import type { Head } from './publish.ts';
import { entryOf, settingsByName } from './setting-entries.ts';

/** Changes to individual protected settings. The other settings do not change. */
export type SettingChanges = z.output<typeof settingChanges>;

/** Stored protected settings with changes applied. */
export interface MergedSettings {
  /** Id of the stored settings; null if there were none. */
  basis: string | null;
  /** Null if no setting is left. */
  value: Record<string, unknown> | null;
  /** When and by whom each unchanged setting was entered, by name. */
  carried: ReadonlyMap<string, SettingEntry>;
  /** Whether no setting is set or removed. */
  isSame: boolean;
}

/**
 * Applies changes to the stored protected settings, in memory only. Throws 409 `secrets_custody` if the portal may not
 * or cannot read the stored settings, and 409 `secrets_not_object` if these are not an object.
 */
export function mergeSettings(
  ctx: Pick<Context, 'keys' | 'config'>,
  row: SecretRow | null,
  { set, remove }: SettingChanges,
): MergedSettings {
  const reason = row === null ? custodyReason(ctx) : unreadable(ctx, row);
  if (reason !== null) throw new DomainError('conflict', reason);
  const stored = Object.entries(row === null ? {} : (settingsByName(openSecret(ctx, row)) ?? {}));
  const removed = new Set(remove);
  const kept = stored.filter(([name]) => !removed.has(name) && !Object.hasOwn(set, name));
  const value = { ...Object.fromEntries(kept), ...set };
  return {
    basis: row?.id ?? null,
    value: Object.keys(value).length === 0 ? null : value,
    carried: new Map(row === null ? [] : kept.map(([name]) => [name, entryOf(ctx, row, name)])),
    isSame: kept.length === stored.length && Object.keys(set).length === 0,
  };
}

const custodyReason = (ctx: Pick<Context, 'config'>) =>
  ctx.config.custody === 'vm' ? ('secrets_custody' as const) : null;

/**
 * Returns why the portal cannot read settings by name; null if it can. Decrypts the settings only if `entries` does not
 * show that they are an object.
 */
function unreadable(ctx: Pick<Context, 'keys' | 'config'>, row: SecretRow) {
  if (custodyReason(ctx) !== null || row.sealed === null) return 'secrets_custody' as const;
  const isObject = row.entries !== null || settingsByName(openSecret(ctx, row)) !== null;
  return isObject ? null : ('secrets_not_object' as const);
}

/**
 * Returns why individual settings cannot be changed; null if they can. Withheld settings must be released first: a
 * merged copy would be encrypted for the machine's key, with settings that the caller may not release.
 */
export function mergeObstacle(ctx: Pick<Context, 'keys' | 'config'>, row: SecretRow, head: Head) {
  return unreadable(ctx, row) ?? (secretStateOf(row, head) === 'needsRelease' ? ('secrets_withheld' as const) : null);
}

/**
 * Rejects merged settings if other settings were stored after the merge, or if the stored settings are withheld from
 * the machine's key.
 */
export function requireMergeable(
  ctx: Pick<Context, 'keys' | 'config'>,
  head: Head,
  stored: SecretRow | null,
  { basis }: MergedSettings,
): void {
  if (basis !== (stored?.id ?? null)) {
    throw new DomainError('precondition_failed', 'goal_state_moved_on', { params: { incarnation: head.incarnation } });
  }
  const reason = stored && mergeObstacle(ctx, stored, head);
  if (reason !== null) throw new DomainError('conflict', reason);
}
