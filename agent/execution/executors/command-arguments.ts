import { argumentText, type FormatArguments } from '#protocol/executions/index.ts';
import { CallError } from '../call-error.ts';

/** Returns the arguments for a program: positional arguments, then each named argument as `--name=value`. */
export function commandArguments({ positional, named }: FormatArguments): string[] {
  const options = Object.entries(named).map(([name, value]) => `--${name}=${argumentText(value)}`);
  return [...positional.map(argumentText), ...options];
}

/** Throws if a text has a NUL character, which arguments and environment variables cannot contain. */
export function requirePlainText(script: string, texts: Iterable<string>): void {
  for (const text of texts) {
    if (!text.includes('\0')) continue;
    throw new CallError('ScriptError', `${script} cannot get a value with a NUL character.`, { info: { script } });
  }
}
