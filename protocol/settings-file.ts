import { z } from 'zod';

const sealedSettings = z.looseObject({
  publicSettings: z.record(z.string(), z.unknown()).nullish(),
  protectedSettings: z.string().nullish(),
  protectedSettingsCertThumbprint: z.string().nullish(),
});

/**
 * The schema with which the agent reads `<n>.settings` back. Accepts unknown properties, because handlers may have
 * changed the file.
 */
export const settingsFile = z.looseObject({ handlerSettings: sealedSettings });

/**
 * Settings of one extension as delivered. Protected settings are encrypted; the thumbprint identifies the certificate
 * that decrypts them.
 */
export interface DeliveredSettings {
  publicSettings?: Record<string, unknown>;
  protectedSettings?: string;
  protectedSettingsCertThumbprint?: string;
}

/**
 * Returns the text of `<n>.settings`, which contains the settings in two forms. `handlerSettings` is the form of the
 * source document (AZ-C1). `runtimeSettings`, with null for absent values, is for handlers written for the stock agent.
 */
export function writeSettingsFile({
  publicSettings = {},
  protectedSettings,
  protectedSettingsCertThumbprint,
}: DeliveredSettings): string {
  const thumbprint = protectedSettingsCertThumbprint?.toUpperCase();
  const sealed =
    protectedSettings === undefined ? {} : { protectedSettings, protectedSettingsCertThumbprint: thumbprint };
  const none = { protectedSettings: null, protectedSettingsCertThumbprint: null };
  const file = {
    handlerSettings: { ...sealed, publicSettings },
    runtimeSettings: [{ handlerSettings: { publicSettings, ...none, ...sealed } }],
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * Returns a file name such as `3.settings` or, for a handler that supports several extensions, `probe.3.settings`
 * (AZ-C4).
 */
export function settingsFileName(sequenceNumber: number, extension?: string): string {
  return `${extension === undefined ? '' : `${extension}.`}${sequenceNumber}.settings`;
}

/** Returns a file name such as `3.status` or, for a handler that supports several extensions, `probe.3.status`. */
export function statusFileName(sequenceNumber: number, extension?: string): string {
  return `${extension === undefined ? '' : `${extension}.`}${sequenceNumber}.status`;
}
