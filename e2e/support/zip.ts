import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** Executable for everyone, as a handler's commands must be after unpacking. */
const mode = 0o100755;

/** Builds a zip from texts keyed by file name. The same texts give the same bytes. */
export function zipOf(files: Record<string, string>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) {
    zip.addBuffer(Buffer.from(text), name, { mode, mtime: new Date(0), forceDosTimestamp: true });
  }
  zip.end();
  return buffer(zip.outputStream);
}
