import type { z } from 'zod';
import { type ExecutorOptions, executorOptions, isPlatformName, namesNoFile } from './executor-options.ts';
import { executionLimits } from './limits.ts';
import {
  entriesOf,
  hasControl,
  isObject,
  type Path,
  type PlanFaultCode,
  type PlanFaults,
  textOf,
} from './plan-faults.ts';
import type { PlanFile } from './plan-files.ts';
import { isAtLeast, programVersion } from './program-version.ts';

/** A script of a plan. */
export interface PlanScript {
  /** The platform that runs the script, such as `Bash`. */
  type: string;
  /** The lowest version of the platform that the script accepts; null if the script accepts any version. */
  version: string | null;
  /** The id of the file to run, or a name such as `module::class` that is not a file. */
  entryPoint: string;
  /** The ids of the script's other files. */
  files: string[];
  /** Options of the executor; null if `type` is not a known platform or the options are invalid. */
  options: ExecutorOptions | null;
}

/** The platforms that a machine reported, with the version of each program. */
export type MachinePlatforms = Readonly<Record<string, { version: string }>>;

/** Names that a script cannot have, because they have another meaning in the Body. */
const reservedNames = ['args', 'api'];

interface Surroundings {
  faults: PlanFaults;
  files: ReadonlyMap<string, PlanFile>;
  /** The ids of all files, including those that are faulty. */
  fileIds: ReadonlySet<string>;
  /** The machine's platforms; null if unknown. */
  platforms: MachinePlatforms | null;
  /** Whether the plan's format allows entry points that are not files. */
  allowsNames: boolean;
}

/** Returns the scripts of a plan by their names. Adds every fault in the scripts (MU-3). */
export function readScripts(plan: object, around: Surroundings): Map<string, PlanScript> {
  const { faults } = around;
  const entries = entriesOf(faults, plan, [], 'Scripts');
  if (entries.length > executionLimits.scripts) {
    faults.add(2, ['Scripts'], 'field_too_many', { maximum: executionLimits.scripts });
    return new Map();
  }
  return new Map(
    entries.flatMap(([name, value]): [string, PlanScript][] => {
      const script = readScript(name, value, around);
      return script === null ? [] : [[name, script]];
    }),
  );
}

function readScript(name: string, value: unknown, around: Surroundings): PlanScript | null {
  const { faults } = around;
  const path = ['Scripts', name];
  if (name === '' || hasControl(name) || reservedNames.includes(name))
    faults.add(2, path, 'plan_script_name', { name });
  if (!isObject(value)) {
    faults.add(2, path, 'field_not_object');
    return null;
  }
  const type = textOf(faults, value, path, 'Type', true);
  const version = textOf(faults, value, path, 'Version');
  const entryPoint = textOf(faults, value, path, 'EntryPoint', true);
  const files = fileList(faults, value, path);
  if (version !== null && programVersion(version) === null) faults.add(2, [...path, 'Version'], 'field_format');
  else if (type !== null) checkPlatform(around, path, type, version);
  const options = type === null ? null : readOptions(faults, value, path, type);
  if (type === null || entryPoint === null || files === null) return null;
  checkFiles(around, path, { type, entryPoint, files });
  return { type, version, entryPoint, files, options };
}

function fileList(faults: PlanFaults, script: object, path: Path): string[] | null {
  const value: unknown = Object.hasOwn(script, 'Files') ? Reflect.get(script, 'Files') : [];
  if (!Array.isArray(value)) {
    faults.add(2, [...path, 'Files'], 'field_not_array');
    return null;
  }
  const texts = value.filter((id): id is string => typeof id === 'string');
  if (texts.length === value.length) return texts;
  for (const [index, id] of value.entries()) {
    if (typeof id !== 'string') faults.add(2, [...path, 'Files', index], 'field_not_text');
  }
  return null;
}

/** Adds code 7 for files that the plan lacks, and code 2 for names that conflict in the script's folder. */
function checkFiles(around: Surroundings, path: Path, script: Pick<PlanScript, 'type' | 'entryPoint' | 'files'>): void {
  const { faults, files, fileIds, allowsNames } = around;
  const isName = allowsNames && namesNoFile(script.type, script.entryPoint);
  const named: [Path, string][] = script.files.map((id, index) => [[...path, 'Files', index], id]);
  if (!isName) named.unshift([[...path, 'EntryPoint'], script.entryPoint]);
  const seen = new Map<string, string>();
  for (const [at, id] of named) {
    if (!fileIds.has(id)) {
      faults.add(7, at, 'plan_file_missing', { file: id });
      continue;
    }
    const name = files.get(id)?.name;
    // A script may list its entry point among its files.
    if (name === undefined || seen.get(name) === id) continue;
    if (seen.has(name)) faults.add(2, at, 'plan_file_twice', { name });
    const other = [...seen.keys()].find((known) => known.startsWith(`${name}/`) || name.startsWith(`${known}/`));
    if (other !== undefined) faults.add(2, at, 'plan_file_and_folder', { name, other });
    seen.set(name, id);
  }
}

/** Adds code 3 if the machine is known to lack the script's platform or to have an older version. */
function checkPlatform({ faults, platforms }: Surroundings, path: Path, type: string, version: string | null): void {
  if (platforms === null) return;
  const found = Object.hasOwn(platforms, type) ? platforms[type] : undefined;
  if (found === undefined) faults.add(3, [...path, 'Type'], 'plan_platform_missing', { type });
  else if (version !== null && !isAtLeast(found.version, version)) {
    faults.add(3, [...path, 'Version'], 'plan_platform_old', { type, found: found.version, wanted: version });
  }
}

function readOptions(faults: PlanFaults, script: object, path: Path, type: string): ExecutorOptions | null {
  if (!isPlatformName(type)) return null;
  const value: unknown = Object.hasOwn(script, 'Options') ? Reflect.get(script, 'Options') : {};
  const result = executorOptions[type].safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) addOptionFaults(faults, issue, [...path, 'Options']);
  return null;
}

function addOptionFaults(faults: PlanFaults, issue: z.core.$ZodIssue, path: Path): void {
  const at = [...path, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      for (const key of issue.keys) faults.add(5, [...at, key], 'field_unknown');
      return;
    case 'invalid_value':
      faults.add(5, at, 'field_choice', { choices: issue.values.map(String).join(', ') });
      return;
    case 'too_small':
      faults.add(5, at, issue.origin === 'string' ? 'field_empty' : 'field_too_small', {
        minimum: Number(issue.minimum),
      });
      return;
    case 'too_big':
      faults.add(5, at, 'field_too_big', { maximum: Number(issue.maximum) });
      return;
    case 'invalid_type':
      faults.add(5, at, codeOfExpected[issue.expected] ?? 'field_invalid');
      return;
    case 'custom':
      faults.add(5, at, issue.message as PlanFaultCode);
      return;
    default:
      faults.add(5, at, 'field_format');
  }
}

const codeOfExpected: Readonly<Record<string, PlanFaultCode>> = {
  string: 'field_not_text',
  number: 'field_not_number',
  boolean: 'field_not_boolean',
  object: 'field_not_object',
  record: 'field_not_object',
};
