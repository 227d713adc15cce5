import type { PackageFile } from '#db/schema/index.ts';
import { type FormulaMetadata, hookNames } from '#protocol/formula.ts';
import { metadataFileName } from '#protocol/formula-words.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import { unitLimits } from '#protocol/unit-state.ts';
import type { Findings } from '../finding.ts';
import { nearestName } from './nearest-name.ts';

const folder = 'hooks/';
/** The hook of another system, and the hook of a formula that has the same purpose. */
const others: Readonly<Record<string, string>> = { 'upgrade-charm': 'upgrade-formula' };

export interface HookFiles {
  files: readonly PackageFile[];
  /** Names of folders, with a slash at the end. */
  folders: readonly string[];
  /** Null if the metadata has faults. */
  formula: FormulaMetadata | null;
}

/** Returns the hooks that a formula's package contains, sorted. */
export function hooksOf(files: readonly PackageFile[], formula: FormulaMetadata): string[] {
  const known = new Set(hookNames(formula));
  return files
    .filter(({ name }) => name.startsWith(folder))
    .map(({ name }) => name.slice(folder.length))
    .filter((name) => known.has(name))
    .sort();
}

/**
 * Adds a fault for each hook that is a folder, and a warning for each file in `hooks` and each time limit that belongs
 * to no hook. Files in folders below `hooks` are not hooks.
 */
export function checkHooks({ files, folders, formula }: HookFiles, faults: Findings, warnings: Findings): void {
  const none = { provides: {}, requires: {}, peers: {} };
  const known = new Set(hookNames(formula ?? none));
  const nearest = (name: string) => (warnings.isFull ? '' : nearestName(name, [...known]));
  const asFolders = new Set(
    [...files.map(({ name }) => name), ...folders].flatMap((name) => /^hooks\/([^/]+)\//.exec(name)?.[1] ?? []),
  );
  for (const name of asFolders) {
    if (known.has(name)) faults.add(`${folder}${name}`, 'hook_not_file', { hook: name });
  }
  const { hooks: limit } = unitLimits;
  if (formula !== null && hooksOf(files, formula).length > limit) faults.add('hooks', 'hooks_too_many', { limit });
  for (const { name: path, mode } of files) {
    const name = path.startsWith(folder) ? path.slice(folder.length) : '';
    if (name === '' || name.includes('/')) continue;
    if (known.has(name)) {
      if (mode !== null && (mode & 0o111) === 0) warnings.add(path, 'hook_not_executable', { hook: name });
    } else if (Object.hasOwn(others, name)) {
      warnings.add(path, 'hook_other_system', { hook: name, replacement: others[name] ?? '' });
    } else if (formula !== null) {
      warnings.add(path, 'hook_unknown', { hook: name, nearest: nearest(name) });
    }
  }
  for (const name of Object.keys(formula?.timeouts ?? {})) {
    if (name === 'default' || known.has(name)) continue;
    const path = `${metadataFileName}#${jsonPointer(['timeouts', name])}`;
    warnings.add(path, 'hook_unknown', { hook: name, nearest: nearest(name) });
  }
}
