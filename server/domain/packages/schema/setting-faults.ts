import type { AnySchema, ErrorObject, ValidateFunction } from 'ajv';
import { jsonPointer } from '#protocol/index.ts';
import type { ErrorParams, Fault } from '#server/domain/error.ts';
import { newAjv } from './ajv.ts';

const most = 100;

/** Compiles a schema, which must have passed `schemaFaults`. */
export function compileSchema(schema: unknown): ValidateFunction {
  return newAjv().compile(schema as AnySchema);
}

/**
 * Returns the violations of one half of the settings, by path. For the protected half, returns only path and keyword:
 * neither values nor names of unknown properties are repeated (AZ-C1, AZ-C2).
 */
export function settingFaults(validate: ValidateFunction, value: unknown, isProtected: boolean): Fault[] {
  if (validate(value) === true) return [];
  const faults = (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map((error) => (isProtected ? protectedFault(error) : publicFault(error)));
  const distinct = [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()];
  const rest = distinct.length - most;
  return rest <= 0
    ? distinct
    : [...distinct.slice(0, most), { path: '', code: 'more_faults', params: { count: rest } }];
}

function protectedFault(error: ErrorObject): Fault {
  const { missingProperty } = error.params as { missingProperty?: string };
  const path = error.instancePath + (missingProperty === undefined ? '' : jsonPointer([missingProperty]));
  return { path, code: 'protected_setting', params: { keyword: error.keyword } };
}

/**
 * Returns the requirement that a public setting violates. Its params come from the schema, never from the value of the
 * setting.
 */
function publicFault(error: ErrorObject): Fault {
  const { keyword, instancePath: path } = error;
  const params = error.params as Record<string, unknown>;
  const limit = (): ErrorParams => ({ limit: Number(params.limit) });
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return { path: path + jsonPointer([String(params.missingProperty)]), code: 'setting_required' };
    case 'additionalProperties':
      return { path: path + jsonPointer([String(params.additionalProperty)]), code: 'setting_unknown' };
    case 'unevaluatedProperties':
      return { path: path + jsonPointer([String(params.unevaluatedProperty)]), code: 'setting_unknown' };
    case 'type':
      return { path, code: 'setting_type', params: { type: String(params.type) } };
    case 'enum':
      return {
        path,
        code: 'setting_choice',
        params: { choices: (params.allowedValues as unknown[]).map(shown).join(', ') },
      };
    case 'const':
      return { path, code: 'setting_choice', params: { choices: shown(params.allowedValue) } };
    case 'pattern':
      return { path, code: 'setting_pattern', params: { pattern: String(params.pattern) } };
    case 'format':
      return { path, code: 'setting_format', params: { format: String(params.format) } };
    case 'minimum':
      return { path, code: 'setting_minimum', params: limit() };
    case 'maximum':
      return { path, code: 'setting_maximum', params: limit() };
    case 'minLength':
      return { path, code: 'setting_short', params: limit() };
    case 'maxLength':
      return { path, code: 'setting_long', params: limit() };
    default:
      return { path, code: 'setting_keyword', params: { keyword } };
  }
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
