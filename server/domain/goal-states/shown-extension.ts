import type { ExtensionContents } from '#db/schema/index.ts';

/**
 * An extension as the activity keeps it: public settings whole; of protected ones the number of their sealed copy,
 * which tells changed from unchanged and nothing else.
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
