import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type FormulaMetadata, hookNames, readMetadata } from '#protocol/formula.ts';
import { sentenceOf } from '../agent-error.ts';
import { unpack } from '../handler/unpack.ts';
import { faultSentence } from './fault-sentence.ts';

/** A formula as unpacked for a trial. */
export interface ReadFormula {
  metadata: FormulaMetadata;
  /** The names of the hooks that the formula has. */
  hooks: string[];
  /** The defaults of its options. */
  defaults: Record<string, unknown>;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Unpacks a formula and reads its metadata and options. Returns the faults as sentences. The portal checks more when
 * the formula is uploaded.
 */
export async function readFormula(
  zip: string,
  folder: string,
): Promise<{ formula: ReadFormula | null; faults: string[] }> {
  mkdirSync(folder, { recursive: true });
  try {
    await unpack(zip, folder);
  } catch (error) {
    return { formula: null, faults: [`The package cannot be unpacked: ${sentenceOf(error)}.`] };
  }
  const metadata = yamlIn(folder, 'metadata.yaml');
  const config = yamlIn(folder, 'config.yaml');
  if (metadata.fault !== undefined) return { formula: null, faults: [metadata.fault] };
  const faults = config.fault === undefined ? [] : [config.fault];
  const read = readMetadata(metadata.value);
  if ('faults' in read) {
    return { formula: null, faults: [...faults, ...read.faults.map((one) => `metadata.yaml: ${faultSentence(one)}`)] };
  }
  const hooks = existsSync(join(folder, 'hooks')) ? readdirSync(join(folder, 'hooks')).sort() : [];
  const known = hookNames(read.metadata);
  for (const hook of hooks) {
    const path = join(folder, 'hooks', hook);
    if (!statSync(path).isFile()) continue;
    if (!known.includes(hook)) faults.push(`hooks/${hook} is the name of no hook of this formula, so it never runs.`);
    else if (!mayRun(path)) faults.push(`hooks/${hook} is not executable in the zip.`);
  }
  const defaults = defaultsOf(config.value);
  return {
    formula: { metadata: read.metadata, hooks: hooks.filter((hook) => known.includes(hook)), defaults },
    faults,
  };
}

function yamlIn(folder: string, name: string): { value?: unknown; fault?: string } {
  const path = join(folder, name);
  if (!existsSync(path)) {
    return name === 'metadata.yaml' ? { fault: `${name} is not in the root of the package.` } : { value: {} };
  }
  try {
    return { value: parse(readFileSync(path, 'utf8'), { schema: 'core', version: '1.2', maxAliasCount: 0 }) };
  } catch (error) {
    return { fault: `${name} is not valid YAML: ${sentenceOf(error).split('\n')[0]}` };
  }
}

function defaultsOf(config: unknown): Record<string, unknown> {
  const options = isMap(config) && isMap(config.options) ? config.options : {};
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, option]) =>
      isMap(option) && option.default !== undefined && option.default !== null ? [[name, option.default]] : [],
    ),
  );
}

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
