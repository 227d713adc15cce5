import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Calls `read` with these bytes as an open file, which is removed afterwards. */
export async function withOpenedFile<T>(bytes: Buffer, read: (fd: number, size: number) => T): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-opened-'));
  const path = join(folder, 'file');
  writeFileSync(path, bytes);
  const handle = await open(path, 'r');
  try {
    return read(handle.fd, bytes.length);
  } finally {
    await handle.close();
    rmSync(folder, { recursive: true });
  }
}
