import type { ZipEntry } from './zip.ts';

/** The metadata of the smallest formula that is accepted without a warning. */
export const metadataOf = (more = ''): string => `name: blog\nsummary: A blog\n${more}`;

/** Returns the entries of a formula's package: its metadata, and other files by name. Hooks are executable. */
export function formulaEntries(
  metadata: string | Buffer = metadataOf(),
  files: Readonly<Record<string, string>> = {},
): ZipEntry[] {
  return [
    { name: 'metadata.yaml', data: metadata },
    ...Object.entries(files).map(
      ([name, data]): ZipEntry =>
        name.startsWith('hooks/') && !name.endsWith('/') ? { name, data, mode: 0o100755 } : { name, data },
    ),
  ];
}
