import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { debianRelease, unpackDebianPackages } from '#server/testing/debian-packages.ts';

/** Folder in which packages are cached between runs. */
export const cacheFolder = path.resolve(
  process.env.DATA_DIR ?? path.join(import.meta.dirname, '../../.data'),
  'stock-agent',
);

export interface AgentPackage {
  suite: string;
  /** Debian's version, such as 2.7.3.0-4.1. */
  version: string;
  /** Folder of the unpacked package. */
  root: string;
}

/** Returns this machine's Debian release, whose agent works with this machine's Python; `stable` if it is unknown. */
export async function suiteHere(): Promise<string> {
  return (await debianRelease()) ?? 'stable';
}

/**
 * Returns the stock agent's package from a Debian release, unpacked below `cache`. `again` downloads the newest
 * package.
 */
export async function agentPackage(cache: string, suite: string, again = false): Promise<AgentPackage> {
  const folder = path.resolve(cache, suite);
  const known = existsSync(folder) && !again ? await unpacked(folder, suite) : null;
  if (known !== null) return known;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const root = path.join(folder, 'unpacking');
  // The agent needs python3-distro to find out which system it runs on.
  const debs = await unpackDebianPackages(root, {
    suite,
    packages: ['waagent', 'python3-distro'],
    withDependencies: false,
  });
  const version = debs.find((deb) => deb.startsWith('waagent_'))?.split('_')[1] ?? '';
  await rename(root, path.join(folder, decodeURIComponent(version)));
  return (await unpacked(folder, suite)) ?? Promise.reject(new Error(`Debian's ${suite} has no usable waagent.`));
}

async function unpacked(folder: string, suite: string): Promise<AgentPackage | null> {
  for (const version of await readdir(folder)) {
    const root = path.join(folder, version);
    if (/^\d/.test(version) && existsSync(path.join(root, 'usr/sbin/waagent'))) return { suite, version, root };
  }
  return null;
}
