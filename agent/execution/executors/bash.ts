import { execFile } from 'node:child_process';
import { argumentText, type ExecutorOptions } from '#protocol/executions/index.ts';
import { CallError } from '../call-error.ts';
import type { Executor, ScriptOnDisk } from './executor.ts';
import { findProgram, probe } from './probe.ts';

/** Variables that change how a shell works. Named arguments cannot have these names. */
const reserved = /^(?:PATH|IFS|ENV|PS4|SHELLOPTS|BASHOPTS|BASH_.*|LD_.*|ANNEX_.*)$/;
const checkMilliseconds = 10_000;

/** Sources the file, then calls the function. If there is no such function, exits with 127 and a known message. */
const caller = `annex_file=$1 annex_function=$2; shift 2
. "$annex_file"
case $(type "$annex_function" 2>/dev/null) in
  *function*) ;;
  *) echo "annex: $annex_function is not a function" >&2; exit 127 ;;
esac
"$annex_function" "$@"`;

/**
 * The executor for bash and sh. Each call runs the file or one of its functions in a new process. The result of a call
 * is the exit code.
 */
export const bash: Executor = {
  type: 'Bash',
  async find(environment) {
    const program = findProgram('bash', environment.PATH);
    if (program === null) return null;
    const version = await probe(program, ['--version'], /version (\d+(?:\.\d+)*)/, environment);
    return version === null ? null : { version, program };
  },
  async load(script) {
    const { shell } = script.script.options as ExecutorOptions<'Bash'>;
    const program = shell === 'sh' ? '/bin/sh' : script.program;
    await check(script, program);
    return {
      async call(fn, ctx) {
        const variables = variablesOf(script.name, ctx.args.named);
        const args = ctx.args.positional.map(argumentText);
        const line = fn === null ? [script.entry, ...args] : ['-c', caller, script.name, script.entry, fn, ...args];
        return { end: await ctx.run(program, line, variables) };
      },
      end: async () => {},
    };
  },
};

/** Checks the syntax, so that a script with an error near its end does not run partially. */
async function check({ name, entry, folder, environment }: ScriptOnDisk, program: string): Promise<void> {
  const fault = await new Promise<string | null>((resolve) => {
    const options = { cwd: folder, env: environment as NodeJS.ProcessEnv, timeout: checkMilliseconds };
    execFile(program, ['-n', entry], options, (error, _, stderr) => resolve(error === null ? null : stderr.trim()));
  });
  if (fault === null) return;
  throw new CallError('ScriptError', `${name} is not valid: ${fault.replaceAll(entry, name)}`, {
    info: { script: name, function: null, exitCode: null, stdout: null, stderr: fault },
  });
}

function variablesOf(script: string, named: Readonly<Record<string, unknown>>): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(named)) {
    if (!/^[A-Za-z_]\w*$/.test(name) || reserved.test(name)) {
      const message = `${script} cannot get an argument named ${name}, because it becomes a variable of the shell.`;
      throw new CallError('ScriptError', message, { info: { script } });
    }
    variables[name] = argumentText(value);
  }
  return variables;
}
