import { mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type ExecutorOptions, type FormatArguments, parseExactJson } from '#protocol/executions/index.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import { CallError } from '../call-error.ts';
import type { CallResult, Executor, ScriptCallContext, ScriptOnDisk } from './executor.ts';
import { namedOnly } from './named-only.ts';
import { findProgram, probe, slowProbeMilliseconds } from './probe.ts';

const pillarName = /^[\s\S]+$/;
const argumentName = /^[A-Za-z_]\w*$/;
const functionName = /^[A-Za-z_]\w*\.[A-Za-z_]\w*$/;

/**
 * The executor for Salt. Applies the state file of the entry point; named arguments are the pillar. A function is a
 * function of an execution module, such as `pkg.install`. The result of a call is the JSON that Salt writes.
 */
export const saltStack: Executor = {
  type: 'SaltStack',
  async find(environment) {
    const program = findProgram('salt-call', environment.PATH);
    if (program === null) return null;
    const pattern = /^salt-call (\d+(?:\.\d+)*)/m;
    const version = await probe(program, ['--version'], pattern, environment, slowProbeMilliseconds);
    return version === null ? null : { version, program };
  },
  load: async (script) => ({
    call: (fn, ctx) => (fn === null ? applyState(script, ctx) : callFunction(script, fn, ctx)),
    end: async () => {},
  }),
};

async function applyState(script: ScriptOnDisk, ctx: ScriptCallContext): Promise<CallResult> {
  const { name, folder, entry, script: plan } = script;
  const { test } = plan.options as ExecutorOptions<'SaltStack'>;
  const values = namedOnly(name, ctx.args, { pattern: pillarName, meaning: 'the pillar' });
  const [, state] = /^([^.]+)\.sls$/.exec(relative(folder, entry)) ?? [];
  if (state === undefined) {
    const message = `${name} has no state: the name of its entry point must end with .sls and have no other dot.`;
    throw new CallError('ScriptError', message, { info: { script: name } });
  }
  const pillar = join(dirname(folder), 'pillar');
  mkdirSync(pillar, { recursive: true, mode: 0o700 });
  // Written to files, because command lines are visible to all users of the machine.
  writeAtomically(join(pillar, 'top.sls'), '#!json\n{"base":{"*":["arguments"]}}\n', 0o600);
  writeAtomically(join(pillar, 'arguments.sls'), `#!json\n${JSON.stringify(values)}\n`, 0o600);
  try {
    const args = ['state.apply', state.replace(/\/init$/, '').replaceAll('/', '.'), ...(test ? ['test=True'] : [])];
    return await run(script, ctx, [`--pillar-root=${pillar}`], args);
  } finally {
    rmSync(pillar, { recursive: true, force: true });
  }
}

async function callFunction(script: ScriptOnDisk, fn: string, ctx: ScriptCallContext): Promise<CallResult> {
  const { name, entry } = script;
  const whole = fn.includes('.') || !entry.endsWith('.py') ? fn : `${basename(entry, '.py')}.${fn}`;
  if (!functionName.test(whole)) {
    const message = `${name} has no function ${fn}: functions of Salt have names such as pkg.install.`;
    throw new CallError('ScriptError', message, { info: { script: name, function: fn } });
  }
  return run(script, ctx, [`--module-dirs=${dirname(entry)}`], [whole, ...argumentsOf(name, ctx.args)]);
}

async function run(
  { name, program, folder }: ScriptOnDisk,
  ctx: ScriptCallContext,
  options: readonly string[],
  args: readonly string[],
): Promise<CallResult> {
  const output: Buffer[] = [];
  const fixed = ['--local', '--retcode-passthrough', '--out=json', '--no-color', `--file-root=${folder}`];
  const end = await ctx.run(program, [...fixed, ...options, ...args], {}, (chunk) => output.push(Buffer.from(chunk)));
  if (end.exitCode === null) return { end };
  try {
    return { end, value: JSON.stringify(parseExactJson(Buffer.concat(output).toString('utf8'))) };
  } catch {
    if (end.exitCode !== 0) return { end };
    throw new CallError('ScriptError', `${name} wrote something that is not JSON.`, { info: { script: name } });
  }
}

/**
 * Returns the arguments of a function as JSON, because Salt reads arguments as YAML. Escapes `#`, because Salt does not
 * parse texts with this character.
 */
function argumentsOf(script: string, { positional, named }: FormatArguments): string[] {
  const json = (value: unknown) => (JSON.stringify(value) ?? 'null').replaceAll('#', '\\u0023');
  const pairs = Object.entries(
    namedOnly(script, { positional: [], named }, { pattern: argumentName, meaning: 'arguments' }),
  );
  return [...positional.map(json), ...pairs.map(([key, value]) => `${key}=${json(value)}`)];
}
