import { type AnyManifest, type FormulaManifest, isHandlerManifest } from '#protocol/formula.ts';
import { relationSides } from '#protocol/formula-words.ts';
import { architectures, operatingSystems, type Platform, supportsPlatform } from '#protocol/platform.ts';
import { jsonPointer, pointerPath } from '#protocol/pointer.ts';
import type { VersionRow } from './find-version.ts';
import { outlineSchema } from './schema-outline.ts';

type Compared = Pick<VersionRow, 'settingsSchema'>;

/**
 * Returns the settings that `after` no longer describes, and the settings that it newly requires. A setting inside a
 * removed setting is not listed. Nothing is listed if `after` has no schema, because it then accepts every setting.
 */
export function settingLosses(before: Compared, after: Compared): { removed: string[]; required: string[] } {
  if (after.settingsSchema === null) return { removed: [], required: [] };
  const old = outlineSchema(before.settingsSchema);
  const current = outlineSchema(after.settingsSchema);
  const removed = new Set([...old.settings].filter((setting) => !current.settings.has(setting)));
  const required = [...current.required].filter((setting) => {
    const parent = parentOf(setting);
    // A requirement inside a new optional object affects no existing settings.
    const isReached = pointerPath(parent).length <= 1 || old.settings.has(parent) || current.required.has(parent);
    return !old.required.has(setting) && isReached;
  });
  return { removed: [...removed].filter((setting) => !removed.has(parentOf(setting))), required };
}

const parentOf = (pointer: string): string => jsonPointer(pointerPath(pointer).slice(0, -1));

/** Returns the platforms that only `before` supports, in as few entries as possible. */
export function droppedPlatforms(before: readonly Platform[] | null, after: readonly Platform[] | null): Platform[] {
  return operatingSystems.flatMap((os): Platform[] => {
    const dropped = architectures.filter(
      (arch) => supportsPlatform(before, { os, arch }) && !supportsPlatform(after, { os, arch }),
    );
    if (dropped.length === architectures.length) return [{ os }];
    return dropped.map((arch) => ({ os, arch }));
  });
}

const flags = ['reportHeartbeat', 'supportsMultipleExtensions'] as const;

/**
 * Returns the properties of the manifest that are gone: additional commands and flags that are no longer true; for a
 * formula, relations that are gone or have another interface, and hooks.
 */
export function manifestLosses(before: AnyManifest, after: AnyManifest): string[] {
  if (!isHandlerManifest(before) || !isHandlerManifest(after)) {
    return isHandlerManifest(before) || isHandlerManifest(after) ? [] : formulaLosses(before, after);
  }
  const [old, current] = [before.handlerManifest, after.handlerManifest];
  const commands = Object.keys(old).filter((name) => name.endsWith('Command') && current[name] === undefined);
  return [...commands, ...flags.filter((flag) => old[flag] === true && current[flag] !== true)];
}

function formulaLosses(before: FormulaManifest, after: FormulaManifest): string[] {
  const relations = relationSides.flatMap((side) =>
    Object.entries(before[side])
      .filter(([name, one]) => after[side][name]?.interface !== one.interface)
      .map(([name]) => `${side} ${name}`),
  );
  return [...relations, ...before.hooks.filter((hook) => !after.hooks.includes(hook))];
}

/** Returns the files that both packages contain and that are executable only in `before`. */
export function executableLosses(before: VersionRow['files'], after: VersionRow['files']): string[] {
  const isExecutable = (mode: number | null) => mode !== null && (mode & 0o111) !== 0;
  const current = new Map(after.map(({ name, mode }) => [name, mode]));
  return before
    .filter(({ name, mode }) => isExecutable(mode) && current.has(name) && !isExecutable(current.get(name) ?? null))
    .map(({ name }) => name);
}
