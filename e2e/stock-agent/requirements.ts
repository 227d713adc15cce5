import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { keyring } from './waagent-package.ts';

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

/** What keeps the stock agent from being driven on this machine, one sentence each; none where it can be. */
export function missingForStockAgent(): string[] {
  if (process.platform !== 'linux') return ['it needs Linux'];
  const missing: string[] = [];
  if (process.getuid?.() !== 0) missing.push('it needs root, for namespaces and mounts of its own');
  if (!existsSync('/etc/debian_version') || !existsSync(keyring)) {
    missing.push(`it needs Debian with its keyring ${keyring}, to fetch its agent`);
  }
  for (const [program, owner] of Object.entries(programs)) {
    if (!isFound(program)) missing.push(`it needs ${program} (package ${owner})`);
  }
  if (!isLink('/bin')) missing.push('it needs /bin to be a link into /usr, as in Debian 12');
  if (missing.length === 0 && !mayMount()) missing.push('it may not mount in a namespace of its own here');
  return missing;
}

/** Debian's name of the release that this machine runs: its agent fits its Python. */
export function suiteHere(): string {
  const release = readFileSync('/etc/os-release', 'utf8');
  return /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] ?? 'stable';
}

function isFound(program: string): boolean {
  return ['/usr/sbin', '/usr/bin', '/sbin', '/bin'].some((folder) => existsSync(`${folder}/${program}`));
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Containers often may not. */
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
