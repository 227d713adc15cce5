import { jsonPointer } from '../pointer.ts';
import type { FormatFaultCode } from './format-string.ts';

/** Murano's error codes for a plan that cannot run (MU-1 to MU-3), in order of precedence (MU-21). */
export const planCodes = [9, 2, 7, 3, 5] as const;
export type PlanCode = (typeof planCodes)[number];

/** Codes of faults in execution plans. Each is a key in `locales/<lng>/errors.json`. */
export type PlanFaultCode =
  | FormatFaultCode
  | 'field_choice'
  | 'field_empty'
  | 'field_format'
  | 'field_invalid'
  | 'field_missing'
  | 'field_not_array'
  | 'field_not_boolean'
  | 'field_not_integer'
  | 'field_not_number'
  | 'field_not_object'
  | 'field_not_text'
  | 'field_too_big'
  | 'field_too_long'
  | 'field_too_many'
  | 'field_too_small'
  | 'field_unknown'
  | 'json_character'
  | 'json_too_deep'
  | 'plan_action'
  | 'plan_base64'
  | 'plan_file_and_folder'
  | 'plan_file_missing'
  | 'plan_file_name'
  | 'plan_file_twice'
  | 'plan_format_newer'
  | 'plan_id'
  | 'plan_parameters_too_large'
  | 'plan_platform_missing'
  | 'plan_platform_old'
  | 'plan_script_name'
  | 'plan_semver'
  | 'plan_uri';

/** A fault of a plan. `path` is a JSON pointer into the plan; `planCode` is Murano's error code for the fault. */
export interface PlanFault {
  path: string;
  code: PlanFaultCode;
  planCode: PlanCode;
  params?: Record<string, string | number>;
}

/** Maximum number of faults in a response. Without a limit, the response could be many times as large as the plan. */
const maxPlanFaults = 1_000;

/** Collects the faults of a plan. */
export class PlanFaults {
  readonly all: PlanFault[] = [];

  add(planCode: PlanCode, path: readonly PropertyKey[], code: PlanFaultCode, params?: PlanFault['params']): void {
    if (this.all.length >= maxPlanFaults) return;
    this.all.push({ path: jsonPointer(path), code, planCode, ...(params && { params }) });
  }

  /** Returns the code of the first kind of fault in the order 9, 2, 7, 3, 5 (MU-21); null without faults. */
  get code(): PlanCode | null {
    return planCodes.find((code) => this.all.some((fault) => fault.planCode === code)) ?? null;
  }
}

export type Path = readonly PropertyKey[];

/**
 * Returns a property that should be a string. If it is not a string, returns null, and adds a fault with code 2 unless
 * the property is optional and absent.
 */
export function textOf(faults: PlanFaults, object: object, path: Path, name: string, required = false): string | null {
  const value: unknown = Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined;
  if (typeof value === 'string') return value;
  if (value !== undefined) faults.add(2, [...path, name], 'field_not_text');
  else if (required) faults.add(2, [...path, name], 'field_missing');
  return null;
}

/**
 * Returns the entries of an optional property that should be an object. Adds a fault with code 2 if the property is
 * anything else.
 */
export function entriesOf(faults: PlanFaults, object: object, path: Path, name: string): [string, unknown][] {
  const value: unknown = Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined;
  if (value === undefined) return [];
  if (isObject(value)) return Object.entries(value);
  faults.add(2, [...path, name], 'field_not_object');
  return [];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a text contains a control character, which terminals and logs may interpret. */
export const hasControl = (text: string): boolean => /\p{Cc}/u.test(text);
