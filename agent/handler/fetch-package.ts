import { chmodSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine, commandNames, type GoalStateExtension, type HandlerManifest } from '#protocol/index.ts';
import { AgentError } from '../agent-error.ts';
import type { Layout } from '../folder/layout.ts';
import type { Portal } from '../portal/portal.ts';
import { foldersOf, readManifestOf } from './folders.ts';
import { digestOf, unpack } from './unpack.ts';

/**
 * Downloads a package, checks its digest and unpacks it; the folder appears whole or not at all. Throws AgentError
 * where the package itself is wrong; anything else that is thrown may pass.
 */
export async function fetchPackage(
  layout: Layout,
  portal: Portal,
  extension: GoalStateExtension,
  signal: AbortSignal,
): Promise<HandlerManifest> {
  await mkdir(layout.incoming, { recursive: true, mode: 0o700 });
  const work = await mkdtemp(join(layout.incoming, 'package-'));
  try {
    const zip = join(work, 'package.zip');
    await portal.downloadPackage(extension.package.url, zip, signal);
    await checkPackage(zip, extension);
    const root = join(work, 'root');
    await mkdir(root, { mode: 0o755 });
    const manifest = await readPackage(zip, root);
    const target = foldersOf(layout, extension.handler, extension.version).root;
    await mkdir(layout.handlers, { recursive: true, mode: 0o755 });
    await rm(target, { recursive: true, force: true });
    await rename(root, target);
    return manifest;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function checkPackage(zip: string, { handler, version, package: wanted }: GoalStateExtension): Promise<void> {
  const { size } = await stat(zip);
  // A short file is a broken connection, and comes whole next time.
  if (size < wanted.size) throw new Error(`only ${size} of ${wanted.size} bytes arrived`);
  const digest = await digestOf(zip);
  if (digest !== wanted.sha256) {
    throw new AgentError(
      `The package of ${handler} ${version} is not the one that was published: its SHA-256 is ${digest}, expected ${wanted.sha256}. It was not unpacked.`,
    );
  }
}

async function readPackage(zip: string, root: string): Promise<HandlerManifest> {
  try {
    await unpack(zip, root);
    const manifest = readManifestOf(root);
    for (const name of commandNames) makeRunnable(root, commandLine(manifest, name));
    return manifest;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AgentError(`The package cannot be unpacked: ${reason}. Publish a mended version.`);
  }
}

/** A program that a command names may be run, whatever mode the zip gave it. */
function makeRunnable(root: string, line: string): void {
  const program = /^[^\s'"\\$`;&|<>()]+/.exec(line)?.[0];
  if (program === undefined || program.startsWith('/') || program.split('/').includes('..')) return;
  if (existsSync(join(root, program))) chmodSync(join(root, program), 0o755);
}
