import { z } from 'zod';

/** `<n>.settings` as a handler reads it (AZ-C1): protected settings stay sealed, with the thumbprint of their key. */
export const settingsFile = z.strictObject({
  handlerSettings: z.looseObject({
    publicSettings: z.record(z.string(), z.unknown()).optional(),
    protectedSettings: z.string().optional(),
    protectedSettingsCertThumbprint: z.string().optional(),
  }),
});
export type SettingsFile = z.output<typeof settingsFile>;

/** `3.settings`, or `probe.3.settings` where a handler has several extensions (AZ-C4). */
export function settingsFileName(sequenceNumber: number, extension?: string): string {
  return `${extension === undefined ? '' : `${extension}.`}${sequenceNumber}.settings`;
}

/** `3.status`, or `probe.3.status` where a handler has several extensions. */
export function statusFileName(sequenceNumber: number, extension?: string): string {
  return `${extension === undefined ? '' : `${extension}.`}${sequenceNumber}.status`;
}
