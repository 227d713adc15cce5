import { z } from 'zod';
import { time } from '#server/domain/answers.ts';
import type { Services } from '#server/domain/context.ts';
import type { ExtensionMove } from './move.ts';
import { type NamedSetting, namedSettings } from './named-settings.ts';
import { definedSettings, settingsByName } from './setting-entries.ts';

/** What a change does to one protected setting. A plan never compares values, so it cannot confirm a guess. */
export const plannedSetting = z.object({
  name: z.string(),
  /** `returned`: a revert restores an earlier value. `replaced`: a value was sent, which may equal the stored value. */
  change: z.enum(['kept', 'added', 'replaced', 'removed', 'returned']),
  /** When and by whom the stored value was entered; with `returned`, the restored value. Null with `added`. */
  changedAt: time.nullable(),
  changedBy: z.string().nullable(),
});
export type PlannedSetting = z.infer<typeof plannedSetting>;

/** Lists what a change does to each protected setting whose name can be shown. */
export function plannedSettings(ctx: Pick<Services, 'keys'>, move: ExtensionMove): PlannedSetting[] {
  const defined = definedSettings(move.version?.settingsSchema ?? null);
  const stored = move.stored === null ? [] : namedSettings(ctx, move.stored, defined).settings;
  const as = (change: PlannedSetting['change'], settings: readonly NamedSetting[]): PlannedSetting[] =>
    settings.map((setting) => ({ ...setting, change }));
  if (move.secret === 'none') return [];
  if (move.secret === 'kept') return as('kept', stored);
  if (move.secret === 'removed') return as('removed', stored);
  if (move.restored !== null) {
    const restored = namedSettings(ctx, move.restored, defined).settings;
    const without = (names: readonly NamedSetting[]) =>
      stored.filter(({ name }) => !names.some((other) => other.name === name));
    const stays = (setting: NamedSetting) =>
      stored.some(
        ({ name, changedAt, changedBy }) =>
          name === setting.name && changedAt === setting.changedAt && changedBy === setting.changedBy,
      );
    return [
      ...restored.flatMap((setting) => as(stays(setting) ? 'kept' : 'returned', [setting])),
      ...as('removed', without(restored)),
    ];
  }
  return plannedEntries(move, stored, as);
}

/** Returns when and by whom the settings that a revert restores were last changed; null if it restores none. */
export function restoredSettings({ secret, restored }: ExtensionMove): { changedAt: string; changedBy: string } | null {
  if (restored === null || (secret !== 'added' && secret !== 'replaced')) return null;
  return { changedAt: restored.changedAt.toISOString(), changedBy: restored.changedBy };
}

/** Maximum number of settings that a plan lists, because a large request can name thousands. */
const maxListed = 400;

function plannedEntries(
  { given, merged }: ExtensionMove,
  stored: readonly NamedSetting[],
  as: (change: PlannedSetting['change'], settings: readonly NamedSetting[]) => PlannedSetting[],
): PlannedSetting[] {
  const names = Object.keys(settingsByName(given) ?? {});
  const now = names.flatMap((name): PlannedSetting[] => {
    const old = stored.find((setting) => setting.name === name);
    if (old !== undefined) return as(merged?.carried.has(name) ? 'kept' : 'replaced', [old]);
    return merged?.carried.has(name) ? [] : [{ name, change: 'added', changedAt: null, changedBy: null }];
  });
  const isGiven = new Set(names);
  return [
    ...now,
    ...as(
      'removed',
      stored.filter(({ name }) => !isGiven.has(name)),
    ),
  ].slice(0, maxListed);
}

/**
 * Returns the changed protected settings for the activity log, which viewers can read: the names that the schema
 * defines, and the number of other settings.
 */
export function loggedSettings(ctx: Pick<Services, 'keys'>, move: ExtensionMove): Record<string, unknown> {
  const changed = plannedSettings(ctx, move).filter(({ change }) => change !== 'kept');
  if (changed.length === 0) return {};
  const defined = new Set(definedSettings(move.version?.settingsSchema ?? null));
  const named = changed.filter(({ name }) => defined.has(name));
  const names = (isRemoved: boolean) =>
    named.filter(({ change }) => (change === 'removed') === isRemoved).map(({ name }) => name);
  return { protectedSettings: { set: names(false), removed: names(true), others: changed.length - named.length } };
}
