import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { debianRelease, unpackDebianPackages } from '#server/testing/debian-packages.ts';

const folder = path.resolve(process.env.DATA_DIR ?? path.join(import.meta.dirname, '../../../.data'), 'puppet');
const root = path.join(folder, 'root');

/**
 * Returns a folder with a program `puppet` that runs Debian's Puppet without installing it. The first call downloads
 * Puppet.
 */
export async function fetchPuppet(): Promise<string> {
  const bin = path.join(folder, 'bin');
  const program = path.join(bin, 'puppet');
  if (existsSync(program)) return bin;
  const suite = await debianRelease();
  if (suite === null) throw new Error('The real Puppet can only be tested on Debian.');
  await unpackDebianPackages(root, { suite, packages: ['puppet'], withDependencies: true });
  await mkdir(bin, { recursive: true });
  // Puppet's own folders, which Debian would place in /var/lib, /var/cache and /etc.
  const settings = path.join(folder, 'settings');
  await mkdir(settings, { recursive: true });
  const state = path.join(folder, 'state');
  const lines = [`vardir=${state}`, `ssldir=${state}/ssl`, `codedir=${state}/code`, `publicdir=${state}/public`];
  await writeFile(path.join(settings, 'puppet.conf'), `[main]\n${lines.join('\n')}\n`);
  await writeFile(program, launcher(settings));
  await chmod(program, 0o755);
  return bin;
}

/** Returns a script that runs the unpacked Puppet with the unpacked Ruby and its libraries. */
function launcher(settings: string): string {
  const gems = globSync('usr/share/rubygems-integration/all/gems/*/lib', { cwd: root });
  const concurrent = globSync('usr/share/rubygems-integration/all/gems/*/lib/concurrent-ruby', { cwd: root });
  const native = globSync('usr/lib/*/ruby/{,vendor_ruby/}3.*', { cwd: root });
  const standard = globSync('usr/lib/ruby/{vendor_ruby,3.*}', { cwd: root });
  const libraries = ['usr/lib', ...globSync('usr/lib/*-linux-gnu', { cwd: root })];
  const paths = (names: readonly string[]) => names.map((name) => path.join(root, name)).join(':');
  return `#!/bin/sh
export LD_LIBRARY_PATH='${paths(libraries)}' RUBYLIB='${paths([...concurrent, ...gems, ...standard, ...native])}'
exec '${path.join(root, 'usr/bin/ruby')}' --disable-gems '${path.join(root, 'usr/bin/puppet')}' "$@" --confdir '${settings}'
`;
}
