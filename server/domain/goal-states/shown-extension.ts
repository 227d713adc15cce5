import type { ExtensionContents } from '#db/schema/index.ts';

/**
 * Returns an extension for the activity log: with its public settings, and of the protected ones only the id of the
 * encrypted copy, which changes with them.
 */
export function shownExtension(extension: Omit<ExtensionContents, 'sequenceNumber'>): Record<string, unknown> {
  const { handler, version, state, autoUpgradeMinorVersion, dependsOn, timeouts, publicSettings, secretId } = extension;
  return {
    handler,
    version,
    state,
    autoUpgradeMinorVersion,
    dependsOn,
    timeouts,
    publicSettings,
    ...(secretId === null ? {} : { protectedSettings: { $sealed: secretId } }),
  };
}

/** Returns several extensions for the activity log, by name. */
export function shownExtensions(
  extensions: readonly Omit<ExtensionContents, 'sequenceNumber'>[],
): Record<string, unknown> {
  return Object.fromEntries(extensions.map((extension) => [extension.name, shownExtension(extension)]));
}
