import type { ExtensionContents } from '#db/schema/index.ts';

/**
 * Returns an extension as the activity log shows it, with its public settings. The protected settings are represented
 * by the id of their encrypted copy, which changes whenever they change.
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

/** Returns several extensions as the activity log shows them, keyed by name. */
export function shownExtensions(
  extensions: readonly Omit<ExtensionContents, 'sequenceNumber'>[],
): Record<string, unknown> {
  return Object.fromEntries(extensions.map((extension) => [extension.name, shownExtension(extension)]));
}
