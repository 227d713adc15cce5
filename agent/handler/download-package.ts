import { open, stat } from 'node:fs/promises';
import { AgentError } from '../agent-error.ts';
import { discard } from '../folder/write-file.ts';
import { LongerThanAnnounced } from '../portal/call.ts';
import { type Portal, PortalRefusal } from '../portal/portal.ts';
import { digestOf } from './unpack.ts';

interface WantedPackage {
  /** The package, as error messages name it. */
  what: string;
  package: { sha256: string; size: number; url: string };
}

/**
 * Downloads a package, resuming an earlier download, and checks its digest. If the download fails, keeps the bytes on
 * disk if they may be the beginning of the package. Throws AgentError if the package is not the published one; any
 * other error may be temporary.
 */
export async function downloadPackage(
  portal: Pick<Portal, 'downloadPackage'>,
  about: WantedPackage,
  zip: string,
  signal: AbortSignal,
): Promise<void> {
  const { package: wanted } = about;
  const before = await sizeOf(zip);
  if (before > wanted.size) discard(zip);
  try {
    await portal.downloadPackage(wanted.url, zip, wanted.size, signal);
  } catch (error) {
    // The bytes on disk are not the beginning of the portal's package.
    const isUseless = error instanceof PortalRefusal && error.status === 416;
    if (isUseless || error instanceof LongerThanAnnounced) discard(zip);
    if (!(error instanceof LongerThanAnnounced)) throw error;
    throw wrongPackage(about, `it is longer than ${wanted.size} bytes, with the SHA-256`);
  }
  const size = await sizeOf(zip);
  // The connection broke. The next attempt resumes the download.
  if (size < wanted.size) throw new Error(`only ${size} of ${wanted.size} bytes arrived`);
  const digest = await digestOf(zip);
  if (digest === wanted.sha256) return await keep(zip);
  discard(zip);
  if (before > 0) throw new Error('the earlier part of the download does not match, so it starts again');
  throw wrongPackage(about, `its SHA-256 is ${digest}, expected`);
}

function wrongPackage({ what, package: wanted }: WantedPackage, why: string): AgentError {
  return new AgentError(
    `The package of ${what} is not the one that was published: ${why} ${wanted.sha256}. It was not unpacked.`,
  );
}

async function keep(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.size ?? 0;
}
