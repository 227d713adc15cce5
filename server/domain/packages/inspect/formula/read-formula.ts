import type { PackageFile } from '#db/schema/index.ts';
import { type FormulaMetadata, readMetadata } from '#protocol/formula.ts';
import { metadataFileName, optionsFileName } from '#protocol/formula-words.ts';
import { unitLimits } from '#protocol/unit-state.ts';
import type { Limits } from '#server/platform/limits.ts';
import { parseYaml, type YamlText } from '#server/platform/yaml.ts';
import type { Findings, PackageManifest } from '../finding.ts';
import { checkHooks, hooksOf } from './hooks.ts';
import { readOptions } from './options.ts';

/** The files of a formula that the inspection reads, and the names of all entries. */
export interface FormulaFiles {
  /** The bytes of metadata.yaml; null if they could not be read. */
  metadata: Buffer | null;
  /** The bytes of config.yaml; null if the package has none or if they could not be read. */
  options: Buffer | null;
  files: readonly PackageFile[];
  /** Names of folders, with a slash at the end. */
  folders: readonly string[];
}

interface FindingLists {
  faults: Findings;
  warnings: Findings;
}

/**
 * Reads the metadata, options and hooks of a formula, and adds their findings. Positions in YAML files are in the
 * parameters `line` and `column`. Returns null if there are faults. `name` is the name that the formula must have; null
 * accepts any name.
 */
export function readFormula(
  { metadata: bytes, options, files, folders }: FormulaFiles,
  name: string | null,
  limits: Limits,
  { faults, warnings }: FindingLists,
): PackageManifest | null {
  const before = faults.count;
  const publicSettings = options === null ? null : readSettings(options, limits, faults);
  const metadata = bytes === null ? null : readMetadataFile(bytes, name, limits, faults);
  checkHooks({ files, folders, formula: metadata }, faults, warnings);
  if (metadata === null || faults.count > before) return null;
  return {
    kind: 'formula',
    manifest: { ...metadata, hooks: hooksOf(files, metadata) },
    settingsSchema: publicSettings && { publicSettings },
  };
}

function readMetadataFile(
  bytes: Buffer,
  name: string | null,
  limits: Limits,
  faults: Findings,
): FormulaMetadata | null {
  const yaml = parseFile(metadataFileName, bytes, limits, faults);
  if (yaml === null) return null;
  const read = readMetadata(yaml.value);
  if ('faults' in read) {
    for (const { path, code, params } of read.faults) addAt(faults, yaml, metadataFileName, path, code, params);
    return null;
  }
  if (name !== null && read.metadata.name !== name) {
    addAt(faults, yaml, metadataFileName, '/name', 'formula_other_name', { expected: name });
  }
  // An agent accepts no unit state with more, neither for this unit nor for the others of its machine.
  const { masked: limit } = unitLimits;
  if (read.metadata.masked.length > limit)
    addAt(faults, yaml, metadataFileName, '/masked', 'masked_too_many', { limit });
  return read.metadata;
}

/** Returns the schema of the public settings that the options describe; null if they have faults. */
function readSettings(bytes: Buffer, limits: Limits, faults: Findings): Record<string, unknown> | null {
  const yaml = parseFile(optionsFileName, bytes, limits, faults);
  if (yaml === null) return null;
  const read = readOptions(yaml.value);
  if ('faults' in read) {
    for (const { path, code, params } of read.faults) addAt(faults, yaml, optionsFileName, path, code, params);
    return null;
  }
  const limit = limits.settings.schemaBytes;
  if (Buffer.byteLength(JSON.stringify(read.schema)) > limit)
    faults.add(optionsFileName, 'schema_too_large', { limit });
  return read.schema;
}

function parseFile(file: string, bytes: Buffer, { jsonDepth }: Limits, faults: Findings): YamlText | null {
  const yaml = parseYaml(bytes, { maxDepth: jsonDepth });
  if (!('faults' in yaml)) return yaml;
  for (const { path, code, params } of yaml.faults) faults.add(pathIn(file, path), code, params);
  return null;
}

/** Adds a finding about a value in a YAML file, with the position of the value. */
function addAt(
  findings: Findings,
  yaml: YamlText,
  file: string,
  pointer: string,
  code: Parameters<Findings['add']>[1],
  params: Record<string, string | number> = {},
): void {
  findings.add(pathIn(file, pointer), code, { ...params, ...yaml.placeOf(pointer) });
}

const pathIn = (file: string, pointer: string): string => (pointer === '' ? file : `${file}#${pointer}`);
