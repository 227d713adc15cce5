import { relationEvents, unitHooks } from '#protocol/formula-words.ts';
import type { HookKind } from '#protocol/hooks.ts';

/** Returns what a hook is for, by its name; null for any other name. */
export function hookKind(hook: string): HookKind | null {
  const ofUnit = unitHooks.find((name) => name === hook);
  if (ofUnit !== undefined) return ofUnit;
  return relationEvents.find((event) => hook.endsWith(`-relation-${event}`)) ?? null;
}
