import type { FormatArguments } from '#protocol/executions/index.ts';
import { CallError } from '../call-error.ts';

/**
 * Returns the named arguments of a call. Throws if there are positional arguments, or if a name does not match.
 * `meaning` says what the arguments become, such as `facts`.
 */
export function namedOnly(
  script: string,
  { positional, named }: FormatArguments,
  { pattern, meaning }: { pattern: RegExp; meaning: string },
): Readonly<Record<string, unknown>> {
  const info = { script };
  if (positional.length > 0) {
    const message = `${script} cannot get arguments by position, because they become ${meaning}. Give them names.`;
    throw new CallError('ScriptError', message, { info });
  }
  const wrong = Object.keys(named).find((name) => !pattern.test(name));
  if (wrong === undefined) return named;
  const message = `${script} cannot get an argument named ${wrong}, because the arguments become ${meaning}.`;
  throw new CallError('ScriptError', message, { info });
}
