import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** The keyring with which Debian signs its package lists. */
export const debianKeyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Returns the codename of the Debian release on this machine, for example `bookworm`; null on other systems. */
export async function debianRelease(): Promise<string | null> {
  if (!existsSync('/etc/debian_version') || !existsSync(debianKeyring)) return null;
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] ?? null;
}

interface Wanted {
  /** Codename of the Debian release that the packages come from. */
  suite: string;
  packages: string[];
  withDependencies: boolean;
}

/**
 * Downloads Debian packages and unpacks them into the folder `root`. Installs nothing: apt uses separate lists and a
 * separate cache, so it changes nothing else on the machine. Returns the file names of the packages.
 * `ANNEX_DEBIAN_MIRROR` can be the URL of another mirror. Rejects if the mirror is unreachable or lacks one of the
 * packages.
 */
export async function unpackDebianPackages(root: string, wanted: Wanted): Promise<string[]> {
  const apt = `${root}.apt`;
  await rm(apt, { recursive: true, force: true });
  await rm(root, { recursive: true, force: true });
  try {
    await download(apt, wanted);
    const debs = path.join(apt, 'cache/archives');
    const files = (await readdir(debs)).filter((name) => name.endsWith('.deb'));
    if (files.length === 0) throw new Error(`Debian has no package for ${wanted.packages.join(', ')}.`);
    await mkdir(root, { recursive: true });
    for (const file of files) await run('dpkg', ['-x', path.join(debs, file), root]);
    await mergeUsr(root);
    return files;
  } finally {
    await rm(apt, { recursive: true, force: true });
  }
}

async function download(apt: string, { suite, packages, withDependencies }: Wanted): Promise<void> {
  for (const part of ['lists/partial', 'cache/archives/partial'])
    await mkdir(path.join(apt, part), { recursive: true });
  const mirror = process.env.ANNEX_DEBIAN_MIRROR ?? 'http://deb.debian.org/debian';
  await writeFile(path.join(apt, 'sources.list'), `deb [signed-by=${debianKeyring}] ${mirror} ${suite} main\n`);
  const options = [
    `Dir::State::Lists=${apt}/lists`,
    `Dir::Etc::SourceList=${apt}/sources.list`,
    'Dir::Etc::SourceParts=-',
    `Dir::Cache=${apt}/cache`,
    // Keeps apt from switching to another user, who may not be able to write to this folder.
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    // Fails early if the mirror is unreachable.
    'Acquire::http::Timeout=10',
    'Acquire::Retries=1',
    'Debug::NoLocking=1',
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, 'update']);
  const install = ['install', '--download-only', '--reinstall', '--no-install-recommends', '-y'];
  if (withDependencies) await run('apt-get', [...options, ...install, ...packages]);
  else await run('apt-get', [...options, 'download', ...packages], path.join(apt, 'cache/archives'));
}

/** Moves the `/bin`, `/sbin` and `/lib` of older packages into `/usr`, where they have been since Debian 12. */
async function mergeUsr(root: string): Promise<void> {
  for (const name of ['bin', 'sbin', 'lib']) {
    const old = path.join(root, name);
    if (!existsSync(old)) continue;
    await cp(old, path.join(root, 'usr', name), { recursive: true, verbatimSymlinks: true });
    await rm(old, { recursive: true });
  }
}

function run(program: string, args: string[], cwd?: string): Promise<unknown> {
  return promisify(execFile)(program, args, { cwd, timeout: 180_000 });
}
