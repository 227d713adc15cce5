import type { SettingEntry, SettingsSchema } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { keyedDigest } from '#server/platform/keys.ts';

type Entries = Record<string, SettingEntry>;
type Keys = Pick<Services, 'keys'>;

/** Maximum number of settings with individual entries. If there are more, the row's columns apply to all settings. */
const maxEntries = 200;

/** Returns protected settings by name; null if the value is not an object. */
export function settingsByName(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Returns the names of the protected settings that a schema defines. */
export function definedSettings(schema: SettingsSchema | null): string[] {
  const properties = settingsByName(settingsByName(schema?.protectedSettings)?.properties);
  return Object.keys(properties ?? {});
}

/** Returns the key of a setting in `entries`: a keyed digest of its name, salted per VM and extension. */
export function entryKey({ keys }: Keys, vmId: string, extension: string, setting: string): string {
  return keyedDigest(keys.fingerprint, vmId, extension, 'setting', setting).subarray(0, 16).toString('base64url');
}

interface Entered {
  /** Null if the value is not an object or has too many settings. */
  entries: Entries | null;
  /** The actor who entered all settings; null if several actors entered them, or if the actor is unknown. */
  setBy: string | null;
}

/** Returns the entry of each setting of `value`: the one in `carried` or, for settings not listed there, `entered`. */
export function entriesOf(
  ctx: Keys,
  extension: { vmId: string; name: string },
  value: unknown,
  entered: SettingEntry,
  carried: ReadonlyMap<string, SettingEntry>,
): Entered {
  const names = Object.keys(settingsByName(value) ?? {});
  if (names.length === 0) return { entries: null, setBy: entered.setBy };
  const authors = new Set(names.map((name) => (carried.get(name) ?? entered).setBy));
  const [author = null] = authors;
  const setBy = authors.size === 1 ? author : null;
  if (names.length > maxEntries) return { entries: null, setBy };
  const key = (name: string) => entryKey(ctx, extension.vmId, extension.name, name);
  return { entries: Object.fromEntries(names.map((name) => [key(name), carried.get(name) ?? entered])), setBy };
}

/** Returns who entered one setting. */
export function entryOf(
  ctx: Keys,
  row: {
    vmId: string;
    name: string;
    entries: Entries | null;
    changedAt: Date;
    changedBy: string;
    setBy: string | null;
  },
  setting: string,
): SettingEntry {
  const entry = row.entries?.[entryKey(ctx, row.vmId, row.name, setting)];
  return entry ?? { at: row.changedAt.toISOString(), by: row.changedBy, setBy: row.setBy };
}

/**
 * Returns the entries of `value` under the digests of another key. Entries of settings that `value` does not have are
 * dropped.
 */
export function rekeyedEntries(
  from: Keys,
  to: Keys,
  row: { vmId: string; name: string; entries: Entries | null },
  value: unknown,
): Entries | null {
  const { vmId, name, entries } = row;
  if (entries === null) return null;
  return Object.fromEntries(
    Object.keys(settingsByName(value) ?? {}).flatMap((setting) => {
      const entry = entries[entryKey(from, vmId, name, setting)];
      return entry === undefined ? [] : [[entryKey(to, vmId, name, setting), entry]];
    }),
  );
}
