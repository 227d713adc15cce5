export const operatingSystems = ['linux', 'windows', 'darwin'] as const;
export const architectures = ['x64', 'arm64', 'ia32', 'arm', 'ppc64', 's390x', 'riscv64'] as const;

/** A platform that a handler version supports. An absent property matches any value. */
export interface Platform {
  os?: (typeof operatingSystems)[number] | undefined;
  arch?: (typeof architectures)[number] | undefined;
}

/** Operating systems, each with a pattern for the names that agents report, in lower case. The first match decides. */
export const systemNames: readonly (readonly [NonNullable<Platform['os']>, RegExp])[] = [
  ['darwin', /darwin|mac ?os/],
  ['windows', /windows/],
  ['linux', /linux|centos|debian|fedora|flatcar|gentoo|mariner|nixos|raspbian|rhel|sles|suse|ubuntu/],
];

/** Architectures by the names that agents report, in lower case. */
export const archNames: Readonly<Record<string, Platform['arch']>> = {
  x64: 'x64',
  x86_64: 'x64',
  amd64: 'x64',
  arm64: 'arm64',
  aarch64: 'arm64',
  ia32: 'ia32',
  x86: 'ia32',
  i386: 'ia32',
  i686: 'ia32',
  arm: 'arm',
  armv7l: 'arm',
  armhf: 'arm',
  ppc64: 'ppc64',
  ppc64le: 'ppc64',
  ppc64el: 'ppc64',
  s390x: 's390x',
  riscv64: 'riscv64',
};

/** Returns the platform that an agent reported. Omits properties that are missing or unknown. */
export function platformOf(reported: { name?: string; arch?: string }): Platform {
  const name = reported.name?.toLowerCase() ?? '';
  const os = systemNames.find(([, pattern]) => pattern.test(name))?.[0];
  const arch = archNames[reported.arch?.toLowerCase() ?? ''];
  return { ...(os && { os }), ...(arch && { arch }) };
}

/** Returns false only if the machine is known to match none of these platforms. */
export function supportsPlatform(platforms: readonly Platform[] | null, machine: Platform): boolean {
  if (platforms === null || platforms.length === 0) return true;
  const fits = (wanted: string | undefined, known: string | undefined) =>
    wanted === undefined || known === undefined || wanted === known;
  return platforms.some(({ os, arch }) => fits(os, machine.os) && fits(arch, machine.arch));
}

/** Formats platforms as `linux x64, windows`. */
export function platformsText(platforms: readonly Platform[]): string {
  return platforms.map(({ os, arch }) => [os, arch].filter(Boolean).join(' ')).join(', ');
}
