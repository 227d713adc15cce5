import type { ExtensionContents } from '#db/schema/index.ts';

/**
 * An extension in the activity: complete public settings, and of protected ones only the id of the encrypted copy,
 * which tells changed from unchanged.
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

/** Several, by name. */
export function shownExtensions(
  extensions: readonly Omit<ExtensionContents, 'sequenceNumber'>[],
): Record<string, unknown> {
  return Object.fromEntries(extensions.map((extension) => [extension.name, shownExtension(extension)]));
}
