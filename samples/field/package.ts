import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ZipFile } from 'yazl';

export interface FieldPackageOptions {
  /** Stored in the package, so that versions with the same programs differ. */
  version?: string;
  /** The folder in which handlers look for keys, as with Azure's agent. Tests set another folder. */
  waagentFolder?: string;
}

/** Fixed, so that a package always has the same bytes and the same version can be registered again. */
const mtime = new Date(2026, 0, 1, 12);

/**
 * The package of a handler in this folder. Every version has the same programs. No entry is executable, as in zips
 * built on another system: agents make all files executable.
 */
export async function fieldPackage(
  handler: string,
  { version = '', waagentFolder = '/var/lib/waagent' }: FieldPackageOptions = {},
): Promise<Buffer> {
  const root = join(import.meta.dirname, handler);
  const zip = new ZipFile();
  const add = (path: string, name: string) => {
    const text = readFileSync(path, 'utf8').replaceAll('@WAAGENT@', waagentFolder);
    zip.addBuffer(Buffer.from(text), name, { mtime, mode: 0o100644, forceDosTimestamp: true });
  };
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name));
  for (const path of files.sort()) if (statSync(path).isFile()) add(path, relative(root, path));
  add(join(import.meta.dirname, 'shared', 'field.sh'), 'bin/field.sh');
  zip.addBuffer(Buffer.from(`${version}\n`), 'version.txt', { mtime, mode: 0o100644, forceDosTimestamp: true });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
