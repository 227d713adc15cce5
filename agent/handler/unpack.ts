import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, open, type ZipFile } from 'yauzl';
import { crashPoint } from '../folder/crash-point.ts';

const maxEntries = 20_000;
const maxUnpackedBytes = 2 * 1024 ** 3;
const fileType = 0o170000;
const regularFile = 0o100000;
const directory = 0o040000;

/** Returns the SHA-256 of a file in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/**
 * Unpacks a zip into `folder`. Files keep their modes, but the owner gets all permissions, and other users cannot
 * write. Rejects bad names, links, special files, duplicates and zip bombs, although the portal has checked them.
 */
export async function unpack(zip: string, folder: string): Promise<void> {
  const file = await openZip(zip);
  let total = 0;
  let count = 0;
  try {
    await eachEntry(file, async (entry) => {
      count += 1;
      total += entry.uncompressedSize;
      if (count > maxEntries) throw new Error(`the package has more than ${maxEntries} entries`);
      if (total > maxUnpackedBytes) throw new Error('the package is larger than 2 GiB when unpacked');
      await unpackEntry(file, entry, folder);
    });
  } finally {
    file.close();
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, folder: string): Promise<void> {
  const target = join(folder, entry.fileName);
  if (!target.startsWith(folder + sep)) throw new Error(`the entry ${entry.fileName} leaves the package`);
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & fileType;
  if (entry.fileName.endsWith('/')) {
    await mkdir(target, { recursive: true, mode: 0o755 });
    return;
  }
  if (type !== 0 && type !== regularFile) {
    throw new Error(
      `the entry ${entry.fileName} is ${type === directory ? 'a folder without a slash' : 'no plain file'}`,
    );
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const content = await readEntry(zip, entry);
  crashPoint(`unpack ${entry.fileName}`);
  // `flush` syncs the file, so that it is complete even after a crash.
  await pipeline(content, createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true }));
  // Every file is executable, as with the stock agent: zips from Windows have no modes, and in other zips, helper
  // scripts are often not executable.
  await chmod(target, type === 0 ? 0o755 : (mode & 0o755) | 0o700);
}

function openZip(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, file) => {
      if (error) reject(error);
      else resolve(file);
    });
  });
}

function eachEntry(zip: ZipFile, visit: (entry: Entry) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', resolve);
    zip.on('entry', (entry: Entry) => {
      visit(entry).then(() => zip.readEntry(), reject);
    });
    zip.readEntry();
  });
}

function readEntry(zip: ZipFile, entry: Entry): Promise<NodeJS.ReadableStream> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) reject(error);
      else resolve(stream);
    });
  });
}
