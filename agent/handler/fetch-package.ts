import { chmodSync, existsSync } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  commandLine,
  commandNames,
  type GoalStateExtension,
  type HandlerManifest,
  handlerIdentity,
} from '#protocol/index.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { discard, isDiskFull, replace } from '../folder/write-file.ts';
import { LongerThanAnnounced } from '../portal/call.ts';
import { type Portal, PortalRefusal } from '../portal/portal.ts';
import { discardRoot, foldersOf, readManifestOf } from './folders.ts';
import { digestOf, unpack } from './unpack.ts';

/**
 * Downloads a package, resuming an earlier download, checks its digest and unpacks it. The handler's folder appears
 * complete or not at all. Throws AgentError if the package itself is invalid; any other error may be temporary.
 */
export async function fetchPackage(
  layout: AgentLayout,
  portal: Portal,
  extension: GoalStateExtension,
  signal: AbortSignal,
): Promise<HandlerManifest> {
  const { sha256 } = extension.package;
  await mkdir(layout.incoming, { recursive: true, mode: 0o700 });
  const name = `${handlerIdentity(extension.handler, extension.version)}.${sha256}`;
  const zip = join(layout.incoming, `${name}.zip`);
  const root = join(layout.incoming, `${name}.root`);
  await download(portal, extension, zip, signal);
  discard(root);
  try {
    await mkdir(root, { recursive: true, mode: 0o755 });
    const manifest = await readPackage(zip, root);
    await mkdir(layout.handlers, { recursive: true, mode: 0o755 });
    const target = foldersOf(layout, extension.handler, extension.version).root;
    discardRoot(layout, target);
    replace(root, target);
    return manifest;
  } finally {
    discard(root);
    discard(zip);
  }
}

/**
 * Downloads the package and checks its digest. If the download fails, keeps the bytes on disk if they may be the
 * beginning of the package.
 */
async function download(portal: Portal, extension: GoalStateExtension, zip: string, signal: AbortSignal) {
  const { package: wanted } = extension;
  const before = await sizeOf(zip);
  if (before > wanted.size) discard(zip);
  try {
    await portal.downloadPackage(wanted.url, zip, wanted.size, signal);
  } catch (error) {
    // The bytes on disk are not the beginning of the portal's package.
    const isUseless = error instanceof PortalRefusal && error.status === 416;
    if (isUseless || error instanceof LongerThanAnnounced) discard(zip);
    if (!(error instanceof LongerThanAnnounced)) throw error;
    throw wrongPackage(extension, `it is longer than ${wanted.size} bytes, with the SHA-256`);
  }
  const size = await sizeOf(zip);
  // The connection broke. The next attempt resumes the download.
  if (size < wanted.size) throw new Error(`only ${size} of ${wanted.size} bytes arrived`);
  const digest = await digestOf(zip);
  if (digest === wanted.sha256) return await keep(zip);
  discard(zip);
  if (before > 0) throw new Error('the earlier part of the download does not match, so it starts again');
  throw wrongPackage(extension, `its SHA-256 is ${digest}, expected`);
}

function wrongPackage({ handler, version, package: wanted }: GoalStateExtension, why: string): AgentError {
  return new AgentError(
    `The package of ${handler} ${version} is not the one that was published: ${why} ${wanted.sha256}. It was not unpacked.`,
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

async function readPackage(zip: string, root: string): Promise<HandlerManifest> {
  try {
    await unpack(zip, root);
    const manifest = readManifestOf(root);
    for (const name of commandNames) makeRunnable(root, commandLine(manifest, name));
    return manifest;
  } catch (error) {
    if (isDiskFull(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentError(`The package cannot be unpacked: ${reason}. Publish a corrected version.`);
  }
}

/** Sets the executable bits of the program that a command names, whatever its mode in the zip. */
function makeRunnable(root: string, line: string): void {
  const program = /^[^\s'"\\$`;&|<>()]+/.exec(line)?.[0];
  if (program === undefined || program.startsWith('/') || program.split('/').includes('..')) return;
  if (existsSync(join(root, program))) chmodSync(join(root, program), 0o755);
}
