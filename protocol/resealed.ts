import type { GoalState, GoalStateExtension } from './goal-state.ts';

/**
 * Whether two goal states differ only in the encryption of protected settings, as after a renewal of the certificate.
 * If so, the agent rewrites settings files and runs no handler.
 */
export function isOnlyResealed(before: GoalState | null, after: GoalState): boolean {
  if (before === null || before.extensions.length !== after.extensions.length) return false;
  const pairs = after.extensions.map((one, index) => [before.extensions[index], one] as const);
  return pairs.every(([was, is]) => withoutSeal(was) === withoutSeal(is)) && pairs.some(([was, is]) => differ(was, is));
}

function withoutSeal(extension: GoalStateExtension | undefined): string {
  if (extension === undefined) return '';
  const { protectedSettings, protectedSettingsCertThumbprint, ...settings } = extension.settings;
  return JSON.stringify({ ...extension, settings, isSealed: protectedSettings !== undefined });
}

function differ(was: GoalStateExtension | undefined, is: GoalStateExtension): boolean {
  return was?.settings.protectedSettings !== is.settings.protectedSettings;
}
