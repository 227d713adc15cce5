import { chmodSync, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
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
import type { Portal } from '../portal/portal.ts';
import { downloadPackage } from './download-package.ts';
import { discardRoot, foldersOf, readManifestOf } from './folders.ts';
import { unpack } from './unpack.ts';

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
  const what = `${extension.handler} ${extension.version}`;
  await downloadPackage(portal, { what, package: extension.package }, zip, signal);
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
