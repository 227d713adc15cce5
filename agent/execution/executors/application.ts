import { closeSync, openSync, readSync } from 'node:fs';
import {
  type ExecutorOptions,
  type FormatArguments,
  fillCommandLine,
  parseCommandLine,
} from '#protocol/executions/index.ts';
import { CallError } from '../call-error.ts';
import { commandArguments } from './command-arguments.ts';
import type { Executor } from './executor.ts';

/** Version of this executor. The agent reports it, because applications have no common interpreter. */
const version = '2.0.0';

/**
 * The executor for programs and for scripts with an interpreter in their first line (by default `/bin/sh`). The result
 * of a call is the exit code.
 */
export const application: Executor = {
  type: 'Application',
  find: async () => ({ version, program: '' }),
  load: async ({ name, script, entry }) => ({
    async call(fn, ctx) {
      if (fn !== null) {
        const info = { script: name, function: fn };
        throw new CallError('ScriptError', `${name} is an Application, which has no functions.`, { info });
      }
      const args = argumentsOf(script.options as ExecutorOptions<'Application'>, ctx.args);
      const line = isExecutable(entry) ? [entry, ...args] : ['/bin/sh', entry, ...args];
      return { end: await ctx.run(line[0] ?? '', line.slice(1)) };
    },
    end: async () => {},
  }),
};

function argumentsOf({ commandLine }: ExecutorOptions<'Application'>, args: FormatArguments): string[] {
  if (commandLine === undefined) return commandArguments(args);
  const parsed = parseCommandLine(commandLine);
  return 'value' in parsed ? fillCommandLine(parsed.value, args) : [];
}

/** Whether the system can run a file directly: it starts with `#!`, or is an ELF program. */
function isExecutable(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(4);
    const read = readSync(file, start, 0, start.length, 0);
    const text = start.subarray(0, read).toString('latin1');
    return text.startsWith('#!') || text === '\x7fELF';
  } finally {
    closeSync(file);
  }
}
