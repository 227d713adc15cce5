import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argumentText, type ExecutorOptions } from '#protocol/executions/index.ts';
import { writeAtomically } from '../../folder/write-file.ts';
import { CallError } from '../call-error.ts';
import type { CallResult, Executor, ScriptCallContext, ScriptOnDisk } from './executor.ts';
import { namedOnly } from './named-only.ts';
import { findProgram, probe, slowProbeMilliseconds } from './probe.ts';

/** Where the packages of Puppet's vendor install Puppet, outside of PATH. */
const vendorProgram = '/opt/puppetlabs/bin/puppet';

const parameterName = /^[a-z][a-z0-9_]*$/;
const className = /^(?:::)?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*$/;

/** Exit codes of `--detailed-exitcodes`: 0 without changes, 2 with changes; 4 and 6 with failures. */
const goodCodes = [0, 2];
const changedCodes = [2, 6];

/**
 * The executor for Puppet. Applies the manifest; named arguments are facts. A function is a class, and its named
 * arguments are the class's parameters. The result of a call is the exit code, with `changed`.
 */
export const puppet: Executor = {
  type: 'Puppet',
  async find(environment) {
    const program = findProgram('puppet', environment.PATH) ?? findProgram(vendorProgram, undefined);
    if (program === null) return null;
    const version = await probe(program, ['--version'], /^(\d+(?:\.\d+)+)/m, environment, slowProbeMilliseconds);
    return version === null ? null : { version, program };
  },
  load: async (script) => ({ call: (fn, ctx) => apply(script, fn, ctx), end: async () => {} }),
};

async function apply(script: ScriptOnDisk, fn: string | null, ctx: ScriptCallContext): Promise<CallResult> {
  const { name, entry } = script;
  const declared = fn === null ? (entry === '' ? script.script.entryPoint : null) : classOf(script, fn);
  if (declared === null) {
    const facts = namedOnly(name, ctx.args, { pattern: parameterName, meaning: 'facts' });
    const variables = Object.entries(facts).map(([fact, value]) => [`FACTER_${fact}`, argumentText(value)]);
    return run(script, ctx, entry, Object.fromEntries(variables));
  }
  const parameters = namedOnly(name, ctx.args, { pattern: parameterName, meaning: 'parameters of a class' });
  // Written to a file, because command lines are visible to all users of the machine.
  const manifest = join(dirname(script.folder), 'class.pp');
  const text = entry === '' ? '' : `${readFileSync(entry, 'utf8')}\n`;
  writeAtomically(manifest, `${text}${declarationOf(declared, parameters)}\n`, 0o600);
  try {
    return await run(script, ctx, manifest, {});
  } finally {
    rmSync(manifest, { force: true });
  }
}

async function run(
  { program, folder, script }: ScriptOnDisk,
  ctx: ScriptCallContext,
  manifest: string,
  facts: Record<string, string>,
): Promise<CallResult> {
  const { noop } = script.options as ExecutorOptions<'Puppet'>;
  const modules = `--modulepath=${join(folder, 'modules')}:${folder}:$basemodulepath`;
  const args = ['apply', '--detailed-exitcodes', '--color=false', modules, ...(noop ? ['--noop'] : []), manifest];
  const end = await ctx.run(program, args, facts);
  return { end, goodCodes, facts: { changed: changedCodes.includes(end.exitCode ?? -1) } };
}

/** Returns the class of a function. If the entry point is a class, `fn` can omit the name of the class's module. */
function classOf({ name, entry, script }: ScriptOnDisk, fn: string): string {
  const [module = ''] = script.entryPoint.split('::');
  const whole = entry === '' && !fn.includes('::') ? `${module}::${fn}` : fn;
  if (className.test(whole)) return whole;
  const message = `${name} has no function ${fn}, because this is not the name of a Puppet class.`;
  throw new CallError('ScriptError', message, { info: { script: name, function: fn } });
}

function declarationOf(name: string, parameters: Readonly<Record<string, unknown>>): string {
  const list = Object.entries(parameters).map(([parameter, value]) => `  ${parameter} => ${literal(value)},\n`);
  return `class { ${literal(name)}:\n${list.join('')}}`;
}

/** Returns a JSON value as a Puppet literal. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'undef';
  if (typeof value === 'string') return `'${value.replaceAll(/[\\']/g, '\\$&')}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  // `parseExactJson` represents numbers as objects without a prototype.
  if (typeof value === 'object' && Object.getPrototypeOf(value) !== null) {
    return `{${Object.entries(value)
      .map(([key, each]) => `${literal(key)} => ${literal(each)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value).replace(/e\+/i, 'e');
}
