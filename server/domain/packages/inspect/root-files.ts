import { metadataFileName, optionsFileName, type PackageKind } from '#protocol/formula-words.ts';
import { manifestFileName } from '#protocol/manifest.ts';
import type { ExpectedPackage, Findings } from './finding.ts';
import type { PlacedEntry } from './placed-entry.ts';

/** The files at the root of a package that the inspection reads. */
export interface RootFiles {
  kind: PackageKind;
  /** Null if the package has faults because of it. */
  manifest: PlacedEntry | null;
  /** The options of a formula; null if there are none. */
  options: PlacedEntry | null;
}

/** The manifest of each kind, other spellings of its name, and the faults of a manifest that is missing. */
const manifests = {
  handler: {
    file: manifestFileName,
    spellings: [manifestFileName.toLowerCase()],
    codes: { absent: 'manifest_absent', inFolder: 'manifest_in_folder', spelling: 'manifest_spelling' },
    otherKind: { path: metadataFileName, code: 'package_is_formula' },
  },
  formula: {
    file: metadataFileName,
    spellings: [metadataFileName, 'metadata.yml'],
    codes: { absent: 'metadata_absent', inFolder: 'metadata_in_folder', spelling: 'metadata_spelling' },
    otherKind: { path: manifestFileName, code: 'package_is_handler' },
  },
} as const;

/**
 * Determines the kind of a package by the manifest at its root, and finds the files to read. Adds a fault for two
 * manifests, for the manifest of another kind than expected, and for a missing manifest (AZ-P2).
 */
export function findRootFiles(
  placed: readonly PlacedEntry[],
  expected: ExpectedPackage['kind'],
  faults: Findings,
): RootFiles {
  const atRoot = (file: string) => placed.find(({ name }) => name === file) ?? null;
  const found = { handler: atRoot(manifests.handler.file), formula: atRoot(manifests.formula.file) };
  if (found.handler && found.formula) faults.add('', 'package_two_kinds');
  const kind = expected ?? kindOf(found, placed);
  const manifest = found[kind] ?? findElsewhere(placed, kind, faults);
  if (manifest === null && found[kind === 'handler' ? 'formula' : 'handler']) {
    const { path, code } = manifests[kind].otherKind;
    faults.add(path, code);
  }
  return { kind, manifest, options: kind === 'formula' ? atRoot(optionsFileName) : null };
}

/** Returns the kind of a package that may be of either kind. Without a manifest at the root, a near miss decides. */
function kindOf(found: Record<PackageKind, PlacedEntry | null>, placed: readonly PlacedEntry[]): PackageKind {
  if (found.handler) return 'handler';
  if (found.formula) return 'formula';
  const isNear = (kind: PackageKind) => nearMisses(placed, kind).length > 0;
  return !isNear('handler') && isNear('formula') ? 'formula' : 'handler';
}

const nearMisses = (placed: readonly PlacedEntry[], kind: PackageKind): PlacedEntry[] =>
  placed.filter(({ name }) =>
    (manifests[kind].spellings as readonly string[]).includes((name ?? '').split(/[/\\]/).at(-1)?.toLowerCase() ?? ''),
  );

/** Adds a fault for each manifest that is in a folder or is spelled differently, or for the missing manifest. */
function findElsewhere(placed: readonly PlacedEntry[], kind: PackageKind, faults: Findings): null {
  const { file, codes } = manifests[kind];
  const elsewhere = nearMisses(placed, kind);
  for (const { entry, name } of elsewhere) {
    const slash = Math.max((name ?? '').lastIndexOf('/'), (name ?? '').lastIndexOf('\\'));
    if (slash < 0) faults.add(entry.shown, codes.spelling);
    else faults.add(entry.shown, codes.inFolder, { folder: entry.shown.slice(0, slash) });
  }
  if (elsewhere.length === 0) faults.add(file, codes.absent);
  return null;
}
