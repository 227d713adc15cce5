import { utf8Bytes } from '../limits.ts';
import { isSemver, semverOf } from '../semver.ts';
import { deepestFault, unstorableFault } from './json-faults.ts';
import { executionLimits } from './limits.ts';
import { entriesOf, hasControl, isObject, type PlanCode, type PlanFault, PlanFaults, textOf } from './plan-faults.ts';
import { type PlanFile, readFiles } from './plan-files.ts';
import { type MachinePlatforms, type PlanScript, readScripts } from './plan-scripts.ts';
import { fromVCurrent, readVCurrent } from './v-current.ts';

/** An execution plan of format 2, as read from its JSON. Null means that the plan lacks the property. */
export interface ExecutionPlan {
  formatVersion: string;
  id: string | null;
  stamp: number | null;
  name: string | null;
  /** The plan's own version; `0.0.0` if the plan has none (MU-2). */
  version: string;
  /** The service whose state `api.getState` reads; null if the plan has none, in which case the state API fails. */
  service: string | null;
  /** Python code; null if the plan has no Body. Such a plan returns nothing (MU-23). */
  body: string | null;
  parameters: Record<string, unknown>;
  scripts: Map<string, PlanScript>;
  files: Map<string, PlanFile>;
  /** Where an AMQP agent sends the result; null if the plan does not say. */
  replyTo: string | null;
}

/** A valid plan, or the faults of an invalid plan and its error code. `converted`: the plan was in format vCurrent. */
export type ReadPlan = { plan: ExecutionPlan; converted: boolean } | { code: PlanCode; faults: PlanFault[] };

interface ReadOptions {
  /** The machine's platforms. If absent or null, no script is rejected because of its type. */
  platforms?: MachinePlatforms | null;
  /** The ID to use if the plan has none or is converted from format vCurrent. */
  id?: string;
}

/**
 * Reads and validates parsed JSON as an execution plan. Portal and agents use this function, so that they accept the
 * same plans. Returns every fault; the code is the first one present in the order 9, 2, 7, 3, 5 (MU-21). The size of
 * the text and duplicate properties are checked when the JSON is parsed.
 */
export function readExecutionPlan(value: unknown, options: ReadOptions = {}): ReadPlan {
  const faults = new PlanFaults();
  const shape = deepestFault(value) ?? unstorableFault(value);
  if (shape !== null) {
    faults.add(2, shape.path, shape.code, shape.params);
    return { code: 2, faults: faults.all };
  }
  if (!isObject(value)) {
    faults.add(2, [], 'field_not_object');
    return { code: 2, faults: faults.all };
  }
  const format = formatOf(value);
  if (format === 'newer' || format === 'invalid') {
    const isNewer = format === 'newer';
    const code = isNewer ? 'plan_format_newer' : 'plan_semver';
    faults.add(isNewer ? 9 : 2, ['FormatVersion'], code);
  }
  if (format === 'newer') return { code: 9, faults: faults.all };
  if (format === 'v-current') return readConverted(value, options);
  const plan = readVNext(faults, value, options);
  return faults.code === null ? { plan, converted: false } : { code: faults.code, faults: faults.all };
}

/** The format of a plan: vNext is 2.x, and vCurrent is the format before it (MU-1, MU-22). */
export type PlanFormat = 'v-current' | 'v-next' | 'newer' | 'invalid';

/** Returns the format of a plan by its `FormatVersion`, which is compared as a semantic version. */
export function formatOf(plan: object): PlanFormat {
  if (!Object.hasOwn(plan, 'FormatVersion')) return 'v-current';
  const version = semverOf(Reflect.get(plan, 'FormatVersion'));
  if (version === null) return 'invalid';
  if (version.major >= 3) return 'newer';
  const isBelow = version.major < 2 || (version.prerelease.length > 0 && version.minor === 0 && version.patch === 0);
  return isBelow ? 'v-current' : 'v-next';
}

/**
 * Returns the format of the result that answers a plan. A plan without a `FormatVersion` is answered in format vCurrent
 * only if it has `Commands`; otherwise, the `FormatVersion` was probably forgotten.
 */
export function resultFormatOf(plan: unknown): 'v-current' | 'v-next' {
  if (!isObject(plan) || formatOf(plan) !== 'v-current') return 'v-next';
  return Object.hasOwn(plan, 'FormatVersion') || Object.hasOwn(plan, 'Commands') ? 'v-current' : 'v-next';
}

function readConverted(value: Record<string, unknown>, options: ReadOptions): ReadPlan {
  const faults = new PlanFaults();
  const plan = readVCurrent(faults, value);
  if (plan === null) return { code: 2, faults: faults.all };
  const converted = fromVCurrent(plan, options.id ?? '');
  const read = readVNext(faults, converted, options);
  return faults.code === null ? { plan: read, converted: true } : { code: faults.code, faults: faults.all };
}

function readVNext(faults: PlanFaults, value: Record<string, unknown>, options: ReadOptions): ExecutionPlan {
  const action = textOf(faults, value, [], 'Action');
  if (action !== null && action.toLowerCase() !== 'execute') faults.add(2, ['Action'], 'plan_action');
  const version = textOf(faults, value, [], 'Version');
  if (version !== null && !isSemver(version)) faults.add(2, ['Version'], 'plan_semver');
  const fileIds = new Set(isObject(value.Files) ? Object.keys(value.Files) : []);
  const files = readFiles(faults, value);
  const formatVersion = typeof value.FormatVersion === 'string' ? value.FormatVersion : '2.0.0';
  const allowsNames = (semverOf(formatVersion)?.minor ?? 0) >= 1;
  return {
    formatVersion,
    id: readId(faults, value) ?? options.id ?? null,
    stamp: readStamp(faults, value),
    name: readName(faults, value, 'Name'),
    version: version ?? '0.0.0',
    service: readName(faults, value, 'Service') || null,
    body: textOf(faults, value, [], 'Body'),
    parameters: readParameters(faults, value),
    scripts: readScripts(value, { faults, files, fileIds, allowsNames, platforms: options.platforms ?? null }),
    files,
    replyTo: textOf(faults, value, [], 'ReplyTo') || null,
  };
}

/** Whether a value can be the ID of a plan: a text of 1 to 256 bytes without control characters (MU-25). */
export const isPlanId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !hasControl(value) && utf8Bytes(value) <= executionLimits.idBytes;

function readId(faults: PlanFaults, plan: object): string | null {
  const id = textOf(faults, plan, [], 'ID');
  if (id !== null && !isPlanId(id)) faults.add(2, ['ID'], 'plan_id', { maximum: executionLimits.idBytes });
  return id;
}

/** Reads a name. Its length is limited because every process of the plan gets it as an environment variable. */
function readName(faults: PlanFaults, plan: object, property: 'Name' | 'Service'): string | null {
  const name = textOf(faults, plan, [], property);
  const maximum = executionLimits.nameLength;
  if (name !== null && name.length > maximum) faults.add(2, [property], 'field_too_long', { maximum });
  return name;
}

function readStamp(faults: PlanFaults, plan: Record<string, unknown>): number | null {
  const { Stamp: stamp } = plan;
  if (stamp === undefined) return null;
  if (typeof stamp === 'number' && Number.isSafeInteger(stamp) && stamp >= 0) return stamp;
  faults.add(2, ['Stamp'], 'field_not_integer');
  return null;
}

function readParameters(faults: PlanFaults, plan: Record<string, unknown>): Record<string, unknown> {
  const entries = entriesOf(faults, plan, [], 'Parameters');
  const limit = executionLimits.parametersBytes;
  if (entries.length > 0 && utf8Bytes(JSON.stringify(plan.Parameters)) > limit) {
    faults.add(2, ['Parameters'], 'plan_parameters_too_large', { limit });
  }
  // `Object.fromEntries` keeps a parameter named `__proto__` as an ordinary property.
  return Object.fromEntries(entries);
}
