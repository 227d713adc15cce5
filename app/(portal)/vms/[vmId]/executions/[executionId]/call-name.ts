import type { ShownCall } from '#app/(portal)/executions/execution-data.ts';

/** Returns a call as the Body writes it, such as `install.apply()`, `hello()` or `api.reboot()`. */
export function callName({ script, function: fn }: Pick<ShownCall, 'script' | 'function'>): string {
  const name = [script ?? (fn === null ? null : 'api'), fn].filter((part) => part !== null).join('.');
  return `${name}()`;
}
