import { type ExecutionPlan, type FormatPart, type PlanScript, parseCommandLine } from '#protocol/executions/index.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import type { Fault } from '#server/domain/error.ts';
import { lintBody, type PassedParameter, parseBody, passedParameters } from './lint-body.ts';
import { type ParameterSchema, secretNames } from './parameters.ts';

/**
 * Returns warnings about likely mistakes in a valid plan. Warnings never cause a rejection. `schema` is the schema of a
 * runbook's parameters, or null if the runbook accepts none. If `schema` is undefined, the parameters of the Body are
 * unknown.
 */
export function lintPlan(plan: ExecutionPlan, schema?: ParameterSchema | null): Fault[] {
  const names = new Set(plan.scripts.keys());
  const body = plan.body === null ? null : parseBody(plan.body);
  const secrets = secretNames(schema ?? null);
  const passed = body === null ? [] : passedParameters(body, names).filter(({ parameter }) => secrets.has(parameter));
  return [
    ...(body === null ? [] : lintBody(body, { scripts: names, parameters: parameterNames(plan, schema) })),
    ...[...plan.scripts].flatMap(([name, script]) => lintScript(plan, name, script, passed)),
    ...lintFiles(plan),
  ];
}

/** Returns the names of all parameters that the Body can get; null if there may be others. */
function parameterNames(plan: ExecutionPlan, schema: ParameterSchema | null | undefined): Set<string> | null {
  if (schema === undefined || (schema !== null && schema.additionalProperties !== false)) return null;
  return new Set([...Object.keys(Object(schema?.properties ?? {})), ...Object.keys(plan.parameters)]);
}

function lintScript(
  plan: ExecutionPlan,
  name: string,
  script: PlanScript,
  secrets: readonly PassedParameter[],
): Fault[] {
  const at = (...path: string[]) => jsonPointer(['Scripts', name, ...path]);
  const main = plan.files.get(script.entryPoint);
  const exposed = secrets.filter((passed) => passed.script === name && isOnCommandLine(script, passed));
  return [
    ...(script.options?.timeout === undefined
      ? [{ path: at('Options'), code: 'lint_script_timeout' as const, params: { name } }]
      : []),
    ...(script.type === 'Application' && main?.bodyType === 'Text' && !main.body.startsWith('#!')
      ? [{ path: at('EntryPoint'), code: 'lint_shebang' as const, params: { name } }]
      : []),
    ...[...new Set(exposed.map(({ parameter }) => parameter))].map((parameter) => ({
      path: at(),
      code: 'lint_secret_on_command_line' as const,
      params: { name, parameter },
    })),
  ];
}

/**
 * Whether the executor puts an argument on the command line of the script, which every user of the machine can read.
 */
function isOnCommandLine({ type, options }: PlanScript, { position, name }: PassedParameter): boolean {
  if (type === 'Application') {
    const line = options !== null && 'commandLine' in options ? options.commandLine : undefined;
    return line === undefined || argumentsIn(line).some((used) => used === (name ?? position) || used === '*');
  }
  return name === null && (type === 'Bash' || type === 'Python');
}

function argumentsIn(line: string): (string | number)[] {
  const read = parseCommandLine(line);
  const parts: FormatPart[] = 'fault' in read ? [] : read.value.flat();
  return parts.flatMap((part) => ('argument' in part ? [part.argument] : []));
}

/**
 * Returns warnings about text files with CRLF line endings. If such a file is a script, Linux includes the carriage
 * return in the name of the interpreter, and does not find it.
 */
function lintFiles(plan: ExecutionPlan): Fault[] {
  return [...plan.files]
    .filter(([, { bodyType, body }]) => bodyType === 'Text' && body.includes('\r\n'))
    .map(([id, { name }]) => ({ path: jsonPointer(['Files', id, 'Body']), code: 'lint_crlf', params: { name } }));
}
