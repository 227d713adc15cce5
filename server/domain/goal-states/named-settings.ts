import type { Services } from '#server/domain/context.ts';
import { openSecret, type SecretRow } from './custody.ts';
import { entryKey, entryOf, settingsByName } from './setting-entries.ts';

/** A stored protected setting: its name, and when and by whom it was last entered. */
export interface NamedSetting {
  name: string;
  changedAt: string;
  changedBy: string;
}

/** Maximum number of listed names. Any further settings are only counted. */
const maxNames = 200;

/**
 * Lists stored protected settings without their values: first the settings that the schema defines, in the order of the
 * schema, then all other settings by name. Decrypts the portal's copy only if there are settings that the schema does
 * not define. `unnamed` counts the settings whose names are not shown, because there are too many or because the portal
 * cannot read the names (docs/adr/0016).
 */
export function namedSettings(
  ctx: Pick<Services, 'keys'>,
  row: SecretRow,
  defined: readonly string[],
): { settings: NamedSetting[]; unnamed: number } {
  const { entries } = row;
  const found = defined.filter((name) => entries?.[entryKey(ctx, row.vmId, row.name, name)] !== undefined);
  const total = entries === null ? null : Object.keys(entries).length;
  const names = total === found.length ? found : (openNames(ctx, row, defined) ?? found);
  const settings = names.slice(0, maxNames).map((name): NamedSetting => {
    const { at, by } = entryOf(ctx, row, name);
    return { name, changedAt: at, changedBy: by };
  });
  return { settings, unnamed: Math.max(names.length, total ?? 0) - settings.length };
}

/** Reads the names from the portal's copy; null if there is no copy. */
function openNames(ctx: Pick<Services, 'keys'>, row: SecretRow, defined: readonly string[]): string[] | null {
  if (row.sealed === null) return null;
  const present = new Set(Object.keys(settingsByName(openSecret(ctx, row)) ?? {}));
  const first = defined.filter((name) => present.delete(name));
  return [...first, ...[...present].sort()];
}
