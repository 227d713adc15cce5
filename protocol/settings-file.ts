import { z } from 'zod';

const sealedSettings = z.looseObject({
  publicSettings: z.record(z.string(), z.unknown()).nullish(),
  protectedSettings: z.string().nullish(),
  protectedSettingsCertThumbprint: z.string().nullish(),
});

/** `<n>.settings` as the agent reads it back: handlers may have changed what they were given. */
export const settingsFile = z.looseObject({ handlerSettings: sealedSettings });

/** Settings of one extension as they are delivered: protected settings stay sealed, with the thumbprint of their key. */
export interface DeliveredSettings {
  publicSettings?: Record<string, unknown>;
  protectedSettings?: string;
  protectedSettingsCertThumbprint?: string;
}

/**
 * The text of `<n>.settings` in both shapes: `handlerSettings` as the source document has it (AZ-C1), `runtimeSettings`
 * as handlers for Azure's own agent read it, where absent values are null.
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

/** `3.settings`, or `probe.3.settings` where a handler has several extensions (AZ-C4). */
export function settingsFileName(sequenceNumber: number, extension?: string): string {
  return `${extension === undefined ? '' : `${extension}.`}${sequenceNumber}.settings`;
}

/** `3.status`, or `probe.3.status` where a handler has several extensions. */
export function statusFileName(sequenceNumber: number, extension?: string): string {
  return `${extension === undefined ? '' : `${extension}.`}${sequenceNumber}.status`;
}
