import { z } from 'zod';
import { isObject, type PlanFaults, textOf } from './plan-faults.ts';
import { isBase64 } from './plan-files.ts';

/** A plan of the format vCurrent: PowerShell scripts and the commands to call in them, one after the other (MU-17). */
export interface VCurrentPlan {
  /** PowerShell files in base64. */
  scripts: string[];
  commands: { name: string; arguments: Record<string, unknown> }[];
  /** 0: no restart; 1: a restart if all commands succeed; 2: a restart in any case. */
  rebootOnCompletion: 0 | 1 | 2;
  /** The stamp as it was sent, not validated; undefined if absent. */
  stamp: unknown;
}

/**
 * A result in the format vCurrent. The outer `IsException` marks a fault of the plan; `IsException` in `Result` marks a
 * fault of a script. Keeps unknown properties, because other agents may send more.
 */
export const vCurrentResult = z.looseObject({ IsException: z.boolean(), Result: z.unknown() });
export type VCurrentResult = Pick<z.output<typeof vCurrentResult>, 'IsException' | 'Result'>;

/** Reads a plan in the format vCurrent. If the plan is invalid, adds its faults and returns null. */
export function readVCurrent(faults: PlanFaults, plan: Record<string, unknown>): VCurrentPlan | null {
  const before = faults.all.length;
  if (!Object.hasOwn(plan, 'Commands') && !Object.hasOwn(plan, 'FormatVersion')) {
    faults.add(2, ['FormatVersion'], 'field_missing');
    return null;
  }
  const scripts = listOf(faults, plan, 'Scripts', false).map((script, index) => {
    if (typeof script !== 'string') faults.add(2, ['Scripts', index], 'field_not_text');
    else if (!isBase64(script)) faults.add(2, ['Scripts', index], 'plan_base64');
    return String(script);
  });
  const commands = listOf(faults, plan, 'Commands', true).map((command, index) => readCommand(faults, command, index));
  const { RebootOnCompletion: reboot = 0, Stamp: stamp } = plan;
  if (reboot !== 0 && reboot !== 1 && reboot !== 2) {
    faults.add(2, ['RebootOnCompletion'], 'field_choice', { choices: '0, 1, 2' });
    return null;
  }
  if (faults.all.length > before) return null;
  return { scripts, commands, rebootOnCompletion: reboot, stamp };
}

function listOf(faults: PlanFaults, plan: Record<string, unknown>, name: string, required: boolean): unknown[] {
  const value = plan[name];
  if (Array.isArray(value)) return value;
  if (value !== undefined) faults.add(2, [name], 'field_not_array');
  else if (required) faults.add(2, [name], 'field_missing');
  return [];
}

function readCommand(faults: PlanFaults, value: unknown, index: number): VCurrentPlan['commands'][number] {
  const path = ['Commands', index];
  if (!isObject(value)) {
    faults.add(2, path, 'field_not_object');
    return { name: '', arguments: {} };
  }
  const name = textOf(faults, value, path, 'Name', true);
  if (name === '') faults.add(2, [...path, 'Name'], 'field_empty');
  const given = value.Arguments ?? {};
  if (!isObject(given)) faults.add(2, [...path, 'Arguments'], 'field_not_object');
  return { name: name ?? '', arguments: isObject(given) ? given : {} };
}

/** Converts a plan from the format vCurrent in the seven steps of MU-17. `id` is the ID of the request. */
export function fromVCurrent(plan: VCurrentPlan, id: string): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  const calls = plan.commands.map(({ name, arguments: given }) => {
    const keys = Object.entries(given).map(([argument, value]): [string, string] => [
      argument,
      addParameter(parameters, `${name}_${argument}`, value),
    ]);
    return `r = ${callOf(name, keys)}`;
  });
  const files: Record<string, object> = {};
  const ids = plan.scripts.map((_, index) => `script${index + 1}`);
  for (const [index, body] of plan.scripts.entries()) {
    files[`script${index + 1}`] = { Name: `script${index + 1}.ps1`, BodyType: 'Base64', Body: body };
  }
  const sources = ids.map((script) => `. "$PSScriptRoot/${script}.ps1"\n`).join('');
  files.entry = { Name: 'entry.ps1', BodyType: 'Text', Body: sources };
  return {
    FormatVersion: '2.0.0',
    Action: 'execute',
    ...(id !== '' && { ID: id }),
    ...(plan.stamp !== undefined && { Stamp: plan.stamp }),
    Name: 'Auto-converted',
    Body: bodyOf(calls, plan.rebootOnCompletion),
    Parameters: parameters,
    Scripts: { ps: { Type: 'PowerShell', EntryPoint: 'entry', Files: ids, Options: {} } },
    Files: files,
  };
}

/** Adds a parameter. Appends `_2`, `_3` … if the name already has another value. Returns the name that was used. */
function addParameter(parameters: Record<string, unknown>, name: string, value: unknown): string {
  const same = (key: string) => JSON.stringify(parameters[key]) === JSON.stringify(value);
  let key = name;
  for (let number = 2; Object.hasOwn(parameters, key) && !same(key); number += 1) key = `${name}_${number}`;
  Object.defineProperty(parameters, key, { value, enumerable: true, configurable: true, writable: true });
  return key;
}

function bodyOf(calls: readonly string[], reboot: VCurrentPlan['rebootOnCompletion']): string {
  const commands = calls.length > 0 ? [...calls] : ['r = None'];
  if (reboot === 1) commands.push('api.reboot()');
  const lines = [
    'try:',
    ...commands.map(indented),
    'except Exception:',
    indented("api.logError('A command failed.', exception_info=True)"),
    indented('raise'),
    ...(reboot === 2 ? ['finally:', indented('api.reboot()')] : []),
    'return r',
  ];
  return `${lines.join('\n')}\n`;
}

const indented = (line: string): string => `    ${line}`;

/** Returns `ps.fn(a=args['fn_a'])`. Names that are not Python identifiers are passed with `getattr` and `**`. */
function callOf(name: string, keys: readonly [argument: string, key: string][]): string {
  const areNames = keys.every(([argument]) => isIdentifier(argument));
  const values = areNames
    ? keys.map(([argument, key]) => `${argument}=args[${python(key)}]`).join(', ')
    : `**{${keys.map(([argument, key]) => `${python(argument)}: args[${python(key)}]`).join(', ')}}`;
  return isIdentifier(name) ? `ps.${name}(${values})` : `getattr(ps, ${python(name)})(${values})`;
}

const keywords = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

const isIdentifier = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !keywords.has(text);

/** Returns a text as a Python literal in single quotes. */
function python(text: string): string {
  const escaped = text.replaceAll(/[\\'\p{Cc}\u2028\u2029]/gu, (character) =>
    character === '\\' || character === "'"
      ? `\\${character}`
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `'${escaped}'`;
}

/**
 * Converts a result to the format vCurrent. Error codes 2 to 99 mean a fault of the plan; 1 and codes from 100 mean a
 * fault of a script.
 */
export function toVCurrentResult({
  ErrorCode: code,
  Body: body,
}: {
  ErrorCode: number;
  Body: unknown;
}): VCurrentResult {
  if (code > 1 && code < 100) return { IsException: true, Result: body };
  return { IsException: false, Result: { IsException: code !== 0, Result: body } };
}

/**
 * Reads a result in the format vCurrent. The code is null for a fault of the plan, because this format has only one
 * mark for the codes 2 to 99. `Result` may be one object or, from agents that answer for each command, a list of
 * objects. In a list, `body` is the result of the first command that failed.
 */
export function fromVCurrentResult({ IsException: isFault, Result: result }: VCurrentResult): {
  code: 0 | 1 | null;
  body: unknown;
} {
  if (isFault) return { code: null, body: result };
  const failed = (Array.isArray(result) ? result : [result]).find(
    (each) => isObject(each) && each.IsException === true,
  );
  if (failed !== undefined) return { code: 1, body: (failed as VCurrentResult).Result };
  return { code: 0, body: isObject(result) ? result.Result : result };
}
