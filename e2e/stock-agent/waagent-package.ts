import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = (program: string, line: string[], cwd?: string) =>
  promisify(execFile)(program, line, { cwd, timeout: 120_000 });
export const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Where packages stay between runs. */
export const cacheFolder = path.resolve(
  process.env.DATA_DIR ?? path.join(import.meta.dirname, '../../.data'),
  'stock-agent',
);

export interface AgentPackage {
  suite: string;
  /** As Debian numbers it, for example 2.7.3.0-4.1. */
  version: string;
  /** Where it is unpacked. */
  root: string;
}

/**
 * Debian's package of the stock agent from a suite, unpacked below `cache` and never installed. It is fetched once, by
 * apt with lists of its own: neither the machine's lists nor its packages change. `again` fetches what is newest now.
 */
export async function agentPackage(cache: string, suite: string, again = false): Promise<AgentPackage> {
  const folder = path.resolve(cache, suite);
  const known = existsSync(folder) && !again ? await unpacked(folder, suite) : null;
  if (known !== null) return known;
  const apt = path.join(folder, 'apt');
  await rm(folder, { recursive: true, force: true });
  for (const part of ['lists/partial', 'cache/archives/partial', 'debs']) {
    await mkdir(path.join(apt, part), { recursive: true });
  }
  const mirror = process.env.ANNEX_DEBIAN_MIRROR ?? 'http://deb.debian.org/debian';
  await writeFile(path.join(apt, 'sources.list'), `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`);
  const options = [
    `Dir::State::Lists=${apt}/lists`,
    `Dir::Etc::SourceList=${apt}/sources.list`,
    'Dir::Etc::SourceParts=-',
    `Dir::Cache=${apt}/cache`,
    // Its user may not look into our folder.
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    // Where there is no way to the mirror, that is to be said soon.
    'Acquire::http::Timeout=10',
    'Acquire::Retries=1',
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, 'update']);
  // It asks python3-distro which system it is on.
  const debs = path.join(apt, 'debs');
  await run('apt-get', [...options, 'download', 'waagent', 'python3-distro'], debs);
  const root = path.join(folder, 'unpacking');
  for (const deb of await readdir(debs)) await run('dpkg', ['-x', path.join(debs, deb), root]);
  const version = (await readdir(debs)).find((deb) => deb.startsWith('waagent_'))?.split('_')[1] ?? '';
  await rm(apt, { recursive: true, force: true });
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
