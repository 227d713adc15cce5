import { z } from 'zod';
import { jsonPointer } from './pointer.ts';

/** A handler's commands, in the order of the source document. */
export const commandNames = ['install', 'uninstall', 'update', 'enable', 'disable'] as const;
export type CommandName = (typeof commandNames)[number];

/** The only path of the manifest within a package (AZ-P2). */
export const manifestFileName = 'HandlerManifest.json';

export type ManifestFaultCode =
  | 'field_missing'
  | 'field_not_text'
  | 'field_not_boolean'
  | 'field_not_object'
  | 'field_empty'
  | 'manifest_not_array'
  | 'manifest_not_single';

/** One fault in a manifest; `path` is a JSON pointer into the file. */
export interface ManifestFault {
  path: string;
  code: ManifestFaultCode;
  params?: Record<string, string | number>;
}

/** The issue's message is a code that is translated when it is shown. */
const coded = (wrong: ManifestFaultCode) => ({
  error: (issue: { input?: unknown }) => (issue.input === undefined ? 'field_missing' : wrong),
});

const command = z
  .string(coded('field_not_text'))
  .refine((line) => line.trim() !== '', 'field_empty' satisfies ManifestFaultCode);
/** Manifests in the field contain `"true"` and `"True"` where the source document has `true`. */
const readFlag = (value: unknown) => {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  return word === 'true' ? true : word === 'false' ? false : value;
};
const flag = z
  .unknown()
  .transform(readFlag)
  .pipe(z.boolean(coded('field_not_boolean')));
const optionalFlag = z.unknown().transform(readFlag).optional();

const commands = z.looseObject(
  {
    installCommand: command,
    uninstallCommand: command,
    updateCommand: command,
    enableCommand: command,
    disableCommand: command,
    rebootAfterInstall: flag,
    reportHeartbeat: flag,
    /** Optional properties that the source document does not define. */
    updateMode: z.unknown().optional(),
    continueOnUpdateFailure: optionalFlag,
    supportsMultipleExtensions: optionalFlag,
  },
  coded('field_not_object'),
);

/**
 * The source document requires 1.0, but manifests in the field contain the handler's version here, so any version is
 * accepted.
 */
const documentVersion = z
  .unknown()
  .refine((value) => value !== undefined, 'field_missing' satisfies ManifestFaultCode)
  .transform(() => 1 as const);

const element = z.looseObject({ version: documentVersion, handlerManifest: commands }, coded('field_not_object'));

/** The schema of HandlerManifest.json: an array of one object (AZ-P3). */
export const handlerManifestFile = z
  .array(element, { error: 'manifest_not_array' })
  .length(1, { error: 'manifest_not_single' })
  .transform((elements) => elements[0] as (typeof elements)[number]);

/** The object in a manifest. Properties that the source document does not define are kept. */
export type HandlerManifest = z.output<typeof element>;

/** Whether the manifest requests that an update also run the new version's install command. */
export function updatesWithInstall({ handlerManifest }: HandlerManifest): boolean {
  const { updateMode } = handlerManifest;
  return typeof updateMode === 'string' && updateMode.toLowerCase() === 'updatewithinstall';
}

/** Checks a parsed manifest. Every missing or ill-typed property is a separate fault (AZ-P3). */
export function readManifest(value: unknown): { manifest: HandlerManifest } | { faults: ManifestFault[] } {
  const result = handlerManifestFile.safeParse(value);
  if (result.success) return { manifest: result.data };
  return {
    faults: result.error.issues.map((issue) => ({
      path: jsonPointer(issue.path),
      code: issue.message as ManifestFaultCode,
      params: { field: String(issue.path.at(-1) ?? '') },
    })),
  };
}

/** Whether a parsed manifest has the version that the source document requires: 1.0 as a number. */
export function hasDocumentVersion(value: unknown): boolean {
  return Array.isArray(value) && (value[0] as { version?: unknown } | null)?.version === 1;
}

/** Returns the command line that the manifest gives for a command. */
export function commandLine(manifest: HandlerManifest, name: CommandName): string {
  return manifest.handlerManifest[`${name}Command`];
}
