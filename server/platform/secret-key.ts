import { randomBytes } from 'node:crypto';
import { access, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'secret.key';
/** The file with the next key. It is written before the database is encrypted with that key, and renamed afterwards. */
const nextFileName = 'secret.key.next';

/**
 * Returns the secret that all keys are derived from: ANNEX_SECRET_KEY, or the contents of a file that is created at the
 * first startup. If the secret is lost, so is everything encrypted with it. Back it up separately from the database.
 */
export async function secretKey(config: { secretKey: string | null; dataDir: string }): Promise<Buffer> {
  if (config.secretKey === null) await makeKey(config.dataDir);
  return existingKey(config);
}

/** Like `secretKey`, but never creates a key. Throws if no key exists. */
export async function existingKey(config: { secretKey: string | null; dataDir: string }): Promise<Buffer> {
  if (config.secretKey !== null) return Buffer.from(config.secretKey);
  return readKey(join(config.dataDir, fileName));
}

/**
 * Returns the key that will replace the one in `secret.key`. It is created only once, so that an interrupted change can
 * continue with it.
 */
export async function nextKey(dataDir: string): Promise<Buffer> {
  await makeKey(dataDir, nextFileName);
  return readKey(join(dataDir, nextFileName));
}

/** Replaces the current key with the next one. */
export async function takeNextKey(dataDir: string): Promise<void> {
  await rename(join(dataDir, nextFileName), join(dataDir, fileName));
}

async function readKey(path: string): Promise<Buffer> {
  const text = (await readFile(path, 'utf8')).trim();
  if (text.length < 32)
    throw new Error(`${path} does not contain a key. Restore the correct file, or remove it together with the data.`);
  return Buffer.from(text);
}

/** Creates a key file, unless it exists. The file is complete and on disk before anything is encrypted with its key. */
async function makeKey(dataDir: string, name = fileName): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const path = join(dataDir, name);
  if (await exists(path)) return;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${randomBytes(32).toString('base64url')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await placeNew(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  const folder = await open(dataDir, 'r');
  await folder.sync().finally(() => folder.close());
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Links the draft to its final path, unless another process created that file first. */
async function placeNew(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    // Some file systems do not support hard links.
    await rename(draft, path);
  }
}
