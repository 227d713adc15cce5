import { argumentText, type FormatArguments } from '#protocol/executions/index.ts';
import { CallError } from '../call-error.ts';

/** Returns the arguments of a program: each positional one, then `--name=value` for named ones. */
export function commandArguments({ positional, named }: FormatArguments): string[] {
  const options = Object.entries(named).map(([name, value]) => `--${name}=${argumentText(value)}`);
  return [...positional.map(argumentText), ...options];
}

/** Throws for a text with a NUL character, which the system accepts in no argument and no variable. */
export function requirePlainText(script: string, texts: Iterable<string>): void {
  for (const text of texts) {
    if (!text.includes('\0')) continue;
    throw new CallError('ScriptError', `${script} cannot get a value with a NUL character.`, { info: { script } });
  }
}
