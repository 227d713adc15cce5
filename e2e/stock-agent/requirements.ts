import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { debianKeyring } from '#server/testing/debian-packages.ts';
import { programRoot } from '#server/testing/programs.ts';

const programs: Record<string, string> = {
  unshare: 'util-linux',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  ip: 'iproute2',
  python3: 'python3',
  openssl: 'openssl',
  'apt-get': 'apt',
  dpkg: 'dpkg',
};

/** Returns what keeps the stock agent from running on this machine, one sentence each; empty if it can run. */
export function missingForStockAgent(): string[] {
  if (process.platform !== 'linux') return ['it needs Linux'];
  const missing: string[] = [];
  if (process.getuid?.() !== 0) missing.push('it needs root, for namespaces and mounts');
  if (!existsSync('/etc/debian_version') || !existsSync(debianKeyring)) {
    missing.push(`it needs Debian with the keyring ${debianKeyring}, to download the agent`);
  }
  for (const [program, owner] of Object.entries(programs)) {
    if (!isFound(program)) missing.push(`it needs ${program} (package ${owner})`);
  }
  if (!isLink('/bin')) missing.push('it needs /bin to be a link into /usr, as in Debian 12');
  if (missing.length === 0 && !mayMount()) missing.push('it must be allowed to mount in a mount namespace');
  return missing;
}

/** Whether a program is installed or was fetched for tests. The throwaway machine can use both kinds. */
function isFound(program: string): boolean {
  const folders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', `${programRoot}/usr/bin`, `${programRoot}/usr/sbin`];
  return folders.some((folder) => existsSync(`${folder}/${program}`));
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Whether this process may mount file systems. In containers, it often may not. */
function mayMount(): boolean {
  try {
    const line =
      'mount -t tmpfs none /mnt && cd /mnt && mkdir u w o && mount -t overlay -o lowerdir=/usr,upperdir=u,workdir=w none o';
    const spaces = ['--mount', '--net', '--uts', '--ipc', '--pid', '--fork', '--kill-child'];
    execFileSync('unshare', [...spaces, 'sh', '-c', line], { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
