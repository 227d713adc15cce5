import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** Executable for everyone, as commands of a handler must be after unpacking. */
const mode = 0o100755;

/** A zip of texts by name; the same texts give the same bytes. */
export function zipOf(files: Record<string, string>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) {
    zip.addBuffer(Buffer.from(text), name, { mode, mtime: new Date(0), forceDosTimestamp: true });
  }
  zip.end();
  return buffer(zip.outputStream);
}
